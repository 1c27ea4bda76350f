// Guarantees of the write path when something fails (docs/design.md, section 5).
import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid, type PolicyLocator } from '../../src/kernel/locators.ts'
import { now } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { isBySubject } from '../../src/platform/commit.ts'
import type { Caller, RequestContext } from '../../src/platform/context.ts'
import { EVERY_EVENT } from '../../src/platform/events/rows.ts'
import { refusalOfFault } from '../../src/platform/faults.ts'
import { policyObject } from '../../src/platform/objects.ts'
import { readTenant, type Tenant } from '../../src/platform/tenancy.ts'
import { PolicyUpdateRequest } from '../../src/policy/contract/requests.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyOperation } from '../../src/transactions/mechanism/kind.ts'
import { execute } from '../../src/transactions/object/execution.ts'
import type { PolicyMemory } from '../../src/transactions/object/memory.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Fault, faultyDatabase } from '../support/faulty-database.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

let motor: Motor
let tenant: Tenant

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('writes')
  tenant = (await readTenant(env, { name: motor.tenantName }, noCalls()))!
})

const client = (): D1Database => (env as unknown as Record<string, D1Database>)[tenant.shards[0]!]!

const CALLER: Caller = {
  accountLocator: newUuid(0),
  username: 'alice',
  accountType: 'account.test.tenant.admin',
}

/** One instance of a policy's object, with separate memory and possibly a failing database. */
function instance(locator: PolicyLocator, database: D1Database = client()) {
  const memory: PolicyMemory = {}
  return async (operation: PolicyOperation, idempotency?: RequestContext['idempotency']) => {
    const requestId = newUuid(0)
    const context: RequestContext = {
      env: { ...env, [tenant.shards[0]!]: database } as Env,
      tenant,
      caller: CALLER,
      requestId,
      idempotency,
      now: now(),
      calls: noCalls(),
      later: () => {},
    }
    const answer = await execute(
      context,
      { tenant, caller: CALLER, requestId, idempotency, locator, operation },
      memory,
    )
    return { answer, requestId, calls: context.calls }
  }
}

const updateOf = (changes: object): PolicyOperation => ({
  kind: 'update',
  request: PolicyUpdateRequest.parse({ finalize: false, ...changes }),
})

const newDraft = async (): Promise<PolicyLocator> => {
  const { body } = await motor.createPolicy({ finalize: false })
  return Number(body.locator) as PolicyLocator
}

const stored = async (locator: PolicyLocator): Promise<PolicyResponse> =>
  (await motor.get(`/policy/${locator}`)).body

const countRows = async (sql: string, ...parameters: unknown[]): Promise<number> =>
  (await client()
    .prepare(sql)
    .bind(...parameters)
    .first<number>('n'))!

const vehicle = { exposureName: 'vehicle' }

describe('An interrupted database', () => {
  it('during a read leads to 503 `unavailable`, and nothing is carried out', async () => {
    const locator = await newDraft()
    const broken = instance(
      locator,
      faultyDatabase(client(), () => 'before'),
    )
    const problem = await broken(updateOf({ addExposures: [vehicle] })).catch(thrown => thrown)
    expect(refusalOfFault(problem)).toMatchObject({ code: 'unavailable' })
    expect((await stored(locator)).exposures).toHaveLength(1)
  })

  it('after a write, and again when the write is looked up, leads to an answer that the outcome is unknown', async () => {
    const locator = await newDraft()
    const faults: (Fault | undefined)[] = [undefined, 'after', 'before']
    const broken = instance(
      locator,
      faultyDatabase(client(), batch => faults[batch]),
    )
    await expect(broken(updateOf({ addExposures: [vehicle] }))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('Read the record before you send it again'),
    })
    expect((await stored(locator)).exposures).toHaveLength(2)
  })
})

describe('Two instances of one policy’s object', () => {
  it('fail the whole batch of a stale writer, which reads again and loses nothing', async () => {
    const locator = await newDraft()
    const first = instance(locator)
    const second = instance(locator)
    await first(updateOf({ addExposures: [vehicle] }))
    await second(updateOf({ addExposures: [vehicle] }))
    const warm = await first(updateOf({ addExposures: [vehicle] }))
    expect((await stored(locator)).exposures).toHaveLength(4)
    expect(warm.calls.d1).toBe(3) // the batch that fails its guard, a read, the batch that succeeds
    expect(
      await countRows(
        `select count(*) n from ${EVERY_EVENT} where policy_locator = ? and type = 'policy.update'`,
        locator,
      ),
    ).toBe(3)
  })

  it('apply each of many concurrent updates exactly once', async () => {
    const locator = await newDraft()
    const instances = [instance(locator), instance(locator)]
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, at) => instances[at % 2]!(updateOf({ addExposures: [vehicle] }))),
    )
    const done = outcomes.filter(one => one.status === 'fulfilled').length
    for (const one of outcomes) if (one.status === 'rejected') expect(one.reason.code).toBe('versionConflict')
    expect((await stored(locator)).exposures).toHaveLength(1 + done)
    expect(
      await countRows(
        `select count(*) n from ${EVERY_EVENT} where policy_locator = ? and type = 'policy.update'`,
        locator,
      ),
    ).toBe(done)
  })

  it('repeat a decision that was rejected because of stale memory', async () => {
    const locator = await newDraft()
    const first = instance(locator)
    const second = instance(locator)
    await first(updateOf({}))
    await second({ kind: 'finalize' })
    await first({ kind: 'issue' })
    expect((await stored(locator)).issuedTimestamp).toBeDefined()
  })
})

describe('A failing batch', () => {
  const failing = (plan: (batch: number) => Fault | undefined): D1Database => faultyDatabase(client(), plan)

  it('before it is carried out leaves nothing, and the same request can be sent again', async () => {
    const locator = await newDraft()
    const write = instance(
      locator,
      failing(batch => (batch === 1 ? 'before' : undefined)),
    )
    await expect(write(updateOf({ addExposures: [vehicle] }))).rejects.toThrow('Network connection lost')
    expect((await stored(locator)).exposures).toHaveLength(1)
    await write(updateOf({ addExposures: [vehicle] }))
    expect((await stored(locator)).exposures).toHaveLength(2)
  })

  it('after the write was carried out is found by its key and answered as done', async () => {
    const locator = await newDraft()
    const write = instance(
      locator,
      failing(batch => (batch === 1 ? 'after' : undefined)),
    )
    const { answer, requestId } = await write(updateOf({ addExposures: [vehicle] }))
    expect(isBySubject(answer) ? 0 : answer.status).toBe(200)
    expect((await stored(locator)).exposures).toHaveLength(2)
    expect(
      await countRows(
        `select count(*) n from ${EVERY_EVENT} where request_id = ? and type = ?`,
        requestId,
        'policy.update',
      ),
    ).toBe(1)
  })

  it('with the object evicted between load and commit leaves nothing half-written', async () => {
    const locator = await newDraft()
    const object = policyObject(env, tenant, locator)
    const interrupted = faultyDatabase(
      client(),
      batch => (batch === 1 ? 'before' : undefined),
      async batch => {
        if (batch === 1) await evictDurableObject(object)
      },
    )
    await expect(instance(locator, interrupted)({ kind: 'finalize' })).rejects.toThrow()
    const before = await stored(locator)
    expect(before.modifications[0]?.premiumChange).toBeUndefined()
    expect(await countRows('select count(*) n from fee where policy_locator = ?', locator)).toBe(0)
    const { status } = await motor.post(`/policy/${locator}/finalize`)
    expect(status).toBe(200)
  })
})

describe('Idempotency-Key', () => {
  const key = (name: string) => ({ 'idempotency-key': name })

  it('creates one policy for two requests, with the same response', async () => {
    const first = await motor.createPolicy({}, key('create-1'))
    const second = await motor.createPolicy({}, key('create-1'))
    expect(second.status).toBe(200)
    expect(second.body).toEqual(first.body)
  })

  it('creates one policy for twenty concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => motor.createPolicy({}, key('create-at-once'))),
    )
    expect(new Set(answers.map(answer => answer.body.locator)).size).toBe(1)
  })

  it('leads to 409 idempotencyConflict with another body', async () => {
    await motor.createPolicy({}, key('create-2'))
    const { status, body } = await motor.createPolicy({ finalize: false }, key('create-2'))
    expect(status).toBe(409)
    expect(body).toMatchObject({ code: 'idempotencyConflict' })
  })

  it('returns the original response of an action that the state no longer allows', async () => {
    const { body } = await motor.createPolicy()
    const first = await motor.post(`/policy/${body.locator}/issue`, undefined, key('issue-1'))
    const second = await motor.post(`/policy/${body.locator}/issue`, undefined, key('issue-1'))
    expect(first.status).toBe(200)
    expect(second.body).toEqual(first.body)
    const other = await motor.post(`/policy/${body.locator}/issue`, undefined, key('issue-2'))
    expect(other.status).toBe(409)
  })
})
