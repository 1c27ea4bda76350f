import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { mount } from '../../../src/platform/http/mount.ts'
import type { Route } from '../../../src/platform/http/route.ts'
import { CALLERS } from '../../../src/wiring.ts'

export type Reply = { status: number; headers: Headers; text: string; json: () => Record<string, unknown> }

/** Mounts an app with only these routes. Calls go directly to its fetch, without a network. */
export function mounted(routes: readonly Route[]) {
  const app = mount(routes, [], CALLERS)
  return async (method: string, path: string, init: RequestInit = {}): Promise<Reply> => {
    const request = new Request(`http://bindery.test${path}`, { ...init, method })
    const response = await app.fetch(request, env, createExecutionContext())
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
  }
}
