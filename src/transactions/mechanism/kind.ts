// A kind of operation on a policy is one value: its name, its decision, how its record is shown, what it conflicts with. The
// policy's object, previews, price changes and plugins loop over src/transactions/kinds.ts, so a new kind needs only its folder
// and one line there (docs/design.md, section 4).
import type { PluginRecord, PluginRecords } from '../../extension/plugins/transaction-records.ts'
import { jsonWithin } from '../../kernel/json.ts'
import type { LocatorSupply, Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { AnswerBySubject, JsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import type { AutomatedUnderwritingResultResponse } from '../../policy/contract/billing.ts'
import type { ConflictResponse, PolicyCreateRequest } from '../../policy/contract/requests.ts'
import { type ProjectionOptions, policyAnswer } from '../../policy/projection/policy.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { PolicySelection } from '../../policy/store/aggregates.ts'
import type { Loaded, NewPolicyContext, Part } from '../../policy/surroundings.ts'
import type { Planned } from '../../policy/transitions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { CancellationValueResponse, PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import type { Attempt } from '../../rating/rate.ts'
import type { Autofill } from '../autofill/fill.ts'

/**
 * The messages to a policy's object, by the name of the kind. Each kind declares its own member next to its value (`declare
 * module`). Members are plain data that the previous and the next version can read.
 */
// biome-ignore lint/suspicious/noEmptyInterface: kinds extend it.
export interface PolicyOperations {}

export type KindName = keyof PolicyOperations

export type PolicyOperation<Name extends KindName = KindName> = {
  [N in Name]: { kind: N } & PolicyOperations[N]
}[Name]

/** Transactions whose price change can be requested. Each kind declares its own. */
// biome-ignore lint/suspicious/noEmptyInterface: kinds extend it.
export interface PlannedChanges {}

export type PlannedChange<Name extends keyof PlannedChanges = keyof PlannedChanges> = {
  [N in Name]: { kind: N } & PlannedChanges[N]
}[Name]

/** Transactions that can be previewed, by the member of the preview request. */
// biome-ignore lint/suspicious/noEmptyInterface: kinds extend it.
export interface Previews {}

/** Shows a record as its GET does. Rejects an unknown locator with 404. */
export type Response = (loaded: Loaded) => unknown

/** Everything that a decision can use besides the policy and the operation. */
export type Run = {
  readonly attempt: Attempt
  readonly autofill: Autofill
  readonly context: RequestContext
  readonly database: Database
}

export type RecordingOptions = {
  /** Repeating the operation changes nothing, so no record of the write is kept. */
  readonly isRepeatable?: boolean
  /**
   * The plan depends on the policyholder, which must be unchanged at the commit. Always checked for a plan that prices something.
   */
  readonly restsOnPolicyholder?: boolean
}

/** The result of an operation: an answer only, or a plan to record. Undefined means that nothing was done; the answer is empty. */
export type Outcome =
  | { readonly answer: JsonAnswer | AnswerBySubject }
  | (RecordingOptions & {
      readonly planned: Planned
      /** Shows the recorded state. Default: the policy. */
      readonly response?: Response
      /** The record that the response shows, appended to the policy's locator. A repeat of the request reads that record again. */
      readonly subject?: string
      /** Set when the operation changes more than the aggregate, such as the configuration. */
      readonly loaded?: Loaded
    })
  | undefined

/** A quoted or accepted transaction. It blocks other transactions, or is invalidated before them. */
export type Pending = ConflictResponse & {
  readonly createdAt: Instant
  takeBack(from: PolicyAggregate, now: Instant): Planned
}

export type PreviewOf<Request> = {
  fill?(request: Request, loaded: Loaded, autofill: Autofill): Promise<Request>
  carryOut(loaded: Loaded, request: Request, attempt: Attempt): Promise<Previewed>
  /** Returns the operation as the issue of the previewed transaction. Undefined for others, such as one that stops before it. */
  issuedBy(operation: PolicyOperation): Issuing<Request> | undefined
}

/** `at` returns the operation with the times of the preview where the request leaves times out. */
export type Issuing<Request> = {
  readonly request: Request
  at(previewed: Instant, loaded: Loaded): PolicyOperation
}

/** The plan of a previewed transaction, and the modification that it creates. */
export type Previewed = { readonly planned: Planned; readonly modificationLocator: Uuid }

export type ChangeResponse =
  | PolicyPriceChangeResponse
  | CancellationValueResponse
  | AutomatedUnderwritingResultResponse

/** Computes a price change and stores nothing. */
export type ChangeOf<Change> = {
  fill?(change: Change, loaded: Loaded, autofill: Autofill): Promise<Change>
  decide(loaded: Loaded, change: Change, attempt: Attempt): Promise<ChangeResponse>
}

type KindBase<Name extends KindName> = {
  readonly name: Name
  /** Whether the operation stores nothing, so that it may use a remembered policy that is up to 2 s old. */
  isReadOnly?(operation: PolicyOperation<Name>): boolean
  /** Returns the part of a large policy that may be enough, or undefined for the whole policy. */
  part?(operation: PolicyOperation<Name>): Part | undefined
  /** Returns the record that `If-Match` refers to. Undefined means the policy. */
  record?(operation: PolicyOperation<Name>): Response | undefined
  /** Whether the policy that the object remembers is too old for the operation. */
  isOutdated?(remembered: Loaded | undefined, operation: PolicyOperation<Name>, now: Instant): boolean
  /** Returns the policy's quoted and accepted transactions of this kind. */
  pending?(aggregate: PolicyAggregate): Pending[]
  readonly changes?: { readonly [C in keyof PlannedChanges]?: ChangeOf<PlannedChange<C>> }
  readonly previews?: { readonly [P in keyof Previews]?: PreviewOf<Previews[P]> }
  /** Records that plugins can read, by name. */
  readonly pluginRecords?: PluginRecords
}

export type Kind<Name extends KindName = KindName> = KindBase<Name> & {
  /** Adds the values that plugins and services fill in. */
  fill?(operation: PolicyOperation<Name>, loaded: Loaded, autofill: Autofill): Promise<PolicyOperation<Name>>
  /** Counts the digit locators taken from `attempt.supply`. A decision that learns the number later uses `attempt.digits`. */
  locators?(operation: PolicyOperation<Name>): number
  /**
   * Decides the operation. Pure except for calls of the tenant's plugins and services. Throws a Refusal when the operation is not
   * allowed; nothing is recorded then.
   */
  decide(loaded: Loaded, operation: PolicyOperation<Name>, run: Run): Outcome | Promise<Outcome>
}

/** The kind of operation that creates a policy, so there is nothing to load. */
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

/** Everything that the creating operation can use. It leases any locators it needs beyond those in its message. */
export type FirstRun = Omit<Run, 'attempt'> & {
  lease(count: number): Promise<number[]>
  attemptWith(supply: LocatorSupply): Attempt
  /** Loads the records that the request names. Rejects unknown ones with 404 or 400. */
  surroundings(request: PolicyCreateRequest): Promise<NewPolicyContext>
}

/** The registry passes a kind only operations of its own name. */
export type AnyKind = Kind | FirstKind

/** Returns the kind, with its type checked. */
export const defineKind = <Name extends KindName>(kind: Kind<Name>): Kind<Name> => kind

let registered: ReadonlyMap<string, AnyKind> | undefined

/** Makes the kinds known to `kindNamed` and `allKinds`. */
export function registerKinds(kinds: readonly AnyKind[]): readonly AnyKind[] {
  registered = new Map(kinds.map(kind => [kind.name, kind]))
  return kinds
}

/** Throws unless `src/transactions/kinds.ts` was imported first. */
export function allKinds(): readonly AnyKind[] {
  if (!registered) throw new Error('No kinds of operations are registered; import src/transactions/kinds.ts.')
  return [...registered.values()]
}

/** Returns the kind. Throws an Error, a fault of Bindery, if none of that name is registered. */
export function kindNamed(name: string): AnyKind {
  allKinds()
  const kind = registered!.get(name)
  if (!kind) throw new Error(`There is no kind of operation '${name}'.`)
  return kind
}

/** An object's reply is limited to 32 MiB, and a UTF-16 code unit takes up to three bytes. */
const LONGEST_REPLY = 8 * 2 ** 20

/** Returns undefined when the answer is too long for a reply. The Worker then reads the operation's record and answers with it. */
export function jsonIfShort(value: unknown): JsonAnswer | undefined {
  const text = jsonWithin(value, LONGEST_REPLY)
  return text === undefined ? undefined : { status: 200, text }
}

/** Responds without a body. */
export const showNothing: Response = () => undefined

/** Responds with the policy as its GET does. */
export const showPolicy =
  ({
    summarizeQuotes = false,
    perilCharacteristics = 'fitting',
  }: Partial<ProjectionOptions> = {}): Response =>
  ({ aggregate, product }) =>
    policyAnswer(aggregate, product, { summarizeQuotes, perilCharacteristics })

/**
 * A kind of record with its own routes, such as quotes. The Worker reads and lists records by this value (policies/service.ts),
 * the policy's object checks `If-Match` with it, and plugins read records through it.
 */
export type RecordKind<Locator extends number | Uuid, Stored, Shown> = {
  /** For messages, such as `quote`. */
  readonly name: string
  readonly form: 'digits' | 'uuid'
  select(locator: Locator): PolicySelection
  /** Oldest first. */
  all(aggregate: PolicyAggregate): Iterable<Stored>
  /** Rejects an unknown locator with 404. */
  find(aggregate: PolicyAggregate, locator: Locator): Stored
  show(aggregate: PolicyAggregate, record: Stored, product: ProductDefinition): Shown
}

/** Responds with the record as its GET does. Throws 404 if the policy has none with the locator. */
export const showRecord =
  <Locator extends number | Uuid, Stored>(
    kind: RecordKind<Locator, Stored, unknown>,
    locator: Locator,
  ): Response =>
  ({ aggregate, product }) =>
    kind.show(aggregate, kind.find(aggregate, locator), product)

/** Returns how plugins read records of the kind: as its GET shows them. */
export const pluginRecord = <Locator extends number | Uuid>(
  kind: RecordKind<Locator, unknown, unknown>,
): PluginRecord => {
  const { form, select } = kind
  return { form, select, show: (locator: Locator) => showRecord(kind, locator) } as PluginRecord
}
