// Asks before entries are lost because the user leaves the page: by a link, Back, a reload, or by closing the tab.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { FRAME } from './words.ts'

type Form = {
  /** The question to ask before leaving, or undefined if nothing would be lost. */
  question(): string | undefined
  /** Called when the user stays. */
  stay(): void
}

/** The forms on the page, also those in dialogs. */
const forms = new Set<Form>()

/** Asks the question before the page is left while `isUnsaved`. Returns how often the user stayed. */
export function useUnsaved(isUnsaved: boolean, question: string = FRAME.discard): number {
  const [stays, stayed] = useState(0)
  const now = useRef(isUnsaved)
  now.current = isUnsaved
  useLayoutEffect(() => {
    const form: Form = {
      question: () => (now.current ? question : undefined),
      stay: () => stayed(count => count + 1),
    }
    forms.add(form)
    return () => void forms.delete(form)
  }, [])
  return stays
}

/** Returns the question to ask before the page is left, or undefined if nothing would be lost. Requests come before entries. */
export function questionNow(): string | undefined {
  const questions = [...forms].map(form => form.question())
  return questions.includes(FRAME.unfinished)
    ? FRAME.unfinished
    : questions.find(question => question !== undefined)
}

/** Whether the page may be left. Asks the user if something would be lost. */
export function mayLeave(): boolean {
  const question = questionNow()
  if (question === undefined || confirm(question)) return true
  for (const form of forms) form.stay()
  return false
}

/** Loads the page again without asking, because its entries are another user's. */
export function reloadForOtherUser(): void {
  forms.clear()
  location.reload()
}
