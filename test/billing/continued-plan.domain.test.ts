// A more expensive cover replaces a cheaper one that an existing bill charged for the whole year (brief 4.5). Each planned bill
// asks for the new cover and gives back the old one for its own time. Then the policy is cancelled as of Oct 15.
import { describe, expect, it } from 'vitest'
import type { Uuid } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { futureInstallments } from '../../src/policy/bills/amounts-due.ts'
import { type Charge, NOTHING_KEPT } from '../../src/policy/bills/charge.ts'
import { installmentItems, totalsDue } from '../../src/policy/bills/items.ts'
import type { Installment } from '../../src/policy/records/invoice.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'
import { chargeOf, EUR } from './charges.ts'

const STARTS = ['2030-10-01', '2030-11-01', '2030-12-01', '2031-01-01', '2031-02-01', '2031-03-01'].map(utc)
const MONTHS = STARTS.slice(1).map((end, at) => ({ start: STARTS[at]!, end, locator: `bill ${at}` as Uuid }))
const END = utc('2030-10-15')

/** The charges of a cover on the bills from October on, with its price for a month. */
const restsOf = (id: string, monthly: number): Charge[] =>
  MONTHS.map(({ start, end, locator }) => ({
    ...chargeOf('premium', monthly, { start: utc('2030-07-01'), end: STARTS.at(-1)! }, { id }),
    rest: { start, end },
    from: locator,
  }))

const planOf = (freesAfter?: Instant): Installment[] => {
  const common = { issueAt: END, dueAt: END, periods: [] }
  const open = MONTHS.map(one => one.locator)
  return [
    { ...common, number: 1, start: END, end: STARTS.at(-1)!, replans: { bill: 'atOnce', open: [] } },
    {
      ...common,
      number: 2,
      start: STARTS[0]!,
      end: END,
      replans: { bill: 'planned', open, ...(freesAfter && { freesAfter }) },
    },
  ]
}

/** The more expensive cover keeps 14 of October's 31 days. The cheaper one had already ended. */
const charges = (dearer: number, cheaper: number): Charge[] => [
  {
    ...chargeOf('premium', Math.round((dearer * 14) / 31) - 5 * dearer, { start: END, end: STARTS.at(-1)! }),
    id: 'dearer/cancelled/premium',
    keptUntil: END,
  },
  ...restsOf('dearer/premium', dearer),
  ...restsOf('cheaper/reversal/premium', -cheaper),
]

const amounts = (plan: readonly Installment[], all: readonly Charge[]): number[][] =>
  [...installmentItems(plan, all)].map(items => {
    const ofLine = (line: string): number =>
      items
        .filter(({ charge }) => charge.id.startsWith(line))
        .reduce((total, { amount }) => total + amount.minor, 0)
    return [ofLine('dearer'), ofLine('cheaper')]
  })

describe('A planned bill that gives back, for its own time, what an existing bill charged', () => {
  it('gives back only the time until Oct 15 when a cancellation shortens it, and the rest immediately', () => {
    // 200.00 a month replaces 100.00. The bill of the year had charged 454.84 for the time after Oct 15.
    expect(amounts(planOf(END), charges(20_000, 10_000))).toEqual([
      [0, -45_484],
      [9_032, -4_516],
    ])
  })

  it('asks for 90.32 in October when the new cover costs 300.00 a month', () => {
    const [, [dearer, cheaper]] = amounts(planOf(END), charges(30_000, 10_000)) as [
      number[],
      [number, number],
    ]
    expect(dearer + cheaper).toBe(13_548 - 4_516)
  })

  it('gives back its whole month when an earlier release planned it without freesAfter', () => {
    expect(amounts(planOf(), charges(20_000, 10_000))).toEqual([
      [0, -40_000],
      [9_032, -10_000],
    ])
  })

  it('gives back the whole amount immediately when no planned bill is left', () => {
    expect(amounts(planOf(END).slice(0, 1), charges(20_000, 10_000))).toEqual([[9_032, -50_000]])
  })

  it('gives back on the bill itself a rest for earlier time, and a rest of a fee', () => {
    const september = { start: utc('2030-09-01'), end: utc('2030-10-01') }
    const [october] = restsOf('cheaper/reversal/premium', -10_000)
    expect(amounts(planOf(END), [{ ...october!, rest: september }])).toEqual([
      [0, 0],
      [0, -10_000],
    ])
    const fee = chargeOf('fee', -300, MONTHS[0]!, { id: 'cheaper/change/fee' })
    expect(amounts(planOf(END), [{ ...fee, from: MONTHS[1]!.locator, rest: MONTHS[1]! }])).toEqual([
      [0, 0],
      [0, -300],
    ])
  })

  it('keeps what it asks for, and gives nothing back immediately that the cancellation itself changes', () => {
    expect(amounts(planOf(END), restsOf('cheaper/premium', 10_000))).toEqual([
      [0, 0],
      [0, 50_000],
    ])
    const change = chargeOf('premium', 45_484, { start: END, end: STARTS.at(-1)! })
    const changed = { ...change, id: 'cheaper/cancelled/premium', keptUntil: END }
    expect(amounts(planOf(END), [changed, ...restsOf('cheaper/reversal/premium', -10_000)])).toEqual([
      [0, 0],
      [0, -4_516],
    ])
  })

  it('gets freesAfter, the time of the cancellation, in every plan of a cancellation', async () => {
    const boat = await BoatInUtc.issued()
    await boat.cancel('2030-10-15')
    const last = futureInstallments(boat.aggregate).at(-1)!
    expect(last.replans).toMatchObject({ freesAfter: END })
    expect([last.start, last.end]).toEqual([STARTS[0], END])
  })
})

describe('A planned bill that keeps differences', () => {
  const bearing = planOf(END).map(one => ({
    ...one,
    replans: { ...one.replans!, keepsDifferences: true as const },
  }))
  const [october, ...later] = restsOf('cheaper/reversal/premium', -10_000)

  it('gives back immediately what it had for time after the cancellation', () => {
    expect(amounts(bearing, [october!, ...later])).toEqual([
      [0, -45_484],
      [0, -4_516],
    ])
  })

  it('gives back immediately only the net amount when a change charges a part of it again', () => {
    const again = restsOf('cheaper/change/premium', 2_000).map(one => ({ ...one, keptUntil: STARTS[0]! }))
    expect(amounts(bearing, [october!, ...later, ...again])).toEqual([
      [0, -45_484 + 9_097],
      [0, -4_516 + 903],
    ])
  })

  it('keeps what it gives back when it also asks for the same peril in that time', () => {
    expect(amounts(bearing, [october!, ...later, ...restsOf('cheaper/tax/levy', 500)])).toEqual([
      [0, 0],
      [0, -50_000 + 2_500],
    ])
  })
})

describe('Cover from before a reinstatement, when its later part is cancelled', () => {
  const NOVEMBER = STARTS[1]!
  const bills = restsOf('cover/premium', 10_000).slice(0, 2)
  const cancelled: Charge = {
    ...chargeOf('premium', -10_000, MONTHS[1]!, { id: 'cover/cancelled/premium' }),
    keptUntil: NOTHING_KEPT,
    coverUntil: NOVEMBER,
  }
  const asked = (keepsCover?: true): number[] => {
    const marks = keepsCover && { keepsCover }
    const common = { issueAt: END, dueAt: END, periods: [] }
    const plan: Installment[] = [
      { ...common, number: 1, ...MONTHS[1]!, replans: { bill: 'atOnce', open: [], ...marks } },
      ...MONTHS.slice(0, 2).map(({ locator, ...span }, at) => ({
        ...common,
        number: at + 2,
        ...span,
        replans: { bill: 'planned' as const, open: [locator], ...marks },
      })),
    ]
    return totalsDue(plan, [cancelled, ...bills], EUR).map(one => one.minor)
  }

  it('remains on its own bill', () => {
    expect(asked(true)).toEqual([0, 10_000, 0])
  })

  it('is billed immediately by a plan of an earlier release, without keepsCover', () => {
    expect(asked()).toEqual([10_000, 0, 0])
  })
})
