import { z } from '@hono/zod-openapi'
import { Refusal } from '../../kernel/errors.ts'
import { readiness } from '../readiness.ts'
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
    summary: 'Whether the service runs',
    description: 'Asks nothing of anybody else: for who starts it again when it hangs.',
    tags,
    answer: { description: 'It does.', schema: z.object({ status: z.literal('ok') }) },
    handle: async () => ({ status: 'ok' as const }),
  }),
  publicRoute({
    method: 'get',
    path: '/ready',
    summary: 'Whether the service can work',
    description:
      'Its keys are set, and its control database answers and has all migrations; else 503, and the message says what is missing. `databasesBehind` counts tenant databases that wait for a migration: their tenants are answered 503 until they have it.',
    tags,
    answer: {
      description: 'It can.',
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
