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
import { commitChange, migrationPlace, runningQuery } from '../service.ts'
import * as store from '../store.ts'
import { MIGRATION_TRANSITIONS, outcomeOf } from '../tables.ts'
import { preparedAccount } from './account.ts'
import { type ConfiguredRunContext, contextOf, type RunContext } from './earlier.ts'
import { ordinalsOf, type PreparedAccount, record } from './prepared.ts'

/** Accounts of one alarm, and their items together: what an alarm reads before the first of them is shared by all. */
const MOST_ACCOUNTS_AT_ONCE = 128
const MOST_ITEMS_AT_ONCE = 4_000

/** Attempts at an account, the last of which a fault of the system ends: then it is in error, until it is recovered. */
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

/** Milliseconds until the next look is due; undefined when there is nothing to do until somebody says so. */
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
  const run: RunContext = { env, tenant, calls, shard: shard.shard, database, home, migration }
  if (migration.state !== 'submitted' && migration.state !== 'processing') return await rested(run)
  const [, places] = await home.batch([store.takePlaceQuery(home, locator), store.placeQuery(home, locator)])
  if (!places[0]) return TURN_MS
  if (migration.state === 'submitted') return (await begun(run)) ? 0 : TURN_MS
  return await someAccounts(run, isHalted)
}

/** Whoever waits for its turn may have it; what was sent goes once all of it is migrated, or nobody went on with it. */
async function rested(run: RunContext): Promise<undefined> {
  const { home, migration, tenant } = run
  await home.batch([store.leavePlaceQuery(home, migration.locator)])
  if (migration.state === 'finished' || tenantNow(tenant) >= deletedAt(migration.updatedAt))
    await deleteSources(run, migration.locator)
  return undefined
}

/** Whether it is processing now; false when somebody else changed its state. */
async function begun(run: RunContext): Promise<boolean> {
  const { database, migration } = run
  const [rows] = await database.batch([store.countsQuery(database, migration.locator)])
  const counts = store.readCounts(rows)
  const context = contextOf(run)
  const place = migrationPlace(context, migration.locator)
  return await unlessChanged(async () => {
    await commitChange(context, place, migration, 'start', {
      facts: [runningQuery(context, database, migration.locator, counts)],
    })
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

async function someAccounts(run: RunContext, isHalted: () => boolean): Promise<number | undefined> {
  const { env, tenant, calls, database, home, migration } = run
  const { locator } = migration
  const [rows, versions, checked] = await database.batch([
    store.waitingQuery(database, locator, MOST_ACCOUNTS_AT_ONCE),
    versionQuery(database, undefined),
    store.checkedQuery(database, migration),
  ])
  const waiting = rows as store.MigrationAccount[]
  if (waiting.length === 0) return await ended(run)
  const [first] = waiting
  const [claims] = await home.batch([
    store.claimsQuery(
      home,
      waiting.map(({ originalId }) => originalId),
    ),
  ])
  if (first!.tries >= MOST_CUT_OFF) {
    const said = `The service was cut off ${first!.tries} times while it worked on the account; recover the migration to try again. If the account is large, send it anew with less, and the rest to POST …/migrations/accounts/{accountLocator}.`
    await givenUp(run, first!, first!.tries, said)
    return 0
  }
  const claimedBy = new Map(
    [...checked, ...claims].map(({ originalId, accountLocator }) => [originalId, accountLocator]),
  )
  const portions = portionsOf(beforeTwin(waiting, migration, claimedBy), MOST_ITEMS_AT_ONCE)
  const begun = new Set(portions[0])
  const waitAgain = waiting.filter(one => one.state === 'processing' && !begun.has(one))
  await database.batch([
    store.beginQuery(database, locator, ordinalsOf(portions[0]!), tenantNow(tenant)),
    ...(waitAgain.length > 0 ? [store.waitAgainQuery(database, locator, ordinalsOf(waitAgain), true)] : []),
  ])
  const configuration = await loadConfiguration(env, tenant, versions[0]!.hash, calls)
  const configured: ConfiguredRunContext = {
    ...{ ...run, configuration, configVersion: versions[0]!.version },
    ...{ begunAt: tenantNow(tenant), readTables: tableReader(run) },
  }
  const sources = new Sources(run, locator)
  for (const [at, portion] of portions.entries()) {
    const read = async (
      account: store.MigrationAccount,
      context: RequestContext,
    ): Promise<PreparedAccount> => {
      const value = await sources.read(account)
      return preparedAccount(configured, context, account, value, claimedBy.get(account.originalId))
    }
    const waitMs = await onePortion(configured, portion, portions[at + 1] ?? [], { isHalted, read })
    if (waitMs !== undefined) return waitMs
  }
  return 0
}

type Work = {
  readonly isHalted: () => boolean
  readonly read: (account: store.MigrationAccount, context: RequestContext) => Promise<PreparedAccount>
}

/** Milliseconds until the next look, where it is not to go on with `next`; that is begun otherwise. */
async function onePortion(
  run: ConfiguredRunContext,
  portion: Portion,
  next: Portion,
  work: Work,
): Promise<number | undefined> {
  const { database, migration } = run
  const context = contextOf(run)
  const { prepared, fault } = await preparedPortion(portion, context, work)
  const left = portion.slice(prepared.length + (fault ? 1 : 0))
  const goesOn = !fault && left.length === 0
  if (prepared.length > 0)
    try {
      await record(run, context, prepared, { next: goesOn ? next : [], left })
    } catch (problem) {
      return await notRecorded(run, prepared, problem)
    }
  else if (left.length > 0)
    await database.batch([store.waitAgainQuery(database, migration.locator, ordinalsOf(left), false)])
  if (fault) return await afterFault(run, fault.account, fault.problem)
  return goesOn && next.length > 0 ? undefined : 0
}

type Fault = { readonly account: store.MigrationAccount; readonly problem: unknown }

/** The accounts up to one that cannot be worked on, or until it is halted. */
async function preparedPortion(
  portion: Portion,
  context: RequestContext,
  { isHalted, read }: Work,
): Promise<{ prepared: PreparedAccount[]; fault?: Fault }> {
  const prepared: PreparedAccount[] = []
  for (const account of portion) {
    if (isHalted()) break
    // A turn for whoever else waits: where a database answers at once, nothing between accounts would let others in.
    await scheduler.wait(0)
    try {
      prepared.push(await read(account, context))
    } catch (problem) {
      return { prepared, fault: { account, problem } }
    }
  }
  return { prepared }
}

/** Nothing of them is recorded. Which of several is to blame nobody can tell: from now on each goes by itself. */
async function notRecorded(
  run: RunContext,
  [first, ...others]: readonly PreparedAccount[],
  problem: unknown,
): Promise<number> {
  // What they rest on has changed: one was patched, or the configuration deployed anew.
  if (problem instanceof GuardTripped) return 0
  const { account } = first!
  if (others.length === 0) return await afterFault(run, account, problem)
  told(account, account.tries + 1, problem)
  return RETRY_MS[0]!
}

/** The account is tried again, three times in all; then it is in error, and the others go on. */
async function afterFault(
  run: RunContext,
  account: store.MigrationAccount,
  problem: unknown,
): Promise<number> {
  const { database, tenant } = run
  const tries = account.tries + 1
  told(account, tries, problem)
  if (tries >= MOST_TRIES) {
    await givenUp(
      run,
      account,
      tries,
      `The service failed ${tries} times; recover the migration to try again.`,
    )
    return 0
  }
  await database.batch([store.changeAccountQuery(database, account, { tries, updatedAt: tenantNow(tenant) })])
  return RETRY_MS[account.tries] ?? 0
}

/** Tells whoever runs the service; a client sees what comes of it. */
function told({ migrationLocator, ordinal }: store.MigrationAccount, tries: number, problem: unknown): void {
  const text = problem instanceof Error ? (problem.stack ?? problem.message) : String(problem)
  console.error(
    JSON.stringify({
      ...{ at: 'migration', migration: migrationLocator, account: ordinal },
      ...{ tries, problem: text },
    }),
  )
}

/** The account is in error, unless it was recorded after all; the others go on. */
async function givenUp(
  run: RunContext,
  account: store.MigrationAccount,
  tries: number,
  said: string,
): Promise<void> {
  const { database, shard } = run
  const context = contextOf(run)
  await unlessChanged(async () => {
    await commit(context, database, {
      shard,
      guards: [store.accountGuard(account, 'processing')],
      facts: [
        store.changeAccountQuery(database, account, {
          tries,
          updatedAt: context.now,
          state: 'error',
          errorItems: account.totalItems - account.processedItems,
        }),
        ...store.replacedFailures(database, account, [itemFailure('account', account.originalId, [said])]),
      ],
      events: [],
      timers: [],
      answer: { status: 200, text: '' },
      subject: account.accountLocator,
    })
  })
}

/** No account waits any more: the state that it comes to, with its event. */
async function ended(run: RunContext): Promise<number | undefined> {
  const { database, migration } = run
  const { locator } = migration
  const [rows] = await database.batch([store.countsQuery(database, locator)])
  const counts = store.readCounts(rows)
  const action = outcomeOf(counts)
  const context = contextOf(run)
  const state = MIGRATION_TRANSITIONS[action].to as store.Migration['state']
  await unlessChanged(async () => {
    await commitChange(context, migrationPlace(context, locator), migration, action, {
      facts: [store.migrationStateQuery(database, locator, state, context.now)],
      guards: [store.nothingWaitsGuard(locator)],
      data: {
        completedAccounts: String(counts.completed),
        failedAccounts: String(counts.failed),
        erroredAccounts: String(counts.error),
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
