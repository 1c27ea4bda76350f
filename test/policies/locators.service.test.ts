// Locators: digit locators are unique without a look-up, increase, and identify their shard (docs/design.md, section 6).

import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { eq } from 'drizzle-orm'
import { beforeAll, expect, it } from 'vitest'
import {
  newUuid,
  type PolicyLocator,
  policyOfUuid,
  readUuid,
  shardOfDigits,
  shardOfUuid,
} from '../../src/kernel/locators.ts'
import { now } from '../../src/kernel/time.ts'
import { type Calls, noCalls } from '../../src/platform/calls.ts'
import { commit } from '../../src/platform/commit.ts'
import type { RequestContext } from '../../src/platform/context.ts'
import { changeRows, insertRows } from '../../src/platform/database/rows.ts'
import { callForReply, dispatcherObject } from '../../src/platform/objects.ts'
import { readTenant, shardDatabase, type Tenant } from '../../src/platform/tenancy.ts'
import { exposures, perils, policies } from '../../src/policy/tables/policies.ts'
import { callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

let motor: Motor
let tenant: Tenant

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('locators')
  tenant = (await readTenant(env, { name: motor.tenantName }, noCalls()))!
})

it('10,000 displayIds of one commit are distinct, above 100,000,000 and below 2^53', async () => {
  const perils = ['liability', 'own_damage', 'theft', 'glass'].map(name => ({ name }))
  const exposures = Array.from({ length: 2_000 }, () => ({ exposureName: 'vehicle', perils }))
  const { status, body } = await motor.createPolicy({ finalize: false, exposures })
  expect(status).toBe(200)
  const ids = body.exposures.flatMap(one => [one.displayId, ...one.perils.map(peril => peril.displayId)])
  expect(ids).toHaveLength(10_000)
  expect(new Set(ids).size).toBe(10_000)
  for (const id of [...ids, body.locator]) {
    expect(Number(id)).toBeGreaterThan(100_000_000)
    expect(Number.isSafeInteger(Number(id))).toBe(true)
    expect(shardOfDigits(Number(id))).toBe(0)
  }
  for (const exposure of body.exposures.slice(0, 10)) {
    expect(readUuid(exposure.locator)).toBe(exposure.locator)
    expect(shardOfUuid(readUuid(exposure.locator)!)).toBe(0)
  }
  const { body: read } = await motor.get(`/policy/${body.locator}`)
  expect(read).toEqual(body)
}, 120_000)

it('concurrent leases get disjoint blocks of numbers, even after a restart of the object', async () => {
  const dispatcher = () => dispatcherObject(env, tenant, 0)
  const leased = async (count: number) =>
    await callForReply(noCalls(), () => dispatcher().leaseBlock(tenant, 0, count))
  const first = await Promise.all(Array.from({ length: 20 }, () => leased(500)))
  await evictDurableObject(dispatcher())
  const second = await Promise.all(Array.from({ length: 20 }, () => leased(500)))
  const blocks = [...first, ...second].sort((a, b) => a.next - b.next)
  for (const [at, block] of blocks.entries()) {
    expect(block.end - block.next).toBe(500)
    if (at > 0) expect(block.next).toBeGreaterThanOrEqual(blocks[at - 1]!.end)
  }
})

it('a Worker of the previous release that leases concurrently gets no number twice', async () => {
  const dispatcher = () => dispatcherObject(env, tenant, 0)
  const leases = Array.from({ length: 40 }, (_, at) =>
    at % 2 === 0
      ? dispatcher().lease(10)
      : callForReply(noCalls(), () => dispatcher().leaseBlock(tenant, 0, 10)),
  )
  const numbers = (await Promise.all(leases)).flatMap(({ next, end }) =>
    Array.from({ length: end - next }, (_, at) => next + at),
  )
  expect(new Set(numbers).size).toBe(400)
})

const contextOf = (calls: Calls): RequestContext => ({
  env,
  tenant,
  caller: { accountLocator: newUuid(0), username: 'alice', accountType: 'account.test.tenant.admin' },
  requestId: newUuid(0),
  idempotency: undefined,
  now: now(),
  calls,
  later: () => {},
})

const client = (): D1Database => (env as unknown as Record<string, D1Database>)[tenant.shards[0]!]!

/** Creates a draft with more records than an isolate has leased numbers for, so that numbers are leased for it. */
const newDraft = async () => {
  const perils = ['liability', 'own_damage', 'theft'].map(name => ({ name }))
  const exposures = Array.from({ length: 400 }, () => ({ exposureName: 'vehicle', perils }))
  return await motor.createPolicy({ finalize: false, exposures })
}

const storedNext = async (): Promise<number> =>
  (await client().prepare('select next from number_sequence').first<number>('next'))!

/** Sets or deletes the number in the dispatcher's storage. */
const setKept = (sequence: number | undefined): Promise<void> =>
  runInDurableObject(dispatcherObject(env, tenant, 0), async (_, { storage }) => {
    if (sequence === undefined) await storage.delete('sequence')
    else await storage.put('sequence', sequence)
  })

const lastLocator = async (): Promise<number> =>
  (await client().prepare('select max(locator) as last from policy').first<number>('last'))!

it('a dispatcher that lost its storage continues from the shard’s number', async () => {
  await newDraft()
  const last = await lastLocator()
  await setKept(undefined)
  const { status, body } = await newDraft()
  expect(status).toBe(200)
  expect(Number(body.locator)).toBeGreaterThan(last)
})

it('a shard restored to an earlier time continues from the dispatcher’s number', async () => {
  await newDraft()
  const last = await lastLocator()
  await client().exec('delete from number_sequence')
  const { body } = await newDraft()
  expect(Number(body.locator)).toBeGreaterThan(last)
  expect(await storedNext()).toBeGreaterThan(Math.floor(last / 64))
})

it('a number in use leads to 409 without overwriting anything, and the next attempt gets another', async () => {
  const { body: first } = await newDraft()
  const { body: before } = await motor.get(`/policy/${first.locator}`)
  await client().exec('delete from number_sequence')
  await setKept(Math.floor(Number(first.locator) / 64))
  expect(await newDraft()).toMatchObject({ status: 409, body: { code: 'versionConflict' } })
  expect((await motor.get(`/policy/${first.locator}`)).body).toEqual(before)
  const again = await newDraft()
  expect(again.status).toBe(200)
  expect(again.body.locator).not.toBe(first.locator)
})

it('a new record with a locator in use fails the batch with 503 and overwrites nothing', async () => {
  const draft = await motor.createPolicy({ finalize: false })
  const locator = Number(draft.body.locator) as PolicyLocator
  const calls = noCalls()
  const context = contextOf(calls)
  const database = shardDatabase(env, tenant, 0, calls)
  const [row] = await database.batch([
    database.build.select().from(exposures).where(eq(exposures.policyLocator, locator)),
  ])
  const write = {
    shard: 0,
    guards: [],
    facts: insertRows(database, exposures, [{ ...row[0]!, name: 'another' }]),
    events: [],
    answer: { status: 200, text: '' },
    subject: 'test',
  }
  await expect(commit(context, database, write)).rejects.toMatchObject({ code: 'unavailable' })
  expect((await motor.get(`/policy/${locator}`)).body).toEqual(draft.body)
})

it('records are listed by creation, even if a later one has a smaller number', async () => {
  const { body } = await motor.createPolicy({ finalize: true })
  await callOk('POST', `/policy/${body.locator}/issue`, { token: motor.token })
  const path = `/policies/${body.locator}/cancellations`
  const draft = async () =>
    (
      await callOk<{ locator: string }>('POST', path, {
        token: motor.token,
        body: {
          name: 'customer_request',
          cancellationCategory: 'other',
          effectiveTimestamp: body.originalContractStartTimestamp,
        },
      })
    ).locator
  const [first, second] = [await draft(), await draft()]
  // As if an isolate with a later block had created the first.
  const ofLaterBlock = String(Number(first) + 64_000_000)
  await client().exec(`update cancellation set locator = ${ofLaterBlock} where locator = ${first}`)
  const listed = await callOk<{ locator: string }[]>('GET', path, { token: motor.token })
  expect(listed.map(one => one.locator)).toEqual([ofLaterBlock, second])
})

it('the locator of each record of a policy identifies the policy', async () => {
  const { body } = await motor.createPolicy({ finalize: true })
  const policy = Number(body.locator)
  await callOk('POST', `/policy/${policy}/issue`, { token: motor.token })
  const { body: issued } = await motor.get(`/policy/${policy}`)
  const named = [
    ...issued.modifications.map(one => one.locator),
    ...issued.exposures.flatMap(one => [one.locator, ...one.perils.map(peril => peril.locator)]),
    ...issued.invoices.map(one => one.locator),
    ...issued.documents.map(one => one.locator),
  ]
  expect(named.length).toBeGreaterThan(5)
  for (const locator of named) expect([locator, policyOfUuid(readUuid(locator)!)]).toEqual([locator, policy])
})

it('changing a record writes one row, whatever indexes its table has', async () => {
  const { body } = await motor.createPolicy({ finalize: false })
  const locator = Number(body.locator) as PolicyLocator
  const calls = noCalls()
  const database = shardDatabase(env, tenant, 0, calls)
  const stored = () =>
    database.batch([
      database.build.select().from(policies).where(eq(policies.locator, locator)),
      database.build.select().from(perils).where(eq(perils.policyLocator, locator)),
    ])
  const [[policy], [peril]] = await stored()
  const updatedAt = policy!.updatedAt + 1
  for (const query of [
    ...changeRows(database, policies, [{ ...policy!, updatedAt }]),
    ...changeRows(database, perils, [{ ...peril!, updatedAt }]),
  ]) {
    const before = calls.rowsWritten
    await database.batch([query])
    expect(calls.rowsWritten - before).toBe(1)
  }
  const [[changed], [changedPeril]] = await stored()
  expect([changed, changedPeril]).toEqual([
    { ...policy, updatedAt },
    { ...peril, updatedAt },
  ])
})
