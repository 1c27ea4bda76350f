// Asks before entries are lost because the user leaves the page: by a link, Back, a reload, or by closing the tab.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { lastSession } from './session.ts'
import { FRAME } from './words.ts'

type Form = {
  /** The question to ask before leaving, or undefined if nothing would be lost. */
  question(): string | undefined
  /** Called when the user stays. */
  stay(): void
}

/** Texts that users have typed and not saved yet, by account and place. They outlast a reload of the page's content. */
const drafts = new Map<string, string>()

/** A text that an action elsewhere on the page does not discard. It is forgotten when it is empty, or when the user leaves the page. */
export function useDraft(place: string): readonly [text: string, change: (text: string) => void] {
  const key = `${lastSession()?.tenantLocator} ${lastSession()?.username} ${place}`
  const [text, setText] = useState(() => drafts.get(key) ?? '')
  return [
    text,
    changed => {
      setText(changed)
      if (changed === '') drafts.delete(key)
      else drafts.set(key, changed)
    },
  ]
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

/** Returns the question to ask before the page is left, or undefined if nothing would be lost. */
export const questionNow = (): string | undefined => firstQuestion([...forms])

/** Returns the question of one of the forms. Requests come before entries. */
function firstQuestion(of: readonly Form[]): string | undefined {
  const questions = of.map(form => form.question())
  return questions.includes(FRAME.unfinished)
    ? FRAME.unfinished
    : questions.find(question => question !== undefined)
}

/** Returns a function like `questionNow`, for the forms that appear from the first render of the caller on: those of a dialog. */
export function useQuestion(): () => string | undefined {
  const [before] = useState(() => new Set(forms))
  return () => firstQuestion([...forms].filter(form => !before.has(form)))
}

/** Whether the page may be left. Asks the user if something would be lost. */
export function mayLeave(): boolean {
  const question = questionNow()
  if (question === undefined || confirm(question)) {
    drafts.clear()
    return true
  }
  for (const form of forms) form.stay()
  return false
}

/** Loads the page again without asking, because its entries are another user's. */
export function reloadForOtherUser(): void {
  forms.clear()
  location.reload()
}
