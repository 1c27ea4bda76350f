// Bills that a plugin of the product plans, through HTTP. Every charge is billed in full by the installments, installment fees are
// billed with their installments only, and no cent is lost or added (brief 3.3, 4.3, 5.6).
import { beforeAll, describe, expect, it } from 'vitest'
import type { InstallmentsInput } from '../../src/extension/plugins/contract.ts'
import type { PluginLogPageResponse } from '../../src/extension/plugins/contract-log.ts'
import { endOfDay, type TimeZone } from '../../src/kernel/time.ts'
import type {
  CheckInvoicesResponse,
  FinancialTransactionResponse,
  FutureInvoiceResponse,
  PolicyInvoiceResponse,
  PolicyPriceResponse,
} from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { PolicyPreviewResponse } from '../../src/transactions/preview/contract.ts'
import type { PolicyQuoteResponse } from '../../src/transactions/quotes/contract-quote.ts'
import type { ReinstatementResponse } from '../../src/transactions/reinstatements/contract.ts'
import { type Boats, boatTenant } from '../support/boat.ts'
import { month, NEW_YEAR } from '../support/boat-product.ts'
import { prepareDatabases } from '../support/databases.ts'
import { exampleFiles, motorWithoutPapers } from '../support/examples.ts'
import { motorTenant, plainYear, roundTrips, yearFromSoon } from '../support/motor.ts'
import { ownBillsFiles } from '../support/own-bills.ts'
import { pluginRated } from '../support/plugin-rated.ts'

const BERLIN = 'Europe/Berlin' as TimeZone

beforeAll(() => prepareDatabases({ tenants: 18 }))

/** Plans like the plugin of the motor example, with a fee of 2.00 on each installment but the first, and stores its input. */
const RECORDED = `
const { createInstallments } = require('./motor.js')
exports.createInstallments = data => {
  const { policy, ...rest } = data
  const exposures = policy.exposures.length
  socotraApi.setAuxData(policy.locator, 'given', JSON.stringify({ ...rest, schedule: policy.paymentScheduleName, exposures }))
  return createInstallments(data)
}`

const motorScripts = (): Record<string, string> => {
  const text = (path: string): string => new TextDecoder().decode(exampleFiles('motor')[`scripts/${path}`])
  return {
    'scripts/lib/calendar.js': text('lib/calendar.js'),
    'scripts/main/motor.js': text('main/installments.js'),
  }
}

let made = 0
/** Creates a tenant with boats whose bills the script plans. */
const boats = (script = RECORDED): Promise<Boats> => {
  made += 1
  return boatTenant(`ownbills${made}`, 'EUR', { files: { ...motorScripts(), ...ownBillsFiles(script) } })
}

const given = async (of: Boats, { locator }: PolicyResponse): Promise<InstallmentsInput> => {
  const { value } = await of.ok<{ value: string }>('GET', `/auxData/${locator}/given`)
  return JSON.parse(value) as InstallmentsInput
}

const day = (timestamp: string): string =>
  new Date(Number(timestamp)).toLocaleDateString('en-CA', { timeZone: BERLIN })

const check = (of: Boats, { locator }: PolicyResponse): Promise<CheckInvoicesResponse> =>
  of.ok('GET', `/policy/${locator}/checkInvoices`)

type Item = [type: string, amount: number]
const items = ({
  financialTransactions,
}: {
  financialTransactions: FinancialTransactionResponse[]
}): Item[] => financialTransactions.map(one => [one.feeName ?? one.type, one.amount])

type Asked = [start: string, due: string, items: Item[]]
const asked = (
  one: { startTimestamp: string; dueTimestamp?: string | undefined } & Parameters<typeof items>[0],
) => [day(one.startTimestamp), day(one.dueTimestamp!), items(one)] as Asked

/** The first day of a month of 2030, counted from 0. */
const firstOf = (at: number): string => `2030-${String(at + 1).padStart(2, '0')}-01`

const totals = (invoices: PolicyInvoiceResponse[]): [string, number, string][] =>
  invoices.map(one => [one.invoiceType, one.totalDue, one.settlementType ?? one.settlementStatus])

const total = async (of: Boats, { locator }: PolicyResponse): Promise<number> =>
  (await of.ok<PolicyPriceResponse>('POST', `/policy/${locator}/price`)).total

/** The request that creates a policy for the year. */
const boat = (policyholderLocator: string, yearly: string, more: object = {}) => ({
  productName: 'boat',
  policyholderLocator,
  policyStartTimestamp: NEW_YEAR,
  policyEndTimestamp: month(12),
  exposures: [{ exposureName: 'hull', fieldValues: { yearly }, perils: [{ name: 'sinking' }] }],
  ...more,
})

/** Returns a policy of 1,200 a year, billed monthly, on June 10: six invoices exist, July to December are planned. */
async function inJune(of: Boats): Promise<PolicyResponse> {
  const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
  await of.until(month(5, 10))
  const { invoices, futureInvoices } = await check(of, policy)
  expect(invoices.map(one => one.totalDue)).toEqual([100, 102, 102, 102, 102, 102])
  expect(futureInvoices).toHaveLength(6)
  return policy
}

const dearer = (policy: PolicyResponse, yearly: string, more: object = {}) => ({
  endorsementName: 'change',
  startTimestamp: month(6),
  updateExposures: [{ exposureLocator: policy.exposures[0]!.locator, fieldValues: { yearly } }],
  ...more,
})

const FEE: Item = ['installment_fee', 2]

describe('New business', () => {
  it('is billed by the plugin, with a fee on each installment but the first', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    const { invoices, futureInvoices } = await check(of, policy)
    expect(invoices.map(asked)).toEqual([[firstOf(0), firstOf(0), [['premium', 100]]]])
    const later = Array.from({ length: 11 }, (_, at) => firstOf(at + 1))
    expect(futureInvoices.map(asked)).toEqual(later.map(first => [first, first, [['premium', 100], FEE]]))
    expect([await total(of, policy), policy.grossFees, policy.fees]).toEqual([1200, 0, []])
    expect(await given(of, policy)).toEqual({
      operation: 'newBusiness',
      transactionType: 'newBusiness',
      charges: [
        {
          chargeId: expect.any(String),
          type: 'premium',
          category: 'new',
          isNew: true,
          amount: '1200.00',
          originalAmount: '1200.00',
          previouslyInvoicedAmount: '0.00',
          amountCurrency: 'EUR',
          coverageStartTimestamp: String(NEW_YEAR),
          coverageEndTimestamp: String(month(12)),
          policyModificationLocator: policy.modifications[0]!.locator,
          perilLocator: policy.exposures[0]!.perils[0]!.locator,
          perilCharacteristicsLocator: policy.exposures[0]!.perils[0]!.characteristics[0]!.locator,
          perilName: 'sinking',
        },
      ],
      plannedInvoices: [],
      paymentScheduleName: 'monthly',
      oldPaymentScheduleName: 'monthly',
      defaultPaymentTerms: { amount: '10', unit: 'day' },
      coverageStartTimestamp: String(NEW_YEAR),
      coverageEndTimestamp: String(month(12)),
      productName: 'boat',
      tenantTimeZone: BERLIN,
      schedule: 'monthly',
      exposures: 1,
    })
    await of.until(month(12))
    const last = await of.read(policy)
    expect(totals(last.invoices)).toEqual([
      ['newBusiness', 100, 'outstanding'],
      ...Array.from({ length: 11 }, () => ['installment', 102, 'outstanding']),
    ])
    expect(last.invoices.map(one => Number(one.dueTimestamp))).toEqual(
      Array.from({ length: 12 }, (_, at) => endOfDay(month(at), BERLIN)),
    )
    expect([last.grossFees, last.fees]).toEqual([0, []])
  })

  it('shows the plugin’s plan when quoted and accepted, and plans a small amount as one installment', async () => {
    const of = await boats()
    const { policyholderLocator } = await of.insured({ yearly: '1', paymentScheduleName: 'upfront' })
    const shown = async (yearly: string): Promise<Asked[]> => {
      const draft = boat(policyholderLocator, yearly, { paymentScheduleName: 'quarterly', finalize: false })
      const { locator } = await of.ok<PolicyResponse>('POST', '/policy', draft)
      const [quote] = await of.ok<PolicyQuoteResponse[]>('GET', `/policies/${locator}/quotes`)
      await of.ok('PATCH', `/quotes/${quote!.locator}/quote`)
      const quoted = await of.ok<PolicyQuoteResponse>('GET', `/quotes/${quote!.locator}`)
      const accepted = await of.ok<PolicyQuoteResponse>('PATCH', `/quotes/${quote!.locator}/accept`)
      expect(accepted.invoices.map(asked)).toEqual(quoted.invoices.map(asked))
      return quoted.invoices.map(asked)
    }
    expect(await shown('400')).toEqual(
      [0, 3, 6, 9].map(at => [
        firstOf(at),
        firstOf(at),
        at === 0 ? [['premium', 100]] : [['premium', 100], FEE],
      ]),
    )
    expect(await shown('5')).toEqual([[firstOf(0), firstOf(0), [['premium', 5]]]])
  })
})

describe('Replacing planned bills', () => {
  it('an endorsement bills its own charges with the rests, and drops the fees of replaced installments', async () => {
    const of = await boats()
    const policy = await inJune(of)
    const quoted = await of.ok<EndorsementResponse>(
      'POST',
      `/policies/${policy.locator}/endorsements`,
      dearer(policy, '2400', { state: 'quoted' }),
    )
    const sums = (all: Asked[]) =>
      all.map(([start, due, list]) => [
        start,
        due,
        list.filter(([type]) => type === 'premium').reduce((sum, [, amount]) => sum + amount, 0),
        list.filter(([type]) => type !== 'premium'),
      ])
    const plan = Array.from({ length: 6 }, (_, at) => [
      firstOf(at + 6),
      firstOf(at + 6),
      200,
      at === 0 ? [] : [FEE],
    ])
    expect(sums(quoted.plannedInvoices!.map(asked))).toEqual(plan)
    const input = await given(of, policy)
    expect(
      input.charges.map(one => [one.isNew, one.category, one.amount, one.previouslyInvoicedAmount]),
    ).toEqual([
      [true, 'new', '-1200.00', '0.00'],
      [true, 'new', '600.00', '0.00'],
      [true, 'new', '1200.00', '0.00'],
      [false, 'previously_invoiced', '600.00', '600.00'],
    ])
    expect(input.charges[3]).toMatchObject({
      originalAmount: '1200.00',
      coverageStartTimestamp: String(month(6)),
      coverageEndTimestamp: String(month(12)),
    })
    expect(input.plannedInvoices.map(one => one.financialTransactions.map(item => item.amount))).toEqual(
      Array.from({ length: 6 }, () => ['100.00', '2.00']),
    )
    expect(input).toMatchObject({
      operation: 'endorsement',
      paymentScheduleName: 'monthly',
      oldPaymentScheduleName: 'monthly',
    })
    const issued = await of.ok<EndorsementResponse>('PATCH', `/endorsements/${quoted.locator}`, {
      action: 'issue',
    })
    expect([issued.invoice!.totalDue, day(issued.invoice!.dueTimestamp)]).toEqual([200, firstOf(6)])
    expect(sums((await check(of, policy)).futureInvoices.map(asked))).toEqual(plan.slice(1))
    await of.until(month(12))
    const last = await of.read(policy)
    expect(totals(last.invoices).slice(6)).toEqual([
      ['endorsement', 200, 'outstanding'],
      ...Array.from({ length: 5 }, () => ['installment', 202, 'outstanding']),
    ])
    // Ten fees were billed in addition to the price of the policy.
    const invoiced = last.invoices.reduce((sum, one) => sum + one.totalDue, 0)
    expect([await total(of, policy), invoiced]).toEqual([1800, 1820])
  })

  it('the reversal by an endorsement has the characteristics of the charge that it reverses', async () => {
    const of = await boats()
    const policy = await inJune(of)
    const issued = dearer(policy, '2400', { state: 'issued' })
    await of.ok('POST', `/policies/${policy.locator}/endorsements`, issued)
    const { characteristics } = (await of.read(policy)).exposures[0]!.perils[0]!
    const spanOf = (locator: string | undefined): string[] => {
      const { coverageStartTimestamp: start, coverageEndTimestamp: end } = characteristics.find(
        one => one.locator === locator,
      )!
      return [day(start), day(end)]
    }
    const spans = [
      [-1200, firstOf(0), '2031-01-01'],
      [600, firstOf(0), firstOf(6)],
      [1200, firstOf(6), '2031-01-01'],
      [600, firstOf(0), '2031-01-01'],
    ]
    const { charges } = await given(of, policy)
    expect(charges.map(one => [Number(one.amount), ...spanOf(one.perilCharacteristicsLocator)])).toEqual(
      spans,
    )
    // The rest and its reversal belong to one line, so a script that pairs them by their characteristics finds both.
    expect(charges[0]!.perilCharacteristicsLocator).toBe(charges[3]!.perilCharacteristicsLocator)
    const { financialTransactions } = (await check(of, policy)).invoices.at(-1)!
    const reversals = financialTransactions.filter(one => one.amount < 0)
    expect(reversals.map(one => spanOf(one.perilCharacteristicsLocator))).toEqual([
      [firstOf(0), '2031-01-01'],
    ])
  })

  it('invalidating an endorsement restores the plan with its fees', async () => {
    const of = await boats()
    const policy = await inJune(of)
    const before = (await check(of, policy)).futureInvoices
    const accepted = await of.ok<EndorsementResponse>(
      'POST',
      `/policies/${policy.locator}/endorsements`,
      dearer(policy, '2400', { state: 'accepted' }),
    )
    expect(accepted.invoice!.totalDue).toBe(200)
    await of.ok('PATCH', `/endorsements/${accepted.locator}`, { action: 'invalidate' })
    const after = await check(of, policy)
    expect(after.futureInvoices).toEqual(before)
    expect(totals(after.invoices as PolicyInvoiceResponse[]).at(-1)).toEqual([
      'endorsement',
      200,
      'invalidated',
    ])
    // An endorsement without charges leaves the plan unchanged, and the plugin is not called.
    const nothing = await of.ok<EndorsementResponse>('POST', `/policies/${policy.locator}/endorsements`, {
      endorsementName: 'change',
      startTimestamp: month(6),
      state: 'issued',
    })
    expect(nothing.invoice).toBeUndefined()
    expect((await check(of, policy)).futureInvoices).toEqual(before)
  })

  it('a schedule change after the end of the policy passes the coverage of what is still to be billed', async () => {
    const of = await boats(`
exports.createInstallments = ({ charges, coverageStartTimestamp, coverageEndTimestamp, policy }) => {
  socotraApi.setAuxData(policy.locator, 'given', JSON.stringify({ coverageStartTimestamp, coverageEndTimestamp }))
  const year = 365 * 86400000
  const bill = (issueTimestamp, share) => ({
    startTimestamp: coverageStartTimestamp,
    endTimestamp: coverageEndTimestamp,
    issueTimestamp,
    dueTimestamp: issueTimestamp + 86400000,
    invoiceItems: charges.map(({ chargeId, amount }) => ({ chargeId, amount: Number(amount) * share })),
  })
  return { installments: [bill(Date.now(), 0.5), bill(Date.now() + 2 * year, 0.5)] }
}`)
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    const whole = { coverageStartTimestamp: String(NEW_YEAR), coverageEndTimestamp: String(month(12)) }
    expect(await given(of, policy)).toEqual(whole)
    await of.until(month(13))
    // 600.00 was billed in December 2029, and 600.00 is planned for December 2031.
    await of.ok('POST', `/policy/${policy.locator}/paymentSchedule`, { newPaymentScheduleName: 'quarterly' })
    expect(await given(of, policy)).toEqual(whole)
    const { invoices, futureInvoices } = await check(of, policy)
    expect(invoices.map(one => one.totalDue)).toEqual([600, 300])
    expect(futureInvoices.map(items)).toEqual([[['premium', 300]]])
  })

  it('a schedule change passes the old and the new schedule, with or without an endorsement', async () => {
    const of = await boats()
    const policy = await inJune(of)
    await of.ok('POST', `/policy/${policy.locator}/paymentSchedule`, { newPaymentScheduleName: 'quarterly' })
    expect(await given(of, policy)).toMatchObject({
      operation: 'endorsement',
      charges: [{ isNew: false, amount: '600.00', originalAmount: '1200.00' }],
      paymentScheduleName: 'quarterly',
      oldPaymentScheduleName: 'monthly',
      schedule: 'quarterly',
      coverageStartTimestamp: String(month(5, 10)),
      coverageEndTimestamp: String(month(12)),
    })
    const { invoices, futureInvoices } = await check(of, policy)
    expect(asked(invoices.at(-1)!)).toEqual([firstOf(6), firstOf(6), [['premium', 300]]])
    expect(futureInvoices.map(asked)).toEqual([[firstOf(9), firstOf(9), [['premium', 300], FEE]]])

    const endorsed = await of.ok<EndorsementResponse>(
      'POST',
      `/policies/${policy.locator}/endorsements`,
      dearer(policy, '2400', {
        startTimestamp: month(9),
        newPaymentScheduleName: 'monthly',
        state: 'issued',
      }),
    )
    expect(await given(of, policy)).toMatchObject({
      paymentScheduleName: 'monthly',
      oldPaymentScheduleName: 'quarterly',
    })
    expect([endorsed.invoice!.totalDue, day(endorsed.invoice!.dueTimestamp)]).toEqual([200, firstOf(9)])
    await of.until(month(12))
    const last = await of.read(policy)
    expect(last.invoices.slice(6).map(one => one.totalDue)).toEqual([300, 200, 202, 202])
    expect(await total(of, policy)).toBe(1500)
  })

  it('a cancellation refunds later cover but no fees, and its reinstatement is billed monthly', async () => {
    const of = await boats()
    const policy = await inJune(of)
    const preview = await of.ok<PolicyPreviewResponse>('POST', `/policies/${policy.locator}/preview`, {
      cancellation: { name: 'sold', effectiveTimestamp: month(3) },
    })
    expect(preview.invoices.map(one => [one.totalDue, one.invoiceType])).toEqual([[-300, 'cancellation']])
    const cancellation = await of.ok<CancellationResponse>(
      'POST',
      `/policies/${policy.locator}/cancellations`,
      {
        name: 'sold',
        effectiveTimestamp: month(3),
        issue: true,
      },
    )
    expect(await given(of, policy)).toMatchObject({
      operation: 'cancellation',
      charges: [
        { isNew: true, amount: '-1200.00' },
        { isNew: true, amount: '300.00' },
        { isNew: false, amount: '600.00' },
      ],
      coverageStartTimestamp: String(month(3)),
      coverageEndTimestamp: String(month(12)),
    })
    const cancelled = await check(of, policy)
    expect(cancelled.futureInvoices).toEqual([])
    expect(asked(cancelled.invoices.at(-1)!)[2]).toEqual([
      ['premium', -1200],
      ['premium', 300],
      ['premium', 600],
    ])
    expect(await total(of, policy)).toBe(300)

    const reinstated = await of.ok<ReinstatementResponse>(
      'PATCH',
      `/cancellations/${cancellation.locator}/reinstate`,
      {},
    )
    const accepted = await of.ok<ReinstatementResponse>(
      'PATCH',
      `/reinstatements/${reinstated.locator}/accept`,
    )
    // April to June are billed immediately. July is to be invoiced on June 21, whether or not the reinstatement is issued by then.
    expect(accepted.reinstatementPaymentAmount).toBe(300)
    const future = (await check(of, policy)).futureInvoices
    expect(future.map(asked)).toEqual(
      Array.from({ length: 6 }, (_, at) => [firstOf(at + 6), firstOf(at + 6), [['premium', 100], FEE]]),
    )
    await of.ok('PATCH', `/reinstatements/${reinstated.locator}/issue`)
    await of.until(month(12))
    const last = await of.read(policy)
    expect(totals(last.invoices).slice(6)).toEqual([
      ['cancellation', -300, 'paid'],
      ['reinstatement', 300, 'outstanding'],
      ...Array.from({ length: 6 }, () => ['installment', 102, 'outstanding']),
    ])
    // Eleven fees: five with invoices before the cancellation, six after it.
    const invoiced = last.invoices.reduce((sum, one) => sum + one.totalDue, 0)
    expect([await total(of, policy), invoiced]).toEqual([1200, 1222])
  })

  it('a cancellation calls the proration and the billing plugin once each, and bills what both return', async () => {
    made += 1
    const files: Record<string, string> = {
      ...motorScripts(),
      ...ownBillsFiles(`console.log('bills')${RECORDED}`),
    }
    const path = 'products/boat/policy/policy.json'
    const policyFile = JSON.parse(files[path]!) as { plugins: object }
    const getProrationResult = { path: 'main/prorater.js', enabled: true }
    files[path] = JSON.stringify({ ...policyFile, plugins: { ...policyFile.plugins, getProrationResult } })
    // Half of each split amount stays with the earlier part, wherever the split is.
    files['scripts/main/prorater.js'] = `exports.getProrationResult = data => {
      console.log('split')
      return { items: data.items.map(({ id, amount }) => ({ id, proratedAmount: Number(amount) / 2 })) }
    }`
    files['security/test_users.json'] = JSON.stringify([
      { username: 'alice.agent', name: 'Alice', password: 'password', roles: ['admin'] },
    ])
    const of = await boatTenant(`ownbills${made}`, 'EUR', { files })
    const policy = await inJune(of)
    const called = async (): Promise<string[]> => {
      const { logs } = await of.ok<PluginLogPageResponse>(
        'GET',
        `/plugin/logs?policyLocator=${policy.locator}`,
      )
      return logs.map(one => one.plugin)
    }
    const before = await called()
    await of.ok('POST', `/policies/${policy.locator}/cancellations`, {
      name: 'sold',
      effectiveTimestamp: month(3),
      issue: true,
    })
    const { operation, charges, plannedInvoices } = await given(of, policy)
    expect([operation, charges.map(one => one.amount), plannedInvoices.length]).toEqual([
      'cancellation',
      ['-1200.00', '600.00', '600.00'],
      6,
    ])
    const { invoices, futureInvoices } = await check(of, policy)
    expect(totals(invoices as PolicyInvoiceResponse[]).at(-1)).toEqual(['cancellation', 0, 'zeroDue'])
    expect([futureInvoices, await total(of, policy)]).toEqual([[], 600])
    expect((await called()).slice(before.length).sort()).toEqual(['createInstallments', 'getProrationResult'])
  })

  it('a legacy cancellation leaves no plan and no fees, and a renewal is planned separately', async () => {
    const of = await boats()
    const policy = await inJune(of)
    const renewed = await of.ok<{ plannedInvoices: FutureInvoiceResponse[]; locator: string }>(
      'POST',
      `/policies/${policy.locator}/renewals`,
      { renewalEndTimestamp: month(24), newPaymentScheduleName: 'semiannually', state: 'quoted' },
    )
    expect(renewed.plannedInvoices.map(asked)).toEqual([
      ['2031-01-01', '2031-01-01', [['premium', 600]]],
      ['2031-07-01', '2031-07-01', [['premium', 600], FEE]],
    ])
    expect(await given(of, policy)).toMatchObject({
      operation: 'renewal',
      plannedInvoices: [],
      charges: [{ isNew: true, amount: '1200.00' }],
      paymentScheduleName: 'semiannually',
      oldPaymentScheduleName: 'monthly',
      coverageStartTimestamp: String(month(12)),
      coverageEndTimestamp: String(month(24)),
    })
    await of.ok('PATCH', `/renewals/${renewed.locator}`, { action: 'invalidate' })
    await of.ok('POST', `/policy/${policy.locator}/cancel`, { coverageEndTimestamp: month(6) })
    const { invoices, futureInvoices } = await check(of, policy)
    expect(totals(invoices as PolicyInvoiceResponse[]).at(-1)).toEqual(['cancellation', 0, 'zeroDue'])
    expect(futureInvoices).toEqual([])
    expect(await total(of, policy)).toBe(600)
  })
})

/** Answers by the premium of the first charge, in whole euros. Any other premium is billed by one invoice. */
const WAYWARD = `
const DAY = 86400000
exports.createInstallments = data => {
  const [{ chargeId, amount }] = data.charges
  const start = Number(data.coverageStartTimestamp)
  const at = (days, of, more = {}) => ({
    startTimestamp: start, endTimestamp: start + DAY,
    issueTimestamp: start + days * DAY, dueTimestamp: start + (days + 10) * DAY,
    invoiceItems: of === 0 ? [] : [{ chargeId, amount: of }], ...more,
  })
  const whole = () => [{ ...at(-30, 0), invoiceItems: data.charges.map(one => ({ chargeId: one.chargeId, amount: one.amount })) }]
  switch (data.charges.length === 1 ? amount : '') {
    case '1.00': return { installments: [at(0, 0.4), at(30, 0.59)] }
    case '2.00': return { installments: [at(0, 2, { invoiceItems: [{ chargeId: 'of another', amount: 2 }] })] }
    case '3.00': return { installments: [at(0, 2.995), at(30, 0.005)] }
    case '4.00': return { installments: [at(0, 4, { installmentFees: [{ feeName: 'service', amount: 1 }] })] }
    case '5.00': return { installments: [] }
    case '6.00': throw new Error('no bills today')
    case '7.00': return { installments: [at(0, 7, { dueTimestamp: 'tomorrow' })] }
    case '8.00': return 'later'
    case '100.00': return { installments: [at(-60, 10), at(-20, 20), at(0, 30, { writeOff: true }), at(30, 40)] }
    case '200.00': return { installments: [at(20, 200, { installmentFees: [{ feeName: 'installment_fee', amount: '3.50' }] })] }
    case '300.00': return { installments: [at(0, 300, { writeOff: true, installmentFees: [{ feeName: 'installment_fee', amount: 1 }] })] }
    case '400.00': return { installments: [at(0, 400), at(60, 0, { installmentFees: [{ feeName: 'installment_fee', amount: 1 }] })] }
    default: return { installments: data.operation === 'endorsement' ? [at(0, 0), ...whole().map(one => ({ ...one, issueTimestamp: start + 30 * DAY, dueTimestamp: start + 40 * DAY }))] : whole() }
  }
}`

/**
 * Bills nine cents too much, to be given back in autumn. Later calls plan only new charges, like a generator that rounds each
 * installment.
 */
const OVERBILLING = `
const DAY = 86400000
exports.createInstallments = ({ operation, charges, coverageStartTimestamp }) => {
  const start = Number(coverageStartTimestamp)
  const at = (days, charges) => ({
    startTimestamp: start, endTimestamp: start + DAY,
    issueTimestamp: start + days * DAY, dueTimestamp: start + (days + 10) * DAY,
    invoiceItems: charges.map(({ chargeId, amount }) => ({ chargeId, amount })),
  })
  if (operation !== 'newBusiness') return { installments: [at(0, charges.filter(one => one.isNew))] }
  const [{ chargeId }] = charges
  return { installments: [at(0, [{ chargeId, amount: 1200.09 }]), at(250, [{ chargeId, amount: -0.09 }])] }
}`

it('an overcharge of nine cents is given back although the plugin’s next answer leaves it out', async () => {
  const of = await boats(OVERBILLING)
  const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'upfront' })
  await of.until(month(1))
  const change = dearer(policy, '2400', { state: 'issued' })
  await of.ok('POST', `/policies/${policy.locator}/endorsements`, change)
  await of.until(month(7))
  const { invoices, futureInvoices } = await check(of, policy)
  expect([invoices.map(one => one.totalDue), futureInvoices]).toEqual([[1200.09, 599.91], []])
  expect(await total(of, policy)).toBe(1800)
})

describe('An invalid answer of the plugin', () => {
  it('is rejected with 422 and the fault, and the policy is not finalized', async () => {
    const of = await boats(WAYWARD)
    const { policyholderLocator } = await of.insured({ yearly: '500', paymentScheduleName: 'upfront' })
    const refused = async (yearly: string): Promise<string> => {
      const draft = boat(policyholderLocator, yearly, { finalize: false })
      const { locator } = await of.ok<PolicyResponse>('POST', '/policy', draft)
      const { status, body } = await of.call<{ message: string }>('POST', `/policy/${locator}/finalize`)
      const { invoices, issuedTimestamp } = await of.ok<PolicyResponse>('GET', `/policy/${locator}`)
      expect([status, invoices, issuedTimestamp]).toEqual([422, [], undefined])
      return body.message.replace(/[0-9a-f-]{36}/g, '…')
    }
    const answered = 'Plugin createInstallments (main/installments.js) returned an invalid answer: '
    expect(await refused('1')).toBe(
      `${answered}the items of charge '…/premium' (premium of sinking) total 0.99 EUR, but its amount is 1.00.`,
    )
    expect(await refused('2')).toBe(
      `${answered}installments.0.invoiceItems.0.chargeId 'of another' is not among charges; the items of charge '…/premium' (premium of sinking) total 0.00 EUR, but its amount is 2.00.`,
    )
    expect(await refused('3')).toBe(
      `${answered}installments.0.invoiceItems.0.amount 2.995 has more than the 2 decimal places of EUR; installments.1.invoiceItems.0.amount 0.005 has more than the 2 decimal places of EUR.`,
    )
    expect(await refused('4')).toBe(
      `${answered}installments.0.installmentFees.0.feeName 'service' is not declared in fees.json.`,
    )
    expect(await refused('5')).toBe(`${answered}'installments' must have at least one installment.`)
    expect(await refused('6')).toBe(
      'Plugin createInstallments failed: main/installments.js:18: Error: no bills today',
    )
    expect(await refused('7')).toBe(
      `${answered}'installments.0.dueTimestamp' must be a time in milliseconds, as a whole number or its digits.`,
    )
    expect(await refused('8')).toBe(`${answered}the answer must be an object, not text.`)
  })

  it('with no items on the first installment returns 422, and the endorsement remains an application', async () => {
    const of = await boats(WAYWARD)
    const policy = await of.insured({ yearly: '500', paymentScheduleName: 'upfront' })
    const application = await of.ok<EndorsementResponse>(
      'POST',
      `/policies/${policy.locator}/endorsements`,
      dearer(policy, '1000'),
    )
    const { status, body } = await of.call<{ message: string }>(
      'PATCH',
      `/endorsements/${application.locator}`,
      {
        action: 'quote',
      },
    )
    expect([status, body.message]).toEqual([
      422,
      'Plugin createInstallments (main/installments.js) returned an invalid answer: the first installment of an endorsement has no invoiceItems; it needs at least one.',
    ])
    const after = await of.ok<EndorsementResponse>('GET', `/endorsements/${application.locator}`)
    expect([after.state, after.plannedInvoices]).toEqual(['application', undefined])
  })
})

describe('A plugin’s plan', () => {
  it('issues past installments immediately, and writes off installments as marked', async () => {
    const of = await boats(WAYWARD)
    await of.until(month(0, 5))
    const policy = await of.insured({ yearly: '100', paymentScheduleName: 'upfront' })
    const { invoices, futureInvoices } = await check(of, policy)
    // Due 50 and 10 days before the start, and 10 and 40 days after it.
    expect(totals(invoices as PolicyInvoiceResponse[])).toEqual([
      ['newBusiness', 10, 'outstanding'],
      ['installment', 20, 'outstanding'],
      ['installment', 30, 'writtenOff'],
    ])
    expect(invoices.map(one => day(one.dueTimestamp))).toEqual(['2030-01-05', '2030-01-05', '2030-01-11'])
    expect(invoices[2]!.statuses.map(one => one.status)).toEqual(['unfulfilled', 'writtenOff'])
    expect(futureInvoices.map(one => [one.writeOff, items(one)])).toEqual([[false, [['premium', 40]]]])
    const { events } = await of.ok<{ events: { type: string; data: Record<string, string> }[] }>(
      'GET',
      '/eventstream/events?eventType=invoice.writtenOff&pageSize=100',
    )
    expect(events.map(one => [one.data.invoiceLocator, one.data.totalDue])).toEqual([
      [invoices[2]!.locator, '30.00'],
    ])
  })

  it('can issue its first invoice later, with a fee, and shows which installment will be written off', async () => {
    const of = await boats(WAYWARD)
    const policy = await of.insured({ yearly: '200', paymentScheduleName: 'upfront' })
    const written = await of.insured({ yearly: '300', paymentScheduleName: 'upfront' })
    expect([policy.invoices, written.invoices]).toEqual([[], []])
    expect((await check(of, policy)).futureInvoices.map(asked)).toEqual([
      [
        firstOf(0),
        '2030-01-31',
        [
          ['premium', 200],
          ['installment_fee', 3.5],
        ],
      ],
    ])
    expect((await check(of, written)).futureInvoices.map(one => one.writeOff)).toEqual([true])
    await of.until(month(1))
    expect(totals((await of.read(policy)).invoices)).toEqual([['newBusiness', 203.5, 'outstanding']])
    expect(totals((await of.read(written)).invoices)).toEqual([['newBusiness', 301, 'writtenOff']])
    const { locator } = (await of.read(policy)).invoices[0]!
    const paid = await of.ok<{ amount: number }>('POST', `/invoice/${locator}/pay`, { fieldValues: {} })
    expect(paid.amount).toBe(203.5)
    const { financialTransactions } = await of.ok<CheckInvoicesResponse['invoices'][number]>(
      'GET',
      `/invoice/${locator}/financialTransactions`,
    )
    expect(financialTransactions[1]).toMatchObject({
      type: 'fee',
      feeName: 'installment_fee',
      feeLocator: expect.any(String),
      amount: 3.5,
      startTimestamp: String(NEW_YEAR),
    })
  })

  it('can bill only a fee and be invoiced early, and a withdrawal drops what is not invoiced', async () => {
    const of = await boats(WAYWARD)
    const policy = await of.insured({ yearly: '400', paymentScheduleName: 'upfront' })
    const other = await of.insured({ yearly: '400', paymentScheduleName: 'upfront' })
    await of.until(month(0, 2))
    const next = await of.ok<PolicyInvoiceResponse>('POST', `/policy/${policy.locator}/issueNextInvoice`)
    expect([next.totalDue, day(next.dueTimestamp)]).toEqual([1, '2030-03-12'])
    const withdrawn = await of.ok<PolicyResponse>('POST', `/policy/${policy.locator}/withdraw`)
    expect(withdrawn.invoices.map(one => one.totalDue)).toEqual([400, 1, -400])
    await of.ok('POST', `/policy/${other.locator}/withdraw`)
    await of.until(month(3))
    expect((await of.read(other)).invoices.map(one => one.totalDue)).toEqual([400, -400])
  })
})

describe('An installment fee', () => {
  it('can be reversed once after it was invoiced, and not before (409)', async () => {
    const of = await boats()
    const policy = await inJune(of)
    const { invoices, futureInvoices } = await check(of, policy)
    const feeOf = (one: Parameters<typeof items>[0]): string =>
      one.financialTransactions.find(item => item.feeName !== undefined)!.feeLocator!
    const [march, april] = [feeOf(invoices[2]!), feeOf(invoices[3]!)]
    const reverse = (...reverseFees: string[]) =>
      of.call<{ message: string }>('PATCH', `/policy/${policy.locator}/fees`, { reverseFees })
    const [planned] = futureInvoices.map(feeOf)
    expect(await reverse(planned!).then(({ status, body }) => [status, body.message])).toEqual([
      409,
      `Fee '${planned}' (installment_fee) belongs to an installment that no invoice bills, so there is nothing to reverse.`,
    ])
    expect((await reverse(march, april)).status).toBe(200)
    const after = await check(of, policy)
    const refund = after.invoices.at(-1)!
    expect([refund.invoiceType, refund.totalDue, items(refund)]).toEqual([
      'other',
      -4,
      [
        ['installment_fee', -2],
        ['installment_fee', -2],
      ],
    ])
    expect(refund.financialTransactions.map(one => one.feeLocator)).toEqual([march, april])
    expect(after.invoices.slice(0, 6).map(one => one.totalDue)).toEqual([100, 102, 102, 102, 102, 102])
    expect((await reverse(april)).body.message).toBe(`Fee '${april}' (installment_fee) is already reversed.`)
    expect(await total(of, policy)).toBe(1200)
    await of.until(month(12))
    const last = await of.read(policy)
    expect(last.invoices.reduce((sum, one) => sum + one.totalDue, 0)).toBe(1200 + 11 * 2 - 4)
  })
})

describe('A policy of 60 vehicles with the rating and billing plugins of the motor example', () => {
  it('is billed to the cent, and endorsed by one call to its object', async () => {
    const plugins = ['getPerilRates', 'getUnderwritingResult', 'createInstallments']
    const motor = await motorTenant('ownbills-fleet', pluginRated(plugins, {}, motorWithoutPapers()))
    const { policy: request } = plainYear().request
    const created = await motor.createPolicy({
      ...yearFromSoon(),
      exposures: Array.from({ length: 60 }, () => request.exposures[0]!),
      paymentScheduleName: 'monthly',
      finalize: true,
    })
    expect(created.status).toBe(200)
    const { locator, exposures } = created.body
    expect((await motor.post(`/policy/${locator}/issue`)).status).toBe(200)
    const cents = (amount: number): number => Math.round(amount * 100)
    /** The total of everything invoiced and planned, and the part of it that is installment fees. */
    const billed = async (): Promise<[number, number]> => {
      const { body } = await motor.get<CheckInvoicesResponse>(`/policy/${locator}/checkInvoices`)
      const payable = [...body.invoices, ...body.futureInvoices]
        .flatMap(one => one.financialTransactions)
        .filter(one => one.type !== 'commission')
      const fees = payable.filter(one => one.feeName === 'installment_fee')
      const sum = (all: FinancialTransactionResponse[]) =>
        all.reduce((total, one) => total + cents(one.amount), 0)
      return [sum(payable), sum(fees)]
    }
    const price = async (): Promise<number> =>
      cents((await motor.post<PolicyPriceResponse>(`/policy/${locator}/price`)).body.total)
    const before = await price()
    const [all, fees] = await billed()
    expect(fees).toBeGreaterThan(0)
    expect(fees % 200).toBe(0)
    expect(all - fees).toBe(before)
    const change = {
      endorsementName: 'change_of_risk',
      startTimestamp: Number(created.body.originalContractStartTimestamp) + 40 * 86_400_000,
      updateExposures: [
        { exposureLocator: exposures[7]!.locator, fieldValues: { annual_mileage_km: 30000 } },
      ],
    }
    const preview = await motor.post<PolicyPreviewResponse>(`/policies/${locator}/preview`, {
      endorsement: change,
    })
    expect(preview.status).toBe(200)
    const endorsed = await motor.post<EndorsementResponse>(`/policies/${locator}/endorsements`, {
      ...change,
      state: 'issued',
    })
    expect(endorsed.status).toBe(200)
    expect(roundTrips(endorsed).object).toBe(1)
    expect(preview.body.invoices[0]!.totalDue).toBe(endorsed.body.invoice!.totalDue)
    const [allAfter, feesAfter] = await billed()
    const after = await price()
    expect(after).not.toBe(before)
    expect(allAfter - feesAfter).toBe(after)
  })
})
