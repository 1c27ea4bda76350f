// A tenant that still waits for the indexes of the migration 0016_record_lookups is served without them. Only the numbers of invoices
// are not searched until then.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { noCalls } from '../../../src/platform/calls.ts'
import { migrateInSteps, RECORD_LOOKUPS } from '../../../src/platform/database/migrations.ts'
import { bindingTarget } from '../../../src/platform/database/target.ts'
import { readTenant, TENANT_TRUST_MS } from '../../../src/platform/tenancy.ts'
import type { PolicyResponse } from '../../../src/policy/contract/response.ts'
import type { SearchResponse } from '../../../src/servicing/search/contract.ts'
import { callOk } from '../../support/api.ts'
import { boundDatabase, prepareDatabases, tenantMigrations } from '../../support/databases.ts'
import { motorWithoutLapses } from '../../support/examples.ts'
import { type Motor, motorTenant } from '../../support/motor.ts'

const EVENTS = [{ type: 'custom.policy.welcome', schedule: { anchor: 'policyEnd' } }]

let motor: Motor
let policy: PolicyResponse
let binding: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1, before: RECORD_LOOKUPS })
  const files = motorWithoutLapses()
  const config = JSON.parse(new TextDecoder().decode(files['config.json'] as Uint8Array))
  motor = await motorTenant('waiting', {
    ...files,
    'config.json': JSON.stringify({ ...config, customEvents: EVENTS }),
  })
  const { body } = await motor.createPolicy({ finalize: true })
  binding = (await readTenant(env, { name: motor.tenantName }, noCalls()))!.shards[0]!
  policy = (await motor.post<PolicyResponse>(`/policy/${body.locator}/issue`)).body
}, 60_000)

/** The numbers of records that each read finds: by number and by locator of an invoice, schedules, and logs of plugins. */
async function found(admin: string) {
  const { displayId, locator } = policy.invoices[0]!
  const search = async (text: string) =>
    (await callOk<SearchResponse>('GET', `/search?text=${text}`, { token: motor.token })).policies.length
  const path = `/event/${motor.tenantLocator}/events/schedules/list?policyLocator=${policy.locator}`
  const { items } = await callOk<{ items: [] }>('GET', path, { token: motor.token })
  const of = `/plugin/logs?policyLocator=${policy.locator}`
  const { logs } = await callOk<{ logs: [] }>('GET', of, { token: admin })
  return {
    byNumber: await search(displayId),
    byLocator: await search(locator),
    schedules: items.length,
    logs: logs.length,
  }
}

it('finds everything but numbers of invoices before the migration, and these too after it', async () => {
  const admin = await motor.signIn('anna.admin')
  const database = boundDatabase(binding)
  await database
    .prepare(
      `insert into plugin_log (locator, created_at, at, plugin, path, product_name, config_version, policy_locator, request_id,
         username, lines) values ('a', 1, unixepoch() * 1000, 'getPerilRates', 'a.js', 'private_motor', 1, ?, 'r', 'u', '[]')`,
    )
    .bind(policy.locator)
    .run()
  const before = await found(admin)
  expect(before).toEqual({ byNumber: 0, byLocator: 1, schedules: 1, logs: before.logs })
  expect(before.logs).toBeGreaterThan(0)

  const { isDone, applied } = await migrateInSteps(
    bindingTarget(binding, database),
    await tenantMigrations(),
    { left: 0 },
  )
  expect([isDone, applied]).toEqual([true, [RECORD_LOOKUPS]])
  await env.CONTROL.prepare('update pool_database set migration = ?').bind(RECORD_LOOKUPS).run()
  await scheduler.wait(TENANT_TRUST_MS)
  expect(await found(admin)).toEqual({ ...before, byNumber: 1 })
})

it.each([
  ['select policy_locator from invoice where display_id = 1', 'invoice_number (display_id=?)'],
  [
    `select * from plugin_log where policy_locator = '1' and (created_at, locator) > (1, 'a')
     order by created_at, locator limit 3`,
    'plugin_log_policy (policy_locator=? AND (created_at,locator)>(?,?))',
  ],
  [
    `delete from plugin_log where policy_locator in
     (select cast(locator as text) from policy where policyholder_locator = 'a')`,
    'plugin_log_policy (policy_locator=?)',
  ],
  [
    `select * from event_schedule where state = 'active' and policy_locator = 1
     order by created_at, locator limit 3 offset 0`,
    'event_schedule_policy (policy_locator=?)',
  ],
])('reads an index for: %s', async (text, index) => {
  const { results } = await boundDatabase(binding)
    .prepare(`explain query plan ${text}`)
    .all<{ detail: string }>()
  expect(results.map(({ detail }) => detail)).toContainEqual(expect.stringContaining(index))
})
