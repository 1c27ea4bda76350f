// The focus after a request: a button that is disabled meanwhile loses it, and the keyboard would start again at the top of the page.
import { useLayoutEffect } from 'preact/hooks'

const isLost = ({ activeElement }: Document): boolean =>
  activeElement === null || activeElement === document.body || activeElement instanceof HTMLDialogElement

/** Moves the focus to the element that `target` returns whenever `event` changes, if no element has it or if that is `forced`. */
export function useLostFocus(target: () => HTMLElement | null, event: unknown, forced = false): void {
  useLayoutEffect(() => {
    if (forced || isLost(document)) target()?.focus()
  }, [event])
}
