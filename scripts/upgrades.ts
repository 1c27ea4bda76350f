// The tenant databases of an environment: registers new ones in its control database, and has all migrated to this checkout's
// migrations by the Worker that serves there (src/tenants/upgrades.ts), which reads the migrations that are announced here.
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Migration,
  MOST_FAILURES,
  migrate,
  newestMigration,
  REQUIRED_TENANT_MIGRATION,
} from '../src/platform/database/migrations.ts'
import { moveOf } from '../src/platform/database/moves.ts'
import { bindingTarget, type MigrationTarget } from '../src/platform/database/target.ts'
import { migrationFiles } from './migration-files.ts'
import type { PoolDatabase } from './pool-file.ts'
import { registerQueries } from './prepare-databases.ts'
import { progressBar } from './progress.ts'

/** Some databases could not be migrated; all others are up to date. */
export class SomeAreBehind extends Error {}

/** Registers new, empty databases. They are free as soon as the Worker has migrated them. */
export async function registerNew(
  control: MigrationTarget,
  databases: readonly PoolDatabase[],
): Promise<void> {
  if (databases.length > 0) await control.execute(registerQueries(databases, ''))
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Returns the version of the Worker that has all requests. Undefined if there is none. */
export type Serving = () => Promise<string | undefined>

/**
 * Returns the migrations that databases may have now. The serving Worker applies them and must run on the result. So they end
 * before a move of tables for which it is not known to be ready: a move that this checkout adds, or that was added by a release
 * that was not deployed, or not deployed last. Before the first deployment, all are allowed. Throws if this code needs more.
 */
export async function announceableMigrations(
  control: MigrationTarget,
  migrations: readonly Migration[],
  serving: Serving,
  required = REQUIRED_TENANT_MIGRATION,
): Promise<readonly Migration[]> {
  const [state] = await control.query(
    `select exists (select 1 from deployment_resource where name like 'Worker %') as is_deployed,
       (select json_group_array(name) from announced_migration) as announced,
       (select version from deployment) as version, (select ready_moves from deployment) as ready_moves`,
  )
  if (!state?.is_deployed) return migrations
  const known = new Set(JSON.parse(String(state.announced)) as string[])
  const isHeld = (migration: Migration): boolean =>
    moveOf(migration) !== undefined && !known.has(migration.name)
  if (migrations.some(isHeld) && state.version !== null && state.version === (await serving()))
    for (const move of JSON.parse(String(state.ready_moves)) as string[]) known.add(move)
  const held = migrations.find(isHeld)
  if (!held) return migrations
  if (required >= held.name)
    throw new Error(
      `This code needs the migration ${required}, but the deployed release is not known to support the move ${held.name}. First deploy the release that introduced ${held.name}, and then this one.`,
    )
  return migrations.slice(0, migrations.indexOf(held))
}

/** Announces the migrations of this checkout to the Worker, and lets it retry databases that failed. */
export async function announceMigrations(control: MigrationTarget, serving: Serving): Promise<void> {
  const migrations = await announceableMigrations(control, await migrationFiles('tenant'), serving)
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

/** Notes the moves for which the Worker is ready that was deployed with this code and responds. */
export async function noteReadyMoves(
  control: MigrationTarget,
  serving: Serving,
  migrations?: readonly Migration[],
): Promise<void> {
  const moves = (migrations ?? (await migrationFiles('tenant'))).filter(moveOf).map(({ name }) => name)
  const version = moves.length > 0 ? await serving() : undefined
  await control.execute([
    `update deployment set version = ${version === undefined ? 'null' : quoted(version)}, ready_moves = ${quoted(JSON.stringify(moves))}`,
  ])
}

type State = {
  readonly all: number
  readonly done: number
  /** Databases begun and not finished. If there are any, a Worker is migrating. */
  readonly underWay: number
  readonly problems: readonly { readonly binding: string; readonly problem: string }[]
}

/** `withNew` includes databases that are still empty, which the Worker binds with its next deployment. */
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

/** A Worker checks once a minute. If nothing happens for this long, no Worker migrates. */
const MOST_IDLE_MS = 3 * 60_000

/** What to wait for: everything that was announced, or only what this code needs, which excludes moves that take hours. */
type Awaited = { readonly isNeeded?: boolean; readonly withNew?: boolean }

const newestAnnounced = async (control: MigrationTarget): Promise<string> => {
  const [row] = await control.query('select max(name) as name from announced_migration')
  return String(row?.name ?? REQUIRED_TENANT_MIGRATION)
}

/**
 * Waits until the Worker has migrated all databases that it binds, or has tried to. Throws a `SomeAreBehind` that names those
 * that failed, or an Error if so many failed that it stopped. Resolves to false if no Worker migrates: none is deployed, or its
 * version is too old.
 */
export async function awaitUpgrades(
  control: MigrationTarget,
  say: (line: string) => void,
  { isNeeded = false, withNew = false }: Awaited = {},
): Promise<boolean> {
  const newest = isNeeded ? REQUIRED_TENANT_MIGRATION : await newestAnnounced(control)
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
      throw new Error(`${failures.join('\n')}\nAfter this many failures, no further migration is started.`)
    if (done !== lastDone || underWay > 0) idleMs = 0
    if (idleMs >= MOST_IDLE_MS) return false
    lastDone = done
    await sleep(POLL_MS)
  }
}

/** Migrates these databases now, from this process. Moves that were not announced are left to the Worker. */
export async function migrateBound(env: Env, bindings: readonly string[]): Promise<void> {
  const control = bindingTarget('CONTROL', env.CONTROL)
  const migrations = await announceableMigrations(
    control,
    await migrationFiles('tenant'),
    async () => undefined,
  )
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
