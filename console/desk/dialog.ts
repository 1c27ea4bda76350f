// A dialog. It takes the focus and returns it when it closes. Escape closes it, or first warns of entries that would be lost.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Child, h, type View } from '../element.ts'
import { useUnsaved } from '../unsaved.ts'
import { DESK } from '../words.ts'
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
  const [warns, warn] = useState(false)
  useUnsaved(isTyped)
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
        if (isBusy) return
        if (isTyped && !warns) warn(true)
        else close()
      },
      // The browser lets a page prevent only the first of several Escapes in a row.
      close: () => {
        const dialog = place.current
        if (!dialog?.isConnected) return
        if (isBusy) dialog.showModal()
        else close()
      },
      input: () => {
        noteEntries(true)
        warn(false)
      },
    },
    h(
      'header',
      {},
      h('h2', { id, tabindex: -1 }, title),
      h('button', { type: 'button', class: 'quiet', disabled: isBusy, click: close }, DESK.close),
    ),
    h('div', { role: 'alert' }, warns && h('p', { class: 'notice warn' }, FORMS.escapeAgain)),
    children,
  )
}
