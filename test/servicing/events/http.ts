import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { issueToken } from '../../../src/access/access-tokens.ts'
import { newUuid } from '../../../src/kernel/locators.ts'
import { now } from '../../../src/kernel/time.ts'
import type { AccountType } from '../../../src/platform/http/account-types.ts'
import { mount } from '../../../src/platform/http/mount.ts'
import type { Route } from '../../../src/platform/http/route.ts'
import type { Tenant } from '../../../src/platform/tenancy.ts'
import { eventInterfaceRoutes, streamRoutes } from '../../../src/servicing/events/stream/routes.ts'
import { webhookRoutes } from '../../../src/servicing/events/webhooks/routes.ts'
import { CALLERS } from '../../../src/wiring.ts'
import { noteExchange } from '../../support/exchanges/note.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect out of any answer.
export type Answer = { status: number; body: any; calls: string }

export type Client = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>

/** Returns a client that calls the routes (by default those of events) as an account of the tenant. */
export async function clientOf(
  tenant: Tenant,
  accountType: AccountType = 'account.test.tenant.admin',
  routes: readonly Route[] = [...streamRoutes, ...webhookRoutes, ...eventInterfaceRoutes],
): Promise<Client> {
  const app = mount(routes, [], CALLERS)
  const { token } = await issueToken(
    env,
    {
      caller: { accountLocator: newUuid(0), username: 'alice', accountType },
      accountName: 'Alice',
      tenant: { ...tenant, timeZone: 'UTC' },
      signedInAt: now(),
    },
    now(),
  )
  return async (method, path, body, headers = {}) => {
    const request = new Request(`http://bindery.test${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const response = await app.fetch(request, env, createExecutionContext())
    const text = await response.text()
    const answer = text === '' ? undefined : JSON.parse(text)
    noteExchange({ method, path, body, status: response.status, answer })
    return {
      status: response.status,
      body: answer,
      calls: response.headers.get('server-timing') ?? '',
    }
  }
}
