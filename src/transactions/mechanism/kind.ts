// A kind of operation on a policy is one value: its name, its decision, how its record is shown, what
// conflicts with it. The policy's object, previews, price changes and plugins loop over
// src/transactions/kinds.ts: a new kind is its folder and one line there (docs/design.md, section 4).
import { missedInvoices } from '../../billing/billing.ts'
import { planVoidInvoices } from '../../billing/payments.ts'
import type { PluginRecord, PluginRecords } from '../../extension/plugins/transaction-records.ts'
import { wrongState } from '../../kernel/errors.ts'
import type { LocatorSupply, PolicyLocator, Uuid } from '../../kernel/locators.ts'
import { jsonWithin } from '../../kernel/long-lists.ts'
import type { Instant } from '../../kernel/time.ts'
import type { AccessToken } from '../../platform/calls.ts'
import type { AnswerBySubject, JsonAnswer } from '../../platform/commit.ts'
import type { Caller, IdempotencyKey, RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import type { IfMatch } from '../../platform/http/entity-tags.ts'
import { ask, type ObjectReply, policyObject } from '../../platform/objects.ts'
import type { Tenant } from '../../platform/tenancy.ts'
import { invoicesOf } from '../../policy/bills/amounts-due.ts'
import type { AutomatedUnderwritingResultResponse } from '../../policy/contract/billing.ts'
import type { ConflictResponse, PolicyCreateRequest } from '../../policy/contract/requests.ts'
import { type ProjectionOptions, policyAnswer } from '../../policy/projection/policy.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import type { ConflictHandling } from '../../policy/records/transactions.ts'
import type { PolicySelection } from '../../policy/store/aggregates.ts'
import type { Loaded, NewPolicyContext, Part } from '../../policy/surroundings.ts'
import { chain, type Planned } from '../../policy/transitions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { CancellationValueResponse, PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import type { Attempt } from '../../rating/rate.ts'
import type { Autofill } from '../autofill/fill.ts'
import type { IfPreviewed } from './preview-token.ts'

/**
 * The messages to a policy's object, by the kind's name. Each kind declares its own member beside its value
 * (`declare module`). Members are plain data that the previous and the next version can read.
 */
// biome-ignore lint/suspicious/noEmptyInterface: kinds extend it.
export interface PolicyOperations {}

export type KindName = keyof PolicyOperations

export type PolicyOperation<Name extends KindName = KindName> = {
  [N in Name]: { kind: N } & PolicyOperations[N]
}[Name]

/** Transactions whose price change can be requested; each kind declares its own. */
// biome-ignore lint/suspicious/noEmptyInterface: kinds extend it.
export interface PlannedChanges {}

export type PlannedChange<Name extends keyof PlannedChanges = keyof PlannedChanges> = {
  [N in Name]: { kind: N } & PlannedChanges[N]
}[Name]

/** Transactions that can be previewed, by member of the preview's request. */
// biome-ignore lint/suspicious/noEmptyInterface: kinds extend it.
export interface Previews {}

/** Shows a record as its GET does. Refuses (404) an unknown locator. */
export type Response = (loaded: Loaded) => unknown

/** What a decision can use besides the policy and the operation. */
export type Run = {
  readonly attempt: Attempt
  readonly autofill: Autofill
  readonly context: RequestContext
  readonly database: Database
}

export type RecordingOptions = {
  /** Repeating the operation changes nothing, so no record of the write is kept. */
  readonly isRepeatable?: boolean
  /** The policyholder was used, and must be as it was read. Holds for what is priced in any case. */
  readonly restsOnPolicyholder?: boolean
}

/**
 * The result of an operation: an answer alone, or a plan to record. Undefined means that there was nothing to
 * do; the answer is then empty.
 */
export type Outcome =
  | { readonly answer: JsonAnswer | AnswerBySubject }
  | (RecordingOptions & {
      readonly planned: Planned
      /** Shows the recorded state; default the policy. */
      readonly response?: Response
      /** What the response shows, after the policy's locator: a repeat of the request reads it again. */
      readonly subject?: string
      /** Set where the operation changes more than the aggregate, e.g. the configuration. */
      readonly loaded?: Loaded
    })
  | undefined

/** A quoted or accepted transaction: it blocks others, or is invalidated before them. */
export type Pending = ConflictResponse & {
  readonly createdAt: Instant
  takeBack(from: PolicyAggregate, now: Instant): Planned
}

export type PreviewOf<Request> = {
  fill?(request: Request, loaded: Loaded, autofill: Autofill): Promise<Request>
  carryOut(loaded: Loaded, request: Request, attempt: Attempt): Promise<Previewed>
  /** The same transaction as an operation, if it goes as far as the preview: to its issue. */
  issuedBy(operation: PolicyOperation): Issuing<Request> | undefined
}

/** `at`: the operation, where times that the request leaves out are those of the preview. */
export type Issuing<Request> = {
  readonly request: Request
  at(previewed: Instant, loaded: Loaded): PolicyOperation
}

/** The plan of a previewed transaction, and the modification that it makes. */
export type Previewed = { readonly planned: Planned; readonly modificationLocator: Uuid }

export type ChangeResponse =
  | PolicyPriceChangeResponse
  | CancellationValueResponse
  | AutomatedUnderwritingResultResponse

/** Stores nothing. */
export type ChangeOf<Change> = {
  fill?(change: Change, loaded: Loaded, autofill: Autofill): Promise<Change>
  decide(loaded: Loaded, change: Change, attempt: Attempt): Promise<ChangeResponse>
}

type KindBase<Name extends KindName> = {
  readonly name: Name
  /** The operation stores nothing, so it may use memory of the policy that is up to 2 s old. */
  isReadOnly?(operation: PolicyOperation<Name>): boolean
  /** The part of a large policy that may be enough; undefined for the whole policy. */
  part?(operation: PolicyOperation<Name>): Part | undefined
  /** The record that `If-Match` refers to; undefined means the policy. */
  record?(operation: PolicyOperation<Name>): Response | undefined
  /** Whether the object's memory of the policy is too old for the operation. */
  isOutdated?(remembered: Loaded | undefined, operation: PolicyOperation<Name>, now: Instant): boolean
  /** The policy's quoted and accepted transactions of this kind. */
  pending?(aggregate: PolicyAggregate): Pending[]
  readonly changes?: { readonly [C in keyof PlannedChanges]?: ChangeOf<PlannedChange<C>> }
  readonly previews?: { readonly [P in keyof Previews]?: PreviewOf<Previews[P]> }
  /** Records that plugins can read, by name. */
  readonly pluginRecords?: PluginRecords
}

export type Kind<Name extends KindName = KindName> = KindBase<Name> & {
  /** Adds the values that plugins and services fill in. */
  fill?(operation: PolicyOperation<Name>, loaded: Loaded, autofill: Autofill): Promise<PolicyOperation<Name>>
  /**
   * The number of digit locators that the decision takes from `attempt.supply`. A decision that learns the
   * number only later uses `attempt.digits`.
   */
  locators?(operation: PolicyOperation<Name>): number
  /**
   * Pure except for calls of the tenant's plugins and services. Throws a Refusal when the operation is not
   * allowed; nothing is recorded then.
   */
  decide(loaded: Loaded, operation: PolicyOperation<Name>, run: Run): Outcome | Promise<Outcome>
}

/** The kind of operation that creates a policy: there is nothing to load. */
export type FirstKind<Name extends KindName = KindName> = KindBase<Name> & {
  begin(
    operation: PolicyOperation<Name>,
    run: FirstRun,
  ): Promise<{
    readonly planned: Planned
    readonly loaded: Loaded
    readonly attempt: Attempt
    readonly response: Response
  }>
}

/** What the creating operation can use. It leases further locators itself, besides those in its message. */
export type FirstRun = Omit<Run, 'attempt'> & {
  lease(count: number): Promise<number[]>
  attemptWith(supply: LocatorSupply): Attempt
  /** What the request names. Refuses (404 or 400) what is unknown. */
  surroundings(request: PolicyCreateRequest): Promise<NewPolicyContext>
}

/** The registry calls a kind only with operations of its own name. */
export type AnyKind = Kind | FirstKind

export const defineKind = <Name extends KindName>(kind: Kind<Name>): Kind<Name> => kind

let registered: ReadonlyMap<string, AnyKind> | undefined

export function registerKinds(kinds: readonly AnyKind[]): readonly AnyKind[] {
  registered = new Map(kinds.map(kind => [kind.name, kind]))
  return kinds
}

/** Throws unless `src/transactions/kinds.ts` was imported first. */
export function allKinds(): readonly AnyKind[] {
  if (!registered) throw new Error('No kinds of operations are registered; import src/transactions/kinds.ts.')
  return [...registered.values()]
}

export function kindNamed(name: string): AnyKind {
  allKinds()
  const kind = registered!.get(name)
  if (!kind) throw new Error(`There is no kind of operation '${name}'.`)
  return kind
}

export const json = (value: unknown): JsonAnswer => ({ status: 200, text: JSON.stringify(value) })

/** A reply of an object has at most 32 MiB, and a UTF-16 unit up to three bytes. */
const LONGEST_REPLY = 8 * 2 ** 20

/** Undefined where a reply cannot hold it: then the Worker reads the record that the operation was about, and answers with it. */
export function jsonIfShort(value: unknown): JsonAnswer | undefined {
  const text = jsonWithin(value, LONGEST_REPLY)
  return text === undefined ? undefined : { status: 200, text }
}

export const EMPTY: JsonAnswer = { status: 200, text: '' }

export const showNothing: Response = () => undefined

export const showPolicy =
  ({
    summarizeQuotes = false,
    perilCharacteristics = 'fitting',
  }: Partial<ProjectionOptions> = {}): Response =>
  ({ aggregate, product }) =>
    policyAnswer(aggregate, product, { summarizeQuotes, perilCharacteristics })

/**
 * A kind of record with routes of its own, such as quotes. The Worker reads and lists by this value
 * (policies/service.ts), the policy's object checks `If-Match` with it, and plugins read it.
 */
export type RecordKind<Locator extends number | Uuid, Stored, Shown> = {
  /** For messages, e.g. `quote`. */
  readonly name: string
  readonly form: 'digits' | 'uuid'
  select(locator: Locator): PolicySelection
  /** Oldest first. */
  all(aggregate: PolicyAggregate): Iterable<Stored>
  /** Refuses (404) an unknown locator. */
  find(aggregate: PolicyAggregate, locator: Locator): Stored
  show(aggregate: PolicyAggregate, record: Stored, product: ProductDefinition): Shown
}

export const showRecord =
  <Locator extends number | Uuid, Stored>(
    kind: RecordKind<Locator, Stored, unknown>,
    locator: Locator,
  ): Response =>
  ({ aggregate, product }) =>
    kind.show(aggregate, kind.find(aggregate, locator), product)

export const pluginRecord = <Locator extends number | Uuid>(
  kind: RecordKind<Locator, unknown, unknown>,
): PluginRecord => {
  const { form, select } = kind
  return { form, select, show: (locator: Locator) => showRecord(kind, locator) } as PluginRecord
}

// Pending transactions block another one, or are invalidated first (brief 2.4).
/** In creation order. */
const pendingOf = (aggregate: PolicyAggregate, own: string): Pending[] =>
  allKinds()
    .flatMap(kind => kind.pending?.(aggregate) ?? [])
    .filter(one => one.locator !== own)
    .sort((a, b) => a.createdAt - b.createdAt)

export const hasConflicts = (aggregate: PolicyAggregate, own: string): boolean =>
  pendingOf(aggregate, own).length > 0

/** In creation order. */
export const conflictsOf = (aggregate: PolicyAggregate): ConflictResponse[] =>
  pendingOf(aggregate, '').map(({ kind, locator, state }) => ({ kind, locator, state }))

/**
 * Refuses (409) when a pending transaction conflicts with the transaction `own`. The refusal names the
 * conflicts and the `remedy`.
 */
export function assertNoConflicts(
  before: PolicyAggregate,
  own: string,
  remedy = 'Invalidate them first.',
): void {
  const conflicts = pendingOf(before, own)
  if (conflicts.length === 0) return
  throw wrongState(
    `Quoted or accepted transactions of the policy stand in the way: ${conflicts.map(one => one.locator).join(', ')}. ${remedy}`,
  )
}

/**
 * The policy without pending transactions other than `own`. Refuses (409) instead when the request says
 * `block`, and names the conflicts. `remedy` is for requests that cannot say `invalidate`.
 */
export function withoutConflicts(
  before: PolicyAggregate,
  own: string,
  handling: ConflictHandling,
  now: Instant,
  remedy = 'Invalidate them, or send conflictHandling=invalidate.',
): Planned {
  if (handling === 'block') assertNoConflicts(before, own, remedy)
  return pendingOf(before, own).reduceRight<Planned>(
    (cleared, one) => chain(cleared, one.takeBack(cleared.aggregate, now)),
    { aggregate: before, events: [] },
  )
}

/**
 * Undoes a modification that is not issued, for good: its invoices are void, their payments are reversed, and
 * what it made no longer counts. Installments that it absorbed are billed as they were planned, and at once
 * where they are already due.
 */
export function withoutModification(
  before: PolicyAggregate,
  modification: Modification,
  now: Instant,
): Planned {
  const voided = planVoidInvoices(before, invoicesOf(before, modification), now)
  const invalidated: Modification = { ...modification, invalidatedAt: now, updatedAt: now }
  const modifications = putRecords(before.modifications, [invalidated])
  const aggregate = { ...voided.aggregate, modifications }
  return { ...voided, aggregate, timers: missedInvoices(aggregate, modification, now) }
}

export type PolicyMessage = {
  tenant: Tenant
  caller: Caller
  requestId: Uuid
  idempotency?: IdempotencyKey
  /** `If-Match`: the operation's record must have one of these tags. */
  ifMatch?: IfMatch
  /** `If-Previewed`: the operation must be what was previewed, at the same price. */
  ifPreviewed?: IfPreviewed
  /** As in RequestContext. */
  adds?: boolean
  /** As in Calls; set by `askPolicy`. */
  token?: AccessToken | undefined
  locator: PolicyLocator
  operation: PolicyOperation
}

export type PolicyReply = ObjectReply<JsonAnswer | AnswerBySubject>

/** Sends the message to the policy's object. Throws the Refusal that the object returns. */
export const askPolicy = (
  { env, calls }: Pick<RequestContext, 'env' | 'calls'>,
  message: PolicyMessage,
): Promise<JsonAnswer | AnswerBySubject> =>
  ask(
    calls,
    () =>
      policyObject(env, message.tenant, message.locator).execute({
        ...message,
        token: calls.token,
      }) as Promise<PolicyReply>,
    { mayRepeat: message.idempotency !== undefined },
  )
