// A deploy as it is rolled out: Workers of two versions at once, and objects of the one, then of the other. What cannot be done
// meanwhile is told so, and is done under its key as soon as it can be; at the end everything is there once.
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, signIn } from '../../scripts/api-client.ts'
import { testUsers } from '../../scripts/example.ts'
import { bareArchive } from '../support/bare-archive.ts'
import { type Box, type MoodyReceiver, startMoodyReceiver } from '../support/moody-receiver.ts'
import { versionOf, versionOfCommit } from '../support/versions/bundle.ts'
import { type Mix, type Side, startTwoVersions, type TwoVersions } from '../support/versions/runtime.ts'
import { type Caller, type Life, liveOnce } from './policy-life.ts'

/** The version that was deployed before. */
const PREDECESSOR = '039ad00'

/** A copy of the checkout without its history has no former version to run. */
const hasHistory = spawnSync('git', ['cat-file', '-e', `${PREDECESSOR}^{commit}`]).status === 0
if (!hasHistory) console.log(`SKIPPED: the history lacks ${PREDECESSOR}, so no rolling deploy is tried.`)

const SIDES: readonly Side[] = ['old', 'new']

/** In this order; the third is the deploy taken back. Queues are on the other side than objects as long as there is one. */
const MIXES: readonly Mix[] = [
  { objects: 'old', queues: 'new' },
  { objects: 'new', queues: 'old' },
  { objects: 'old', queues: 'new' },
]
const DEPLOYED: Mix = { objects: 'new', queues: 'new' }

/** Tries of one call while one of the versions cannot carry it out: the rest waits until the deploy is through. */
const MOST_TRIES = 3

type Call = { readonly token: string; readonly method: string; readonly path: string; readonly body?: unknown }
type Answered = { readonly status: number; readonly body: Record<string, unknown>; readonly retryAfter: string | null }
type Tried = Answered & { readonly worker: Side; readonly objects: Side; readonly call: string }

let service: TwoVersions
let receiver: MoodyReceiver
let box: Box
let user: ApiClient
let mix: Mix = MIXES[0]!
const tried: Tried[] = []

async function send(worker: Side, { token, method, path, body }: Call, key: string): Promise<Answered> {
  const headers: Record<string, string> = { authorization: `Bearer ${token}`, 'idempotency-key': key }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const response = await fetch(service.origin(worker) + path, {
    ...{ method, headers },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await response.text()
  const answered = {
    status: response.status,
    body: /^[[{]/.test(text) ? JSON.parse(text) : {},
    retryAfter: response.headers.get('retry-after'),
  }
  tried.push({ ...answered, worker, objects: mix.objects, call: `${method} ${path}` })
  return answered
}

/** Calls that wait for the deploy to be through, each resolved then. */
let waiting: (() => void)[] = []

/**
 * Calls the Workers in turn, as a load balancer has it, under one key, until one of them has done it; what was done is asked for again of
 * the other version, which must do nothing twice. What neither can do waits.
 */
function caller(token: string, first: Side): Caller {
  let turn = SIDES.indexOf(first)
  return async (method, path, body) => {
    const key = crypto.randomUUID()
    for (let tries = 0; ; tries += 1) {
      turn += 1
      const worker = SIDES[turn % 2]!
      const { status, body: answer } = await send(worker, { token, method, path, body }, key)
      if (status < 300) return answer
      if (status < 500) throw new Error(`${method} ${path} by the ${worker} Worker: ${JSON.stringify(answer)}`)
      if (tries >= MOST_TRIES && waiting !== undefined) {
        await new Promise<void>(resolve => waiting.push(resolve))
        tries = 0
      }
    }
  }
}

const lives: Promise<Life>[] = []

describe.skipIf(!hasHistory)('a rolling deploy', () => {
  beforeAll(async () => {
    receiver = await startMoodyReceiver({ failing: 0, silent: 0, mostOfOne: 0, mostSilent: 0 }, Math.random)
    const [former, present] = [await versionOfCommit(PREDECESSOR), await versionOf(process.cwd())]
    service = await startTwoVersions({ old: former, new: present }, mix)
    const administration = await signIn(service.origin('old'), service.administrator)
    const form = new FormData()
    form.set('tenantNameSuffix', 'motor')
    form.set('zipFile', bareArchive(), 'motor.zip')
    const { hostname, tenantLocator } = await administration.call<Record<string, string>>(
      'POST',
      '/configuration/deployTest',
      form,
    )
    const as = (role: string): Promise<ApiClient> => {
      const { username, password } = testUsers().find(({ roles }) => roles.includes(role))!
      return signIn(service.origin('old'), { username, password, hostName: hostname! })
    }
    const admin = await as('admin')
    const { endpoint } = await admin.call<{ endpoint: { secret: string } }>(
      'POST',
      `/event/${tenantLocator}/webhooks`,
      {
        ...{ name: 'books', enabled: true, eventTypes: ['policy.*'] },
        endpoint: { url: receiver.urlOf('/books'), headers: {} },
      },
    )
    box = receiver.open('/books', endpoint.secret)
    user = await as('agent')
  })
  afterAll(async () => {
    await service?.close()
    receiver?.close()
  })

  test('lives go on while versions are mixed', async () => {
    for (const next of MIXES) {
      mix = next
      await service.become(mix)
      const begun = SIDES.map(side => liveOnce(caller(user.token, side), () => {}))
      lives.push(...begun)
      await Promise.race([Promise.allSettled(begun), new Promise(r => setTimeout(r, 20_000))])
    }
    mix = DEPLOYED
    await service.become(mix)
    for (const resolve of waiting) resolve()
    await Promise.all(lives)
    const table: Record<string, number> = {}
    for (const { worker, objects, status, call, body } of tried) {
      const key = `${worker} Worker, ${objects} objects: ${status}`
      table[key] = (table[key] ?? 0) + 1
      if (status >= 400) console.log(key, call, JSON.stringify(body).slice(0, 300))
    }
    console.log(table, box.posts, box.repeats, box.refused, service.logged.slice(0, 20))
  })
})
