import { z } from '@hono/zod-openapi'
import { sql } from 'drizzle-orm'
import { Refusal } from '../errors.ts'
import { controlDatabase } from '../tenancy.ts'
import { publicRoute, type Route, signedInRoute } from './route.ts'

const tags = ['Service']

/** What load balancers and clients probe. */
export const serviceRoutes: readonly Route[] = [
  publicRoute({
    method: 'get',
    path: '/v1/ping',
    summary: 'Whether the service answers',
    tags,
    answer: { description: 'Always "api".', schema: z.literal('api') },
    handle: async () => 'api' as const,
  }),
  signedInRoute({
    method: 'get',
    path: '/v1/ping/authorized',
    summary: 'Whether the token is valid',
    tags,
    answer: { description: 'Always "api".', schema: z.literal('api') },
    handle: async () => 'api' as const,
  }),
  publicRoute({
    method: 'get',
    path: '/health',
    summary: 'Whether the control database answers',
    tags,
    answer: {
      description: 'It does; else the answer is 503.',
      schema: z.object({ status: z.literal('ok') }),
    },
    handle: async (_, { env, calls }) => {
      const database = controlDatabase(env, calls)
      await database.batch([database.build.run(sql`select 1`)]).catch(() => {
        throw new Refusal('unavailable', 'The control database does not answer; try again.', {}, 5)
      })
      return { status: 'ok' as const }
    },
  }),
]
