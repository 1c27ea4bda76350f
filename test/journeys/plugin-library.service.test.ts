// Policies of a product whose plugins are written in the style of shared libraries (test/support/plugin-library.ts).
import { beforeAll, describe, expect, it } from 'vitest'
import type { AuxDataKeySetResponse, AuxDataResponse } from '../../src/extension/auxdata/contract.ts'
import type { CheckInvoicesResponse, PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { PolicyQuoteResponse } from '../../src/transactions/quotes/contract-quote.ts'
import type { ReinstatementResponse } from '../../src/transactions/reinstatements/contract.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Plain, plainTenant } from '../support/plain-product.ts'
import { pluginLibraryFiles } from '../support/plugin-library.ts'

const YEAR = { start: Date.UTC(2035, 0, 1), end: Date.UTC(2036, 0, 1) }

let of: Plain
beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  of = await plainTenant('library', { timezone: 'UTC' }, pluginLibraryFiles())
})

const priceOf = ({ locator }: { locator: string }) =>
  of.ok<PolicyPriceResponse>('GET', `/policy/${locator}/price`)

const auxOf = async (locator: string, key: string): Promise<string> =>
  (await of.ok<AuxDataResponse>('GET', `/auxData/${locator}/${key}`)).value

const keysOf = async (locator: string): Promise<string[]> =>
  (await of.ok<AuxDataKeySetResponse>('GET', `/auxData/${locator}?page=0`)).keys.map(one => one.key)

const endorse = ({ locator, exposures }: PolicyResponse, month: number, yearly: string) =>
  of.call<EndorsementResponse>('POST', `/policies/${locator}/endorsements`, {
    endorsementName: 'always',
    state: 'issued',
    startTimestamp: String(Date.UTC(2035, month, 1)),
    updateExposures: [{ exposureLocator: exposures[0]!.locator, fieldValues: { yearly } }],
  })

/** Totals of the invoices, and of the planned invoices. */
async function billsOf({ locator }: { locator: string }): Promise<[number[], number[]]> {
  const { invoices, futureInvoices } = await of.ok<CheckInvoicesResponse>(
    'GET',
    `/policy/${locator}/checkInvoices`,
  )
  const planned = futureInvoices.map(one =>
    Number(one.financialTransactions.reduce((sum, { amount }) => sum + amount, 0).toFixed(2)),
  )
  return [invoices.map(one => one.totalDue), planned]
}

const times = (count: number, amount: number): number[] => Array.from({ length: count }, () => amount)

describe('Plugins in the style of a shared library', () => {
  it('rate with array methods that they add by Object.defineProperty, on every call', async () => {
    for (const yearly of ['1200', '600']) {
      const policy = await of.issue(YEAR, yearly)
      expect((await priceOf(policy)).grossPremium).toBe(Number(yearly))
    }
  })

  it('get the currency and quote of the policy, and the old and new payment schedule in every transaction', async () => {
    const { locator } = await of.issue(YEAR, '1200')
    const [quote] = await of.ok<PolicyQuoteResponse[]>('GET', `/policies/${locator}/quotes`)
    expect(JSON.parse(await auxOf(locator, 'rated'))).toEqual({ currency: 'EUR', quote: quote!.locator })
    expect(await auxOf(locator, 'billed')).toBe(quote!.locator)
    expect(await auxOf(locator, 'schedules')).toBe('monthly to monthly')
  })

  it('bill an endorsement with an item of zero on its first installment, which is already invoiced', async () => {
    const policy = await of.issue(YEAR, '1200')
    await of.ok('POST', `/policy/${policy.locator}/issueNextInvoice`)
    expect(await billsOf(policy)).toEqual([[100], times(11, 100)])
    const { status } = await endorse(policy, 6, '2400')
    expect(status).toBe(200)
    const [made, planned] = await billsOf(policy)
    expect(made).toEqual([100])
    expect(planned).toHaveLength(11)
    const { grossPremium } = await priceOf(policy)
    expect(planned.reduce((sum, amount) => sum + amount, 100)).toBeCloseTo(grossPremium, 2)
  })

  it('split amounts by the field values of the peril, which each proration item includes', async () => {
    const spread = await of.issue(YEAR, '1200')
    const atOnce = await of.issue(YEAR, '1200', [
      {
        exposureName: 'thing',
        fieldValues: { yearly: '1200' },
        perils: [{ name: 'cover', fieldValues: { earned: 'at once' } }],
      },
    ])
    const cancelled = async ({ locator }: PolicyResponse): Promise<number> => {
      const { status } = await of.call<CancellationResponse>('POST', `/policies/${locator}/cancellations`, {
        name: 'wish',
        effectiveTimestamp: Date.UTC(2035, 6, 2, 12),
        issue: true,
      })
      expect(status).toBe(200)
      return (await priceOf({ locator })).grossPremium
    }
    expect(await cancelled(spread)).toBe(600)
    expect(await cancelled(atOnce)).toBe(1200)
  })

  it('plan a reinstatement with later installments, so that nothing is due immediately', async () => {
    const policy = await of.issue(YEAR, '1200')
    const { body: cancellation } = await of.call<CancellationResponse>(
      'POST',
      `/policies/${policy.locator}/cancellations`,
      { name: 'wish', effectiveTimestamp: Date.UTC(2035, 6, 1), issue: true },
    )
    const { status, body } = await of.call<ReinstatementResponse>(
      'PATCH',
      `/cancellations/${cancellation.locator}/reinstate`,
      { issue: true },
    )
    expect([status, body.state]).toEqual([200, 'issued'])
    expect([body.reinstatementPaymentAmount, body.invoiceLocator]).toEqual([0, undefined])
    const [made, planned] = await billsOf(policy)
    const cents = planned.reduce((sum, amount) => sum + Math.round(amount * 100), 0)
    expect([made, cents]).toEqual([[], 120_000])
  })

  it('consolidate documents after issuance, even if the transaction has none', async () => {
    const policy = await of.issue(YEAR, '1200')
    const { status, body } = await endorse(policy, 3, '1300')
    expect([status, body.state, body.documents]).toEqual([200, 'issued', []])
    expect(policy.documents).toEqual([])
  })

  it('delete auxiliary data only if the transaction succeeds', async () => {
    const policy = await of.issue(YEAR, '1200')
    const { locator } = policy
    const note = { auxData: [{ key: 'note', value: 'as agreed by telephone' }] }
    await of.ok('PUT', `/auxData/${locator}`, note)
    expect((await endorse(policy, 3, 'no number')).status).toBe(400)
    expect(await keysOf(locator)).toEqual(['billed', 'note', 'rated', 'schedules'])
    const { status, body } = await endorse(policy, 3, '1300')
    expect([status, body.fieldValues]).toEqual([200, { note: ['as agreed by telephone'] }])
    expect(await keysOf(locator)).toEqual(['billed', 'rated', 'schedules'])
    expect(await auxOf(locator, 'note')).toBe('')
  })
})
