// Rows written, which are most of the bill (docs/scale.md): the limits for one policy's life, by the operations of the benchmark.
import { env } from 'cloudflare:workers'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { type PolicyLocator, policyOfUuid, readUuid } from '../../src/kernel/locators.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { openDatabase } from '../../src/platform/database.ts'
import { type PolicySelection, policyLocatorQuery } from '../../src/policy/store/aggregates.ts'
import { callApi } from '../support/api.ts'
import { boundDatabase, prepareDatabases } from '../support/databases.ts'
import { leaveOutPolicy } from '../support/journal/exclusions.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const DAY_MS = 24 * 60 * 60 * 1000

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('rows')
})

// Counts over all databases of the process, including objects and work after the response.
type Sending = { batch(statements: D1PreparedStatement[]): Promise<D1Result[]> }
const session = Object.getPrototypeOf(env.CONTROL.withSession()) as Sending
const { batch } = session
let written = 0

beforeEach(() => {
  session.batch = async function (this: Sending, statements) {
    const results = await batch.call(this, statements)
    for (const { meta } of results) written += meta.rows_written
    return results
  }
})

afterEach(() => {
  session.batch = batch
})

async function rowsOf<T>(work: () => Promise<{ status: number; body: T }>): Promise<[number, T]> {
  written = 0
  const { status, body } = await work()
  expect([status, body]).toEqual([200, body])
  return [written, body]
}

it('each step of a policy’s life writes a fixed number of rows', async () => {
  await motor.createPolicy({ finalize: false })
  const [created, policy] = await rowsOf(() => motor.createPolicy({ finalize: false }))
  const at = `/policies/${policy.locator}`
  const { body: quotes } = await motor.get<{ locator: string }[]>(`${at}/quotes`)
  const [quoted] = await rowsOf(() =>
    callApi('PATCH', `/quotes/${quotes[0]!.locator}/quote`, { token: motor.token }),
  )
  const [finalized] = await rowsOf(() => motor.post(`/policy/${policy.locator}/finalize`))
  const [issued, inForce] = await rowsOf(() => motor.post(`/policy/${policy.locator}/issue`))
  const start = Number(inForce.originalContractStartTimestamp)
  const end = Number(inForce.originalContractEndTimestamp)
  const card = { fieldValues: { method: 'card' } }
  const [paid] = await rowsOf(() => motor.post(`/invoice/${inForce.invoices[0]!.locator}/pay`, card))
  const [endorsed] = await rowsOf(() =>
    motor.post(`${at}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: start + 180 * DAY_MS,
      state: 'issued',
      updateExposures: [
        { exposureLocator: inForce.exposures[0]!.locator, fieldValues: { vehicle_value: '29000' } },
      ],
    }),
  )
  const [renewed] = await rowsOf(() =>
    motor.post(`${at}/renewals`, { renewalEndTimestamp: end + (end - start), state: 'issued' }),
  )
  const [cancelled] = await rowsOf(() =>
    motor.post(`${at}/cancellations`, {
      effectiveTimestamp: start + 240 * DAY_MS,
      name: 'customer_request',
      cancellationCategory: 'other',
      issue: true,
    }),
  )
  expect({ created, quoted, finalized, issued, paid, endorsed, renewed, cancelled }).toEqual({
    // One row of the journal and its index for a transaction and where money moves, and one more for the renewal that the
    // cancellation takes back. One row in an index of open work for a quote that is not accepted,
    // an unpaid invoice, and the end of a policy in force (servicing/work-lists). One in the index of numbers for an invoice.
    created: 30,
    quoted: 17,
    finalized: 16,
    issued: 21,
    paid: 13,
    endorsed: 33,
    renewed: 41,
    cancelled: 33,
  })
})

it('creating and issuing a policy writes at most 75 rows', async () => {
  const [finalized, { locator }] = await rowsOf(() => motor.createPolicy({ finalize: true }))
  const [issued] = await rowsOf(() => motor.post(`/policy/${locator}/issue`))
  expect(finalized + issued).toBeLessThanOrEqual(75)
})

it('records of earlier releases, whose locators do not identify the policy, are found by their locator', async () => {
  const { body } = await motor.createPolicy({ finalize: true })
  await motor.post(`/policy/${body.locator}/issue`)
  const { body: policy } = await motor.get(`/policy/${body.locator}`)
  const found = {
    invoice: policy.invoices[0]!.locator,
    modification: policy.modifications[0]!.locator,
    peril: policy.exposures[0]!.perils[0]!.locator,
  }
  const client = boundDatabase('TENANT_001')
  const database = openDatabase(client, noCalls())
  const ownerBy = async (table: string, locator: string) => {
    const selection = { [`${table}Locator`]: locator } as PolicySelection
    const [rows] = (await database.batch([policyLocatorQuery(database, selection)])) as unknown as [
      { policy: PolicyLocator }[],
    ]
    return [table, rows[0]?.policy]
  }
  const owner = Number(policy.locator)
  leaveOutPolicy(policy.locator)
  for (const [table, locator] of Object.entries(found)) {
    expect([table, policyOfUuid(readUuid(locator)!)]).toEqual([table, owner])
    expect(await ownerBy(table, locator)).toEqual([table, owner])
    const older = `${locator.slice(0, 14)}7${locator.slice(15)}`
    await client.prepare(`update "${table}" set locator = ? where locator = ?`).bind(older, locator).run()
    expect(await ownerBy(table, older)).toEqual([table, owner])
    expect(await ownerBy(table, locator)).toEqual([table, undefined])
  }
})
