// Buttons that open dialogs of the desk. A dialog is loaded when its button is pressed.
import { useState } from 'preact/hooks'
import { type Child, h, part, type View } from './element.ts'
import { loading, problemNote } from './parts.ts'
import { FRAME } from './words.ts'

export type ActionButton = {
  readonly text: string
  /** The button needs any one of these permissions. */
  readonly permissions: readonly string[]
  readonly open: (close: () => void) => Promise<View>
}

type Buttons = {
  readonly deeds: readonly ActionButton[]
  readonly held: ReadonlySet<string>
  readonly label?: string
}

type Opened = { readonly view?: View; readonly failure?: unknown; readonly isLoading?: boolean }

function DeedButtons({ deeds, held, label }: Buttons): View | null {
  const [{ view, failure, isLoading = false }, show] = useState<Opened>({})
  const allowed = deeds.filter(({ permissions }) => permissions.some(permission => held.has(permission)))
  if (allowed.length === 0) return null
  // The button keeps the focus, so that the focus returns to it.
  const open = (submission: ActionButton): void => {
    if (isLoading) return
    show({ isLoading: true })
    submission
      .open(() => show({}))
      .then(
        opened => show({ view: opened }),
        (problem: unknown) => show({ failure: problem }),
      )
  }
  return h(
    'div',
    { class: 'button-row', ...(label !== undefined && { role: 'group', 'aria-label': label }) },
    allowed.map(submission =>
      h('button', { type: 'button', key: submission.text, click: () => open(submission) }, submission.text),
    ),
    isLoading && loading(FRAME.loadsForm),
    view,
    failure !== undefined && problemNote(failure),
  )
}

/** Shows the buttons that the account may use, or nothing if there are none. */
export const actionButtons = (
  deeds: readonly ActionButton[],
  held: ReadonlySet<string>,
  label?: string,
): Child => part(DeedButtons, { deeds, held, ...(label !== undefined && { label }) })
