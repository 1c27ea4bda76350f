// Load, decide, commit and answer inside a policy's object (docs/design.md, section 5). Operations of a policy run one by one;
// guards in D1 keep writes safe when two instances of the object run.
import '../kinds.ts'
import { externalRaters } from '../../extension/integrations/external-rater.ts'
import { OperationCalls } from '../../extension/plugins/operation-calls.ts'
import { type ErrorCode, Refusal } from '../../kernel/errors.ts'
import { type LocatorSupply, locatorSupply, shardOfDigits, supplyOf } from '../../kernel/locators.ts'
import { type Instant, isWithinLast, later, now } from '../../kernel/time.ts'
import {
  type AnswerBySubject,
  commit,
  GuardTripped,
  type JsonAnswer,
  NO_BODY,
  retryOnConflict,
  storedAnswer,
} from '../../platform/commit.ts'
import { type RequestContext, SYSTEM_CALLER } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { requireMatch } from '../../platform/http/entity-tags.ts'
import { takeLocators } from '../../platform/tenancy/sequence.ts'
import { shardDatabase } from '../../platform/tenancy.ts'
import { journalOfChange } from '../../policy/journal/history.ts'
import { termQueries } from '../../policy/list/store.ts'
import type { ProjectionOptions } from '../../policy/projection/policy.ts'
import { lastChangedAt, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import { differenceQueries, tableUseRows, withMedia } from '../../policy/store/aggregates.ts'
import { journalQueries } from '../../policy/store/journal.ts'
import {
  configurationGuard,
  creditGuard,
  loadNewPolicyContext,
  loadPart,
  loadPolicy,
  policyGuard,
  policyholderGuard,
} from '../../policy/store/loading.ts'
import { type Loaded, NeedsWholePolicy, type Part } from '../../policy/surroundings.ts'
import type { Planned } from '../../policy/transitions.ts'
import type { Attempt } from '../../rating/rate.ts'
import { tableReader } from '../../reference/constraints/force.ts'
import { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import { Autofill } from '../autofill/fill.ts'
import { scheduleRows } from '../custom-events/plan.ts'
import { goneFileTimers, hintDocuments, jobChange, jobQueries } from '../documents/job-store.ts'
import {
  jsonIfShort,
  type Kind,
  kindNamed,
  type PolicyOperation,
  type RecordingOptions,
  type Response,
  showNothing,
  showPolicy,
} from '../mechanism/kind.ts'
import type { PolicyMessage } from '../mechanism/message.ts'
import { RefusedPayOut } from '../payments/kind.ts'
import { withConsequences } from './consequences.ts'
import { assertPreviewed, assertPreviewedPrice, rowOfUse, withPreviewedTimes } from './if-previewed.ts'
import { forgetOtherEra, forgetPolicy, type PolicyMemory, rememberPolicy } from './memory.ts'

type Execution = {
  readonly context: RequestContext
  readonly database: Database
  readonly message: PolicyMessage
  readonly memory: PolicyMemory
  readonly plugins: OperationCalls
}

type Answer = JsonAnswer | AnswerBySubject

/** Throws a Refusal. */
export async function execute(
  context: RequestContext,
  message: PolicyMessage,
  memory: PolicyMemory,
): Promise<Answer> {
  const shard = shardOfDigits(message.locator)
  const database = shardDatabase(context.env, context.tenant, shard, context.calls)
  const plugins = new OperationCalls({ context, database, shard }, message.locator)
  forgetOtherEra(memory, context.tenant)
  try {
    return await attemptAgain({ context, database, message, memory, plugins })
  } catch (problem) {
    forgetPolicy(memory)
    // A repeat returns the original response, even if the present state forbids the operation.
    if (!(problem instanceof Refusal)) throw problem
    const earlier = await storedAnswer(context, database)
    if (earlier) return earlier
    if (!isReadOnly(message.operation)) await plugins.emitFailureEvents()
    throw plugins.failed(problem)
  } finally {
    plugins.keepLogs()
  }
}

/** Refusals from a tenant's service. Reading the policy again does not change its answer. */
const CAUSED_BY_SERVICES: ReadonlySet<ErrorCode> = new Set([
  'externalRaterFailed',
  'externalRaterRefused',
  'integrationFailed',
  'integrationRefused',
])

/** Rating may call the tenant's services, so there is only one retry. */
const ATTEMPTS = 2

/**
 * More attempts for a conflict over credit: other policies of the policyholder change it from their own objects, so nothing else
 * orders these writes.
 */
const ATTEMPTS_FOR_CREDIT = 6

const isOfCredit = (problem: unknown): boolean =>
  problem instanceof GuardTripped && problem.guard === 'guard_policyholder_credit'

/**
 * Attempts the operation, and again if the state may have changed since it was read: after a failed guard, or after a refusal
 * based on memory. A retry reads everything again.
 */
function attemptAgain(execution: Execution): Promise<Answer> {
  const { message, memory } = execution
  let fromMemory = false
  const mayBeStale = (problem: unknown): boolean =>
    fromMemory &&
    problem instanceof Refusal &&
    !(problem instanceof RefusedPayOut) &&
    !CAUSED_BY_SERVICES.has(problem.code)
  const attemptOnce = async (isFirst: boolean) => {
    if (!isFirst) forgetPolicy(memory)
    fromMemory = memory.loaded !== undefined
    return await attempt(execution)
  }
  const changedSubject = (problem: unknown): string =>
    isOfCredit(problem) ? "The policyholder's credit" : `Policy ${message.locator}`
  return retryOnConflict(changedSubject, attemptOnce, {
    attempts: problem => (isOfCredit(problem) ? ATTEMPTS_FOR_CREDIT : ATTEMPTS),
    isConflict: problem => problem instanceof GuardTripped || mayBeStale(problem),
  })
}

/** Tries with a part of a large policy if the kind allows it. Reads the whole policy if the decision finds that it needs more. */
async function attempt(execution: Execution): Promise<Answer> {
  const { message } = execution
  // `If-Match` and `If-Previewed` need the whole policy.
  const isConditional = message.ifMatch !== undefined || message.ifPreviewed !== undefined
  const part = isConditional ? undefined : kindNamed(message.operation.kind).part?.(message.operation)
  const tables = new RatingTables(execution.context)
  const attemptInRounds = (read: Part | undefined) =>
    tables.inRounds(() => attemptOn(read, execution, tables))
  try {
    return await attemptInRounds(part)
  } catch (problem) {
    if (!(problem instanceof NeedsWholePolicy)) throw problem
    return await attemptInRounds(undefined)
  }
}

const isReadOnly = (operation: PolicyOperation): boolean =>
  kindNamed(operation.kind).isReadOnly?.(operation) ?? false

/** Attempts the operation once, on the policy or a part of it. */
async function attemptOn(
  part: Part | undefined,
  execution: Execution,
  tables: RatingTables,
): Promise<Answer> {
  const { context, database, message, plugins } = execution
  const { locator, operation } = message
  const kind = kindNamed(operation.kind)
  const shard = shardOfDigits(locator)
  const lease = (count: number): Promise<number[]> =>
    count <= 0 ? Promise.resolve([]) : takeLocators(context, shard, count)
  const digits = async (count: number): Promise<LocatorSupply> =>
    supplyOf(locator, locatorSupply(shard, await lease(count)))
  const calls = plugins.begin()
  const autofill = new Autofill(context, locator, calls, tables)
  const readTables = tableReader(context)
  const attemptWith = (supply: LocatorSupply, at = context.now): Attempt => ({
    now: at,
    supply,
    digits,
    plugins: calls,
    externalRater: externalRaters(context, shard),
    tables,
    readTables,
  })
  if (!('begin' in kind))
    return await attemptOnStored(kind, part, execution, { tables, autofill, digits, attemptWith })
  const begun = await kind.begin(operation, {
    context,
    database,
    autofill,
    lease,
    attemptWith,
    surroundings: request => tables.openWith(loadNewPolicyContext(context, database, request)),
  })
  return await commitPlan(execution, { before: undefined, ...begun, subject: String(locator) })
}

type Tools = {
  readonly tables: RatingTables
  readonly autofill: Autofill
  readonly digits: Attempt['digits']
  readonly attemptWith: (supply: LocatorSupply, at?: Instant) => Attempt
}

/** How far another server's clock may be ahead. A record with a later time was migrated with it. */
const MOST_AHEAD_MS = 60_000

/**
 * Returns the time of an operation on the policy. If its object has moved to a server whose clock is behind, this is the time of
 * the last change, so that no transaction precedes the one that it follows.
 */
export function timeOfOperation(present: Instant, { aggregate }: Pick<Loaded, 'aggregate'>): Instant {
  const last = lastChangedAt(aggregate)
  return last - present <= MOST_AHEAD_MS ? later(present, last) : present
}

/** Attempts an operation on a policy that exists: loads it, checks the conditions of the request, fills it in, decides and commits. */
async function attemptOnStored(
  kind: Kind,
  part: Part | undefined,
  execution: Execution,
  { tables, autofill, digits, attemptWith }: Tools,
): Promise<Answer> {
  const { context, database, message, memory } = execution
  const { locator, operation } = message
  if (kind.isOutdated?.(memory.loaded, operation, context.now)) forgetPolicy(memory)
  const trust = isReadOnly(operation) ? 'unguarded' : 'guarded'
  const loaded = await tables.openWith(recallOrLoad(execution, trust, part))
  assertMatch(message, loaded)
  await assertPreviewed(message, loaded, database)
  const completed = (await kind.fill?.(operation, loaded, autofill)) ?? operation
  const filled = withPreviewedTimes(message, completed, loaded)
  const attempt = attemptWith(
    await digits(kind.locators?.(filled) ?? 0),
    timeOfOperation(context.now, loaded),
  )
  const decide = async () => await kind.decide(loaded, filled, { attempt, autofill, context, database })
  const recordRefused = (problem: unknown) => recordRefusedPayOut(execution, loaded, attempt, problem)
  const outcome = await autofill.explaining(decide()).catch(recordRefused)
  if (!outcome) return NO_BODY
  if ('answer' in outcome) return outcome.answer
  const { planned, subject, ...options } = outcome
  assertPreviewedPrice(message, loaded, planned.aggregate)
  return await recordPlan(execution, loaded, attempt, planned, {
    ...options,
    subject: subject === undefined ? String(locator) : `${locator}/${subject}`,
  })
}

/** Commits the plan of an operation on the policy that was loaded. By default, the response shows the policy. */
const recordPlan = (
  execution: Execution,
  loaded: Loaded,
  attempt: Attempt,
  planned: Planned,
  options: Partial<Recording>,
): Promise<Answer> =>
  commitPlan(execution, {
    before: loaded.aggregate,
    planned,
    attempt,
    response: showPolicy(),
    subject: String(execution.message.locator),
    ...options,
    loaded: { ...(options.loaded ?? loaded), aggregate: planned.aggregate },
  })

/**
 * Records the plan that a refused payout carries, unless the request repeats a payout that was carried out, and throws the refusal.
 * The answer is not kept, so a repeat tries again.
 */
async function recordRefusedPayOut(
  execution: Execution,
  loaded: Loaded,
  attempt: Attempt,
  problem: unknown,
): Promise<never> {
  const { context, database } = execution
  if (problem instanceof RefusedPayOut && !(await storedAnswer(context, database))) {
    const unkept: Execution = { ...execution, context: { ...context, idempotency: undefined } }
    await recordPlan(unkept, loaded, attempt, problem.planned, { response: showNothing })
  }
  throw problem
}

/** Rejects with 412 if the record has changed since the client read it. */
function assertMatch({ operation, ifMatch }: PolicyMessage, loaded: Loaded): void {
  const record = kindNamed(operation.kind).record?.(operation)
  const form = (options?: Partial<ProjectionOptions>) => () => showPolicy(options)(loaded)
  if (record) requireMatch(ifMatch, () => record(loaded))
  // A policy has four representations, each with its own tag.
  else
    requireMatch(ifMatch, form(), [
      form({ perilCharacteristics: 'none' }),
      form({ perilCharacteristics: 'none', summarizeQuotes: true }),
      form({ summarizeQuotes: true }),
    ])
}

/** How long a price may use memory. During this time it may miss a repair of the configuration. */
const PRICE_TRUST_MS = 2_000

/**
 * Returns the policy from memory, or reads it. Writes are safe because guards fail on stale memory. Reads have no guard, so they
 * use memory for at most 2 s.
 */
async function recallOrLoad(
  { context, database, memory, message: { locator } }: Execution,
  use: 'guarded' | 'unguarded',
  part: Part | undefined,
): Promise<Loaded> {
  const isTrusted = use === 'guarded' || isWithinLast(PRICE_TRUST_MS, memory.readAt ?? 0)
  if (memory.loaded && isTrusted) return memory.loaded
  const loaded = part
    ? await loadPart(context, database, locator, part)
    : await loadPolicy(context, database, { locator })
  rememberPolicy(memory, loaded)
  return loaded
}

type Recording = {
  before: PolicyAggregate | undefined
  loaded: Loaded
  planned: Planned
  attempt: Attempt
  response: Response
  /** The locators of the policy, or of the policy and the record, as `policy` or `policy/quote`. */
  subject: string
} & RecordingOptions

/** Commits the plan with its consequences (consequences.ts) and search terms, under guards, and remembers the result. */
async function commitPlan(
  { context, database, memory, plugins, message }: Execution,
  recording: Recording,
): Promise<Answer> {
  const { before, loaded, planned: plan, attempt, response, subject } = recording
  const { isRepeatable = false, restsOnPolicyholder = false } = recording
  const isAttended = context.caller.accountLocator !== SYSTEM_CALLER.accountLocator
  const { after, credit, neededCredit, events, timers, schedules } = await withConsequences(
    before,
    loaded,
    plan,
    attempt,
    { isAttended, withMedia: aggregate => withMedia(context, before, aggregate, loaded) },
  )
  const shard = shardOfDigits(after.policy.locator)
  const recorded = { ...loaded, aggregate: after, credit }
  const shown = response(recorded)
  const answer = shown === undefined ? NO_BODY : (jsonIfShort(shown) ?? { status: 200, subject })
  const committed = await commit(context, database, {
    shard,
    guards: [
      policyGuard(before, after),
      configurationGuard(after.policy.configVersion, loaded.configuration.hash),
      ...(restsOnPolicyholder || wasPriced(before, after) ? [policyholderGuard(loaded.policyholder)] : []),
      ...(neededCredit ? [creditGuard(loaded.policyholder.locator, neededCredit)] : []),
    ],
    facts: [
      ...differenceQueries(database, before, after, loaded.unread),
      ...termQueries(database, loaded.product, before, after, loaded.unread),
      ...plugins.facts(),
      ...rowOfUse(message, database),
      ...tableUseRows(database, attempt.tables?.used ?? [], before, after, attempt.now),
      ...jobQueries(database, before, after, now()),
      ...scheduleRows(database, [{ after, schedules }], attempt.now),
      ...(context.tenant.keepsBooks
        ? journalQueries(database, journalOfChange(before, after, attempt.now))
        : []),
    ],
    events: [...events, ...plugins.events()],
    timers: [...timers, ...goneFileTimers(before, after, attempt.now)],
    answer,
    subject,
    isRepeatable,
  })
  if (['more', 'progress'].includes(jobChange(before, after)))
    hintDocuments(context, shard, after.policy.locator, after.policy.version)
  if (committed === answer) rememberPolicy(memory, recorded)
  else forgetPolicy(memory)
  return committed
}

/**
 * Whether anything was priced or underwritten again, with templates that may have read the policyholder. Only then does the write
 * depend on the policyholder's version.
 */
const wasPriced = (before: PolicyAggregate | undefined, after: PolicyAggregate): boolean =>
  [...after.modifications.values()].some(
    one => one.underwriting !== undefined && one !== before?.modifications.get(one.locator),
  )
