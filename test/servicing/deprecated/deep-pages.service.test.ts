// A page far into a list of several databases.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { noCalls } from '../../../src/platform/calls.ts'
import { systemContext } from '../../../src/platform/system-context.ts'
import { HOME_SHARD, readTenant, type Tenant } from '../../../src/platform/tenancy.ts'
import { listRecords } from '../../../src/servicing/deprecated/store.ts'
import { addDatabases, boundDatabase, prepareDatabases } from '../../support/databases.ts'
import { motorTenant } from '../../support/motor.ts'

const RECORDS = [3_000, 1_000, 2_000]
const FIRST = 1_000_000

let tenant: Tenant
let all: number[]

beforeAll(async () => {
  await prepareDatabases({ tenants: 3 })
  const { tenantLocator } = await motorTenant('deep')
  await addDatabases(tenantLocator, 2, 3)
  tenant = (await readTenant(env, { locator: tenantLocator }, noCalls()))!
  all = []
  for (const [shard, count] of RECORDS.entries()) {
    const client = boundDatabase(tenant.shards[shard]!)
    const { results } = await client
      .prepare(`select name, "notnull" as filled from pragma_table_info('quote')`)
      .all<{ name: string; filled: number }>()
    const locator = `(${FIRST} + i * ${shard + 1}) * 64 + ${shard}`
    const values = results.map(({ name, filled }) =>
      name === 'locator' || name === 'policy_locator' ? locator : filled ? '0' : 'null',
    )
    await client
      .prepare(
        `insert into quote (${results.map(({ name }) => name).join(', ')})
          with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count}) select ${values.join(', ')} from n`,
      )
      .run()
    all.push(...Array.from({ length: count }, (_, at) => (FIRST + (at + 1) * (shard + 1)) * 64 + shard))
  }
  all.sort((a, b) => a - b)
})

async function page(offset: number, most = 26) {
  const calls = noCalls()
  const context = systemContext({ env, tenant, calls }, HOME_SHARD, 'test')
  const found = await listRecords(context, 'quotes', offset, most)
  return { locators: found.map(({ locator }) => locator), calls }
}

it.each([0, 500, 990, 2_500, 5_990, 6_000, 90_000])(
  'a page from %i has the records that follow',
  async offset => {
    expect((await page(offset)).locators).toEqual(all.slice(offset, offset + 26))
  },
)

it('reads at most three times from each database, and what it reads does not grow with the offset', async () => {
  const { calls } = await page(5_000)
  expect(calls.d1).toBeLessThanOrEqual(9)
})
