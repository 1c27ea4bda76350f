// A dialog. It takes the focus and returns it when it closes. Escape and its button close it, or first warn of what would be lost.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Child, h, part, type View } from '../element.ts'
import { useReloading } from '../reloading.ts'
import { useQuestion, useUnsaved } from '../unsaved.ts'
import { DESK, FRAME } from '../words.ts'
import { FORMS } from './words.ts'

type Shown = {
  readonly title: string
  readonly close: () => void
  /** While busy, the dialog cannot be closed. */
  readonly isBusy?: boolean
  readonly children?: Child
}

export function Dialog({ title, close, isBusy = false, children }: Shown): View {
  const place = useRef<HTMLDialogElement>(null)
  const [isTyped, noteEntries] = useState(false)
  const [warning, warn] = useState<string>()
  const questionOf = useQuestion()
  useUnsaved(isTyped)
  /** Closes at the second request if something would be lost: the first one shows what. Returns whether it closes. */
  const leave = (): boolean => {
    const question = questionOf()
    const mayClose = !isBusy && (question === undefined || question === warning)
    if (mayClose) close()
    else if (!isBusy) warn(question)
    return mayClose
  }
  useLayoutEffect(() => {
    const dialog = place.current!
    const before = document.activeElement
    dialog.showModal()
    dialog.querySelector<HTMLElement>('h2')!.focus()
    return () => {
      dialog.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  const id = `dialog-${title.replace(/\W+/g, '-').toLowerCase()}`
  return h(
    'dialog',
    {
      class: 'desk',
      ref: place,
      'aria-labelledby': id,
      cancel: event => {
        // A file input in the dialog also emits `cancel`, when the user chooses no file.
        if (event.target !== place.current) return
        event.preventDefault()
        leave()
      },
      // The browser lets a page prevent only the first of several Escapes in a row.
      close: () => {
        const dialog = place.current
        if (!dialog?.isConnected) return
        if (!leave()) dialog.showModal()
      },
      input: () => {
        noteEntries(true)
        warn(undefined)
      },
    },
    h(
      'header',
      {},
      h('h2', { id, tabindex: -1 }, title),
      h(
        'button',
        {
          type: 'button',
          class: 'quiet',
          disabled: isBusy,
          // The second click of a double click is not an answer to the warning.
          click: event => (event as MouseEvent).detail < 2 && leave(),
        },
        DESK.close,
      ),
    ),
    h('div', { role: 'alert' }, warning && h('p', { class: 'notice warn' }, warningText(warning))),
    part(Reloaded, {}),
    children,
  )
}

/** Says that the record was read again. The focus was on the button, which is gone. */
function Reloaded(): View {
  const place = useRef<HTMLElement>(null)
  const count = useReloading()?.count ?? 0
  useLayoutEffect(() => {
    if (count > 0) place.current!.focus()
  }, [count])
  return h(
    'div',
    { ref: place, tabindex: -1, role: 'status' },
    count > 0 && h('p', { class: 'notice' }, FORMS.reloaded),
  )
}

const warningText = (question: string): string =>
  question === FRAME.unfinished ? FORMS.closeUnfinished : FORMS.closeAgain
