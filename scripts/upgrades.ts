// The tenant databases of an environment: registered in its control database as they are made, and brought up to the migrations of this
// checkout by the Worker that serves there (src/tenants/upgrades.ts), which is informed of them here.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  bindingTarget,
  type MigrationTarget,
  MOST_FAILURES,
  migrate,
  newestMigration,
} from '../src/platform/database/migrations.ts'
import { migrationFiles } from './migration-files.ts'
import type { PoolDatabase } from './pool-file.ts'
import { registerQueries } from './prepare-databases.ts'
import { progressBar } from './progress.ts'

/** Some databases could not be migrated; all others are up to date. */
export class SomeAreBehind extends Error {}

/** Registers databases that have nothing yet: free as soon as the Worker has migrated them. */
export async function registerNew(
  control: MigrationTarget,
  databases: readonly PoolDatabase[],
): Promise<void> {
  if (databases.length > 0) await control.execute(registerQueries(databases, ''))
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Tells the Worker of the migrations of this checkout, and has it try those databases again that failed. */
export async function announceMigrations(control: MigrationTarget): Promise<void> {
  const migrations = await migrationFiles('tenant')
  await control.execute([
    ...migrations.map(
      ({ name, hash, statements }) =>
        `insert into announced_migration (name, hash, statements)
         values ('${name}', '${hash}', ${quoted(JSON.stringify(statements))})
         on conflict (name) do update set hash = excluded.hash, statements = excluded.statements`,
    ),
    'update pool_database set problem = null, tried_at = null, tries = 0 where tries > 0',
  ])
}

type State = {
  readonly all: number
  readonly done: number
  /** Begun and not finished; more than none: there is a Worker that does it. */
  readonly underWay: number
  readonly problems: readonly { readonly binding: string; readonly problem: string }[]
}

/** `withNew`: databases that have nothing yet too, which the Worker binds with its next deployment. */
async function stateOf(control: MigrationTarget, newest: string, withNew: boolean): Promise<State> {
  const which = withNew ? 'true' : `migration <> ''`
  const [counts] = await control.query(
    `select count(*) as all_of_them, count(case when migration >= '${newest}' then 1 end) as done,
       count(case when migration < '${newest}' and tries > 0 and problem is null then 1 end) as under_way
     from pool_database where ${which}`,
  )
  const problems = await control.query(
    `select binding, problem from pool_database where ${which} and migration < '${newest}' and problem is not null order by binding`,
  )
  return {
    all: Number(counts?.all_of_them),
    done: Number(counts?.done),
    underWay: Number(counts?.under_way),
    problems: problems.map(({ binding, problem }) => ({
      binding: String(binding),
      problem: String(problem),
    })),
  }
}

const POLL_MS = 2_000

/** A Worker looks once a minute: who sees nothing of it for so long has none that does. */
const MOST_IDLE_MS = 3 * 60_000

/**
 * Waits until the Worker has migrated all that it has bound, or tried to. `SomeAreBehind` names those that failed; an Error says that so many did
 * that it stopped. Returns false where no Worker does it: none is deployed, or one from before it could.
 */
export async function awaitUpgrades(
  control: MigrationTarget,
  say: (line: string) => void,
  withNew = false,
): Promise<boolean> {
  const newest = newestMigration(await migrationFiles('tenant'))
  const progress = progressBar(say)
  let lastDone = -1
  for (let idleMs = 0; ; idleMs += POLL_MS) {
    const { all, done, underWay, problems } = await stateOf(control, newest, withNew)
    if (done !== lastDone) progress(done, all, `tenant databases at ${newest}`)
    const failures = problems.map(({ binding, problem }) => `${binding} could not be migrated: ${problem}`)
    if (done + problems.length >= all) {
      if (problems.length > 0) throw new SomeAreBehind(failures.join('\n'))
      return true
    }
    if (problems.length >= MOST_FAILURES && underWay === 0)
      throw new Error(`${failures.join('\n')}\nAfter so many no further one is begun.`)
    if (done !== lastDone || underWay > 0) idleMs = 0
    if (idleMs >= MOST_IDLE_MS) return false
    lastDone = done
    await sleep(POLL_MS)
  }
}

/** Migrates these databases now, from here. */
export async function migrateBound(env: Env, bindings: readonly string[]): Promise<void> {
  const migrations = await migrationFiles('tenant')
  for (const binding of bindings) {
    const client = (env as unknown as Record<string, D1Database | undefined>)[binding]
    if (!client) throw new Error(`${binding} is not bound.`)
    await migrate(bindingTarget(binding, client), migrations)
    await env.CONTROL.prepare(
      `update pool_database set migration = max(migration, ?), problem = null, tried_at = null, tries = 0 where binding = ?`,
    )
      .bind(newestMigration(migrations), binding)
      .run()
  }
}
