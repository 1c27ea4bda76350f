// Asks before entries of a form are lost because the user leaves its page: by a link, Back, a reload, or by closing the tab.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { FRAME } from './words.ts'

type Form = {
  hasEntries(): boolean
  /** Called when the user stays. */
  stay(): void
}

/** The form that is shown. */
let shown: Form | undefined

/** Asks before the page is left while `hasEntries`. Returns how often the user stayed. */
export function useUnsaved(hasEntries: boolean): number {
  const [stays, stayed] = useState(0)
  const now = useRef(hasEntries)
  now.current = hasEntries
  useLayoutEffect(() => {
    const form: Form = { hasEntries: () => now.current, stay: () => stayed(count => count + 1) }
    const warn = (event: Event): void => {
      if (now.current) event.preventDefault()
    }
    shown = form
    addEventListener('beforeunload', warn)
    return () => {
      removeEventListener('beforeunload', warn)
      if (shown === form) shown = undefined
    }
  }, [])
  return stays
}

/** Whether the page may be left. Asks the user if entries would be lost. */
export function mayLeave(): boolean {
  if (!shown?.hasEntries() || confirm(FRAME.discard)) return true
  shown.stay()
  return false
}
