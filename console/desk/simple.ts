// A write without a form: an explanation and one confirmation.
import { type Child, part, type View } from '../element.ts'
import { PAGE_RELOAD, withReloading } from '../reloading.ts'
import { Dialog } from './dialog.ts'
import { announceDone, confirmation, type Request, useSubmission } from './submission.ts'

type Simple = {
  readonly title: string
  /** Explains the effect: prices, amounts, states. */
  readonly about: Child
  readonly confirm: string
  readonly request: Request
  readonly done: string
  readonly close: () => void
}

export function SimpleDeed({ title, about, confirm, request, done, close }: Simple): View {
  const submission = useSubmission(() => announceDone(done))
  return part(Dialog, {
    title,
    close,
    isBusy: submission.state === 'sending',
    children: [about, withReloading(PAGE_RELOAD, confirmation(submission, confirm, request))],
  })
}
