// Load, decide, commit and answer inside a policy's object (docs/design.md, section 5). Operations of a policy run one by one;
// guards in D1 keep writes safe when two instances of the object run.
import '../kinds.ts'
import { externalRaters } from '../../extension/integrations/external-rater.ts'
import { OperationCalls } from '../../extension/plugins/operation-calls.ts'
import { type ErrorCode, Refusal } from '../../kernel/errors.ts'
import { type LocatorSupply, locatorSupply, shardOfDigits, supplyOf } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
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
import { shardDatabase, type Tenant } from '../../platform/tenancy.ts'
import { journalOfChange } from '../../policy/journal/history.ts'
import { termQueries } from '../../policy/list/store.ts'
import type { ProjectionOptions } from '../../policy/projection/policy.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { differenceQueries, tableUseRows, withMedia } from '../../policy/store/aggregates.ts'
import { journalQueries } from '../../policy/store/journal.ts'
import { creditGuard, loadNewPolicyContext, loadPart, loadPolicy } from '../../policy/store/loading.ts'
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
import { configurationGuard, policyGuard, policyholderGuard } from './guards.ts'
import { assertPreviewed, assertPreviewedPrice, rowOfUse, withPreviewedTimes } from './if-previewed.ts'

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
  const era = eraOf(context.tenant)
  if (memory.era !== era) forgetPolicy(memory)
  memory.era = era
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
  const attemptOnPart = (some: Part | undefined) => tables.inRounds(() => attemptOn(some, execution, tables))
  try {
    return await attemptOnPart(part)
  } catch (problem) {
    if (!(problem instanceof NeedsWholePolicy)) throw problem
    return await attemptOnPart(undefined)
  }
}

const isReadOnly = (operation: PolicyOperation): boolean =>
  kindNamed(operation.kind).isReadOnly?.(operation) ?? false

async function attemptOn(
  part: Part | undefined,
  execution: Execution,
  tables: RatingTables,
): Promise<Answer> {
  const { context, database, message, memory, plugins } = execution
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
  const attemptWith = (supply: LocatorSupply): Attempt => ({
    now: context.now,
    supply,
    digits,
    plugins: calls,
    externalRater: externalRaters(context, shard),
    tables,
    readTables,
  })
  if ('begin' in kind) {
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

  if (kind.isOutdated?.(memory.loaded, operation, context.now)) forgetPolicy(memory)
  const trust = isReadOnly(operation) ? 'unguarded' : 'guarded'
  const loaded = await tables.openWith(recallOrLoad(execution, trust, part))
  assertMatch(message, loaded)
  await assertPreviewed(message, loaded, database)
  const completed = (await kind.fill?.(operation, loaded, autofill)) ?? operation
  const filled = withPreviewedTimes(message, completed, loaded)
  const attempt = attemptWith(await digits(kind.locators?.(filled) ?? 0))
  const recordPlan = (planned: Planned, more: Partial<Recording>, from = context) =>
    commitPlan(
      { ...execution, context: from },
      {
        before: loaded.aggregate,
        planned,
        attempt,
        response: showPolicy(),
        subject: String(locator),
        ...more,
        loaded: { ...(more.loaded ?? loaded), aggregate: planned.aggregate },
      },
    )
  /**
   * Records the plan that a refused payout carries, unless the request repeats a payout that was carried out. The answer is not
   * kept, so a repeat tries again.
   */
  const recordRefused = async (problem: unknown): Promise<never> => {
    if (problem instanceof RefusedPayOut && !(await storedAnswer(context, database)))
      await recordPlan(problem.planned, { response: showNothing }, { ...context, idempotency: undefined })
    throw problem
  }
  const decide = async () => await kind.decide(loaded, filled, { attempt, autofill, context, database })
  const deciding = autofill.explaining(decide())
  const outcome = await deciding.catch(recordRefused)
  if (!outcome) return NO_BODY
  if ('answer' in outcome) return outcome.answer
  const { planned, subject, ...more } = outcome
  assertPreviewedPrice(message, loaded, planned.aggregate)
  return await recordPlan(planned, {
    ...more,
    subject: subject === undefined ? String(locator) : `${locator}/${subject}`,
  })
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

// A cache of the policy's records, never the source of truth (docs/design.md, section 5).
/** The policy that the object remembers between operations. Any error drops it, since the memory itself may be wrong. */
export type PolicyMemory = {
  loaded?: Loaded
  readAt?: Instant
  /** The tenant's restores and token epoch. After a restore or a move, the same version may have other rows. */
  era?: string
}

const eraOf = ({ restores = [], tokenEpoch }: Tenant): string => `${restores.length}/${tokenEpoch}`

/** The remembered policy as it is sent to a reader, which finds the configuration by its hash. */
export type Recalled = Pick<Loaded, 'aggregate' | 'policyholder' | 'credit'> & {
  readonly configurationHash: string
}

/**
 * Returns the remembered policy if it has at least the given version. The policyholder may have changed since, so anything that
 * depends on it needs a guard.
 */
export function recallPolicy(
  { loaded, era }: PolicyMemory,
  tenant: Tenant,
  version: number,
): Recalled | undefined {
  if (!loaded || era !== eraOf(tenant) || loaded.aggregate.policy.version < version) return undefined
  const { aggregate, policyholder, credit, configuration } = loaded
  return { aggregate, policyholder, credit, configurationHash: configuration.hash }
}

/** How long a price may use memory. During this time it may miss a repair of the configuration. */
const PRICE_TRUST_MS = 2_000

/** An object keeps a policy of at most this many records in memory, about 256 KiB (docs/design.md, section 5). */
const MOST_REMEMBERED_RECORDS = 250

/**
 * Returns the policy from memory, or reads it. Writes are safe because guards fail on stale memory. Reads have no guard, so they
 * use memory for at most 2 s.
 */
async function recallOrLoad(
  { context, database, memory, message: { locator } }: Execution,
  use: 'guarded' | 'unguarded',
  part: Part | undefined,
): Promise<Loaded> {
  const age = now() - (memory.readAt ?? 0)
  if (memory.loaded && (use === 'guarded' || age < PRICE_TRUST_MS)) return memory.loaded
  const loaded = part
    ? await loadPart(context, database, locator, part)
    : await loadPolicy(context, database, { locator })
  rememberPolicy(memory, loaded)
  return loaded
}

function rememberPolicy(memory: PolicyMemory, loaded: Loaded): void {
  const { aggregate, unread } = loaded
  const records = aggregate.exposures.size + aggregate.perils.size + aggregate.modifications.size
  const small = !unread && records <= MOST_REMEMBERED_RECORDS
  memory.loaded = small ? loaded : undefined
  memory.readAt = small ? now() : undefined
}

function forgetPolicy(memory: PolicyMemory): void {
  memory.loaded = undefined
  memory.readAt = undefined
}

// Commits a plan with its consequences (consequences.ts) and search terms, under guards (docs/design.md, section 5).
type Recording = {
  before: PolicyAggregate | undefined
  loaded: Loaded
  planned: Planned
  attempt: Attempt
  response: Response
  /** The locators of the policy, or of the policy and the record, as `policy` or `policy/quote`. */
  subject: string
} & RecordingOptions

/** Commits the plan, pays its invoices from the policyholder's credit, and remembers the result. */
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
      ...tableUseRows(database, attempt.tables?.used ?? [], before, after, context.now),
      ...jobQueries(database, before, after, now()),
      ...scheduleRows(database, after, schedules, context.now),
      ...(context.tenant.keepsBooks
        ? journalQueries(database, journalOfChange(before, after, context.now))
        : []),
    ],
    events: [...events, ...plugins.events()],
    timers: [...timers, ...goneFileTimers(before, after, context.now)],
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
