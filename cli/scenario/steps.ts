// The steps of a scenario. Each carries out the same operation as the route of the HTTP interface that has its body. To add a
// step, add a line here; the reader, the JSON Schema and the documentation follow.
import type { z } from '@hono/zod-openapi'
import type {
  CancellationLocator,
  EndorsementLocator,
  QuoteLocator,
  Uuid,
} from '../../src/kernel/locators.ts'
import {
  FeeUpdateRequest,
  PaymentCreateRequest,
  UnderwritingDecisionRequest,
} from '../../src/policy/contract/billing.ts'
import {
  PaymentScheduleChangeRequest,
  PolicyCancellationIssueRequest,
  PolicyUpdateRequest,
} from '../../src/policy/contract/requests.ts'
import { referralBy } from '../../src/rating/rate.ts'
import {
  CancellationCreateRequest,
  CancellationUpdateRequest,
} from '../../src/transactions/cancellations/contract.ts'
import {
  EndorsementActionRequest,
  EndorsementCreateRequest,
} from '../../src/transactions/endorsements/contract.ts'
import {
  GracePeriodUpdateRequest,
  ReinstatementInvoiceRequest,
} from '../../src/transactions/lapses/contract.ts'
import type { PolicyOperation } from '../../src/transactions/mechanism/kind.ts'
import { PolicyQuotePatch, PolicyQuoteUpdateRequest } from '../../src/transactions/quotes/contract-quote.ts'
import {
  ReinstatementCreateRequest,
  ReinstatementUpdateRequest,
} from '../../src/transactions/reinstatements/contract.ts'
import { RenewalActionRequest, RenewalCreateRequest } from '../../src/transactions/renewals/contract.ts'

/** Records that a step acts on: the newest that fits, unless the step names one with `of`. */
export type Target =
  | 'quote'
  | 'endorsement'
  | 'renewal'
  | 'cancellation'
  | 'reinstatement'
  | 'lapseReinstatement'
  | 'invoice'
  | 'payment'
  | 'gracePeriod'

export type StepDefinition = {
  readonly does: string
  /** The route with the same body as the step. `{record}` stands for the target. */
  readonly route: string
  readonly body?: z.ZodType
  /** Replaces `body` if the step has the property of that name. */
  readonly alternative?: { readonly property: string; readonly body: z.ZodType; readonly route: string }
  readonly target?: Target
  /** Defaults that the step adds to its body. */
  readonly unlessSaid?: Readonly<Record<string, unknown>>
  /** `body` is the contract's reading of the written body, `record` the target's locator. */
  operation(body: never, record: never): PolicyOperation
}

type Parts<S extends z.ZodType | undefined> = S extends z.ZodType ? z.infer<S> : undefined

/** Types a definition by its contract. */
const step = <S extends z.ZodType | undefined = undefined, L = undefined>(
  definition: Omit<StepDefinition, 'operation' | 'body'> & {
    body?: S
    operation(body: Parts<S>, record: L): PolicyOperation
  },
): StepDefinition => definition as unknown as StepDefinition

const AUTHOR = { caller: { username: 'scenario' } } as Parameters<typeof referralBy>[0]

const quoteStep = (action: 'quote' | 'accept' | 'invalidate' | 'discard' | 'select', does: string) =>
  step<undefined, QuoteLocator>({
    does,
    route: `PATCH /quotes/{record}/${action}`,
    target: 'quote',
    operation: (_, quote) => ({ kind: 'quote', quote, operation: { action } }),
  })

const plain = (kind: 'finalize' | 'issue' | 'discard', does: string) =>
  step({ does, route: `POST /policy/{policy}/${kind}`, operation: () => ({ kind }) })

const reinstatementStep = (action: 'accept' | 'issue' | 'invalidate', does: string) =>
  step<undefined, Uuid>({
    does,
    route: `PATCH /reinstatements/{record}/${action}`,
    target: 'reinstatement',
    operation: (_, reinstatement) => ({ kind: 'reinstatement', operation: { action, reinstatement } }),
  })

export const STEPS = {
  update: step({
    does: 'Changes a draft policy.',
    route: 'POST /policy/{policy}/update',
    body: PolicyUpdateRequest,
    operation: request => ({ kind: 'update', request }),
  }),
  finalize: plain('finalize', 'Locks, prices and underwrites a draft policy.'),
  issue: plain('issue', 'Issues the policy.'),
  discard: plain('discard', 'Discards a policy that is not issued.'),
  updateQuote: step({
    does: 'Changes a draft quote.',
    route: 'PATCH /quotes/{record}',
    target: 'quote',
    body: PolicyQuotePatch,
    operation: (request, quote: QuoteLocator) => ({
      kind: 'quote',
      quote,
      operation: { action: 'update', request },
    }),
  }),
  copyQuote: step({
    does: 'Copies a quote, optionally with changes.',
    route: 'POST /quotes/{record}/createNew',
    target: 'quote',
    body: PolicyQuoteUpdateRequest,
    operation: (request, quote: QuoteLocator) => ({
      kind: 'quote',
      quote,
      operation: { action: 'copy', request },
    }),
  }),
  selectQuote: quoteStep('select', 'Selects the quote that the policy shows.'),
  quote: quoteStep('quote', 'Prices, underwrites and locks a quote.'),
  acceptQuote: quoteStep('accept', 'Accepts a quote.'),
  invalidateQuote: quoteStep('invalidate', 'Revokes the acceptance of a quote.'),
  discardQuote: quoteStep('discard', 'Discards a quote.'),
  decideQuote: step({
    does: 'Replaces the underwriting decision on a quote with that of a person.',
    route: 'POST /quotes/{record}/underwriting',
    target: 'quote',
    body: UnderwritingDecisionRequest,
    operation: (body, quote: QuoteLocator) => ({
      kind: 'quote',
      quote,
      operation: { action: 'refer', ...referralBy(AUTHOR, body) },
    }),
  }),
  endorse: step({
    does: 'Endorses the policy: creates the endorsement and takes it through every step up to the issue.',
    route: 'POST /policies/{policy}/endorsements',
    body: EndorsementCreateRequest,
    unlessSaid: { state: 'issued' },
    operation: request => ({ kind: 'endorsement', operation: { action: 'create', request } }),
  }),
  endorsement: step({
    does: 'Updates, quotes, accepts, issues, invalidates or discards an endorsement.',
    route: 'PATCH /endorsements/{record}',
    target: 'endorsement',
    body: EndorsementActionRequest,
    operation: ({ conflictHandling, ...action }, endorsement: EndorsementLocator) => ({
      kind: 'endorsement',
      operation:
        action.action === 'update'
          ? { ...action, endorsement }
          : { ...action, endorsement, conflictHandling },
    }),
  }),
  decideEndorsement: step({
    does: 'Replaces the underwriting decision on an endorsement with that of a person.',
    route: 'POST /endorsements/{record}/underwriting',
    target: 'endorsement',
    body: UnderwritingDecisionRequest,
    operation: (body, endorsement: EndorsementLocator) => ({
      kind: 'endorsement',
      operation: { action: 'refer', endorsement, ...referralBy(AUTHOR, body) },
    }),
  }),
  renew: step({
    does: 'Renews the policy from its end: creates the renewal and takes it through every step up to the issue.',
    route: 'POST /policies/{policy}/renewals',
    body: RenewalCreateRequest,
    unlessSaid: { state: 'issued' },
    operation: request => ({ kind: 'endorsement', operation: { action: 'renew', request } }),
  }),
  renewal: step({
    does: 'Updates, quotes, accepts, issues, invalidates or discards a renewal.',
    route: 'PATCH /renewals/{record}',
    target: 'renewal',
    body: RenewalActionRequest,
    operation: ({ conflictHandling, ...action }, endorsement: EndorsementLocator) => ({
      kind: 'endorsement',
      operation:
        action.action === 'update'
          ? { ...action, endorsement }
          : { ...action, endorsement, conflictHandling },
    }),
  }),
  decideRenewal: step({
    does: 'Replaces the underwriting decision on a renewal with that of a person.',
    route: 'POST /renewals/{record}/underwriting',
    target: 'renewal',
    body: UnderwritingDecisionRequest,
    operation: (body, endorsement: EndorsementLocator) => ({
      kind: 'endorsement',
      operation: { action: 'refer', endorsement, ...referralBy(AUTHOR, body) },
    }),
  }),
  cancel: step({
    does: 'Cancels the policy and issues the cancellation. With coverageEndTimestamp: in one step and without a type.',
    route: 'POST /policies/{policy}/cancellations',
    body: CancellationCreateRequest,
    alternative: {
      property: 'coverageEndTimestamp',
      body: PolicyCancellationIssueRequest,
      route: 'POST /policy/{policy}/cancel',
    },
    unlessSaid: { issue: true },
    operation: (request: CancellationCreateRequest | PolicyCancellationIssueRequest) => ({
      kind: 'cancellation',
      operation:
        'coverageEndTimestamp' in request
          ? { action: 'legacy', coverageEndAt: request.coverageEndTimestamp }
          : { action: 'create', request },
    }),
  }),
  updateCancellation: step({
    does: 'Changes a draft cancellation.',
    route: 'PATCH /cancellations/{record}',
    target: 'cancellation',
    body: CancellationUpdateRequest,
    operation: (request, cancellation: CancellationLocator) => ({
      kind: 'cancellation',
      operation: { action: 'update', cancellation, request },
    }),
  }),
  issueCancellation: step<undefined, CancellationLocator>({
    does: 'Issues a draft cancellation.',
    route: 'PATCH /cancellations/{record}/issue',
    target: 'cancellation',
    operation: (_, cancellation) => ({ kind: 'cancellation', operation: { action: 'issue', cancellation } }),
  }),
  rescindCancellation: step<undefined, CancellationLocator>({
    does: 'Rescinds a draft cancellation.',
    route: 'PATCH /cancellations/{record}/rescind',
    target: 'cancellation',
    operation: (_, cancellation) => ({
      kind: 'cancellation',
      operation: { action: 'rescind', cancellation },
    }),
  }),
  withdraw: step({
    does: 'Withdraws the policy: cancels it from its start.',
    route: 'POST /policy/{policy}/withdraw',
    operation: () => ({ kind: 'cancellation', operation: { action: 'withdraw' } }),
  }),
  reinstate: step({
    does: 'Reinstates the cancelled policy: accepts and issues the reinstatement.',
    route: 'PATCH /cancellations/{record}/reinstate',
    target: 'cancellation',
    body: ReinstatementCreateRequest,
    unlessSaid: { issue: true },
    operation: (request, cancellation: CancellationLocator) => ({
      kind: 'reinstatement',
      operation: { action: 'create', cancellation, request },
    }),
  }),
  updateReinstatement: step({
    does: 'Changes a draft reinstatement.',
    route: 'PATCH /reinstatements/{record}',
    target: 'reinstatement',
    body: ReinstatementUpdateRequest,
    operation: (request, reinstatement: Uuid) => ({
      kind: 'reinstatement',
      operation: { action: 'update', reinstatement, request },
    }),
  }),
  acceptReinstatement: reinstatementStep('accept', 'Accepts a draft reinstatement and bills it.'),
  issueReinstatement: reinstatementStep('issue', 'Issues an accepted reinstatement.'),
  invalidateReinstatement: reinstatementStep('invalidate', 'Revokes the acceptance of a reinstatement.'),
  openReinstatement: step({
    does: 'Opens the reinstatement of a policy that lapsed the legacy way.',
    route: 'POST /policy/{policy}/createReinstatement',
    operation: () => ({ kind: 'lapse', operation: { action: 'open' } }),
  }),
  invoiceReinstatement: step({
    does: 'Invoices the reinstatement of a lapsed policy; paying the invoice issues it.',
    route: 'POST /reinstatement/{record}/invoice',
    target: 'lapseReinstatement',
    body: ReinstatementInvoiceRequest,
    operation: ({ reinstatementTimestamp }, reinstatement: Uuid) => ({
      kind: 'lapse',
      operation: { action: 'invoice', reinstatement, effectiveAt: reinstatementTimestamp },
    }),
  }),
  closeReinstatement: step<undefined, Uuid>({
    does: 'Closes the reinstatement of a lapsed policy.',
    route: 'POST /reinstatement/{record}/close',
    target: 'lapseReinstatement',
    operation: (_, reinstatement) => ({ kind: 'lapse', operation: { action: 'close', reinstatement } }),
  }),
  gracePeriod: step({
    does: 'Moves the end of the grace period.',
    route: 'PATCH /gracePeriod/{record}',
    target: 'gracePeriod',
    body: GracePeriodUpdateRequest,
    operation: (body, gracePeriod: Uuid) => ({
      kind: 'lapse',
      operation: {
        action: 'updateGrace',
        gracePeriod,
        terms: {
          endAt: body.endTimestamp,
          cancelEffectiveAt: body.cancelEffectiveTimestamp,
          resetCancelEffective: body.resetCancelEffectiveTimestamp,
        },
      },
    }),
  }),
  pay: step({
    does: 'Pays an invoice, by default the outstanding one that is due first.',
    route: 'POST /invoice/{record}/pay',
    target: 'invoice',
    body: PaymentCreateRequest,
    operation: (request, invoice: Uuid) => ({
      kind: 'payment',
      operation: { action: 'pay', invoice, request },
    }),
  }),
  reversePayment: step<undefined, Uuid>({
    does: 'Reverses a payment, by default the newest one that is not reversed.',
    route: 'POST /payments/{record}/reverse',
    target: 'payment',
    operation: (_, payment) => ({ kind: 'payment', operation: { action: 'reverse', payment } }),
  }),
  issueNextInvoice: step({
    does: 'Issues the earliest planned invoice now.',
    route: 'POST /policy/{policy}/issueNextInvoice',
    operation: () => ({ kind: 'nextInvoice' }),
  }),
  fees: step({
    does: 'Adds and reverses fees.',
    route: 'PATCH /policy/{policy}/fees',
    body: FeeUpdateRequest,
    operation: request => ({ kind: 'fees', request }),
  }),
  paymentSchedule: step({
    does: 'Changes the payment schedule of the policy.',
    route: 'POST /policy/{policy}/paymentSchedule',
    body: PaymentScheduleChangeRequest,
    operation: ({ newPaymentScheduleName: name }) => ({ kind: 'paymentSchedule', name }),
  }),
} satisfies Record<string, StepDefinition>

export type StepName = keyof typeof STEPS

/** Steps that are not operations of the policy. */
export const OTHER_STEPS = {
  updatePolicyholder: 'Changes values of the policyholder: `values`, as in POST /policyholder/update.',
  wait: 'Lets time pass until `at`. Everything that falls due until then is carried out.',
} as const

export type OtherStepName = keyof typeof OTHER_STEPS

export const STEP_NAMES: readonly string[] = [...Object.keys(STEPS), ...Object.keys(OTHER_STEPS)]
