// The work of one alarm: some accounts, recorded in portions together with their states. A crash, deploy or eviction repeats only
// the work that was not committed.
import type { Uuid } from '../../../kernel/locators.ts'
import { letOthersRun } from '../../../kernel/turns.ts'
import { type Calls, hasRoomForMore, mayReadMore, noCalls } from '../../../platform/calls.ts'
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
import { deletedAt, deleteSources, SourceGone, Sources } from '../files.ts'
import { itemFailure } from '../request.ts'
import { commitChange, runningQuery } from '../service.ts'
import * as store from '../store.ts'
import { MIGRATION_TRANSITIONS, outcomeOf } from '../tables.ts'
import { prepareAccount } from './account.ts'
import { type ConfiguredRunContext, contextOf, type RunContext } from './earlier-results.ts'
import { type PreparedAccount, recordAccounts } from './prepared.ts'

/** The number of accounts and of items in one alarm. They share what the alarm reads first. */
const MOST_ACCOUNTS_AT_ONCE = 128
const MOST_ITEMS_AT_ONCE = 4_000

/** The number of attempts that end in a system error before the account goes into the state `error`, until it is recovered. */
const MOST_TRIES = 3

/** Attempts cut off without a result. Deploys may follow each other, but an account that kills isolates must not block others. */
const MOST_CUT_OFF = 6

/** Delays between attempts, by the number of earlier tries. */
const RETRY_MS = [500, 2_000]

/** The delay before it looks for a free slot again. */
const TURN_MS = 2_000

/** Returns the milliseconds until the next alarm, or undefined if there is nothing to do until the migration is woken. */
export async function runMigrationAlarm(
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
  if (migration.state !== 'submitted' && migration.state !== 'processing') return await releaseResources(run)
  const [, slots] = await home.batch([store.takeSlotQuery(home, locator), store.slotQuery(home, locator)])
  if (!slots[0]) return TURN_MS
  if (migration.state === 'submitted') return (await startMigration(run)) ? 0 : TURN_MS
  return await workOnAccounts(run)
}

/** Frees the slot of the migration, and deletes its files if it is finished or has been idle for too long. */
async function releaseResources(run: RunContext): Promise<undefined> {
  const { home, migration, locator, tenant } = run
  await home.batch([store.leaveSlotQuery(home, locator)])
  if (migration.state === 'finished' || tenantNow(tenant) >= deletedAt(migration.updatedAt))
    await deleteSources(run, locator)
  return undefined
}

/** Starts the migration. Returns false if its state changed at the same time. */
async function startMigration(run: RunContext): Promise<boolean> {
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
  if (!first) return await finishMigration(run)
  const originalIds = waiting.map(({ originalId }) => originalId)
  const [claims] = await home.batch([store.claimsQuery(home, originalIds)])
  if (first.tries >= MOST_CUT_OFF) {
    const reason = `The service was interrupted ${first.tries} times while it processed the account. Recover the migration to try again. If the account is large, send it again with fewer items, and the rest to POST …/migrations/accounts/{accountLocator}.`
    await putInError(run, first, reason)
    return 0
  }
  const claimedBy = new Map(
    [...checked, ...claims].map(({ originalId, accountLocator }) => [originalId, accountLocator]),
  )
  const portions = portionsOf(accountsBeforeRepeatedId(waiting, migration, claimedBy), MOST_ITEMS_AT_ONCE)
  const begun = new Set(portions[0])
  const waitAgain = waiting.filter(one => one.state === 'processing' && !begun.has(one))
  await database.batch([
    store.beginQuery(run, portions[0]!, tenantNow(tenant)),
    ...(waitAgain.length > 0 ? [store.requeueQuery(run, waitAgain, true)] : []),
  ])
  const { hash, version: configVersion } = versions[0]!
  const configuration = await loadConfiguration(env, tenant, hash, calls)
  const configured: ConfiguredRunContext = {
    ...run,
    configuration,
    configVersion,
    claimedBy,
    begunAt: tenantNow(tenant),
    readTables: tableReader(run),
    sources: new Sources(run, locator),
  }
  for (const [at, portion] of portions.entries()) {
    const next = hasRoomForMore(calls) ? portions[at + 1] : undefined
    const waitMs = await workOnPortion(configured, portion, next ?? [])
    if (waitMs !== undefined) return waitMs
  }
  return 0
}

/** Works on a portion. Returns the milliseconds until the next alarm, or undefined if `next` has begun and follows immediately. */
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
      await recordAccounts(run, context, prepared, goesOn ? next : [], left)
    } catch (problem) {
      return await handleFailedRecord(run, prepared, problem)
    }
  else if (left.length > 0) await run.database.batch([store.requeueQuery(run, left, false)])
  if (fault) return await retryAfterFault(run, fault)
  return goesOn && next.length > 0 ? undefined : 0
}

type Fault = { readonly account: store.MigrationAccount; readonly problem: unknown }

/** Prepares accounts up to the first system error, or until it is halted or the alarm has sent as many statements as it may. */
async function prepare(
  run: ConfiguredRunContext,
  portion: Portion,
  context: RequestContext,
): Promise<{ prepared: PreparedAccount[]; fault?: Fault }> {
  const prepared: PreparedAccount[] = []
  for (const account of portion) {
    if (run.isHalted() || (prepared.length > 0 && !mayReadMore(run.calls))) break
    await letOthersRun()
    try {
      prepared.push(await prepareAccount(run, context, account))
    } catch (problem) {
      return { prepared, fault: { account, problem } }
    }
  }
  return { prepared }
}

/** Handles a batch that was not recorded. Any of the accounts may be the cause, so from now on each is recorded alone. */
async function handleFailedRecord(
  run: RunContext,
  [first, ...others]: readonly PreparedAccount[],
  problem: unknown,
): Promise<number> {
  // An account was patched, or a new configuration was deployed.
  if (problem instanceof GuardTripped) return 0
  const fault = { account: first!.account, problem }
  if (others.length === 0) return await retryAfterFault(run, fault)
  logFault(fault)
  return RETRY_MS[0]!
}

/**
 * Whether the tenant was restored after the migration was sent. A missing file was then deleted when the migration had finished,
 * and does not come back.
 */
const wasRestored = ({ tenant: { restores = [] }, migration }: RunContext): boolean =>
  restores.some(({ at }) => at > migration.createdAt)

const SOURCE_GONE =
  'The data that was sent for the account was deleted when the migration finished, and the tenant was restored to an earlier time. Send the account again.'

/** Retries the account up to `MOST_TRIES` times. After that it is in error, and the others continue. */
async function retryAfterFault(run: RunContext, fault: Fault): Promise<number> {
  const { database, tenant } = run
  const { account } = fault
  const tries = account.tries + 1
  logFault(fault)
  if (fault.problem instanceof SourceGone && wasRestored(run)) {
    await putInError(run, { ...account, tries }, SOURCE_GONE)
    return 0
  }
  if (tries < MOST_TRIES) {
    const changes = { tries, updatedAt: tenantNow(tenant) }
    await database.batch([store.changeAccountQuery(database, account, changes)])
    return RETRY_MS[account.tries] ?? 0
  }
  const reason = `The service failed ${tries} times. Recover the migration to try again.`
  await putInError(run, { ...account, tries }, reason)
  return 0
}

/** For operators. A client sees the outcome. */
function logFault({ account: { migrationLocator, ordinal, tries }, problem }: Fault): void {
  const text = problem instanceof Error ? (problem.stack ?? problem.message) : String(problem)
  const place = { at: 'migration', migration: migrationLocator, account: ordinal }
  console.error(JSON.stringify({ ...place, tries: tries + 1, problem: text }))
}

/** Puts the account in error, unless it was recorded after all. */
async function putInError(run: RunContext, account: store.MigrationAccount, reason: string): Promise<void> {
  const { database, shard, locator } = run
  const { accountLocator, originalId, tries, totalItems, processedItems } = account
  const context = contextOf(run)
  const errorItems = totalItems - processedItems
  await unlessChanged(async () => {
    await commit(context, database, {
      shard,
      subject: accountLocator,
      guards: [store.accountsGuard(locator, [account], 'processing')],
      facts: [
        store.changeAccountQuery(database, account, {
          state: 'error',
          tries,
          errorItems,
          updatedAt: context.now,
        }),
        ...store.replacedFailures(database, account, [itemFailure('account', originalId, [reason])]),
      ],
    })
  })
}

/** Ends the run. Call it when no account waits. */
async function finishMigration(run: RunContext): Promise<number> {
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
      guards: [store.noneWaitingGuard(locator)],
      data: {
        completedAccounts: `${completed}`,
        failedAccounts: `${failed}`,
        erroredAccounts: `${error}`,
      },
    })
  })
  return 0
}

/** Accounts that are recorded in one batch. */
export type Portion = readonly store.MigrationAccount[]

const MOST_ACCOUNTS = 16
const MOST_ITEMS = 600
const MOST_BYTES = 1_048_576

/** Divides accounts into portions. One that had begun before is alone, so that whatever cut it off delays no others again. */
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

/** Returns the accounts before a repeated id. The next alarm must see whether the first account with that id was created. */
export function accountsBeforeRepeatedId(
  accounts: readonly store.MigrationAccount[],
  { type }: Pick<store.Migration, 'type'>,
  claimedBy: ReadonlyMap<string, string>,
): readonly store.MigrationAccount[] {
  if (type !== 'fullMigration') return accounts
  const seen = new Set<string>()
  const repeated = accounts.findIndex(({ originalId }) => {
    if (claimedBy.has(originalId)) return false
    if (seen.has(originalId)) return true
    seen.add(originalId)
    return false
  })
  return repeated < 0 ? accounts : accounts.slice(0, repeated)
}
