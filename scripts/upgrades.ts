// The tenant databases of an environment: registered in its control database as they are made, and brought up to the migrations of this
// checkout by the Worker that serves there (src/tenants/upgrades.ts), which is informed of them here.
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

/** Registers databases that have nothing yet: free as soon as the Worker has migrated them. */
export async function registerNew(
  control: MigrationTarget,
  databases: readonly PoolDatabase[],
): Promise<void> {
  if (databases.length > 0) await control.execute(registerQueries(databases, ''))
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Version of the Worker that has all requests; undefined when there is none. */
export type Serving = () => Promise<string | undefined>

/**
 * The migrations that databases may have now. The Worker that serves carries them out and runs on what becomes of them. So they end before
 * a move of tables that it is not known to be ready for: one that this checkout brings, or that was brought by a release which
 * was not deployed, or not last. Where nothing was deployed yet, all may be. An Error when this code needs more.
 */
export async function announceable(
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
      `This code needs the migration ${required}, and the release that serves is not known to be ready for the move ${held.name}. Deploy the release that brought ${held.name} first, and then this one.`,
    )
  return migrations.slice(0, migrations.indexOf(held))
}

/** Tells the Worker of the migrations of this checkout, and has it try those databases again that failed. */
export async function announceMigrations(control: MigrationTarget, serving: Serving): Promise<void> {
  const migrations = await announceable(control, await migrationFiles('tenant'), serving)
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

/** Notes for which moves the Worker is ready that was deployed with this code and answers. */
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

/** What is waited for: all that was announced, or only what this code needs, which leaves out moves that go on for hours. */
type Awaited = { readonly isNeeded?: boolean; readonly withNew?: boolean }

const newestAnnounced = async (control: MigrationTarget): Promise<string> => {
  const [row] = await control.query('select max(name) as name from announced_migration')
  return String(row?.name ?? REQUIRED_TENANT_MIGRATION)
}

/**
 * Waits until the Worker has migrated all that it has bound, or tried to. `SomeAreBehind` names those that failed; an Error says that so many did
 * that it stopped. Returns false where no Worker does it: none is deployed, or one from before it could.
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
      throw new Error(`${failures.join('\n')}\nAfter so many no further one is begun.`)
    if (done !== lastDone || underWay > 0) idleMs = 0
    if (idleMs >= MOST_IDLE_MS) return false
    lastDone = done
    await sleep(POLL_MS)
  }
}

/** Migrates these databases now, from here. Moves that were not announced are left to the Worker. */
export async function migrateBound(env: Env, bindings: readonly string[]): Promise<void> {
  const control = bindingTarget('CONTROL', env.CONTROL)
  const migrations = await announceable(control, await migrationFiles('tenant'), async () => undefined)
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
