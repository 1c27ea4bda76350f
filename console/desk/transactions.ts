// Dialogs that renew, cancel and reinstate a policy: a form, a preview, one confirmation.
import { useState } from 'preact/hooks'
import { aYearAfter } from '../calendar.ts'
import { type Child, h, part, type View } from '../element.ts'
import { cancellationTypes } from '../find.ts'
import { words } from '../format.ts'
import { usualStart } from '../knowledge.ts'
import type { Cancellation, Policy, Preview, ProductDetail } from '../wire.ts'
import { DESK } from '../words.ts'
import { Dialog } from './dialog.ts'
import { beginOf, dayInput, dayOf, type Option, selectInput } from './inputs.ts'
import { type Previewing, previewPlace, usePreview } from './preview.ts'
import {
  announceDone,
  confirmation,
  entryFields,
  isFixed,
  type Request,
  type Submission,
  useSubmission,
} from './submission.ts'
import { FORMS } from './words.ts'

export type TransactionProps = {
  readonly policy: Policy
  readonly product: ProductDetail
  readonly close: () => void
}

type FormShown = {
  readonly title: string
  readonly policy: Policy
  readonly close: () => void
  readonly kind: 'endorsement' | 'renewal' | 'cancellation' | 'reinstatement'
  readonly previewing: Previewing
  readonly submission: Submission
  /** The request from the current input. */
  readonly body: () => object
  readonly confirm: string
  readonly request: (asked: object, preview: Preview) => Request
  /** Whether conflicting transactions can be invalidated with it. */
  readonly mayInvalidate?: boolean
  /** The path at which an application for it is created if underwriting does not accept it. */
  readonly applicationPath?: string
  readonly product?: ProductDetail
  /** What the preview shows in addition to its figures. */
  readonly about?: (preview: Preview) => Child
  /** Something that belongs to the request is not ready yet. */
  readonly isHeldUp?: boolean
  readonly children: Child
}

/** A form with a preview. Every change of the form removes the preview, so that only what was previewed can be confirmed. */
export function TransactionForm(shown: FormShown): View {
  const { title, policy, close, kind, previewing, submission, body, confirm, request } = shown
  const { isHeldUp = false, applicationPath } = shown
  const { preview, asked } = previewing
  const invalidates = asked !== undefined && 'conflictHandling' in asked.body
  const preparing = useSubmission(() => announceApplication(policy), shown.product)
  const underWay = isFixed(preparing) ? preparing : submission
  const forget = (): void => {
    previewing.forget()
    submission.forget()
    preparing.forget()
  }
  const blocks = preview !== undefined && preview.conflicts.length > 0 && !invalidates
  const isRefused = preview?.automatedUnderwritingResult?.decision
  const mayIssue = !blocks && (isRefused === undefined || isRefused === 'accept')
  return part(Dialog, {
    title,
    close,
    isBusy: underWay.state === 'sending',
    children: [
      h(
        'form',
        {
          novalidate: true,
          input: forget,
          change: forget,
          submit: event => {
            event.preventDefault()
            if (!isFixed(underWay) && !isHeldUp) void previewing.ask(kind, body())
          },
        },
        entryFields(
          underWay,
          title,
          shown.children,
          h(
            'p',
            { class: 'button-row' },
            h('button', { type: 'submit', disabled: previewing.isBusy || isHeldUp }, DESK.preview),
          ),
        ),
      ),
      previewPlace(policy, previewing, [
        preview && shown.about?.(preview),
        blocks &&
          shown.mayInvalidate &&
          h(
            'p',
            {},
            h(
              'button',
              {
                type: 'button',
                click: () => void previewing.ask(kind, { ...body(), conflictHandling: 'invalidate' }),
              },
              DESK.invalidate,
            ),
          ),
        invalidates && h('p', { class: 'notice' }, DESK.invalidates),
        isRefused !== undefined &&
          isRefused !== 'accept' &&
          h('p', { class: 'notice' }, applicationPath ? DESK.notAccepted : FORMS.notAccepted),
      ]),
      asked && preview && confirmation(submission, confirm, request(asked.body, preview), mayIssue),
      asked &&
        !mayIssue &&
        !blocks &&
        applicationPath &&
        confirmation(preparing, DESK.prepare, {
          method: 'POST',
          path: applicationPath,
          body: { ...asked.body, state: 'application' },
        }),
    ],
  })
}

/** Opens the list of transactions, which has the next step of the application. */
function announceApplication({ locator }: Policy): void {
  history.pushState(null, '', `#/policy/${encodeURIComponent(locator)}/transactions`)
  announceDone(DESK.prepared)
}

export const policyPath = ({ locator }: Policy, rest: string): string =>
  `/policies/${encodeURIComponent(locator)}/${rest}`

/** A request that creates and issues the transaction exactly as it was previewed. */
export const previewedRequest = (
  method: string,
  path: string,
  body: object,
  { previewToken }: Preview,
): Request => ({ method, path, body, headers: { 'if-previewed': previewToken } })

export function Renew({ policy, product, close }: TransactionProps): View {
  const [end, setEnd] = useState(aYearAfter(dayOf(policy.effectiveContractEndTimestamp)))
  const [schedule, setSchedule] = useState('')
  const previewing = usePreview(policy.locator)
  const path = policyPath(policy, 'renewals')
  const submission = useSubmission(() => announceDone(DESK.renewed))
  const schedules = product.paymentSchedules.map(({ name, displayName }): Option => [name, displayName])
  return part(TransactionForm, {
    title: DESK.renew,
    policy,
    close,
    kind: 'renewal',
    previewing,
    submission,
    isHeldUp: end === '',
    confirm: DESK.issueRenewal,
    applicationPath: path,
    body: () => ({
      renewalEndTimestamp: beginOf(end),
      ...(schedule !== '' && { newPaymentScheduleName: schedule }),
    }),
    request: (asked, preview) => previewedRequest('POST', path, { ...asked, state: 'issued' }, preview),
    children: [
      dayInput(DESK.until, end, setEnd, {
        isRequired: true,
        fault: previewing.faults.get('renewal.renewalEndTimestamp'),
      }),
      selectInput(DESK.schedule, [['', DESK.scheduleStays], ...schedules], schedule, setSchedule),
    ],
  })
}

export function Cancel({ policy, product, close }: TransactionProps): View {
  const types = cancellationTypes(product)
  const [name, setName] = useState(types[0]?.name ?? '')
  const [category, setCategory] = useState('')
  const [from, setFrom] = useState(dayOf(usualStart(policy)))
  const previewing = usePreview(policy.locator)
  const submission = useSubmission(() => announceDone(DESK.cancelled))
  const categories = types.find(one => one.name === name)?.categories ?? []
  const body = {
    effectiveTimestamp: beginOf(from),
    name,
    ...(category !== '' && { cancellationCategory: category }),
  }
  return part(TransactionForm, {
    title: DESK.cancel,
    policy,
    close,
    kind: 'cancellation',
    previewing,
    submission,
    isHeldUp: from === '' || (categories.length > 0 && category === ''),
    confirm: DESK.issueCancellation,
    body: () => body,
    mayInvalidate: true,
    request: (asked, preview) =>
      previewedRequest('POST', policyPath(policy, 'cancellations'), { ...asked, issue: true }, preview),
    children: [
      selectInput(
        DESK.cancellationType,
        types.map(({ name, displayName }): Option => [name, displayName]),
        name,
        text => {
          setName(text)
          setCategory('')
        },
      ),
      categories.length > 0 &&
        selectInput(
          DESK.category,
          [['', DESK.choose], ...categories.map((one): Option => [one, words(one)])],
          category,
          setCategory,
          { hint: DESK.categoryHint, fault: previewing.faults.get('cancellation.cancellationCategory') },
        ),
      dayInput(DESK.ends, from, setFrom, {
        isRequired: true,
        fault: previewing.faults.get('cancellation.effectiveTimestamp'),
      }),
    ],
  })
}

export function Reinstate({
  policy,
  cancellation,
  close,
}: Omit<TransactionProps, 'product'> & { readonly cancellation: Cancellation }): View {
  const [from, setFrom] = useState('')
  const previewing = usePreview(policy.locator)
  const submission = useSubmission(() => announceDone(DESK.reinstated))
  const times = from === '' ? {} : { effectiveTimestamp: beginOf(from) }
  return part(TransactionForm, {
    title: DESK.reinstate,
    policy,
    close,
    kind: 'reinstatement',
    previewing,
    submission,
    confirm: DESK.issueReinstatement,
    body: () => ({ cancellationLocator: cancellation.locator, ...times }),
    request: (_, preview) =>
      previewedRequest(
        'PATCH',
        `/cancellations/${cancellation.locator}/reinstate`,
        { ...times, issue: true },
        preview,
      ),
    children: dayInput(DESK.restored, from, setFrom, {
      hint: DESK.restoredHint,
      fault: previewing.faults.get('reinstatement.effectiveTimestamp'),
    }),
  })
}
