import type { PolicyLocator, QuoteLocator, Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { AnswerBySubject, JsonAnswer } from '../../platform/commit.ts'
import type { Caller, IdempotencyKey, RequestContext } from '../../platform/context.ts'
import type { CustomEventType } from '../../platform/events/types.ts'
import type { IfMatch } from '../../platform/http/entity-tags.ts'
import { ask, type ObjectReply, policyObject } from '../../platform/objects.ts'
import type { Tenant } from '../../platform/tenancy.ts'
import type { FeeUpdateRequest } from '../../policy/contract/fees.ts'
import type { PolicyCreateRequest, PolicyUpdateRequest } from '../../policy/contract/requests.ts'
import type { PolicyDocument } from '../../policy/records/document.ts'
import type { CancellationOperation } from '../cancellations/decision.ts'
import type { Made } from '../documents/made.ts'
import type { EndorsementOperation } from '../endorsements/decision.ts'
import type { LapseOperation } from '../lapses/decision.ts'
import type { PaymentOperation } from '../payments/decision.ts'
import type { PlannedChange } from '../planned-change.ts'
import type { QuoteOperation } from '../quotes/decision.ts'
import type { ReinstatementOperation } from '../reinstatements/decision.ts'
import type { TermEndNotice } from '../term-end.ts'
import type { PolicyUpgradeRequest } from '../upgrade/contract.ts'

export type PolicyOperation =
  /** `digits` are the locators leased for it; the first is the policy's own. */
  | { kind: 'create'; request: PolicyCreateRequest; digits: number[]; summarizeQuotes: boolean }
  | { kind: 'update'; request: PolicyUpdateRequest }
  | { kind: 'finalize' }
  | { kind: 'issue' }
  | { kind: 'discard' }
  /** An action on one of the policy's quotes. */
  | { kind: 'quote'; quote: QuoteLocator; operation: QuoteOperation }
  /** An action on the policy's endorsements and renewals; the legacy ones answer with the policy. */
  | { kind: 'endorsement'; operation: EndorsementOperation; answersPolicy?: boolean }
  /** An action on the policy's cancellations, or a cancellation or withdrawal in one step. */
  | { kind: 'cancellation'; operation: CancellationOperation }
  | { kind: 'reinstatement'; operation: ReinstatementOperation }
  /** Grace periods, legacy lapses and their reinstatements. */
  | { kind: 'lapse'; operation: LapseOperation }
  /** What a lapsed policy's reinstatement would ask for; nothing is stored. */
  | { kind: 'amountDue'; reinstatement: Uuid; effectiveAt: Instant }
  | { kind: 'payment'; operation: PaymentOperation }
  /** The earliest planned invoice, before its time. */
  | { kind: 'nextInvoice' }
  /** Fees added and taken back; answers with the policy's fees. */
  | { kind: 'fees'; request: FeeUpdateRequest }
  | { kind: 'paymentSchedule'; name: string }
  /** What a cancellation or reinstatement would change of the price; nothing is stored. */
  | { kind: 'change'; of: PlannedChange }
  /** To another version of the configuration; with `dryRun` nothing is stored. */
  | { kind: 'upgrade'; request: PolicyUpgradeRequest }
  /** Prices without storing anything; `due` in the form of GET. */
  | { kind: 'price'; due: boolean }
  /** The decision as stored, or as it would be now. */
  | { kind: 'underwriting' }
  | { kind: 'addDocument'; document: PolicyDocument }
  | { kind: 'removeDocument'; document: Uuid }
  /** Documents were made, or failed, while the policyholder had this version. */
  | { kind: 'documentsMade'; made: readonly Made[]; policyholderVersion?: number }
  /** From the clock: invoices whose time has come. */
  | { kind: 'invoice' }
  /** From the clock: the cover ends by a cancellation. */
  | { kind: 'coverEnd'; modification: Uuid }
  /** From the clock: a custom event that comes by the calendar. */
  | { kind: 'scheduledEvent'; time: { type: CustomEventType; time: Instant } }
  /** From the clock: the end of the policy has come, or a reminder before it. */
  | { kind: 'termEnd'; notice: TermEndNotice }

export type PolicyMessage = {
  tenant: Tenant
  caller: Caller
  requestId: Uuid
  idempotency?: IdempotencyKey
  /** The record that the operation changes must be as one of these tags says. */
  ifMatch?: IfMatch
  locator: PolicyLocator
  operation: PolicyOperation
}

export type PolicyReply = ObjectReply<JsonAnswer | AnswerBySubject>

/** Hands the message to the policy's object; throws its Refusal. */
export const askPolicy = (
  { env, calls }: Pick<RequestContext, 'env' | 'calls'>,
  message: PolicyMessage,
): Promise<JsonAnswer | AnswerBySubject> =>
  ask(
    calls,
    () => policyObject(env, message.tenant, message.locator).execute(message) as Promise<PolicyReply>,
  )
