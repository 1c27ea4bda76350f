// Applies the migrations that a deployment announces in the control database, before the code that needs them is deployed. The
// Worker that serves applies them through its bindings, with one queue message for each database. Free databases come first, one
// of them alone, then ten times as many simultaneously as are done. A database that fails is tried again later and delays no
// other. Code that needs more than the database has answers 503 `tenantBehind`. A move of tables continues over as many messages
// as it takes.
import { eq, sql } from 'drizzle-orm'
import { type Instant, now } from '../kernel/time.ts'
import { type Calls, noCalls } from '../platform/calls.ts'
import {
  type Migrated,
  type Migration,
  MOST_FAILURES,
  migrateInSteps,
} from '../platform/database/migrations.ts'
import type { Steps } from '../platform/database/moves.ts'
import { bindingTarget } from '../platform/database/target.ts'
import type { Database, Query } from '../platform/database.ts'
import { runObserved } from '../platform/observation.ts'
import { announcedMigrations, pool } from '../platform/tenancy/control-tables.ts'
import { boundDatabase, controlDatabase } from '../platform/tenancy.ts'

export type Upgrade = { readonly binding: string }

const MOST_AT_ONCE = 200

/** The limit of a queue batch. */
const MOST_SENT = 100

const MOST_CONSIDERED = 1_000

/** For all messages of a batch: each step takes three or four queries, of which a Worker may make a thousand. */
const MOST_STEPS = 200

const MINUTE_MS = 60_000

const MOST_PROBLEM_CHARACTERS = 500

const newest = sql`(select max(${announcedMigrations.name}) from ${announcedMigrations})`
const isBehind = sql`${pool.migration} < ${newest}`

/** Whether a database may be tried. Lost messages and failures are tried again after 2, 4, 8 … 64 minutes. */
const isDue = (at: Instant) =>
  sql`(${pool.triedAt} is null or ${pool.triedAt} + ${MINUTE_MS} * (1 << min(${pool.tries}, 6)) <= ${at})`

/** Sends a message for each database that may begin at `at`. Takes one round trip when none is behind. */
export async function upgradeDatabases(
  env: Env,
  calls: Calls = noCalls(),
  at: Instant = now(),
): Promise<void> {
  const control = controlDatabase(env, calls)
  const [behind] = await control.batch([behindQuery(control, at)])
  if (behind.length === 0) return
  const [[{ done, failed, underWay }]] = (await control.batch([countQuery(control, at)])) as [[Counts]]
  const atOnce = Math.min(MOST_AT_ONCE, Math.max(1, 10 * done))
  const isBound = ({ binding }: Upgrade): boolean => binding in env
  const chosen = behind
    .filter(isBound)
    .filter(({ hasFailed }) => failed < MOST_FAILURES || hasFailed)
    .slice(0, Math.max(0, Math.min(MOST_SENT, atOnce - underWay)))
  if (chosen.length === 0) return
  const [begun] = await control.batch([beginQuery(control, chosen, at)])
  await sendUpgrades(env, begun, calls)
}

const behindQuery = (database: Database, at: Instant) =>
  database.build
    .select({ binding: pool.binding, hasFailed: sql<boolean>`${pool.problem} is not null`.mapWith(Boolean) })
    .from(pool)
    .where(sql`${isBehind} and ${isDue(at)}`)
    .orderBy(
      sql`${pool.migration} = '', ${pool.problem} is not null, ${pool.state} = 'claimed', ${pool.binding}`,
    )
    .limit(MOST_CONSIDERED)

type Counts = {
  done: number
  failed: number
  /** Sent, without a result yet. */
  underWay: number
}

const countQuery = (database: Database, at: Instant) =>
  database.build
    .select({
      done: sql<number>`total(not ${isBehind})`,
      failed: sql<number>`total(${isBehind} and ${pool.problem} is not null)`,
      underWay: sql<number>`total(${isBehind} and ${pool.problem} is null and not ${isDue(at)})`,
    })
    .from(pool)

/** Skips those that another run has just begun. */
const beginQuery = (database: Database, chosen: readonly Upgrade[], at: Instant) =>
  database.build
    .update(pool)
    .set({ triedAt: at, tries: sql`${pool.tries} + 1` })
    .where(
      sql`${isBehind} and ${isDue(at)} and ${pool.binding} in
        (select value from json_each(${JSON.stringify(chosen.map(({ binding }) => binding))}))`,
    )
    .returning({ binding: pool.binding })

const isUpgrade = (body: unknown): body is Upgrade =>
  typeof (body as Partial<Upgrade> | null)?.binding === 'string'

/** Messages whose results cannot be stored are delivered again. */
export const consumeUpgrades = (batch: MessageBatch<unknown>, env: Env): Promise<void> =>
  runObserved(env, { at: 'queue', operation: 'upgrades' }, async calls => {
    const bindings = new Set(batch.messages.flatMap(({ body }) => (isUpgrade(body) ? body.binding : [])))
    const control = controlDatabase(env, calls)
    const [migrations] = await control.batch([announcedQuery(control)])
    const steps = { left: MOST_STEPS }
    const results = await Promise.all(
      [...bindings].map(async binding => ({
        binding,
        ...(await upgrade(env, binding, migrations, steps, calls)),
      })),
    )
    const queries = results.map(one => resultQuery(control, one))
    if (queries.length > 0) await control.batch(queries as [Query, ...Query[]])
    const unfinished = results.flatMap(({ binding, isDone }) => (isDone === false ? [{ binding }] : []))
    await sendUpgrades(env, unfinished, calls)
    await upgradeDatabases(env, calls)
  })

async function sendUpgrades(env: Env, upgrades: readonly Upgrade[], calls: Calls): Promise<void> {
  if (upgrades.length === 0) return
  calls.queue += 1
  await env.UPGRADES.sendBatch(upgrades.map(({ binding }) => ({ body: { binding } satisfies Upgrade })))
}

const announcedQuery = (database: Database) =>
  database.build.select().from(announcedMigrations).orderBy(announcedMigrations.name)

type UpgradeResult = { readonly problem: string; readonly isDone?: undefined } | Migrated

const resultQuery = (database: Database, { binding, ...result }: Upgrade & UpgradeResult): Query =>
  database.build.update(pool).set(changesBy(result)).where(eq(pool.binding, binding))

/** A move that continues is neither a failure nor another try. `triedAt` shows that it is in progress. */
function changesBy(result: UpgradeResult) {
  if (result.isDone === undefined) return { problem: result.problem.slice(0, MOST_PROBLEM_CHARACTERS) }
  const underWay = result.isDone ? { triedAt: null, tries: 0 } : { triedAt: now(), tries: 1 }
  return { migration: result.newest, problem: null, ...underWay }
}

/** Tries twice, since one of two simultaneous runs fails. */
async function upgrade(
  env: Env,
  binding: string,
  migrations: readonly Migration[],
  steps: Steps,
  calls: Calls,
): Promise<UpgradeResult> {
  const client = boundDatabase(env, binding)
  if (!client) return { problem: 'It is not bound.' }
  const target = bindingTarget(binding, client, calls)
  try {
    const migrated = () => migrateInSteps(target, migrations, steps)
    return await migrated().catch(migrated)
  } catch (problem) {
    console.error(JSON.stringify({ at: 'upgrades', binding, problem: String(problem) }))
    return { problem: problem instanceof Error ? problem.message : String(problem) }
  }
}
