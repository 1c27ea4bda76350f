// A dearer cover in the place of a cheaper one that a bill already made had charged for the whole year (brief 4.5): each
// planned bill asks for the dearer and gives back the cheaper one for its own time. Then the policy is cancelled as of Oct 15.
import { describe, expect, it } from 'vitest'
import type { Uuid } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { futureInstallments } from '../../src/policy/bills/amounts-due.ts'
import type { Charge } from '../../src/policy/bills/charge.ts'
import { installmentItems } from '../../src/policy/bills/items.ts'
import type { Installment } from '../../src/policy/records/invoice.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'
import { chargeOf } from './charges.ts'

const STARTS = ['2030-10-01', '2030-11-01', '2030-12-01', '2031-01-01', '2031-02-01', '2031-03-01'].map(utc)
const MONTHS = STARTS.slice(1).map((end, at) => ({ start: STARTS[at]!, end, locator: `bill ${at}` as Uuid }))
const END = utc('2030-10-15')

/** What the bills from October on had of a cover, a month of it costing that much. */
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

/** Of the dearer cover, 14 of October's 31 days stay; the cheaper one had ended before. */
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

describe('a planned bill that gave back for its own time what a bill already made had charged', () => {
  it('shrunk to Oct 15, gives back only for the time until then; the rest is given back at once', () => {
    // 200.00 a month in the place of 100.00: the bill of the year charged 454.84 for the time after Oct 15.
    expect(amounts(planOf(END), charges(20_000, 10_000))).toEqual([
      [0, -45_484],
      [9_032, -4_516],
    ])
  })

  it('has 90.32 left in October, of 300.00 a month', () => {
    const [, [dearer, cheaper]] = amounts(planOf(END), charges(30_000, 10_000)) as [
      number[],
      [number, number],
    ]
    expect(dearer + cheaper).toBe(13_548 - 4_516)
  })

  it('keeps what it billed by a plan of an earlier release', () => {
    expect(amounts(planOf(), charges(20_000, 10_000))).toEqual([
      [0, -40_000],
      [9_032, -10_000],
    ])
  })

  it('says from when on it gives back at once, in every plan of a cancellation', async () => {
    const boat = await BoatInUtc.issued()
    await boat.cancel('2030-10-15')
    expect(futureInstallments(boat.aggregate).at(-1)!.replans).toMatchObject({ freesAfter: END })
  })
})
