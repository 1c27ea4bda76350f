// A deploy as it is rolled out: Workers of two versions at once, and objects of the one, then of the other. What cannot be done
// meanwhile is told so, and is done under its key as soon as it can be; at the end everything is there once.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, apiClient, signIn } from '../../scripts/api-client.ts'
import { testUsers } from '../../scripts/example.ts'
import { bareArchive } from '../support/bare-archive.ts'
import { migratedAccount } from '../support/migrated.ts'
import { type Box, type MoodyReceiver, startMoodyReceiver } from '../support/moody-receiver.ts'
import { versionOf, versionOfCommit } from '../support/versions/bundle.ts'
import { type Mix, type Side, startTwoVersions, type TwoVersions } from '../support/versions/runtime.ts'
import { type Caller, type Life, liveOnce } from './policy-life.ts'

/** The version that was deployed before. */
const PREDECESSOR = '039ad00'

const SIDES: readonly Side[] = ['old', 'new']
const DAY_MS = 24 * 60 * 60 * 1000
const LONGEST_WAIT_MS = 30_000

/** In this order; the third is the deploy taken back. Queues are on the other side than objects as long as there is one. */
const MIXES: readonly Mix[] = [
  { objects: 'old', queues: 'new' },
  { objects: 'new', queues: 'old' },
  { objects: 'old', queues: 'new' },
  { objects: 'new', queues: 'new' },
]

type Tried = { worker: Side; objects: Side; call: string; status: number; body: Record<string, unknown> }

let service: TwoVersions
let receiver: MoodyReceiver
let mix = 0
const tried: Tried[] = []

/** Resolve when the next mix runs. */
let waiting: (() => void)[] = []
/** Wishes that run now, but for those that wait. */
let busy = 0

async function send(worker: Side, token: string, method: string, path: string, body: unknown, key: string) {
  const headers: Record<string, string> = { authorization: `Bearer ${token}`, 'idempotency-key': key }
  const isReady = body instanceof FormData
  if (body !== undefined && !isReady) headers['content-type'] = 'application/json'
  const response = await fetch(service.origin(worker) + path, {
    ...{ method, headers },
    body: body === undefined ? null : isReady ? body : JSON.stringify(body),
  })
  const text = await response.text()
  const parsed = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : {}
  const { objects } = MIXES[mix]!
  tried.push({ worker, objects, call: `${method} ${path}`, status: response.status, body: parsed })
  if (response.status === 503) expect(response.headers.get('retry-after')).not.toBeNull()
  return { status: response.status, body: parsed }
}

/** Whom a life calls: one Worker always, or each in turn, as a load balancer would have it. */
type Route = Side | 'both'

/**
 * Calls until it is done: where it is told to come again it asks the other Worker if it may, and else waits for the next mix. What
 * was done is asked for once more of the other version, under the same key, which does nothing twice.
 */
function caller(token: string, route: Route): Caller {
  let turn = 0
  return async (method, path, body) => {
    const key = crypto.randomUUID()
    turn += 1
    const first = route === 'both' ? SIDES[turn % 2]! : route
    const workers: Side[] = route === 'both' ? [first, SIDES[(turn + 1) % 2]!] : [first]
    for (;;) {
      for (const worker of workers) {
        busy += 1
        const told = await send(worker, token, method, path, body, key).finally(() => {
          busy -= 1
        })
        if (told.status < 300) return told.body
        if (told.status !== 503)
          throw new Error(`${method} ${path} by the ${worker} Worker: ${told.status} ${JSON.stringify(told.body)}`)
      }
      await new Promise<void>(resolve => waiting.push(resolve))
    }
  }
}
