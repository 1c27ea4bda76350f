// Cancellations in one step (brief 1.7): listed with the others, reinstated by the current interface, and mixed with its
// cancellations.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import { type Migration, readMigrations } from '../../src/platform/database/migrations.ts'
import type { PolicyFeeSummaryResponse, PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyListResponse } from '../../src/policy/list/contract.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import type { ReinstatementResponse } from '../../src/transactions/reinstatements/contract.ts'
import type { Answer } from '../support/api.ts'
import { type Boats, boatTenant } from '../support/boat.ts'
import { month } from '../support/boat-product.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { roundTrips } from '../support/motor.ts'

const DAY = 86_400_000

let of: Boats
/** A tenant whose product has its own cancellation type named `cancel`. */
let named: Boats

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  of = await boatTenant('legacy', 'EUR', {
    taxed: true,
    files: { 'products/boat/policy/cancellation.template.liquid': 'Cancelled.' },
  })
  named = await boatTenant('named', 'EUR', {
    files: {
      'products/boat/policy/cancellations.json': JSON.stringify({
        cancellationTypes: [
          {
            name: 'cancel',
            title: 'Cancelled',
            documents: [],
            holdback: { amount: 50 },
            reinstatement: { defaultDeadlineDays: 10, documents: [] },
          },
        ],
      }),
    },
  })
})

async function insured(tenant = of): Promise<PolicyResponse> {
  const policy = await tenant.insured({ yearly: '1200', paymentScheduleName: 'upfront' })
  const fee = (feeName: string, amount: number, from = 0) => ({
    feeName,
    amount,
    startTimestamp: month(from),
    endTimestamp: month(12),
  })
  const newFees = [fee('mooring', 120), fee('reminder', 12.5), fee('reminder', 7.25, 10)]
  await tenant.ok<PolicyFeeSummaryResponse>('PATCH', `/policy/${policy.locator}/fees`, { newFees })
  return await tenant.read(policy)
}

const cancel = (policy: PolicyResponse, at: Instant, tenant = of): Promise<Answer<PolicyResponse>> =>
  tenant.call('POST', `/policy/${policy.locator}/cancel`, { coverageEndTimestamp: at })

async function cancelled(policy: PolicyResponse, at: Instant, tenant = of): Promise<CancellationResponse> {
  const answer = await cancel(policy, at, tenant)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return (await listed(policy, tenant)).at(-1)!
}

/** Cancels a policy by the current interface. */
const ended = (policy: PolicyResponse, effectiveTimestamp: Instant): Promise<CancellationResponse> =>
  of.ok('POST', `/policies/${policy.locator}/cancellations`, {
    name: 'sold',
    effectiveTimestamp,
    issue: true,
  })

const listed = (policy: PolicyResponse, tenant = of): Promise<CancellationResponse[]> =>
  tenant.ok('GET', `/policies/${policy.locator}/cancellations`)

const reinstate = (
  { locator }: { locator: string },
  body: object = { issue: true },
  tenant = of,
): Promise<ReinstatementResponse> => tenant.ok('PATCH', `/cancellations/${locator}/reinstate`, body)

const priceOf = ({ locator }: PolicyResponse, tenant = of): Promise<PolicyPriceResponse> =>
  tenant.ok('POST', `/policy/${locator}/price`)

async function stateOf({ locator }: PolicyResponse): Promise<string | undefined> {
  const { policies } = await of.ok<PolicyListResponse>('GET', '/policies?pageSize=100')
  return policies.find(one => one.locator === locator)?.state
}

async function isBilledWhole(policy: PolicyResponse, tenant = of): Promise<void> {
  const { invoices } = await tenant.read(policy)
  const cents = invoices
    .filter(one => one.settlementType !== 'invalidated')
    .reduce((sum, one) => sum + Math.round(one.totalDue * 100), 0)
  expect(cents).toBe(Math.round((await priceOf(policy, tenant)).total * 100))
}

describe('A legacy cancellation', () => {
  it('is listed, and can be reinstated step by step to the cent, also a second time', async () => {
    const policy = await insured()
    const before = await priceOf(policy)
    const answer = await cancel(policy, month(6))
    expect(roundTrips(answer)).toMatchObject({ object: 1 })
    expect(roundTrips(answer).d1).toBeLessThanOrEqual(2)
    const [cancellation, ...others] = await listed(policy)
    expect(others).toEqual([])
    expect(cancellation).toMatchObject({
      name: 'cancel',
      state: 'issued',
      effectiveTimestamp: String(month(6)),
      conflictHandling: 'invalidate',
      issuedTimestamp: expect.any(String),
      policyLocator: policy.locator,
      invoiceLocator: answer.body.invoices.at(-1)!.locator,
      // Half of 1,200.00, of its tax of 10% and of the mooring fee of 120.00, and a reminder fee that lies after it.
      price: {
        totalChange: -727.25,
        grossPremiumChange: -600,
        grossTaxesChange: -60,
        grossFeesChange: -67.25,
      },
      reinstatements: [],
    })
    const { locator } = cancellation!
    expect(await of.ok('GET', `/cancellations/${locator}`)).toEqual(cancellation)
    expect(await of.ok('GET', `/cancellations/${locator}/price`)).toEqual(cancellation!.price)
    const { modifications, cancellation: shown } = await of.read(policy)
    expect(shown).toMatchObject({ modificationLocator: modifications.at(-1)!.locator })
    expect(await stateOf(policy)).toBe('cancelled')
    for (const action of ['issue', 'rescind'])
      expect((await of.call('PATCH', `/cancellations/${locator}/${action}`)).status).toBe(409)

    const draft = await reinstate(cancellation!, {})
    expect(draft).toMatchObject({ state: 'draft', cancellationLocator: locator })
    expect(draft.reinstatementDeadlineTimestamp).toBeUndefined()
    const accepted = await of.ok<ReinstatementResponse>('PATCH', `/reinstatements/${draft.locator}/accept`)
    expect(accepted).toMatchObject({ state: 'accepted', reinstatementPaymentAmount: 727.25 })
    expect((await of.read(policy)).cancellation).toEqual(shown)
    await of.ok('PATCH', `/reinstatements/${draft.locator}/issue`)
    expect(await priceOf(policy)).toMatchObject({ total: before.total, grossFees: before.grossFees })
    const back = await of.read(policy)
    expect(back.cancellation).toBeUndefined()
    expect(back.effectiveContractEndTimestamp).toBe(policy.effectiveContractEndTimestamp)
    expect(await stateOf(policy)).toBe('pending')
    await isBilledWhole(policy)

    const second = await cancelled(policy, month(3))
    expect(second.locator).not.toBe(locator)
    const both = await listed(policy)
    expect(both.map(one => [one.name, one.effectiveTimestamp, one.reinstatements!.length])).toEqual([
      ['cancel', String(month(6)), 1],
      ['cancel', String(month(3)), 0],
    ])
    // A quarter of 1,200.00, 120.00 and 120.00, and one flat fee.
    expect((await priceOf(policy)).total).toBe(372.5)
    await reinstate(second)
    expect((await priceOf(policy)).total).toBe(before.total)
    await isBilledWhole(policy)
  })

  it('can be repeated for earlier times, and each is reinstated from the last to the first', async () => {
    const policy = await insured()
    const { total } = await priceOf(policy)
    const times = [9, 6, 2].map(count => month(count))
    const all: CancellationResponse[] = []
    for (const at of times) all.push(await cancelled(policy, at))
    expect((await listed(policy)).map(one => one.effectiveTimestamp)).toEqual(times.map(String))
    expect((await cancel(policy, month(4))).status).toBe(409)
    for (const one of all.reverse()) await reinstate(one)
    expect((await priceOf(policy)).total).toBe(total)
    await isBilledWhole(policy)
  })

  it('emits policy.cancel once, and cancellation.effective when its cover ends', async () => {
    const policy = await insured()
    const { locator } = await cancelled(policy, month(0))
    await of.until(month(0, 2))
    const { events } = await of.ok<{ events: { type: string; data: Record<string, string> }[] }>(
      'GET',
      '/eventstream/events?startTimestamp=0&pageSize=1000',
    )
    const own = events.filter(
      ({ type, data }) => type.includes('cancel') && data.policyLocator === policy.locator,
    )
    expect(own.map(({ type }) => type)).toEqual(['policy.cancel', 'cancellation.effective'])
    expect(own[1]!.data).toMatchObject({ cancellationLocator: locator, cancellationName: 'cancel' })
  })

  it('uses the product’s cancellation type named cancel for the deadline, but not for a holdback', async () => {
    const policy = await insured(named)
    const cancellation = await cancelled(policy, month(6), named)
    expect(cancellation).toMatchObject({ name: 'cancel', price: { totalChange: -667.25, holdbacks: [] } })
    const draft = await reinstate(cancellation, {}, named)
    const left = Number(draft.reinstatementDeadlineTimestamp) - Number(draft.createdTimestamp)
    expect(Math.round(left / DAY)).toBe(10)
  })

  it('can precede or follow a cancellation by the current interface', async () => {
    for (const [first, second] of [
      [cancelled, ended],
      [ended, cancelled],
    ] as const) {
      const policy = await insured()
      const { total } = await priceOf(policy)
      const later = await first(policy, month(8))
      const endorsed = await of.call('POST', `/policies/${policy.locator}/endorsements`, {
        endorsementName: 'change',
        startTimestamp: month(2),
        fieldValues: {},
        state: 'issued',
      })
      expect(endorsed.status, JSON.stringify(endorsed.body)).toBe(200)
      const earlier = await second(policy, month(4))
      const names = (await listed(policy)).map(one => one.name)
      expect(names).toEqual(first === cancelled ? ['cancel', 'sold'] : ['sold', 'cancel'])
      await reinstate(earlier)
      expect((await of.read(policy)).cancellation).toMatchObject({ effectiveTimestamp: String(month(8)) })
      await reinstate(later)
      expect((await of.read(policy)).cancellation).toBeUndefined()
      expect((await priceOf(policy)).total).toBe(total)
      await isBilledWhole(policy)
    }
  })

  it('from before cancellations were recorded is listed after the database migration', async () => {
    const database = boundDatabase(poolBinding(1))
    const policy = await insured()
    const recorded = await cancelled(policy, month(6))
    await database.batch([
      database.prepare('delete from cancellation where locator = ?').bind(Number(recorded.locator)),
      database
        .prepare('update modification set transaction_locator = null where transaction_locator = ?')
        .bind(recorded.locator),
      database
        .prepare("update document set subject = 'policy', subject_locator = ? where subject_locator = ?")
        .bind(policy.locator, recorded.locator),
    ])
    expect(await listed(policy)).toEqual([])
    const [{ statements }] = (await readMigrations(FILES)) as [Migration]
    for (let times = 0; times < 2; times += 1)
      await database.batch(statements.map(one => database.prepare(one)))
    const { modifications } = await of.read(policy)
    const locator = modifications.at(-1)!.displayId
    const documents = [expect.objectContaining({ locator: recorded.documents[0]!.locator })]
    expect(await listed(policy)).toEqual([{ ...recorded, locator, documents }])
    expect(await of.ok('GET', `/cancellations/${locator}`)).toEqual({ ...recorded, locator, documents })
  })
})

const FILES = import.meta.glob('../../migrations/tenant/*_legacy_cancellations.sql', {
  query: '?raw',
  import: 'default',
  eager: true,
}) as Record<string, string>
