// Buttons that open dialogs of the desk. A dialog is loaded when its button is pressed.
import { useRef, useState } from 'preact/hooks'
import { type Child, h, part, type View } from './element.ts'
import { loading, problemNote } from './parts.ts'
import { type Reloading, withReloading } from './reloading.ts'
import { FRAME } from './words.ts'

export type ActionButton = {
  readonly text: string
  /** The button needs any one of these permissions. */
  readonly permissions: readonly string[]
  /** Opens the dialog, with the record as the page shows it or, if `isAnew`, read again. */
  readonly open: (close: () => void, isAnew: boolean) => Promise<View>
}

type Buttons = {
  readonly deeds: readonly ActionButton[]
  readonly held: ReadonlySet<string>
  readonly label?: string
}

type Opened = { readonly view?: View; readonly failure?: unknown; readonly isLoading?: boolean }

const NOT_RELOADED: Omit<Reloading, 'reload'> = { count: 0, isBusy: false }

function DeedButtons({ deeds, held, label }: Buttons): View | null {
  const [{ view, failure, isLoading = false }, show] = useState<Opened>({})
  const [reloading, showReloading] = useState(NOT_RELOADED)
  const opened = useRef<ActionButton>(undefined)
  const allowed = deeds.filter(({ permissions }) => permissions.some(permission => held.has(permission)))
  if (allowed.length === 0) return null
  // The button keeps the focus, so that the focus returns to it.
  const open = (deed: ActionButton): void => {
    if (isLoading) return
    opened.current = deed
    show({ isLoading: true })
    showReloading(NOT_RELOADED)
    deed
      .open(() => close(deed, 0), false)
      .then(
        view => show({ view }),
        (problem: unknown) => show({ failure: problem }),
      )
  }
  const close = (deed: ActionButton, reloads: number): void => {
    if (opened.current === deed) opened.current = undefined
    show({})
    // The page still shows the record as it was before.
    if (reloads > 0) dispatchEvent(new Event('bindery:reload'))
  }
  const reload = (): void => {
    const deed = opened.current
    if (!deed || reloading.isBusy) return
    const count = reloading.count + 1
    showReloading({ count: reloading.count, isBusy: true })
    deed
      .open(() => close(deed, count), true)
      .then(
        view => {
          if (opened.current !== deed) return
          show({ view })
          showReloading({ count, isBusy: false })
        },
        (problem: unknown) => showReloading({ count: reloading.count, isBusy: false, failure: problem }),
      )
  }
  return h(
    'div',
    { class: 'button-row', ...(label !== undefined && { role: 'group', 'aria-label': label }) },
    allowed.map(deed => h('button', { type: 'button', key: deed.text, click: () => open(deed) }, deed.text)),
    isLoading && loading(FRAME.loadsForm),
    view && withReloading({ ...reloading, reload }, view),
    failure !== undefined && problemNote(failure),
  )
}

/** Shows the buttons that the account may use, or nothing if there are none. */
export const actionButtons = (
  deeds: readonly ActionButton[],
  held: ReadonlySet<string>,
  label?: string,
): Child => part(DeedButtons, { deeds, held, ...(label !== undefined && { label }) })
