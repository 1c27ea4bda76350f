// A tenant with three shards and without a configuration.
import { beforeAll, describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { newUuid, shardOfUuid, type Uuid } from '../../src/kernel/locators.ts'
import type { RequestContext } from '../../src/platform/context.ts'
import type { Tenant } from '../../src/platform/tenancy.ts'
import {
  PolicyholderCreateRequest,
  PolicyholderListQuery,
  type PolicyholderPageResponse,
  type PolicyholderResponse,
  PolicyholderUpdateRequest,
} from '../../src/policyholders/contract.ts'
import {
  createPolicyholder,
  getPolicyholder,
  listPolicyholders,
  updatePolicyholder,
} from '../../src/servicing/policyholders/service.ts'
import { makeTenant, requestOf } from '../servicing/events/tenant.ts'
import { prepareDatabases } from '../support/databases.ts'

let tenant: Tenant

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  tenant = await makeTenant(3)
})

const create = async (
  wire: unknown,
  changes: Partial<RequestContext> = {},
): Promise<PolicyholderResponse> => {
  const answer = await createPolicyholder(requestOf(tenant, changes), PolicyholderCreateRequest.parse(wire))
  return JSON.parse(answer.text)
}

const list = (query: object): Promise<PolicyholderPageResponse> =>
  listPolicyholders(requestOf(tenant), PolicyholderListQuery.parse(query))

describe('Without a configuration', () => {
  it('a policyholder can have any values, and no field is searchable', async () => {
    const { locator, entity } = await create({ completed: true, values: { any: 'thing' } })
    expect(entity.values).toEqual({ any: ['thing'] })
    const update = PolicyholderUpdateRequest.parse({
      locator,
      version: 1,
      completed: true,
      values: { one: 1 },
    })
    const { text } = await updatePolicyholder(requestOf(tenant), update)
    expect(JSON.parse(text)).toMatchObject({ version: 2, entity: { values: { any: ['thing'], one: ['1'] } } })
    await expect(list({ searchField: 'any', searchValue: 'thing' })).rejects.toThrow(Refusal)
  })
})

describe('With several shards', () => {
  it('each policyholder is in the shard of its locator, and pages merge all shards', async () => {
    const made: PolicyholderResponse[] = []
    for (let at = 0; at < 40; at += 1) made.push(await create({ values: { number: at } }))
    const shards = new Set(made.map(({ locator }) => shardOfUuid(locator as Uuid)))
    expect(shards).toEqual(new Set([0, 1, 2]))
    for (const holder of made.slice(0, 10))
      expect(await getPolicyholder(requestOf(tenant), holder.locator)).toEqual(holder)

    const seen: PolicyholderResponse[] = []
    let pagingToken: string | undefined
    do {
      const page = await list({ pageSize: 7, pagingToken })
      expect(page.policyholders.length).toBeLessThanOrEqual(7)
      seen.push(...page.policyholders)
      pagingToken = page.pagingToken
    } while (pagingToken)
    const order = seen.map(({ createdTimestamp, locator }) => `${createdTimestamp} ${locator}`)
    expect(order).toEqual([...order].sort())
    const numbers = seen.flatMap(({ entity }) => entity.values.number ?? []).map(Number)
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, at) => at))
  })

  it('a repeat uses the shard of the first attempt', async () => {
    for (let round = 0; round < 8; round += 1) {
      const idempotency = { key: `account:${newUuid(0)}`, bodyHash: 'h' }
      const [first, second] = [await create({}, { idempotency }), await create({}, { idempotency })]
      expect(second).toEqual(first)
    }
  })
})
