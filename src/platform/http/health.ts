import { z } from '@hono/zod-openapi'
import { sql } from 'drizzle-orm'
import journal from '../../../migrations/control/meta/_journal.json' with { type: 'json' }
import { Refusal } from '../../kernel/errors.ts'
import type { Calls } from '../calls.ts'
import { REQUIRED_TENANT_MIGRATION } from '../database/migrations.ts'
import { pool } from '../tenancy/control-tables.ts'
import { controlDatabase } from '../tenancy.ts'
import { tokenKeys } from '../token-keys.ts'
import { forSignedIn, publicRoutes, type Route } from './route.ts'

const { get } = publicRoutes('Service')
const signedIn = forSignedIn('Service')

export const serviceRoutes: readonly Route[] = [
  get('/v1/ping', {
    summary: 'Check that the service responds',
    answer: { description: 'Always "api".', schema: z.literal('api') },
    handle: async () => 'api' as const,
  }),
  signedIn.get('/v1/ping/authorized', {
    summary: 'Check that your token is valid',
    answer: { description: 'Always "api".', schema: z.literal('api') },
    handle: async () => 'api' as const,
  }),
  get('/health', {
    summary: 'Check that the service runs',
    description: 'Calls no other service, so that a monitor can restart a service that hangs.',
    answer: { description: 'The service runs.', schema: z.object({ status: z.literal('ok') }) },
    handle: async () => ({ status: 'ok' as const }),
  }),
  get('/ready', {
    summary: 'Check that the service can work',
    description:
      'Responds with 200 when the keys are set and the control database responds and has all migrations. Otherwise responds with 503, and the message says what is missing. `databasesBehind` counts tenant databases that still need a migration: until then, requests of these tenants get 503.',
    answer: {
      description: 'The service can work.',
      schema: z.object({ status: z.literal('ready'), databasesBehind: z.int() }),
    },
    handle: async (_, { env, calls }) => {
      const { missing, databasesBehind } = await readiness(env, calls)
      if (missing.length > 0)
        throw new Refusal('unavailable', `The service is not ready: ${missing.join(' ')}`, {}, 5)
      return { status: 'ready' as const, databasesBehind }
    },
  }),
]

/** The newest migration of the control database that this code has, from drizzle-kit's journal. */
const NEWEST_CONTROL_MIGRATION: string = journal.entries.at(-1)!.tag

const SHORTEST_SECRET = 32

/**
 * Checks whether the service can work. `missing` says how to fix each problem, without secrets. `databasesBehind` counts tenant
 * databases that wait for a migration: their tenants get 503 until then. One round trip.
 */
async function readiness(env: Env, calls: Calls): Promise<{ missing: string[]; databasesBehind: number }> {
  const [keys, control] = await Promise.all([missingKeys(env), controlState(env, calls)])
  return typeof control === 'string'
    ? { missing: [...keys, control], databasesBehind: 0 }
    : { missing: keys, databasesBehind: control }
}

async function missingKeys(env: Env): Promise<string[]> {
  const unusable = await tokenKeys(env).then(
    () => [],
    problem => [(problem as Error).message],
  )
  const short = (['TOKEN_SECRET', 'SEALING_KEY'] as const)
    .filter(name => (env[name] ?? '').split(',').some(secret => secret.trim().length < SHORTEST_SECRET))
    .map(name => `${name} must be set, with at least ${SHORTEST_SECRET} characters.`)
  return [...unusable, ...short, ...(env.PASSWORD_PEPPER ? [] : ['PASSWORD_PEPPER must be set.'])]
}

/** Returns the number of tenant databases that wait for a migration, or why the control database is unusable. */
async function controlState(env: Env, calls: Calls): Promise<number | string> {
  const database = controlDatabase(env, calls)
  try {
    const [applied, behind] = await database.batch([
      database.build.all<{ name: string }>(sql`select name from migration`),
      database.build.all<{ databases: number }>(
        sql`select count(*) as databases from ${pool} where ${pool.migration} is null or ${pool.migration} < ${REQUIRED_TENANT_MIGRATION}`,
      ),
    ])
    return applied.some(({ name }) => name === NEWEST_CONTROL_MIGRATION)
      ? (behind[0]?.databases ?? 0)
      : `The control database lacks the migration ${NEWEST_CONTROL_MIGRATION}.`
  } catch (problem) {
    return /no such table/.test(`${problem} ${(problem as Error).cause}`)
      ? 'The control database has no migrations yet.'
      : 'The control database does not respond.'
  }
}
