import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { planInstallments } from '../../src/billing/schedule.ts'
import { type CurrencyCode, sum, toText } from '../../src/kernel/money.ts'
import type { Instant, Span, TimeZone } from '../../src/kernel/time.ts'
import { type Charge, isPayable } from '../../src/policy/bills/charge.ts'
import { installmentItems, totalsDue } from '../../src/policy/bills/items.ts'
import type { Installment } from '../../src/policy/records/invoice.ts'
import type { PaymentScheduleType } from '../../src/product/configuration.ts'
import { totalDue } from '../support/total-due.ts'
import { chargeOf, EUR } from './charges.ts'
import { anyCoverage, local, SCHEDULES, ZONES } from './spans.ts'

const UTC = 'UTC' as TimeZone
const at = (text: string): Instant => local(text, UTC)
const span = (from: string, to: string): Span => ({ start: at(from), end: at(to) })
const YEAR = span('2023-05-15', '2024-05-15')

const planOf = (
  charges: Charge[],
  schedule: PaymentScheduleType,
  { coverage, now }: { coverage?: Span; now?: Instant } = {},
): Installment[] =>
  planInstallments({
    charges,
    schedule,
    terms: { amount: 10, unit: 'day' },
    coverage: coverage ?? YEAR,
    now: now ?? (coverage ?? YEAR).start,
    timeZone: UTC,
  })

const totals = (plan: Installment[], charges: Charge[]): string[] => totalsDue(plan, charges, EUR).map(toText)

describe('Charges on installments', () => {
  test('whole periods bill equal amounts, and the last bills the rest', () => {
    const charges = [chargeOf('premium', 100_000, YEAR)]
    expect(totals(planOf(charges, 'monthly'), charges)).toEqual([...new Array(11).fill('83.33'), '83.37'])
  })

  test('fees and taxes are spread like premium, and commissions are itemised outside the total', () => {
    const charges = [
      chargeOf('premium', 120_000, YEAR),
      chargeOf('tax', 12_000, YEAR),
      chargeOf('fee', 2_400, YEAR),
      chargeOf('commission', 18_000, YEAR),
    ]
    const plan = planOf(charges, 'quarterly')
    const [first] = installmentItems(plan, charges)
    expect(first!.map(item => [item.charge.type, toText(item.amount)])).toEqual([
      ['premium', '300.00'],
      ['tax', '30.00'],
      ['fee', '6.00'],
      ['commission', '45.00'],
    ])
    expect(totals(plan, charges)).toEqual(['336.00', '336.00', '336.00', '336.00'])
  })

  test('a last period of half a month bills half as much as a whole one', () => {
    const coverage = span('2023-01-01', '2023-04-16')
    const charges = [chargeOf('premium', 70_000, coverage)]
    expect(totals(planOf(charges, 'monthly', { coverage }), charges)).toEqual([
      '200.00',
      '200.00',
      '200.00',
      '100.00',
    ])
  })

  test('an installment that combines past periods bills each of them', () => {
    const charges = [chargeOf('premium', 120_000, YEAR)]
    const plan = planOf(charges, 'monthly', { now: at('2023-08-01') })
    expect(totals(plan, charges)).toEqual(['300.00', ...new Array(9).fill('100.00')])
  })

  test('a charge for part of the coverage is billed by the periods it covers, equally for whole ones', () => {
    const charges = [chargeOf('premium', 80_000, span('2023-07-15', '2024-03-15'))]
    expect(totals(planOf(charges, 'monthly'), charges)).toEqual([
      '0.00',
      '0.00',
      ...new Array(8).fill('100.00'),
      '0.00',
      '0.00',
    ])
    expect(totals(planOf(charges, 'monthly', { now: at('2023-08-20') }), charges)).toEqual([
      '200.00',
      ...new Array(6).fill('100.00'),
      '0.00',
      '0.00',
    ])
  })

  test('a charge outside the coverage is billed with the first installment', () => {
    const charges = [chargeOf('fee', 5_000, span('2022-01-01', '2022-02-01'))]
    expect(totals(planOf(charges, 'semiannually'), charges)).toEqual(['50.00', '0.00'])
  })

  test('in every zone and currency items keep the sign of their charge and add up to it, and to the totals', () => {
    const type = fc.constantFrom<Charge['type'][]>('premium', 'tax', 'fee', 'commission')
    const amount = fc.oneof(
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: -5_000, max: -1 }),
      fc.integer({ min: 1, max: 900_000_000_000 }),
    )
    const scenario = fc.constantFrom(...ZONES).chain(zone =>
      fc.record({
        zone: fc.constant(zone),
        coverage: anyCoverage(zone),
        schedule: fc.constantFrom(...SCHEDULES),
        currency: fc.constantFrom('EUR', 'JPY', 'BHD').map(code => code as CurrencyCode),
        sinceStartMs: fc.integer({ min: -40_000_000_000, max: 100_000_000_000 }),
        // Most charges cover the whole term. Some cover a part of it, given in thousandths.
        charges: fc.array(
          fc.record({
            type,
            amount,
            from: fc.option(fc.integer({ min: 0, max: 999 })),
            to: fc.integer({ min: 1, max: 1_000 }),
          }),
          { maxLength: 12 },
        ),
      }),
    )
    fc.assert(
      fc.property(scenario, ({ zone, coverage, schedule, currency, sinceStartMs, charges: wanted }) => {
        const moment = (thousandth: number): Instant =>
          (coverage.start + Math.floor(((coverage.end - coverage.start) * thousandth) / 1_000)) as Instant
        const charges = wanted.map(({ type, amount, from, to }, index) =>
          chargeOf(
            type,
            amount,
            from === null || from >= to ? coverage : { start: moment(from), end: moment(to) },
            {
              id: `charge ${index}`,
              currency,
            },
          ),
        )
        const plan = planInstallments({
          charges,
          schedule,
          terms: { amount: 10, unit: 'day' },
          coverage,
          now: (coverage.start + sinceStartMs) as Instant,
          timeZone: zone,
        })
        const itemsByInstallment = installmentItems(plan, charges)
        const items = itemsByInstallment.flat()
        for (const charge of charges) {
          const amounts = items.filter(item => item.charge === charge).map(item => item.amount)
          expect(sum(amounts, currency)).toEqual(charge.amount)
          for (const { minor } of amounts) expect(Math.sign(minor)).toBe(Math.sign(charge.amount.minor))
        }
        const invoiced = itemsByInstallment.map(each => totalDue(each, currency))
        expect(invoiced).toEqual(totalsDue(plan, charges, currency))
        expect(sum(invoiced, currency)).toEqual(
          sum(
            charges.filter(isPayable).map(charge => charge.amount),
            currency,
          ),
        )
      }),
      { seed: 20_261_105, numRuns: 300 },
    )
  })
})
