// The rollout of a deploy: Workers of two versions simultaneously, with the objects of one version, then of the other. A call
// that cannot be carried out meanwhile gets 503, and succeeds under its key once it can. In the end everything exists once.
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiClient, signIn } from '../../scripts/api-client.ts'
import { deployTestTenant, testUsers } from '../../scripts/example.ts'
import { checkFormerUnits } from '../../scripts/former-units.ts'
import { openLocalDatabases } from '../../scripts/local-databases.ts'
import { bareArchive } from '../support/bare-archive.ts'
import { type Box, type MoodyReceiver, startMoodyReceiver } from '../support/moody-receiver.ts'
import { versionOf, versionOfCommit } from '../support/versions/bundle.ts'
import { type Mix, type Side, startTwoVersions, type TwoVersions } from '../support/versions/runtime.ts'
import { type Caller, type Life, liveOnce } from './policy-life.ts'

/** The version that was deployed before. */
const PREDECESSOR = '039ad00'

/** A copy of the checkout without its history cannot run an earlier version. */
const hasHistory = spawnSync('git', ['cat-file', '-e', `${PREDECESSOR}^{commit}`]).status === 0
if (!hasHistory) console.log(`SKIPPED: the history lacks ${PREDECESSOR}, so no rolling deploy is tried.`)

const SIDES: readonly Side[] = ['old', 'new']

/**
 * The phases in order. The third takes the deploy back. Queues are on the other side than the objects, except in the last phase,
 * when the deploy is complete.
 */
const MIXES: readonly Mix[] = [
  { objects: 'old', queues: 'new' },
  { objects: 'new', queues: 'old' },
  { objects: 'old', queues: 'new' },
  { objects: 'new', queues: 'new' },
]

/** The last event of a life that a webhook gets. */
const LAST_EVENT = 'policy.reinstatement.issue'

/** Number of calls in each mix by the life that goes through all mixes. */
const CALLS_A_MIX = 7

type Call = {
  readonly token: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
}
type Answered = {
  readonly status: number
  readonly body: Record<string, unknown>
  readonly retryAfter: string | null
}
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
    method,
    headers,
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

/**
 * Calls as a client behind a load balancer: each call goes to one Worker, and to the other if the first cannot carry it out. A
 * call that succeeded is repeated at the other Worker under the same key, as by a client that lost the response. `pause` runs
 * before each call.
 */
function caller(token: string, first: Side, pause = async (): Promise<void> => {}): Caller {
  let turn = SIDES.indexOf(first)
  return async (method, path, body) => {
    await pause()
    turn += 1
    const workers = [SIDES[turn % 2]!, SIDES[(turn + 1) % 2]!] as const
    const key = crypto.randomUUID()
    const ask = (worker: Side) => send(worker, { token, method, path, body }, key)
    const answered = await ask(workers[0])
    if (answered.status === 503) return okBody(await ask(workers[1]))
    const again = await ask(workers[1])
    if (again.status !== 503) expect(okBody(again).locator).toEqual(okBody(answered).locator)
    return answered.body
  }
}

function okBody({ status, body }: Answered): Answered['body'] {
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}

/** The response with its lists sorted by locator, on all levels. */
function byLocator<T>(value: T): T {
  const locatorOf = (item: unknown): string => String((item as { locator?: unknown } | null)?.locator)
  const sorted = (_: string, item: unknown): unknown =>
    Array.isArray(item) ? item.toSorted((a, b) => locatorOf(a).localeCompare(locatorOf(b))) : item
  return JSON.parse(JSON.stringify(value, sorted))
}

/** Maximum number of events that one switch of versions can cut off between the post and its record: some for each life. */
const MOST_CUT_OFF = 12

/** Lets a life that began in the first mix continue in each of the others, once that mix runs. */
function throughAll(runs: readonly Promise<void>[]): () => Promise<void> {
  let calls = 0
  return async () => {
    const number = Math.min(Math.floor(calls / CALLS_A_MIX), MIXES.length - 1)
    calls += 1
    await runs[number]!
  }
}

describe.skipIf(!hasHistory)('A rolling deploy', () => {
  beforeAll(async () => {
    receiver = await startMoodyReceiver({ failing: 0, silent: 0, mostOfOne: 0, mostSilent: 0 }, Math.random)
    const [former, present] = [await versionOfCommit(PREDECESSOR), await versionOf(process.cwd())]
    service = await startTwoVersions({ old: former, new: present }, mix)
    const administration = await signIn(service.origin('old'), service.administrator)
    const { hostname, tenantLocator } = await deployTestTenant(administration, 'motor', bareArchive())
    // The former version does not write the marks of tenants. The deployment checks the units that it created.
    const databases = openLocalDatabases(service.dataFolder)
    await checkFormerUnits(databases.control, () => databases)
    const as = (role: string): Promise<ApiClient> => {
      const { username, password } = testUsers().find(({ roles }) => roles.includes(role))!
      return signIn(service.origin('old'), { username, password, hostName: hostname })
    }
    const admin = await as('admin')
    const { endpoint } = await admin.call<{ endpoint: { secret: string } }>(
      'POST',
      `/event/${tenantLocator}/webhooks`,
      {
        name: 'books',
        enabled: true,
        eventTypes: ['policy.*'],
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

  test('carries out each call exactly once by one of the versions, and delivers each event in order', async () => {
    const begin = (side: Side, pause?: () => Promise<void>) =>
      liveOnce(caller(user.token, side, pause), () => {})
    const reached = MIXES.map(() => Promise.withResolvers<void>())
    const { refused, repeats } = box
    const lives: Life[] = []
    if (mix !== MIXES[0]!) await service.become(MIXES[0]!)
    const through = begin('old', throughAll(reached.map(({ promise }) => promise)))
    for (const [number, next] of MIXES.entries()) {
      if (number > 0) await service.become(next)
      mix = next
      reached[number]!.resolve()
      lives.push(...(await Promise.all(SIDES.map(side => begin(side)))))
    }
    lives.push(await through)

    // An operation that the other version does not know is rejected with 503, to be retried. Nothing else is rejected.
    for (const { status, retryAfter, worker, objects, call, body } of tried)
      if (status >= 300)
        expect({ worker, objects, call, status, retryAfter, body }).toMatchObject({
          status: 503,
          retryAfter: expect.any(String),
        })
    expect(new Set(lives.map(({ policy }) => policy)).size).toBe(lives.length)

    // Both versions respond alike, except for the order of records, which the former one listed by number.
    for (const { policy } of lives) {
      const path = `/policy/${policy}`
      const [former, present] = await Promise.all(
        SIDES.map(side => send(side, { token: user.token, method: 'GET', path }, crypto.randomUUID())),
      )
      expect(byLocator(okBody(present!))).toMatchObject(byLocator(okBody(former!)))
    }

    // The webhook got each step once and in order, no matter which version consumed the queue. (The former version announces an
    // invoice when a change is accepted, the present one when it is issued.)
    const heard = () =>
      lives.map(({ policy }) =>
        box.arrivals
          .filter(({ type, data }) => data.policyLocator === policy && type !== 'policy.invoice')
          .map(({ type }) => type),
      )
    await expect
      .poll(() => heard().map(types => types.at(-1)), { timeout: 90_000 })
      .toEqual(lives.map(() => LAST_EVENT))
    for (const types of heard()) expect(types).toEqual(heard()[0])
    expect(box.refused).toBe(refused)
    // Webhooks deliver at least once: what a switch cut off is posted again.
    expect(box.repeats - repeats).toBeLessThanOrEqual((MIXES.length - 1) * MOST_CUT_OFF)
  })
})
