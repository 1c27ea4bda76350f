// A migration's object calls this at each alarm: some accounts, one after the other, a portion of them in one batch with their
// states. So a crash, a deploy or an eviction repeats what was not committed, and loses nothing that was.
import type { Uuid } from '../../../kernel/locators.ts'
import { type Calls, noCalls } from '../../../platform/calls.ts'
import { commit, GuardTripped } from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import {
  HOME_SHARD,
  type ShardName,
  SUSPENDED_LOOK_MS,
  shardDatabase,
  tenantNow,
  tenantOfShard,
} from '../../../platform/tenancy.ts'
import { loadConfiguration, versionQuery } from '../../../product/cache.ts'
import { tableReader } from '../../../reference/constraints/force.ts'
import { deletedAt, deleteSources, Sources } from '../files.ts'
import { itemFailure } from '../request.ts'
import { commitChange, runningQuery } from '../service.ts'
import * as store from '../store.ts'
import { MIGRATION_TRANSITIONS, outcomeOf } from '../tables.ts'
import { preparedAccount } from './account.ts'
import { type ConfiguredRunContext, contextOf, type RunContext } from './earlier.ts'
import { type PreparedAccount, record } from './prepared.ts'

/** Accounts of one alarm, and their items together: what an alarm reads before the first of them is shared by all. */
const MOST_ACCOUNTS_AT_ONCE = 128
const MOST_ITEMS_AT_ONCE = 4_000

/** Attempts at an account that system errors end; after the last it is in error, until it is recovered. */
const MOST_TRIES = 3

/**
 * Attempts at an account that vanished without a result; then it is in error too. More than the others, since several deploys may
 * follow each other; but an account that ends every isolate must not block the rest.
 */
const MOST_CUT_OFF = 6

/** Between attempts at one account, by how often it was tried. */
const RETRY_MS = [500, 2_000]

/** How long it waits for its turn while others run. */
const TURN_MS = 2_000

/** Milliseconds until the next look is due; undefined when there is nothing to do until it is woken. */
export async function workOn(
  env: Env,
  shard: ShardName,
  locator: Uuid,
  isHalted: () => boolean,
  calls: Calls = noCalls(),
): Promise<number | undefined> {
  const tenant = await tenantOfShard(env, shard, calls)
  if (!tenant || tenant.suspension?.state === 'moved') return undefined
  if (tenant.suspension) return SUSPENDED_LOOK_MS
  const database = shardDatabase(env, tenant, shard.shard, calls)
  const home = shard.shard === HOME_SHARD ? database : shardDatabase(env, tenant, HOME_SHARD, calls)
  const [rows] = await database.batch([store.migrationQuery(database, locator)])
  const migration = rows[0] as store.Migration | undefined
  if (!migration) return undefined
  const place = { locator, shard: shard.shard, database }
  const run: RunContext = { ...place, env, tenant, calls, home, migration, isHalted }
  if (migration.state !== 'submitted' && migration.state !== 'processing') return await rest(run)
  const [, places] = await home.batch([store.takePlaceQuery(home, locator), store.placeQuery(home, locator)])
  if (!places[0]) return TURN_MS
  if (migration.state === 'submitted') return (await start(run)) ? 0 : TURN_MS
  return await workOnAccounts(run)
}

/** Gives up its turn; deletes what was sent once all of it is migrated, or it has rested for too long. */
async function rest(run: RunContext): Promise<undefined> {
  const { home, migration, locator, tenant } = run
  await home.batch([store.leavePlaceQuery(home, locator)])
  if (migration.state === 'finished' || tenantNow(tenant) >= deletedAt(migration.updatedAt))
    await deleteSources(run, locator)
  return undefined
}

/** Whether it is processing now; false if its state was changed at the same time. */
async function start(run: RunContext): Promise<boolean> {
  const { database, migration, locator } = run
  const [rows] = await database.batch([store.countsQuery(database, locator)])
  const context = contextOf(run)
  return await unlessChanged(async () => {
    const facts = [runningQuery(context, run, store.readCounts(rows))]
    await commitChange(context, run, migration, 'start', { facts })
  })
}

async function unlessChanged(work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (problem) {
    if (problem instanceof GuardTripped) return false
    throw problem
  }
}

async function workOnAccounts(run: RunContext): Promise<number | undefined> {
  const { env, tenant, calls, database, home, migration, locator } = run
  const [rows, versions, checked] = await database.batch([
    store.waitingQuery(run, MOST_ACCOUNTS_AT_ONCE),
    versionQuery(database, undefined),
    store.checkedQuery(database, migration),
  ])
  const waiting = rows as store.MigrationAccount[]
  const [first] = waiting
  if (!first) return await finish(run)
  const originalIds = waiting.map(({ originalId }) => originalId)
  const [claims] = await home.batch([store.claimsQuery(home, originalIds)])
  if (first.tries >= MOST_CUT_OFF) {
    const reason = `The service was cut off ${first.tries} times while it worked on the account; recover the migration to try again. If the account is large, send it anew with less, and the rest to POST …/migrations/accounts/{accountLocator}.`
    await giveUp(run, first, reason)
    return 0
  }
  const claimedBy = new Map(
    [...checked, ...claims].map(({ originalId, accountLocator }) => [originalId, accountLocator]),
  )
  const portions = portionsOf(beforeTwin(waiting, migration, claimedBy), MOST_ITEMS_AT_ONCE)
  const begun = new Set(portions[0])
  const waitAgain = waiting.filter(one => one.state === 'processing' && !begun.has(one))
  await database.batch([
    store.beginQuery(run, portions[0]!, tenantNow(tenant)),
    ...(waitAgain.length > 0 ? [store.waitAgainQuery(run, waitAgain, true)] : []),
  ])
  const { hash, version: configVersion } = versions[0]!
  const configuration = await loadConfiguration(env, tenant, hash, calls)
  const configured: ConfiguredRunContext = {
    ...{ ...run, configuration, configVersion, claimedBy },
    ...{ begunAt: tenantNow(tenant), readTables: tableReader(run), sources: new Sources(run, locator) },
  }
  for (const [at, portion] of portions.entries()) {
    const waitMs = await workOnPortion(configured, portion, portions[at + 1] ?? [])
    if (waitMs !== undefined) return waitMs
  }
  return 0
}

/** Milliseconds until the next look, where it is not to go on with `next`; that is begun otherwise. */
async function workOnPortion(
  run: ConfiguredRunContext,
  portion: Portion,
  next: Portion,
): Promise<number | undefined> {
  const context = contextOf(run)
  const { prepared, fault } = await prepare(run, portion, context)
  const left = portion.slice(prepared.length + (fault ? 1 : 0))
  const goesOn = !fault && left.length === 0
  if (prepared.length > 0)
    try {
      await record(run, context, prepared, goesOn ? next : [], left)
    } catch (problem) {
      return await afterFailedRecord(run, prepared, problem)
    }
  else if (left.length > 0) await run.database.batch([store.waitAgainQuery(run, left, false)])
  if (fault) return await afterFault(run, fault)
  return goesOn && next.length > 0 ? undefined : 0
}

type Fault = { readonly account: store.MigrationAccount; readonly problem: unknown }

/** The accounts up to one that cannot be worked on, or until it is halted. */
async function prepare(
  run: ConfiguredRunContext,
  portion: Portion,
  context: RequestContext,
): Promise<{ prepared: PreparedAccount[]; fault?: Fault }> {
  const prepared: PreparedAccount[] = []
  for (const account of portion) {
    if (run.isHalted()) break
    // Let other requests run: if a database answers at once, nothing else between accounts would.
    await scheduler.wait(0)
    try {
      prepared.push(await preparedAccount(run, context, account))
    } catch (problem) {
      return { prepared, fault: { account, problem } }
    }
  }
  return { prepared }
}

/** None of them is recorded. It is not known which of several is to blame, so from now on each is recorded alone. */
async function afterFailedRecord(
  run: RunContext,
  [first, ...others]: readonly PreparedAccount[],
  problem: unknown,
): Promise<number> {
  // What they depend on has changed: one was patched, or a new configuration was deployed.
  if (problem instanceof GuardTripped) return 0
  const fault = { account: first!.account, problem }
  if (others.length === 0) return await afterFault(run, fault)
  logFault(fault)
  return RETRY_MS[0]!
}

/** The account is tried again, three times in all; then it is in error, and the others go on. */
async function afterFault(run: RunContext, fault: Fault): Promise<number> {
  const { database, tenant } = run
  const { account } = fault
  const tries = account.tries + 1
  logFault(fault)
  if (tries < MOST_TRIES) {
    const changes = { tries, updatedAt: tenantNow(tenant) }
    await database.batch([store.changeAccountQuery(database, account, changes)])
    return RETRY_MS[account.tries] ?? 0
  }
  const reason = `The service failed ${tries} times; recover the migration to try again.`
  await giveUp(run, { ...account, tries }, reason)
  return 0
}

/** For operators; a client sees the outcome. */
function logFault({ account: { migrationLocator, ordinal, tries }, problem }: Fault): void {
  const text = problem instanceof Error ? (problem.stack ?? problem.message) : String(problem)
  const place = { at: 'migration', migration: migrationLocator, account: ordinal }
  console.error(JSON.stringify({ ...place, tries: tries + 1, problem: text }))
}

/** The account is in error, unless it was recorded after all; the others go on. */
async function giveUp(run: RunContext, account: store.MigrationAccount, reason: string): Promise<void> {
  const { database, shard, locator } = run
  const { accountLocator, originalId, tries, totalItems, processedItems } = account
  const context = contextOf(run)
  const errorItems = totalItems - processedItems
  await unlessChanged(async () => {
    await commit(context, database, {
      ...{ shard, subject: accountLocator },
      guards: [store.accountsGuard(locator, [account], 'processing')],
      facts: [
        store.changeAccountQuery(database, account, {
          ...{ state: 'error', tries, errorItems, updatedAt: context.now },
        }),
        ...store.replacedFailures(database, account, [itemFailure('account', originalId, [reason])]),
      ],
    })
  })
}

/** No account waits any more: the state that it comes to, with its event. */
async function finish(run: RunContext): Promise<number> {
  const { database, migration, locator } = run
  const [rows] = await database.batch([store.countsQuery(database, locator)])
  const counts = store.readCounts(rows)
  const action = outcomeOf(counts)
  const context = contextOf(run)
  const state = MIGRATION_TRANSITIONS[action].to as store.Migration['state']
  const { completed, failed, error } = counts
  await unlessChanged(async () => {
    await commitChange(context, run, migration, action, {
      facts: [store.migrationStateQuery(run, state, context.now)],
      guards: [store.nothingWaitsGuard(locator)],
      data: {
        ...{ completedAccounts: `${completed}`, failedAccounts: `${failed}`, erroredAccounts: `${error}` },
      },
    })
  })
  return 0
}

// Which accounts go into one batch: several small ones, or one that is large, or that was begun before.
/** Accounts that are recorded in one batch. */
export type Portion = readonly store.MigrationAccount[]

const MOST_ACCOUNTS = 16
const MOST_ITEMS = 600
/** Of what was sent of them. */
const MOST_BYTES = 1_048_576

/** Accounts in order, in portions. One that was begun before stands alone, so that whatever cut it off delays no other again. */
export function portionsOf(accounts: readonly store.MigrationAccount[], mostItems: number): Portion[] {
  const portions: store.MigrationAccount[][] = []
  let [items, bytes, all] = [0, 0, 0]
  for (const account of accounts) {
    if (all > mostItems) break
    const portion = portions.at(-1)
    items += account.totalItems
    bytes += account.length
    all += account.totalItems
    const isAlone = account.tries > 0 || (portion?.[0]?.tries ?? 0) > 0
    if (portion && !isAlone && portion.length < MOST_ACCOUNTS && items <= MOST_ITEMS && bytes <= MOST_BYTES) {
      portion.push(account)
      continue
    }
    portions.push([account])
    items = account.totalItems
    bytes = account.length
  }
  return portions
}

/** The accounts before the second of an id that is not migrated yet: it must be read again whether the first was made. */
export function beforeTwin(
  accounts: readonly store.MigrationAccount[],
  { type }: Pick<store.Migration, 'type'>,
  claimedBy: ReadonlyMap<string, string>,
): readonly store.MigrationAccount[] {
  if (type !== 'fullMigration') return accounts
  const seen = new Set<string>()
  const twin = accounts.findIndex(({ originalId }) => {
    if (claimedBy.has(originalId)) return false
    if (seen.has(originalId)) return true
    seen.add(originalId)
    return false
  })
  return twin < 0 ? accounts : accounts.slice(0, twin)
}
