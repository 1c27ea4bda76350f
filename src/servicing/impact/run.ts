// The work of one alarm: some portions of a tenant's policies, each recorded with the totals so far. A crash, deploy or eviction
// repeats only the portion that was not committed. Its file is then written again under the same name.

import { OperationCalls } from '../../extension/plugins/operation-calls.ts'
import { transientLocators, type Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import { letOthersRun } from '../../kernel/turns.ts'
import { type Calls, hasRoomForMore, mayReadMore, noCalls } from '../../platform/calls.ts'
import { commit, GuardTripped } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { removalTimer } from '../../platform/events/kept-records.ts'
import { systemContext } from '../../platform/system-context.ts'
import {
  HOME_SHARD,
  homeDatabase,
  type ShardName,
  SUSPENDED_LOOK_MS,
  shardDatabase,
  type Tenant,
  tenantOfShard,
} from '../../platform/tenancy.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { AGGREGATE_QUERIES, aggregateQueries, readAggregates } from '../../policy/store/aggregates.ts'
import { rowsWithinPerilLimit } from '../../policy/store/portions.ts'
import type { Policyholder } from '../../policyholders/values.ts'
import { allVersionsQuery, type LoadedConfiguration, loadConfiguration } from '../../product/cache.ts'
import { RatingTables } from '../../reference/data-tables/rating-tables.ts'
import { bookedAggregate } from './book-policy.ts'
import { type Compared, comparePolicy, type Sides } from './comparison.ts'
import { joinRows, putRows } from './files.ts'
import { type GroupingField, requestedFields } from './groups.ts'
import { csvRow } from './report/csv.ts'
import type { Skipped } from './risk.ts'
import * as store from './store.ts'
import { addToTotals } from './totals.ts'

/** Limits of one portion. A policy with more perils is a portion of its own. */
const MOST_POLICIES = 50
const MOST_PERILS = 1_000

/** Each portion that was abandoned divides the size of the following ones by this. */
const SMALLER_BY = 4

const PORTIONS_OF_ALARM = 4

/** Faults of the service at one portion before the impact goes into the state `error`, until it is resumed. */
const MOST_TRIES = 4

type Run = {
  readonly env: Env
  readonly tenant: Tenant
  readonly calls: Calls
  readonly context: RequestContext
  readonly configuration: LoadedConfiguration
  readonly fields: readonly GroupingField[]
  /** Hash by number. */
  readonly versions: ReadonlyMap<number, string>
  isHalted(): boolean
}

/** Works on an impact. Returns the milliseconds until the next alarm, or undefined if there is nothing to do until it is woken. */
export async function runImpactAlarm(
  env: Env,
  shard: ShardName,
  locator: Uuid,
  isHalted: () => boolean,
  calls: Calls = noCalls(),
): Promise<number | undefined> {
  const tenant = await tenantOfShard(env, shard, calls)
  if (!tenant || tenant.suspension?.state === 'moved') return undefined
  if (tenant.suspension) return SUSPENDED_LOOK_MS
  const context = systemContext({ env, tenant, calls }, HOME_SHARD, 'impact')
  const home = homeDatabase(context)
  const [rows, versions] = await home.batch([store.impactQuery(home, locator), allVersionsQuery(home)])
  let impact = rows[0] as store.Impact | undefined
  if (impact?.state !== 'running') return undefined
  try {
    const configuration = await loadConfiguration(env, tenant, impact.hash, calls)
    const run: Run = {
      env,
      tenant,
      calls,
      context,
      configuration,
      isHalted,
      fields: requestedFields(configuration.configuration, impact.fields),
      versions: new Map(versions.map(version => [version.version, version.hash])),
    }
    for (
      let portion = 0;
      portion < PORTIONS_OF_ALARM && impact.state === 'running' && !isHalted() && hasRoomForMore(calls);
      portion += 1
    )
      impact = await workOnPortion(run, impact, portion === 0)
    return impact.state === 'running' ? 0 : undefined
  } catch (problem) {
    // The impact was paused, resumed or removed in the meantime, or another object of it was faster.
    if (problem instanceof GuardTripped) return 0
    await countFault(context, impact)
    throw problem
  }
}

/**
 * Returns the impact after the next portion. The portion is empty at the end of a shard. Returns the impact as it was if the
 * portion needs more statements than the alarm has left.
 */
async function workOnPortion(run: Run, impact: store.Impact, isFirst: boolean): Promise<store.Impact> {
  const { env, tenant, calls } = run
  const database = shardDatabase(env, tenant, impact.shard, calls)
  const { day } = impact.question
  const [next] = await database.batch([
    store.nextPoliciesQuery(database, impact.after, day, mostPolicies(impact)),
  ])
  const chosen = rowsWithinPerilLimit(next, MOST_PERILS).map(({ locator }) => locator)
  if (chosen.length === 0) return await finishShard(run, impact)
  const locators = JSON.stringify(chosen)
  const results = (await database.batch([
    ...aggregateQueries(database, { locators }),
    store.holdersQuery(database, locators),
  ])) as unknown[]
  const aggregates = readAggregates(results.slice(0, AGGREGATE_QUERIES))
  const holders = new Map((results[AGGREGATE_QUERIES] as Policyholder[]).map(one => [one.locator, one]))
  const totals = structuredClone(impact.totals)
  const { currency, timeZone } = run.configuration.configuration
  const rows: string[] = []
  for (const aggregate of aggregates) {
    // A portion is recorded completely or not at all. If it were cut short, a new attempt could write a file with other policies.
    if (run.isHalted()) return impact
    if (!mayReadMore(calls) && chosen.length > 1) return isFirst ? await abandonPortion(run, impact) : impact
    await letOthersRun()
    const one = await compareAggregate(
      run,
      impact,
      aggregate,
      holders.get(aggregate.policy.policyholderLocator as Uuid),
    )
    addToTotals(totals, one)
    if (typeof one !== 'string') rows.push(csvRow({ ...one, notes: [] }, run.fields, currency, timeZone))
  }
  await putRows(run, impact.locator, impact.portions, rows.join(''))
  const portions = impact.portions + 1
  await joinRows(run, { locator: impact.locator, portions, totals })
  return await commitImpact(run, impact, { after: chosen.at(-1)!, totals, portions, tries: 0 })
}

/** How many policies a portion has. Look-ups that depend on each other can take 80 statements for one price. */
const mostPolicies = ({ totals: { abandoned = [] } }: store.Impact): number =>
  Math.max(1, Math.floor(MOST_POLICIES / SMALLER_BY ** abandoned.length))

/**
 * Makes the following portions smaller, because this one needs more statements than an alarm has. Its number is left out, since
 * another object of the impact may still write a file of the former size under it.
 */
const abandonPortion = (run: Run, impact: store.Impact): Promise<store.Impact> =>
  commitImpact(run, impact, {
    totals: { ...impact.totals, abandoned: [...(impact.totals.abandoned ?? []), impact.portions] },
    portions: impact.portions + 1,
    tries: 0,
  })

const finishShard = (run: Run, impact: store.Impact): Promise<store.Impact> =>
  impact.shard + 1 < run.tenant.shards.length
    ? commitImpact(run, impact, { shard: impact.shard + 1, after: 0, tries: 0 })
    : commitImpact(run, impact, { state: 'finished', tries: 0, updatedAt: run.context.now })

/** Commits changes of the impact. Its guard fails if the impact has changed since it was read. */
async function commitImpact(
  { context }: Pick<Run, 'context'>,
  impact: store.Impact,
  changes: Partial<Omit<store.Impact, 'locator'>>,
): Promise<store.Impact> {
  const database = homeDatabase(context)
  await commit(context, database, {
    shard: HOME_SHARD,
    subject: impact.locator,
    isRepeatable: true,
    guards: [store.impactGuard(impact)],
    facts: [store.changeImpactQuery(database, impact.locator, changes)],
    timers:
      changes.updatedAt === undefined
        ? []
        : [removalTimer('impact.run', impact.locator, changes.updatedAt as Instant)],
  })
  return { ...impact, ...changes }
}

async function countFault(context: RequestContext, impact: store.Impact): Promise<void> {
  const tries = impact.tries + 1
  const isOver = tries >= MOST_TRIES
  const changes = isOver ? { tries, state: 'error' as const, updatedAt: context.now } : { tries }
  await commitImpact({ context }, impact, changes).catch(problem => {
    if (!(problem instanceof GuardTripped)) throw problem
  })
}

async function compareAggregate(
  run: Run,
  impact: store.Impact,
  aggregate: PolicyAggregate,
  holder: Policyholder | undefined,
): Promise<Compared | Skipped> {
  const { env, tenant, calls } = run
  const { configVersion, productName, timeZone } = aggregate.policy
  const own = await loadConfiguration(env, tenant, run.versions.get(configVersion)!, calls)
  const product = own.configuration.products[productName]!
  const sides: Sides = {
    ...(impact.against === 'version' && { old: { configuration: own, configVersion, isNew: false } }),
    new: { configuration: run.configuration, configVersion: configVersion + 1, isNew: true },
    fields: run.fields,
    question: impact.question,
    zone: timeZone,
    price: (work, { isNew }) =>
      runPricing(
        run,
        impact.shard,
        aggregate,
        // The version of the policy is deployed.
        !isNew || impact.question.mayReadSecrets === true,
        work,
      ),
  }
  return await comparePolicy(bookedAggregate(aggregate, product, holder?.entity.values ?? {}), sides)
}

/** Plugins and tables read the tenant's data. Nothing that plugins write is kept, including their logs. */
async function runPricing<T>(
  { context, env, tenant, calls }: Run,
  shard: number,
  { policy }: PolicyAggregate,
  mayReadSecrets: boolean,
  work: Parameters<Sides['price']>[0],
): Promise<T> {
  const database = shardDatabase(env, tenant, shard, calls)
  const pluginCalls = new OperationCalls({ context, database, shard, mayReadSecrets }, policy.locator)
  const tables = new RatingTables(context)
  await tables.open()
  const supply = transientLocators(shard)
  const now: Instant = context.now
  return (await tables.inRounds(
    async () => await work({ now, supply, digits: async () => supply, plugins: pluginCalls.begin(), tables }),
  )) as T
}
