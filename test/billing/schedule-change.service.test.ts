// Changing the payment schedule of an issued policy, through HTTP. What is not invoiced yet, and what the change itself charges,
// is spread over the new periods, and no minor unit is lost or added (brief 0.11, 4.2, 10.2).
import { beforeAll, describe, expect, it } from 'vitest'
import { add, endOfDay, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type {
  FutureInvoiceResponse,
  PolicyInvoiceResponse,
  PolicyPriceResponse,
} from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import { type Boats, boatTenant } from '../support/boat.ts'
import { boatFiles, month } from '../support/boat-product.ts'
import { prepareDatabases } from '../support/databases.ts'
import type { ArchiveFiles } from '../support/examples.ts'

const BERLIN = 'Europe/Berlin' as TimeZone

beforeAll(() => prepareDatabases({ tenants: 27 }))

let made = 0
const boats = (currency?: string, options?: { taxed: boolean; files?: ArchiveFiles }): Promise<Boats> => {
  made += 1
  return boatTenant(`schedule${made}`, currency, options)
}

const POLICY_FILE = 'products/boat/policy/policy.json'

/** Bills every amount, however small. */
const UNCARRIED: ArchiveFiles = {
  [POLICY_FILE]: JSON.stringify({
    ...JSON.parse(boatFiles('EUR', false)[POLICY_FILE]!),
    invoicing: { carryForwardBelow: 0 },
  }),
}

const invoicedAt = (dueAt: Instant): Instant => add(dueAt, -10, 'day', BERLIN)

/** The first day of a period, and the amount billed for it. */
type Asked = [start: string, amount: number]

const day = (timestamp: string): string =>
  new Date(Number(timestamp)).toLocaleDateString('en-CA', { timeZone: BERLIN })

const standing = ({ invoices }: PolicyResponse): PolicyInvoiceResponse[] =>
  invoices.filter(one => one.settlementType !== 'invalidated')

const asked = (invoices: PolicyInvoiceResponse[]): Asked[] =>
  invoices.map(one => [day(one.startTimestamp), one.totalDue])

/** In ten-thousandths, so that currencies of three digits also add up. */
const whole = (amount: number): number => Math.round(amount * 10_000)
const sum = (amounts: number[]): number => amounts.reduce((total, one) => total + whole(one), 0) / 10_000

const payable = ({ financialTransactions }: FutureInvoiceResponse): number =>
  sum(financialTransactions.filter(one => one.type !== 'commission').map(one => one.amount))

const planOf = ({ plannedInvoices }: EndorsementResponse): Asked[] =>
  plannedInvoices!.map(one => [day(one.startTimestamp), payable(one)])

const endorse = (of: Boats, policy: PolicyResponse, body: object): Promise<EndorsementResponse> =>
  of.ok('POST', `/policies/${policy.locator}/endorsements`, { endorsementName: 'change', ...body })

const step = (of: Boats, { locator }: EndorsementResponse, action: string): Promise<EndorsementResponse> =>
  of.ok('PATCH', `/endorsements/${locator}`, { action })

const dearer = (policy: PolicyResponse, yearly: string) => ({
  updateExposures: [{ exposureLocator: policy.exposures[0]!.locator, fieldValues: { yearly } }],
})

const totalOf = async (of: Boats, policy: PolicyResponse): Promise<number> =>
  (await of.ok<PolicyPriceResponse>('POST', `/policy/${policy.locator}/price`)).total

/** Checks that at the end of the policy everything is invoiced and totals the price of the policy. */
async function addsUp(of: Boats, policy: PolicyResponse): Promise<PolicyResponse> {
  const last = await of.read(policy)
  expect(sum(standing(last).map(one => one.totalDue))).toBe(await totalOf(of, policy))
  expect(standing(last).filter(one => one.totalDue === 0)).toEqual([])
  return last
}

describe('An endorsement with a new payment schedule', () => {
  it('shows its planned invoices when quoted, and later issues exactly those on their days', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    await of.until(month(5, 10))
    const before = standing(await of.read(policy))
    expect(before.map(one => one.totalDue)).toEqual([100, 100, 100, 100, 100, 100])
    const quoted = await endorse(of, policy, {
      startTimestamp: month(6),
      newPaymentScheduleName: 'quarterly',
      state: 'quoted',
    })
    expect(planOf(quoted)).toEqual([
      ['2030-07-01', 300],
      ['2030-10-01', 300],
    ])
    expect(quoted.plannedInvoices!.map(one => [one.dueTimestamp, one.issueTimestamp])).toEqual(
      [month(6), month(9)].map(start => {
        const dueAt = endOfDay(start, BERLIN)
        return [String(dueAt), String(invoicedAt(dueAt))]
      }),
    )
    const [first] = quoted.plannedInvoices![0]!.financialTransactions
    expect(first).toMatchObject({
      type: 'premium',
      amount: 300,
      perilName: 'sinking',
      policyModificationLocator: policy.modifications[0]!.locator,
      perilCharacteristicsLocator: policy.exposures[0]!.perils[0]!.characteristics[0]!.locator,
    })
    const issued = await step(of, quoted, 'issue')
    expect(issued.invoice).toBeUndefined()
    expect(standing(await of.read(policy))).toHaveLength(6)
    await of.until(month(12))
    const last = await addsUp(of, policy)
    expect(last.paymentScheduleName).toBe('quarterly')
    expect(asked(standing(last).slice(6))).toEqual(planOf(quoted))
    expect(standing(last).map(one => [one.invoiceType, Number(one.dueTimestamp)])).toEqual([
      ['newBusiness', endOfDay(month(0), BERLIN)],
      ...[1, 2, 3, 4, 5].map(at => ['installment', endOfDay(month(at), BERLIN)]),
      ['endorsement', endOfDay(month(6), BERLIN)],
      ['installment', endOfDay(month(9), BERLIN)],
    ])
    for (const one of standing(last).slice(1)) {
      const late = Number(one.createdTimestamp) - invoicedAt(Number(one.dueTimestamp) as Instant)
      expect(late).toBeGreaterThanOrEqual(0)
      expect(late).toBeLessThan(60_000)
    }
  })

  it('to a single payment bills everything left immediately', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    await of.until(month(6, 5))
    const issued = await endorse(of, policy, {
      startTimestamp: month(6, 5),
      newPaymentScheduleName: 'upfront',
      state: 'issued',
    })
    expect(issued.invoice).toMatchObject({
      invoiceType: 'endorsement',
      totalDue: 500,
      dueTimestamp: String(endOfDay(month(6, 5), BERLIN)),
    })
    await of.until(month(12))
    expect(asked(standing(await addsUp(of, policy))).at(-1)).toEqual(['2030-07-05', 500])
  })

  it('and a new price spreads the difference and the open amount over the new periods', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'quarterly' })
    await of.until(month(5, 10))
    const quoted = await endorse(of, policy, {
      ...dearer(policy, '1800'),
      startTimestamp: month(6),
      newPaymentScheduleName: 'monthly',
      state: 'quoted',
    })
    // Half a year at 600 a year more is 300. With the 600 of two quarters that is six months of 150.
    expect(planOf(quoted)).toEqual(
      [7, 8, 9, 10, 11, 12].map(one => [`2030-${String(one).padStart(2, '0')}-01`, 150]),
    )
    const makers = quoted.plannedInvoices![0]!.financialTransactions.map(one => one.policyModificationLocator)
    expect(new Set(makers).size).toBe(2)
    await step(of, quoted, 'issue')
    await of.until(month(12))
    expect(asked(standing(await addsUp(of, policy))).slice(2)).toEqual(planOf(quoted))
  })

  it('creates no empty invoice when everything is invoiced, and spreads what it charges itself', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'annually' })
    await of.until(month(6))
    const unchanged = await endorse(of, policy, {
      startTimestamp: month(6),
      newPaymentScheduleName: 'monthly',
      state: 'quoted',
    })
    expect(unchanged.plannedInvoices).toEqual([])
    const issued = await step(of, unchanged, 'issue')
    expect(issued.invoice).toBeUndefined()
    const after = await of.read(policy)
    expect(after.paymentScheduleName).toBe('monthly')
    expect(standing(after).map(one => one.totalDue)).toEqual([1200])
    const charged = await endorse(of, policy, {
      ...dearer(policy, '1260'),
      startTimestamp: month(6),
      newPaymentScheduleName: 'monthly',
      state: 'issued',
    })
    expect(charged.invoice).toMatchObject({ totalDue: 5 })
    await of.until(month(12))
    expect(standing(await addsUp(of, policy)).map(one => one.totalDue)).toEqual([1200, 5, 5, 5, 5, 5, 5])
  })

  it('refunds immediately what exceeds the open amount, and otherwise reduces later bills', async () => {
    const of = await boats()
    const paid = await of.insured({ yearly: '1200', paymentScheduleName: 'annually' })
    const open = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    await of.until(month(6))
    const changes = { startTimestamp: month(6), newPaymentScheduleName: 'monthly', state: 'issued' }
    const refund = await endorse(of, paid, { ...dearer(paid, '600'), ...changes })
    expect(refund.invoice).toMatchObject({
      totalDue: -300,
      dueTimestamp: String(endOfDay(month(6), BERLIN)),
    })
    // July is invoiced: 50 of it comes back, and five months cost 50 instead of 100.
    const cheaper = await endorse(of, open, { ...dearer(open, '600'), ...changes })
    expect(cheaper.invoice).toMatchObject({ totalDue: -50 })
    await of.until(month(12))
    expect(standing(await addsUp(of, paid)).map(one => one.totalDue)).toEqual([1200, -300])
    expect(standing(await addsUp(of, open)).map(one => one.totalDue)).toEqual([
      ...Array(7).fill(100),
      -50,
      ...Array(5).fill(50),
    ])
  })

  it.each(['quarterly', 'monthly', 'upfront'])('creates no bills of 0.00 for free months: %s', async name => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    await of.until(month(5, 10))
    const quoted = await endorse(of, policy, {
      ...dearer(policy, '0'),
      startTimestamp: month(6),
      newPaymentScheduleName: name,
      state: 'quoted',
    })
    expect(planOf(quoted)).toEqual([])
    expect((await step(of, quoted, 'issue')).invoice).toBeUndefined()
    await of.until(month(12))
    expect(standing(await addsUp(of, policy)).map(one => one.totalDue)).toEqual(Array(6).fill(100))
  })

  it('from a past date bills all past periods together immediately', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'annually' })
    await of.until(month(8, 20))
    const issued = await endorse(of, policy, {
      ...dearer(policy, '1320'),
      startTimestamp: month(6),
      newPaymentScheduleName: 'monthly',
      state: 'issued',
    })
    expect(issued.invoice).toMatchObject({ totalDue: 30, startTimestamp: String(month(6)) })
    await of.until(month(12))
    expect(asked(standing(await addsUp(of, policy))).slice(1)).toEqual([
      ['2030-07-01', 30],
      ['2030-10-01', 10],
      ['2030-11-01', 10],
      ['2030-12-01', 10],
    ])
  })

  it('within a period prorates the first bill by the policy’s calendar', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'annually' })
    await of.until(month(6, 16))
    const quoted = await endorse(of, policy, {
      ...dearer(policy, '1860'),
      startTimestamp: month(6, 16),
      newPaymentScheduleName: 'monthly',
      state: 'quoted',
    })
    // 5 + 16/31 months at 55.00 more are 303.39: 16/31 of July, five whole months, and the remainder on the last.
    expect(planOf(quoted)).toEqual([
      ['2030-07-16', 28.39],
      ...[8, 9, 10, 11, 12].map((one): Asked => [`2030-${String(one).padStart(2, '0')}-01`, 55]),
    ])
  })

  it.each([
    // Twelfths of 1,000 with 10% tax are 83 + 8. 502 + 52 is left, and half a year at 1,000 more is 500 + 50: 1,104. The old
    // year's reversal, its kept part and the new charge are each split separately.
    ['JPY', '1000', '2000', 91, [6, 83, 19]],
    // Twelfths of 100 are 8.333 + 0.833. 50.002 + 5.002 is left, and half a year at 0.005 more is 0.003: 55.007.
    ['BHD', '100', '100.005', 9.166, [0.3, 4.185, 0.302]],
  ] as const)(
    'adds up in %s, with separate bills for the days before and after whole fortnights',
    async (currency, yearly, newPrice, before, [first, each, last]) => {
      const of = await boats(currency, { taxed: true, files: UNCARRIED })
      const policy = await of.insured({ yearly, paymentScheduleName: 'monthly' })
      await of.until(month(5, 10))
      const quoted = await endorse(of, policy, {
        ...dearer(policy, newPrice),
        startTimestamp: month(6),
        newPaymentScheduleName: 'fortnightly',
        state: 'quoted',
      })
      const fortnights = Array.from({ length: 13 }, (_, at) =>
        day(String(add(month(6, 2), 14 * at, 'day', BERLIN))),
      )
      expect(planOf(quoted)).toEqual([
        ['2030-07-01', first],
        ...fortnights.map(start => [start, each]),
        ['2030-12-31', last],
      ])
      await step(of, quoted, 'issue')
      await of.until(month(12))
      const invoices = asked(standing(await addsUp(of, policy)))
      expect(invoices.slice(0, 6).map(([, amount]) => amount)).toEqual(Array(6).fill(before))
      expect(invoices.slice(6)).toEqual(planOf(quoted))
    },
  )
})

describe('An endorsement without a new payment schedule', () => {
  it.each([
    ['dearer', '1800', 150],
    ['cheaper', '600', 50],
  ])('that makes the rest of the year %s changes each open bill', async (_, yearly, each) => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    await of.until(month(5, 10))
    const quoted = await endorse(of, policy, {
      ...dearer(policy, yearly),
      startTimestamp: month(6),
      state: 'quoted',
    })
    const months = [7, 8, 9, 10, 11, 12].map(
      (one): Asked => [`2030-${String(one).padStart(2, '0')}-01`, each],
    )
    expect(planOf(quoted)).toEqual(months)
    // The rest of the planned charge, its full reversal, and the charge that replaces it.
    const [first] = quoted.plannedInvoices!
    const parts = first!.financialTransactions.map(one => [
      day(one.startTimestamp),
      day(one.endTimestamp),
      one.amount,
    ])
    expect(parts).toEqual([
      ['2030-01-01', '2031-01-01', -100],
      ['2030-07-01', '2031-01-01', Number(yearly) / 12],
      ['2030-01-01', '2031-01-01', 100],
    ])
    // Each is invoiced on its original date. Nothing is billed or given back immediately.
    const { invoice } = await step(of, quoted, 'issue')
    expect(invoice).toBeUndefined()
    await of.until(month(12))
    expect(asked(standing(await addsUp(of, policy)).slice(6))).toEqual(months)
  })

  it('within an invoiced month bills the difference for the rest of its days immediately', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    await of.until(month(6, 16))
    const issued = await endorse(of, policy, {
      ...dearer(policy, '1800'),
      startTimestamp: month(6, 16),
      state: 'issued',
    })
    // 16/31 of a month at 50.00 more.
    expect(issued.invoice).toMatchObject({ totalDue: 25.81, invoiceType: 'endorsement' })
    await of.until(month(12))
    expect(asked(standing(await addsUp(of, policy)).slice(7))).toEqual([
      ['2030-07-16', 25.81],
      ...[8, 9, 10, 11, 12].map((one): Asked => [`2030-${String(one).padStart(2, '0')}-01`, 150]),
    ])
  })

  it('or a change of price leaves the plan unchanged', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    await of.until(month(5, 10))
    const issued = await endorse(of, policy, { startTimestamp: month(6), state: 'issued' })
    expect(issued.invoice).toBeUndefined()
    await of.until(month(12))
    const standing12 = standing(await of.read(policy)).filter(one => one.totalDue !== 0)
    expect(standing12.map(one => one.totalDue)).toEqual(Array(12).fill(100))
  })
})

describe('An endorsement with a new payment schedule that is invalidated', () => {
  it('restores the old plan, and installments that fell due meanwhile are invoiced immediately', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    await of.until(month(5, 10))
    const accepted = await endorse(of, policy, {
      startTimestamp: month(6),
      newPaymentScheduleName: 'upfront',
      state: 'accepted',
    })
    await of.until(month(7, 10))
    const pending = await of.read(policy)
    expect(asked(standing(pending)).slice(6)).toEqual([['2030-07-01', 600]])
    const [voided] = standing(pending).slice(6)
    await step(of, accepted, 'invalidate')
    await of.until(month(7, 11))
    const back = await of.read(policy)
    expect(back.invoices.find(one => one.locator === voided!.locator)).toMatchObject({
      totalDue: 600,
      settlementType: 'invalidated',
    })
    expect(asked(standing(back)).slice(6)).toEqual([
      ['2030-07-01', 100],
      ['2030-08-01', 100],
    ])
    for (const late of standing(back).slice(6))
      expect(late.dueTimestamp).toBe(String(endOfDay(month(7, 10), BERLIN)))
    await of.until(month(12))
    expect(standing(await addsUp(of, policy)).map(one => one.totalDue)).toEqual(Array(12).fill(100))
  })
})

describe('A cancellation', () => {
  it('that invalidates such an endorsement leads to immediate invoices for what fell due meanwhile', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    await of.until(month(5, 10))
    await endorse(of, policy, {
      startTimestamp: month(6),
      newPaymentScheduleName: 'upfront',
      state: 'accepted',
    })
    await of.until(month(7, 10))
    await of.ok('POST', `/policies/${policy.locator}/cancellations`, {
      name: 'sold',
      effectiveTimestamp: month(8),
      conflictHandling: 'invalidate',
      issue: true,
    })
    await of.until(month(7, 11))
    expect(asked(standing(await of.read(policy))).slice(6)).toEqual([
      ['2030-07-01', 100],
      ['2030-08-01', 100],
    ])
    expect(await totalOf(of, policy)).toBe(800)
  })
})

describe('A cancellation after a change of the payment schedule', () => {
  it('replaces what is planned from its time on, and gives back what was invoiced for later time', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'annually' })
    const other = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    await of.until(month(6))
    const changes = { startTimestamp: month(6), state: 'issued' }
    await endorse(of, policy, { ...dearer(policy, '1320'), newPaymentScheduleName: 'monthly', ...changes })
    await endorse(of, other, { newPaymentScheduleName: 'quarterly', ...changes })
    for (const one of [policy, other])
      await of.ok('POST', `/policies/${one.locator}/cancellations`, {
        name: 'sold',
        effectiveTimestamp: month(9),
        issue: true,
      })
    await of.until(month(12))
    // 1,200 and a tenth more for three months, less 300 and the 30 that were never invoiced.
    expect(asked(standing(await addsUp(of, policy)))).toEqual([
      ['2030-01-01', 1200],
      ['2030-07-01', 10],
      ['2030-10-01', -300],
      ['2030-08-01', 10],
      ['2030-09-01', 10],
    ])
    expect(await totalOf(of, policy)).toBe(930)
    // July was invoiced, the rest of its quarter was billed immediately, and the last quarter is not billed.
    expect(asked(standing(await of.read(other))).slice(7)).toEqual([['2030-07-01', 200]])
    expect(await totalOf(of, other)).toBe(900)
  })
})

describe('An endorsement of bills planned under another schedule than the policy’s present one', () => {
  const planned = async (of: Boats, policy: PolicyResponse): Promise<Asked[]> =>
    (
      await of.ok<{ futureInvoices: FutureInvoiceResponse[] }>(
        'GET',
        `/policy/${policy.locator}/checkInvoices`,
      )
    ).futureInvoices.map(one => [day(one.startTimestamp), payable(one)])

  it('changes each bill by its own share, and corrects the renewal’s invoice by its difference only', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    await of.ok('POST', `/policies/${policy.locator}/renewals`, {
      renewalEndTimestamp: month(24),
      newPaymentScheduleName: 'upfront',
      state: 'issued',
    })
    const { invoice } = await endorse(of, policy, {
      startTimestamp: month(2),
      state: 'issued',
      ...dearer(policy, '600'),
    })
    expect(invoice).toMatchObject({ invoiceType: 'endorsement', totalDue: -600 })
    expect(await planned(of, policy)).toEqual([
      ['2030-02-01', 100],
      ...Array.from({ length: 10 }, (_, at) => [`2030-${String(at + 3).padStart(2, '0')}-01`, 50]),
    ])
    await of.until(month(24))
    await addsUp(of, policy)
  })

  it('bills nothing twice when the renewal is invoiced and the previous term is not', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    await of.ok('POST', `/policies/${policy.locator}/renewals`, {
      renewalEndTimestamp: month(13),
      state: 'issued',
    })
    const { invoice } = await endorse(of, policy, {
      startTimestamp: month(2),
      state: 'issued',
      ...dearer(policy, '600'),
    })
    expect(invoice).toMatchObject({ totalDue: -50 })
    expect((await planned(of, policy)).at(-1)).toEqual(['2030-12-01', 50])
  })

  it('keeps quarters whole under a weekly renewal, and weeks equal under a monthly one', async () => {
    const of = await boats()
    const quarters = await of.insured({ yearly: '1200', paymentScheduleName: 'quarterly' })
    const weeks = await of.insured({ yearly: '1200', paymentScheduleName: 'weekly' })
    for (const [policy, newPaymentScheduleName] of [
      [quarters, 'weekly'],
      [weeks, 'monthly'],
    ] as const) {
      await of.ok('POST', `/policies/${policy.locator}/renewals`, {
        renewalEndTimestamp: month(24),
        newPaymentScheduleName,
        state: 'issued',
      })
      await endorse(of, policy, { startTimestamp: month(3), state: 'issued', ...dearer(policy, '600') })
    }
    expect((await planned(of, quarters)).slice(0, 3)).toEqual([
      ['2030-04-01', 150],
      ['2030-07-01', 150],
      ['2030-10-01', 150],
    ])
    const ofTerm = (await planned(of, weeks)).filter(
      ([start]) => start > '2030-04-07' && start < '2030-12-30',
    )
    expect(new Set(ofTerm.map(([, amount]) => amount)).size).toBe(1)
    for (const policy of [quarters, weeks]) {
      const made = standing(await of.read(policy)).map(one => one.totalDue)
      const toCome = (await planned(of, policy)).map(([, amount]) => amount)
      expect(sum([...made, ...toCome])).toBe(await totalOf(of, policy))
    }
  })
})

describe('POST /policy/{locator}/paymentSchedule', () => {
  const change = (of: Boats, policy: PolicyResponse, newPaymentScheduleName: string) =>
    of.call<{ message: string }>('POST', `/policy/${policy.locator}/paymentSchedule`, {
      newPaymentScheduleName,
    })

  it('replans what is not invoiced, any number of times, and adds no visible modification', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    await of.until(month(2, 10))
    const { status, body } = await change(of, policy, 'semiannually')
    expect([status, body]).toEqual([200, ''])
    const changed = await of.read(policy)
    expect(changed.paymentScheduleName).toBe('semiannually')
    expect(changed.modifications.map(one => one.number)).toEqual([0])
    // 900 is left. The first half year has begun, and three of its months are open.
    expect(asked(standing(changed)).slice(3)).toEqual([['2030-03-10', 300]])
    expect(standing(changed).at(-1)!.invoiceType).toBe('installment')
    await of.until(month(5, 10))
    expect((await change(of, policy, 'weekly')).status).toBe(200)
    await of.until(month(8))
    expect((await change(of, policy, 'upfront')).status).toBe(200)
    await of.until(month(12))
    const last = standing(await addsUp(of, policy)).slice(4)
    expect(last.at(-1)!.startTimestamp).toBe(String(month(8)))
    expect(new Set(last.slice(0, -2).map(one => one.totalDue)).size).toBeLessThanOrEqual(2)
    const { body: events } = await of.call<{ events: { type: string; data: Record<string, string> }[] }>(
      'GET',
      '/eventstream/events?startTimestamp=0&pageSize=1000&types=policy.update',
    )
    expect(
      events.events.filter(one => one.type === 'policy.update').map(one => one.data.paymentScheduleName),
    ).toEqual(['semiannually', 'weekly', 'upfront'])
  })

  it('keeps each term on its own calendar across a renewal', async () => {
    const of = await boats()
    const policy = await of.insured({
      yearly: '1200',
      paymentScheduleName: 'quarterly',
      policyEndTimestamp: month(6),
    })
    await of.ok('POST', `/policies/${policy.locator}/renewals`, {
      renewalEndTimestamp: month(18),
      state: 'issued',
    })
    await of.until(month(1))
    expect((await change(of, policy, 'annually')).status).toBe(200)
    await of.until(month(18))
    expect(asked(standing(await addsUp(of, policy)))).toEqual([
      ['2030-01-01', 300],
      ['2030-07-01', 300],
      ['2030-02-01', 300],
      ['2030-07-01', 900],
    ])
  })

  it('returns 400, 404 or 409 when it cannot change the schedule, and does nothing when it is the same', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    const unknown = await change(of, policy, 'daily')
    expect(unknown).toMatchObject({ status: 400 })
    expect(unknown.body.message).toContain("no payment schedule 'daily'")
    const before = await of.read(policy)
    expect((await change(of, policy, 'monthly')).status).toBe(200)
    expect(await of.read(policy)).toEqual(before)
    const pending = await endorse(of, policy, { startTimestamp: month(6), state: 'quoted' })
    const blocked = await change(of, policy, 'upfront')
    expect(blocked).toMatchObject({ status: 409 })
    expect(blocked.body.message).toContain(pending.locator)
    await step(of, pending, 'invalidate')
    await of.ok('POST', `/policy/${policy.locator}/withdraw`)
    expect((await change(of, policy, 'upfront')).status).toBe(409)
    expect(
      (await of.call('POST', '/policy/12800/paymentSchedule', { newPaymentScheduleName: 'x' })).status,
    ).toBe(404)
  })
})

describe('POST /policies/{locator}/snapshot', () => {
  it('shows the schedule and invoices of its time, even those of a change that was invalidated', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    const kept: [at: Instant, PolicyResponse][] = []
    const keep = async (at: Instant): Promise<void> => {
      await of.until(at)
      kept.push([at, await of.read(policy)])
    }
    await keep(month(2))
    const accepted = await endorse(of, policy, {
      startTimestamp: month(4),
      newPaymentScheduleName: 'quarterly',
      state: 'accepted',
    })
    await keep(month(3))
    await keep(month(5))
    await step(of, accepted, 'invalidate')
    await keep(month(6))
    await of.ok('POST', `/policy/${policy.locator}/paymentSchedule`, { newPaymentScheduleName: 'upfront' })
    await keep(month(7))
    await of.until(month(12))
    for (const [at, then] of kept)
      expect(await of.ok('POST', `/policies/${policy.locator}/snapshot`, { asOfTimestamp: at })).toEqual(then)
  })
})
