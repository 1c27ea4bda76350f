// A dialog that sends a test event to a webhook and shows the result of the attempt.
import { useState } from 'preact/hooks'
import type { ActionButton } from '../action-buttons.ts'
import { Dialog } from '../desk/dialog.ts'
import { confirmation, useSubmission } from '../desk/submission.ts'
import { h, part, type View } from '../element.ts'
import type { TestDelivery } from '../wire.ts'
import { WEBHOOKS as WORDS } from './words.ts'

/** `path` is the path of the webhook. */
export const testButton = (path: string, name: string, permissions: readonly string[]): ActionButton => ({
  text: WORDS.test,
  permissions,
  open: async close => part(TestEvent, { path, name, close }),
})

type Shown = { readonly path: string; readonly name: string; readonly close: () => void }

function TestEvent({ path, name, close }: Shown): View {
  const [made, show] = useState<TestDelivery>()
  const submission = useSubmission<TestDelivery>(show)
  return part(Dialog, {
    title: WORDS.testTitle(name),
    close,
    isBusy: submission.state === 'sending',
    children: [
      h('p', {}, WORDS.testAbout),
      h(
        'div',
        { role: 'status' },
        made &&
          h(
            'div',
            { class: made.delivered ? 'notice' : 'notice bad' },
            h('p', {}, WORDS.testResult(made.outcome, made.durationMs)),
            made.excerpt && h('pre', {}, made.excerpt),
          ),
      ),
      !made && confirmation(submission, WORDS.test, { method: 'POST', path: `${path}/test` }),
    ],
  })
}
