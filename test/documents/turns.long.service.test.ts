// The consumers of one queue generate the documents of all tenants: a tenant with very many leaves room for the others.
import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { PolicyLocator } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { type Database, openDatabase } from '../../src/platform/database.ts'
import { findTenant } from '../../src/platform/tenancy.ts'
import { consumeDocumentHints } from '../../src/servicing/documents/job.ts'
import {
  claimJob,
  type DocumentHint,
  MOST_HINTS_A_MINUTE,
  postponeJob,
} from '../../src/transactions/documents/job-store.ts'
import { MADE_AT_ONCE } from '../../src/transactions/documents/turns.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { exampleFiles } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'

beforeAll(() => prepareDatabases({ tenants: 6 }))
afterEach(() => void vi.restoreAllMocks())

const LEASE_MS = 300_000

describe('A shard with a hundred waiting policies', () => {
  const at = Date.now() as Instant
  const until = (at + LEASE_MS) as Instant
  let database: Database
  beforeAll(async () => {
    const client = boundDatabase('TENANT_003')
    database = openDatabase(client, noCalls())
    await client.batch(
      Array.from({ length: 100 }, (_, nth) =>
        client
          .prepare(
            'insert into document_job (policy_locator, attempts, due_at, lease_until) values (?, 0, ?, 0)',
          )
          .bind(nth, at + nth),
      ),
    )
  })
  const claim = (nth: number) => claimJob(database, nth as PolicyLocator, at, until)

  it('has at most sixteen in progress, and each claim names another one that waits', async () => {
    const claimed = []
    for (let nth = 0; nth < MADE_AT_ONCE; nth += 1) claimed.push(await claim(nth))
    expect(claimed.map(job => job?.attempts)).toEqual(Array(MADE_AT_ONCE).fill(0))
    expect(await claim(99)).toBeUndefined()
    // Each names the next one that was waiting then, and none that is in progress.
    const next = claimed.map(job => Number(job?.next))
    expect(next.every((named, nth) => named > nth)).toBe(true)
    expect(new Set(next).size).toBe(MADE_AT_ONCE)
  })

  it('does not count a policy that waits for its next attempt as in progress', async () => {
    await postponeJob(database, 3 as PolicyLocator, (at + 60_000) as Instant, 1)
    expect(await claim(3)).toBeUndefined()
    const again = await claim(50)
    expect(again).toMatchObject({ attempts: 0 })
    expect(await claim(51)).toBeUndefined()
    await postponeJob(database, 50 as PolicyLocator, at, 1)
    expect(await claim(50)).toMatchObject({ attempts: 1 })
  })

  it('resumes the work of a crashed consumer once its lease has expired', async () => {
    const later = (until + 1) as Instant
    expect(await claimJob(database, 0 as PolicyLocator, later, (later + LEASE_MS) as Instant)).toMatchObject({
      attempts: 1,
    })
  })
})

/** Holds back the messages sent to the documents queue, in order. */
function heldQueue() {
  const hints: DocumentHint[] = []
  const queues = Object.getPrototypeOf(env.DOCUMENTS) as Queue
  const isHint = (body: unknown): body is DocumentHint => Object.hasOwn(body as object, 'policyLocator')
  const [send, sendBatch] = [queues.send, queues.sendBatch]
  vi.spyOn(queues, 'send').mockImplementation(async function (this: Queue, body, options) {
    if (!isHint(body)) return await send.call(this, body, options)
    hints.push(body)
    return undefined as never
  })
  vi.spyOn(queues, 'sendBatch').mockImplementation(async function (this: Queue, messages, options) {
    const all = [...messages]
    if (!all.every(({ body }) => isHint(body))) return await sendBatch.call(this, all, options)
    hints.push(...all.map(({ body }) => body as DocumentHint))
    return undefined as never
  })
  return hints
}

it('a busy tenant delays another’s documents by one minute’s hints at most, and all its own are generated', async () => {
  const [heavy, quiet] = [
    await motorTenant('heavy', exampleFiles('motor')),
    await motorTenant('quiet', exampleFiles('motor')),
  ]
  const hints = heldQueue()
  const sell = async (motor: Motor) => {
    const { body } = await motor.createPolicy()
    await motor.post(`/policy/${body.locator}/issue`)
  }
  // Two changes of each policy request documents.
  for (let count = 0; count < MOST_HINTS_A_MINUTE / 2 + 4; count += 1) await sell(heavy)
  await sell(quiet)
  const isQuiet = ({ tenantLocator }: DocumentHint): boolean => tenantLocator === quiet.tenantLocator
  expect(hints.filter(one => !isQuiet(one))).toHaveLength(MOST_HINTS_A_MINUTE)
  let messages = 0
  let before = 0
  while (hints.length > 0) {
    const [body] = hints.splice(0, 1)
    messages += 1
    if (isQuiet(body!) && before === 0) before = messages - 1
    await consumeDocumentHints({ messages: [{ body }] } as unknown as MessageBatch<unknown>, env)
  }
  expect(before).toBe(MOST_HINTS_A_MINUTE)
  // The last policies had no hints of their own; those generated before them passed the turn on.
  const left = await boundDatabase('TENANT_001').prepare('select count(*) as n from document_job').first('n')
  expect(left).toBe(0)
})

it('the documents of a sale take two D1 round trips: one reads what is in force, one records them', async () => {
  const motor = await motorTenant('few', exampleFiles('motor'))
  const hints = heldQueue()
  const figures: number[][] = []
  const METRICS = { writeDataPoint: ({ doubles }: { doubles: number[] }) => figures.push(doubles.slice(1)) }
  const counting = { ...env, METRICS } as unknown as Env
  /** Sells a policy, and returns the cost of the two messages that result. */
  const sell = async () => {
    const { body } = await motor.createPolicy()
    await motor.post(`/policy/${body.locator}/issue`)
    const policyLocator = Number(body.locator)
    expect(hints).toEqual([1, 2].map(nth => expect.objectContaining({ policyLocator, version: nth })))
    figures.length = 0
    for (const hint of hints.splice(0))
      await consumeDocumentHints({ messages: [{ body: hint }] } as unknown as MessageBatch<unknown>, counting)
    const { body: after } = await motor.get<{ documents: { state: string }[] }>(`/policy/${body.locator}`)
    expect(after.documents.map(one => one.state)).toEqual(Array(4).fill('ready'))
    return figures.map(([d1, object, r2, queue, , rowsWritten]) => ({ d1, object, r2, queue, rowsWritten }))
  }
  await sell()
  expect(await sell()).toEqual([
    // Its turn, the policy as its object remembers it, before and after, the generated documents, and the end of the turn.
    { d1: 2, object: 5, r2: 6, queue: 0, rowsWritten: 12 },
    // All documents were generated.
    { d1: 0, object: 3, r2: 0, queue: 0, rowsWritten: 0 },
  ])
})

it('documents requested while others of the policy are generated are recorded together with them', async () => {
  const motor = await motorTenant('quick', exampleFiles('motor'))
  const hints = heldQueue()
  const { body: policy } = await motor.createPolicy()
  const [hint] = hints.splice(0)
  let isIssued = false
  /** Issues the policy when the first file of its quote is stored. */
  const put = async (key: string, value: Uint8Array, options: R2PutOptions) => {
    if (!isIssued) {
      isIssued = true
      await motor.post(`/policy/${policy.locator}/issue`)
    }
    return await env.FILES.put(key, value, options)
  }
  const get = (key: string) => env.FILES.get(key)
  const figures: number[][] = []
  const METRICS = { writeDataPoint: ({ doubles }: { doubles: number[] }) => figures.push(doubles.slice(1)) }
  const interrupted = { ...env, METRICS, FILES: { get, put, delete: env.FILES.delete } } as unknown as Env
  await consumeDocumentHints({ messages: [{ body: hint }] } as unknown as MessageBatch<unknown>, interrupted)
  const { body: after } = await motor.get<{ documents: { state: string }[]; quotes: unknown }>(
    `/policy/${policy.locator}`,
  )
  expect(after.documents.map(one => one.state)).toEqual(Array(4).fill('ready'))
  const { shards } = (await findTenant(env, { name: motor.tenantName }, noCalls()))!
  // Created, issued, and one record of all documents.
  expect(await boundDatabase(shards[0]!).prepare('select version from policy').first('version')).toBe(3)
})

it('a policyholder changed just before does not delay the documents', async () => {
  const motor = await motorTenant('moved', exampleFiles('motor'))
  const hints = heldQueue()
  const consume = async () => {
    for (const body of hints.splice(0))
      await consumeDocumentHints({ messages: [{ body }] } as unknown as MessageBatch<unknown>, env)
  }
  const { body: policy } = await motor.createPolicy()
  const locator = policy.policyholderLocator
  // The policy's object remembers the policyholder as it was.
  const values = { ...(plainYear().request.policyholder.values as object), city: 'Potsdam' }
  const changed = await motor.post('/policyholder/update', { locator, version: 1, completed: true, values })
  expect(changed.status).toBe(200)
  await motor.post(`/policy/${policy.locator}/issue`)
  await consume()
  const { body: after } = await motor.get<{ documents: { state: string }[] }>(`/policy/${policy.locator}`)
  expect(after.documents.map(one => one.state)).toEqual(Array(4).fill('ready'))
})
