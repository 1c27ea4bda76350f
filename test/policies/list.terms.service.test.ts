// The rows by which a policy is found, as a commit leaves them.
import { beforeAll, expect, it } from 'vitest'
import type { Tenant } from '../../src/platform/tenancy.ts'
import { termQueries } from '../../src/policy/list/store.ts'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import type { ProductDefinition } from '../../src/product/configuration.ts'
import type { FieldData } from '../../src/product/fields/groups.ts'
import { field } from '../product/fields/definitions.ts'
import { databaseOf, makeTenant } from '../servicing/events/tenant.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { aggregateOf, fieldsOf, modificationOf, policyOf, quoteOf, stretchOf } from './list-aggregates.ts'

const productWith = (...searchable: string[]): ProductDefinition =>
  ({
    fields: ['code', 'note'].map(name => field(name, 'string', { searchable: searchable.includes(name) })),
    exposures: [],
  }) as unknown as ProductDefinition

const quote = quoteOf()
const creation = modificationOf({ quoteLocator: quote.locator })

const holding = (policy: PolicyAggregate['policy'], data: FieldData): PolicyAggregate =>
  aggregateOf(policy, {
    quotes: [quote],
    modifications: [creation],
    segments: [stretchOf(creation.locator, data)],
  })

let tenant: Tenant

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  tenant = await makeTenant()
})

async function write(
  product: ProductDefinition,
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
): Promise<string[]> {
  const database = databaseOf(tenant)
  const queries = termQueries(database, product, before, after)
  await database.batch(queries as [(typeof queries)[0], ...typeof queries])
  const { results } = await boundDatabase(tenant.shards[0]!)
    .prepare('select field, term from policy_term where policy_locator = ? order by field, term')
    .bind(after.policy.locator)
    .all<{ field: string; term: string }>()
  return results.map(({ field: name, term }) => `${name}=${term}`)
}

it('hundreds of long values can be written and removed, and terms of other policies remain', async () => {
  const values = Array.from({ length: 400 }, (_, index) => `${index} ${'ü'.repeat(2_600)}`)
  const other = holding(policyOf(), fieldsOf({ code: [values[0]!] }))
  expect(await write(productWith('code'), undefined, other)).toHaveLength(1)
  const before = holding(policyOf(), fieldsOf({ code: values }))
  expect(await write(productWith('code'), undefined, before)).toHaveLength(400)
  const after = holding(before.policy, fieldsOf({ code: ['kept'] }))
  expect(await write(productWith('code'), before, after)).toEqual(['code=kept'])
  expect(await write(productWith('code'), other, holding(other.policy, fieldsOf({ code: ['b'] })))).toEqual([
    'code=b',
  ])
})

it('a new configuration version indexes the policy again', async () => {
  const data = fieldsOf({ code: ['one'], note: ['two'] })
  const before = holding(policyOf(), data)
  expect(await write(productWith('code'), undefined, before)).toEqual(['code=one'])
  const upgraded = holding({ ...before.policy, configVersion: 2 }, data)
  expect(await write(productWith('note'), before, upgraded)).toEqual(['note=two'])
})
