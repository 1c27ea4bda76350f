import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { planInstallments } from '../../src/billing/schedule.ts'
import { add, endOfDay, type Instant, startOfDay, type TimeZone } from '../../src/kernel/time.ts'
import type { PaymentScheduleType } from '../../src/product/configuration.ts'
import { chargeOf } from './charges.ts'
import { anyCoverage, local, localText, SCHEDULES, ZONES } from './spans.ts'

const BERLIN = 'Europe/Berlin' as TimeZone

function plan(options: {
  from: string
  to: string
  now: string
  schedule: PaymentScheduleType
  termDays?: number
  premium?: number
}) {
  const coverage = { start: local(options.from, BERLIN), end: local(options.to, BERLIN) }
  return planInstallments({
    charges: [
      chargeOf('premium', options.premium ?? 120_000, coverage),
      chargeOf('commission', 12_000, coverage),
    ],
    schedule: options.schedule,
    terms: { amount: options.termDays ?? 10, unit: 'day' },
    coverage,
    now: local(options.now, BERLIN),
    timeZone: BERLIN,
  }).map(installment => ({
    ...installment,
    start: localText(installment.start, BERLIN).slice(0, 10),
    end: localText(installment.end, BERLIN).slice(0, 10),
    issueAt: localText(installment.issueAt, BERLIN),
    dueAt: localText(installment.dueAt, BERLIN),
  }))
}

describe('Planning installments', () => {
  test('an installment is due at the end of the day its period starts, and issued the payment terms earlier', () => {
    const quarterly = plan({
      from: '2024-05-15T09:30',
      to: '2025-05-15T09:30',
      now: '2024-05-01T12:00',
      schedule: 'quarterly',
    })
    expect(quarterly.map(({ number, start, issueAt, dueAt }) => [number, start, issueAt, dueAt])).toEqual([
      [1, '2024-05-15', '2024-05-01T12:00:00', '2024-05-15T23:59:59.999'],
      [2, '2024-08-15', '2024-08-05T23:59:59.999', '2024-08-15T23:59:59.999'],
      [3, '2024-11-15', '2024-11-05T23:59:59.999', '2024-11-15T23:59:59.999'],
      [4, '2025-02-15', '2025-02-05T23:59:59.999', '2025-02-15T23:59:59.999'],
    ])
  })

  test('periods that have started are combined into one installment, due at the end of today', () => {
    const monthly = plan({
      from: '2024-01-31',
      to: '2025-01-31',
      now: '2024-04-17T08:00',
      schedule: 'monthly',
    })
    expect(monthly).toHaveLength(10)
    expect(monthly[0]).toMatchObject({
      start: '2024-01-31',
      end: '2024-04-30',
      issueAt: '2024-04-17T08:00:00',
      dueAt: '2024-04-17T23:59:59.999',
    })
    expect(monthly[0]!.periods).toHaveLength(3)
    expect(monthly[1]).toMatchObject({ start: '2024-04-30', end: '2024-05-31' })
  })

  test('a period that starts later today is due today and joins those that have started', () => {
    const weekly = plan({
      from: '2024-03-01T18:00',
      to: '2024-04-01T18:00',
      now: '2024-03-08T09:00',
      schedule: 'every_week',
    })
    expect(weekly.map(({ start, dueAt }) => [start, dueAt.slice(0, 10)])).toEqual([
      ['2024-03-01', '2024-03-08'],
      ['2024-03-15', '2024-03-15'],
      ['2024-03-22', '2024-03-22'],
      ['2024-03-29', '2024-03-29'],
    ])
  })

  test('coverage entirely in the past is one installment', () => {
    const monthly = plan({ from: '2020-01-01', to: '2021-01-01', now: '2024-01-01', schedule: 'monthly' })
    expect(monthly).toHaveLength(1)
    expect(monthly[0]).toMatchObject({
      start: '2020-01-01',
      end: '2021-01-01',
      dueAt: '2024-01-01T23:59:59.999',
    })
  })

  test('an invoice whose issue time has passed is issued now', () => {
    const weekly = plan({
      from: '2024-03-01',
      to: '2024-04-01',
      now: '2024-02-27T09:00',
      schedule: 'every_week',
      termDays: 14,
    })
    expect(weekly.map(({ issueAt }) => issueAt)).toEqual([
      '2024-02-27T09:00:00',
      '2024-02-27T09:00:00',
      '2024-03-01T23:59:59.999',
      '2024-03-08T23:59:59.999',
      '2024-03-15T23:59:59.999',
    ])
  })

  test('without payment terms an invoice is issued at the beginning of the day on which it is due', () => {
    const monthly = plan({
      from: '2024-01-31T15:00',
      to: '2024-04-30T15:00',
      now: '2024-01-31T15:00',
      schedule: 'monthly',
      termDays: 0,
    })
    expect(monthly.map(({ issueAt, dueAt }) => [issueAt, dueAt])).toEqual([
      ['2024-01-31T15:00:00', '2024-01-31T23:59:59.999'],
      ['2024-02-29T00:00:00', '2024-02-29T23:59:59.999'],
      ['2024-03-31T00:00:00', '2024-03-31T23:59:59.999'],
    ])
  })

  test('the schedule `total` has one installment over the whole coverage', () => {
    expect(
      plan({ from: '2024-05-15', to: '2025-05-15', now: '2024-05-01', schedule: 'total' }),
    ).toMatchObject([{ number: 1, start: '2024-05-15', end: '2025-05-15', dueAt: '2024-05-15T23:59:59.999' }])
  })

  test('a total of 5.00 is one installment, and a total of 5.01 is divided', () => {
    const count = (premium: number) =>
      plan({ from: '2024-05-15', to: '2025-05-15', now: '2024-05-01', schedule: 'monthly', premium }).length
    expect([500, 501].map(count)).toEqual([1, 12])
  })

  test('charges that are only commissions have one installment', () => {
    const coverage = { start: local('2024-05-15', BERLIN), end: local('2025-05-15', BERLIN) }
    const free = planInstallments({
      charges: [chargeOf('commission', 500, coverage)],
      schedule: 'monthly',
      terms: { amount: 10, unit: 'day' },
      coverage,
      now: coverage.start,
      timeZone: BERLIN,
    })
    expect(free).toMatchObject([{ number: 1, ...coverage }])
  })

  test('an installment is due at the end of the day even where clocks go forward at its midnight', () => {
    const zone = 'America/Sao_Paulo' as TimeZone
    const coverage = { start: local('2018-10-04T12:00', zone), end: local('2018-12-04T12:00', zone) }
    const monthly = planInstallments({
      charges: [chargeOf('premium', 120_000, coverage)],
      schedule: 'monthly',
      terms: { amount: 10, unit: 'day' },
      coverage,
      now: coverage.start,
      timeZone: zone,
    })
    expect(monthly.map(({ dueAt }) => localText(dueAt, zone))).toEqual([
      '2018-10-04T23:59:59.999',
      '2018-11-04T23:59:59.999',
    ])
  })

  test('in every zone installments tile the coverage, the first is issued now, and due times increase', () => {
    const scenario = fc.constantFrom(...ZONES).chain(zone =>
      fc.record({
        zone: fc.constant(zone),
        coverage: anyCoverage(zone),
        schedule: fc.constantFrom(...SCHEDULES),
        termDays: fc.integer({ min: 0, max: 60 }),
        sinceStartMs: fc.integer({ min: -40_000_000_000, max: 100_000_000_000 }),
      }),
    )
    fc.assert(
      fc.property(scenario, ({ zone, coverage, schedule, termDays, sinceStartMs }) => {
        const now = (coverage.start + sinceStartMs) as Instant
        const installments = planInstallments({
          charges: [chargeOf('premium', 120_000, coverage)],
          schedule,
          terms: { amount: termDays, unit: 'day' },
          coverage,
          now,
          timeZone: zone,
        })
        const endOfToday = endOfDay(now, zone)
        expect(installments[0]!.start).toBe(coverage.start)
        expect(installments.at(-1)!.end).toBe(coverage.end)
        expect(installments[0]!.issueAt).toBe(now)
        for (const [index, installment] of installments.entries()) {
          const { number, start, end, issueAt, dueAt, periods } = installment
          expect(number).toBe(index + 1)
          expect([periods[0]!.start, periods.at(-1)!.end]).toEqual([start, end])
          expect(dueAt).toBe(Math.max(endOfDay(start, zone), endOfToday))
          expect(issueAt).toBeGreaterThanOrEqual(now)
          expect(issueAt).toBeLessThanOrEqual(dueAt)
          if (index === 0) continue
          const before = installments[index - 1]!
          expect(start).toBe(before.end)
          expect(dueAt).toBeGreaterThan(before.dueAt)
          expect(issueAt).toBeGreaterThanOrEqual(before.issueAt)
          const asked = termDays === 0 ? startOfDay(dueAt, zone) : add(dueAt, -termDays, 'day', zone)
          expect(issueAt).toBe(Math.max(now, asked))
          expect(periods).toHaveLength(1)
          expect(start).toBeGreaterThan(endOfToday)
        }
      }),
      { seed: 20_261_104, numRuns: 300 },
    )
  })
})
