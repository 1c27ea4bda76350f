// Locators: digits are unique without a look-up, increasing, and tell their shard (docs/design.md, section 6).
import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { readUuid, shardOfDigits, shardOfUuid } from '../../src/kernel/locators.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { dispatcherObject } from '../../src/platform/objects.ts'
import { readTenant, type Tenant } from '../../src/platform/tenancy.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

let motor: Motor
let tenant: Tenant

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('locators')
  tenant = (await readTenant(env, { name: motor.tenantName }, noCalls()))!
})

it('10,000 displayIds in one commit are all different, below 2^53 and above 100,000,000', async () => {
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

it('isolates that lease at once get blocks that do not touch, also after a restart', async () => {
  const dispatcher = () => dispatcherObject(env, tenant, 0)
  const first = await Promise.all(Array.from({ length: 20 }, () => dispatcher().lease(500)))
  await evictDurableObject(dispatcher())
  const second = await Promise.all(Array.from({ length: 20 }, () => dispatcher().lease(500)))
  const blocks = [...first, ...second].sort((a, b) => a.next - b.next)
  for (const [at, block] of blocks.entries()) {
    expect(block.end - block.next).toBe(500)
    if (at > 0) expect(block.next).toBeGreaterThanOrEqual(blocks[at - 1]!.end)
  }
})
