// What happens inside a policy's object: load, decide, commit, answer (docs/design.md, section 5). Operations of
// one policy run one after the other; that nothing is lost when two instances run at once is D1's doing.
import '../kinds.ts'
import { externalRaters, PluginSessions } from '../../extension/plugins/sessions.ts'
import { type ErrorCode, Refusal } from '../../kernel/errors.ts'
import { type LocatorSupply, locatorSupply, shardOfDigits } from '../../kernel/locators.ts'
import {
  type AnswerBySubject,
  GuardTripped,
  type JsonAnswer,
  retryOnConflict,
  storedAnswer,
} from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { requireMatch } from '../../platform/http/entity-tags.ts'
import { takeLocators } from '../../platform/tenancy/sequence.ts'
import { shardDatabase } from '../../platform/tenancy.ts'
import type { Planned } from '../../policy/planned.ts'
import { type Loaded, NeedsWholePolicy, type Part } from '../../policy/surroundings.ts'
import type { Attempt } from '../../rating/attempt.ts'
import { tableReader } from '../../reference/constraints/force.ts'
import { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import { Autofill } from '../autofill/fill.ts'
import {
  EMPTY,
  type Kind,
  kindNamed,
  type Outcome,
  type PolicyOperation,
  showNothing,
  showPolicy,
} from '../mechanism/kind.ts'
import { RefusedPayOut } from '../payments/decision.ts'
import { forget, type PolicyMemory, remembered } from './memory.ts'
import type { PolicyMessage } from './message.ts'
import { type Recording, record } from './recording.ts'

/** Answers the operation; throws a Refusal when it is not carried out. */
export async function execute(
  context: RequestContext,
  message: PolicyMessage,
  memory: PolicyMemory,
): Promise<JsonAnswer | AnswerBySubject> {
  const shard = shardOfDigits(message.locator)
  const database = shardDatabase(context.env, context.tenant, shard, context.calls)
  const plugins = new PluginSessions({ context, database, shard }, message.locator)
  try {
    return await attemptAgain(context, database, message, memory, plugins)
  } catch (problem) {
    forget(memory)
    // A repeat returns the original response, even where the present state forbids the operation.
    if (!(problem instanceof Refusal)) throw problem
    const earlier = await storedAnswer(context, database)
    if (earlier) return earlier
    if (!isReadOnly(message.operation)) await plugins.tellOfFailure()
    throw plugins.withoutSecrets(problem)
  } finally {
    plugins.keepLogs()
  }
}

/** Refusals that a service of the tenant's is the reason of: nothing that is read again makes it answer otherwise. */
const OF_OTHERS: ReadonlySet<ErrorCode> = new Set([
  'externalRaterFailed',
  'integrationFailed',
  'integrationRefused',
])

/** Rating may call services of the tenant, so an operation is tried again only once. */
const ATTEMPTS = 2

/** What was read may have changed: when a guard fails, or a refusal rests on memory, everything is read again. */
function attemptAgain(
  context: RequestContext,
  database: Database,
  message: PolicyMessage,
  memory: PolicyMemory,
  plugins: PluginSessions,
): Promise<JsonAnswer | AnswerBySubject> {
  let fromMemory = false
  const mayBeStale = (problem: unknown): boolean =>
    fromMemory &&
    problem instanceof Refusal &&
    !(problem instanceof RefusedPayOut) &&
    !OF_OTHERS.has(problem.code)
  const once = async (isFirst: boolean) => {
    if (!isFirst) forget(memory)
    fromMemory = memory.loaded !== undefined
    return await attempt(context, database, message, memory, plugins)
  }
  return retryOnConflict(`Policy ${message.locator}`, once, {
    attempts: ATTEMPTS,
    isConflict: problem => problem instanceof GuardTripped || mayBeStale(problem),
  })
}

/** Of a large policy a part may do; where it does not, the whole policy is read. */
async function attempt(
  context: RequestContext,
  database: Database,
  message: PolicyMessage,
  memory: PolicyMemory,
  plugins: PluginSessions,
): Promise<JsonAnswer | AnswerBySubject> {
  // Comparing a record with a tag shows it, which needs the whole policy.
  const part =
    message.ifMatch === undefined ? kindNamed(message.operation.kind).part?.(message.operation) : undefined
  const tables = new RatingTables(context)
  await tables.open()
  const on = (some: Part | undefined) =>
    tables.inRounds(() => attemptOn(some, context, database, message, memory, plugins, tables))
  try {
    return await on(part)
  } catch (problem) {
    if (!(problem instanceof NeedsWholePolicy)) throw problem
    return await on(undefined)
  }
}

const isReadOnly = (operation: PolicyOperation): boolean =>
  kindNamed(operation.kind).isReadOnly?.(operation) ?? false

async function attemptOn(
  part: Part | undefined,
  context: RequestContext,
  database: Database,
  message: PolicyMessage,
  memory: PolicyMemory,
  plugins: PluginSessions,
  tables: RatingTables,
): Promise<JsonAnswer | AnswerBySubject> {
  const { locator, operation } = message
  const kind = kindNamed(operation.kind)
  const shard = shardOfDigits(locator)
  const lease = (count: number): Promise<number[]> =>
    count <= 0 ? Promise.resolve([]) : takeLocators(context, shard, count)
  const digits = async (count: number): Promise<LocatorSupply> => locatorSupply(shard, await lease(count))
  const session = plugins.begin()
  const autofill = new Autofill(context, locator, session, tables)
  const readTables = tableReader(context)
  const attemptWith = (supply: LocatorSupply): Attempt => ({
    now: context.now,
    supply,
    digits,
    plugins: session,
    externalRater: externalRaters(context, shard),
    tables,
    readTables,
  })
  if ('begin' in kind) {
    const begun = await kind.begin(operation, { context, database, autofill, lease, attemptWith })
    return await record(context, database, memory, {
      before: undefined,
      ...begun,
      subject: String(locator),
      plugins,
    })
  }

  if (kind.isOutdated?.(memory.loaded?.aggregate, operation, context.now)) forget(memory)
  const trust = isReadOnly(operation) ? 'unguarded' : 'guarded'
  const loaded = await remembered(context, database, memory, locator, trust, part)
  assertMatch(message, loaded)
  const filled = (await kind.fill?.(operation, loaded, autofill)) ?? operation
  const attempt = attemptWith(await digits(kind.locators?.(filled) ?? 0))
  const recorded = (planned: Planned, more: Partial<Recording>, from = context) =>
    record(from, database, memory, {
      before: loaded.aggregate,
      planned,
      attempt,
      response: showPolicy(),
      subject: String(locator),
      plugins,
      ...more,
      loaded: { ...(more.loaded ?? loaded), aggregate: planned.aggregate },
    })
  /** Carries out the plan of a refused call. Its answer is not kept for a repeat. */
  const recordRefused = async (problem: unknown): Promise<never> => {
    if (problem instanceof RefusedPayOut)
      await recorded(problem.planned, { response: showNothing }, { ...context, idempotency: undefined })
    throw problem
  }
  const run = { attempt, autofill, context, database }
  const deciding = autofill.explaining(decided(kind, loaded, filled, run))
  const outcome = await deciding.catch(recordRefused)
  if (!outcome) return EMPTY
  if ('answer' in outcome) return outcome.answer
  const { planned, subject, ...more } = outcome
  return await recorded(planned, {
    ...more,
    subject: subject === undefined ? String(locator) : `${locator}/${subject}`,
  })
}

const decided = async (kind: Kind, ...decision: Parameters<Kind['decide']>): Promise<Outcome> =>
  await kind.decide(...decision)

/** Refuses (412) where the record that the operation changes is another by now. */
function assertMatch({ operation, ifMatch }: PolicyMessage, loaded: Loaded): void {
  const record = kindNamed(operation.kind).record?.(operation)
  // A policy is read in two forms.
  const forms = record ? [record] : [false, true].map(summarizeQuotes => showPolicy({ summarizeQuotes }))
  requireMatch(ifMatch, ...forms.map(show => () => show(loaded)))
}
