import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import type { Instant, TimeZone } from '../../src/kernel/time.ts'
import { clockTarget } from '../../src/tenants/clock.ts'
import { ClockRequest } from '../../src/tenants/routes.ts'

const SEED = 20261121
const BERLIN = 'Europe/Berlin' as TimeZone
const NOON = Date.UTC(2026, 2, 28, 11) as Instant
const HOUR_MS = 3_600_000

const target = (request: unknown, tenant = NOON, real = NOON) =>
  clockTarget(ClockRequest.parse(request), { tenant, zone: BERLIN, real })

describe('the target of a clock move', () => {
  it('is the timestamp, as a number or as digits', () => {
    expect(target({ timestamp: NOON + 1 })).toBe(NOON + 1)
    expect(target({ timestamp: String(NOON) })).toBe(NOON)
  })

  it('is an advance by the calendar of the time zone: a day in March may have 23 hours', () => {
    expect(target({ advance: { amount: 1, unit: 'day' } })).toBe(NOON + 23 * HOUR_MS)
    expect(target({ advance: { amount: '24', unit: 'hour' } })).toBe(NOON + 24 * HOUR_MS)
    expect(target({ advance: { amount: 10, unit: 'year' } })).toBe(Date.UTC(2036, 2, 28, 11))
  })

  it('cannot be in the past of the tenant, even if it is in the real future', () => {
    expect(() => target({ timestamp: NOON - 1 }, NOON, (NOON - HOUR_MS) as Instant)).toThrow(
      /only moves forward/,
    )
  })

  it('is at most 10 years per call, and 100 years after the real time', () => {
    const beyond = Date.UTC(2036, 2, 28, 11) + 1
    expect(() => target({ timestamp: beyond })).toThrow(/10 years/)
    const late = Date.UTC(2120, 0, 1) as Instant
    expect(target({ advance: { amount: 6, unit: 'year' } }, late)).toBe(Date.UTC(2126, 0, 1))
    expect(() => target({ advance: { amount: 7, unit: 'year' } }, late)).toThrow(/100 years/)
  })

  it('is within the limits for any accepted request', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.record({ timestamp: fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }) }),
          fc.record({
            advance: fc.record({
              amount: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 1_000_000_000 })),
              unit: fc.constantFrom('second', 'minute', 'hour', 'day', 'week', 'month', 'year'),
            }),
          }),
        ),
        request => {
          let at: Instant | undefined
          try {
            at = target(request)
          } catch (problem) {
            expect(problem).toBeInstanceOf(Refusal)
          }
          if (at === undefined) return
          expect(at).toBeGreaterThanOrEqual(NOON)
          expect(at).toBeLessThanOrEqual(Date.UTC(2036, 2, 28, 11))
        },
      ),
      { seed: SEED, verbose: true },
    )
  })

  it('needs exactly one of timestamp and advance', () => {
    const both = { timestamp: NOON, advance: { amount: 1, unit: 'day' } }
    for (const request of [{}, { timestamp: null }, both])
      expect(ClockRequest.safeParse(request).error?.issues[0]?.message).toMatch(/exactly one/)
  })
})
