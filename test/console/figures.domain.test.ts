import { Temporal } from 'temporal-polyfill'
import { describe, expect, test, vi } from 'vitest'
import { aYearAfter, clockAt, marks, timeOf } from '../../console/calendar.ts'
import { isNegative, isZero, shareOf, sum } from '../../console/decimal.ts'
import { faultsOf } from '../../console/desk/places.ts'
import { historyOf, premiumAt, premiumOfTerm, termAt, usualStart } from '../../console/knowledge.ts'
import { movementOf, outcomeOf } from '../../console/outcomes.ts'
import type { Policy } from '../../console/wire.ts'
import { size } from '../support/sizes.ts'

vi.hoisted(() => {
  Object.assign(globalThis, {
    sessionStorage: { getItem: () => null, removeItem: () => {} },
    location: new URL('https://bindery.test/console'),
  })
})

type Column = { head: string; cell: (row: number) => string }
type Parts = { firstRows(caption: string, columns: Column[], rows: number[], most: number): object }

// These modules are compiled with the types of a browser, and this file with those of the service.
const [PARTS, ELEMENT, PREVIEW]: string[] = [
  '../../console/parts.ts',
  '../../console/element.ts',
  '../../console/desk/preview.ts',
]
const { previewPlace } = (await import(PREVIEW!)) as { previewPlace(policy: object, shown: object): object }
const { firstRows } = (await import(PARTS!)) as Parts
const { textOf } = (await import(ELEMENT!)) as { textOf(child: object): string }

describe('Amounts', () => {
  test('are added exactly, where floating-point numbers are not', () => {
    expect(sum(['0.1', '0.2'])).toBe('0.3')
    expect(sum(['9007199254740993', '0.01', '-0.02'])).toBe('9007199254740992.99')
    expect(sum(['671.17', '732.78', '-521.67', undefined])).toBe('882.28')
    expect(sum([])).toBe('0')
    expect(sum(['-166.90'])).toBe('-166.9')
    expect(sum(['1200', '300'])).toBe('1500')
  })

  test('are divided by days to twelve decimal places', () => {
    expect(shareOf('671.17', 365)).toBe('1.838821917808')
    expect(shareOf('-10', 4)).toBe('-2.5')
    expect(shareOf('5', 0)).toBe('5')
  })

  test('are compared with zero by their digits, and rejected if they are not decimal numbers', () => {
    expect([isZero('0.00'), isZero('-0.01'), isNegative('-0.01'), isNegative('0')]).toEqual([
      true,
      false,
      true,
      false,
    ])
    expect(() => sum(['12e3'])).toThrow("'12e3' is not a decimal number")
  })
})

describe('Marks of the time axis', () => {
  const at = (time: string): number => Date.parse(time)
  const timesOf = (found: ReturnType<typeof marks>): string[] =>
    found.map(one => new Date(one.at).toISOString())

  test('are at the beginning of months in the time zone, across its change to summer time', () => {
    const found = marks(at('2027-01-01T00:00+01:00'), at('2028-01-01T00:00+01:00'), 4, 'Europe/Berlin')
    expect(timesOf(found)).toEqual([
      '2026-12-31T23:00:00.000Z',
      '2027-03-31T22:00:00.000Z',
      '2027-06-30T22:00:00.000Z',
      '2027-09-30T22:00:00.000Z',
      '2027-12-31T23:00:00.000Z',
    ])
  })

  test('are at most as many as there is room for, for spans of any length', () => {
    for (const years of [0.1, 1, 3, 10, 60, 200])
      for (const most of [3, 8]) {
        const start = at('2020-02-15T00:00Z')
        const found = marks(start, start + years * 365.25 * 86_400_000, most, 'America/New_York')
        expect(found.length).toBeLessThanOrEqual(most + 1)
        expect(found.every(one => one.at >= start)).toBe(true)
      }
  })
})

describe('Times of forms', () => {
  test('are in the given time zone, in winter and in summer', () => {
    expect(timeOf('2027-03-01', 'Europe/Berlin')).toBe(Date.parse('2027-02-28T23:00Z'))
    expect(timeOf('2027-07-01T08:30', 'Europe/Berlin')).toBe(Date.parse('2027-07-01T06:30Z'))
    // A year below 100 is not one of the 20th century. Local time was 53:28 ahead of Greenwich.
    expect(timeOf('0026-03-01', 'Europe/Berlin')).toBe(Date.parse('0026-02-28T23:06:32Z'))
    expect(timeOf('', 'Europe/Berlin')).toBeUndefined()
    for (const text of ['2027-03-01T00:00', '2027-07-01T08:30', '2027-12-31T23:59'])
      expect(clockAt(timeOf(text, 'America/New_York')!, 'America/New_York')).toBe(text)
  })
})

describe('Terms of a policy', () => {
  const at = (day: string): string => String(Date.parse(`${day}T00:00Z`))
  const segment = (locator: string, start: string, end: string, issued: string, premium: string) => ({
    locator,
    startTimestamp: at(start),
    endTimestamp: at(end),
    issuedTimestamp: at(issued),
    grossPremium: premium,
  })
  const renewed = historyOf({
    originalContractStartTimestamp: at('2027-01-01'),
    originalContractEndTimestamp: at('2029-01-01'),
    modifications: [
      {
        name: 'modification.policy.create',
        effectiveTimestamp: at('2027-01-01'),
        issuedTimestamp: at('2026-12-01'),
        newPolicyCharacteristicsLocators: ['a'],
      },
      {
        name: 'modification.policy.renew',
        effectiveTimestamp: at('2028-01-01'),
        issuedTimestamp: at('2027-11-01'),
        newPolicyCharacteristicsLocators: ['b'],
      },
    ],
    characteristics: [
      segment('a', '2027-01-01', '2028-01-01', '2026-12-01', '671.17'),
      segment('b', '2028-01-01', '2029-01-01', '2027-11-01', '702.40'),
    ],
  } as unknown as Policy)

  test('have separate premiums after a renewal', () => {
    const premiumOn = (day: string, step = 1): string | undefined =>
      premiumOfTerm(renewed, step, termAt(renewed, step, Number(at(day))))
    expect([premiumOn('2027-06-01'), premiumOn('2028-01-01'), premiumOn('2030-01-01')]).toEqual([
      '671.17',
      '702.4',
      '702.4',
    ])
    // Before the renewal was known, there was one term.
    expect(premiumOn('2028-06-01', 0)).toBe('671.17')
    expect(premiumAt(renewed, 1)).toBe('1373.57')
  })
})

describe('Paths of errors', () => {
  test('are those of the fields that a form shows', () => {
    const errors = (fieldName: string) => [{ fieldName, code: 'MISSING', message: `${fieldName} is missing` }]
    const faults = faultsOf({
      fieldErrors: [{ ontologyUri: 'endorsement.startTimestamp', message: 'is no time' }],
      paymentFieldErrors: { errors: errors('method'), fieldGroupErrors: [] },
      policyFieldErrors: {
        policyFieldErrors: {
          errors: errors('channel'),
          fieldGroupErrors: [{ fieldName: 'named_drivers', index: '1', errors: errors('full_name') }],
        },
        exposureValidationErrors: [
          { index: '0', exposureFieldErrors: { errors: errors('usage'), fieldGroupErrors: [] } },
          { exposureLocator: 'x', exposureFieldErrors: { errors: errors('parking'), fieldGroupErrors: [] } },
        ],
      },
    })
    expect([...faults.keys()].sort()).toEqual([
      'endorsement.startTimestamp',
      'exposure.0.usage',
      'exposure.x.parking',
      'payment.method',
      'policy.channel',
      'policy.named_drivers.1.full_name',
    ])
  })
})

test('a change takes effect immediately by default, or when the cover begins if that is still to come', () => {
  const policy = (start: number): Policy =>
    ({
      updatedTimestamp: '0',
      originalContractStartTimestamp: String(start),
      modifications: [],
    }) as unknown as Policy
  const tomorrow = Date.now() + 86_400_000
  expect(usualStart(policy(tomorrow))).toBe(tomorrow)
  expect(usualStart(policy(0))).toBeLessThan(tomorrow)
  expect(usualStart(policy(0))).toBeGreaterThan(tomorrow - 2 * 86_400_000)
})

describe('The billing page', () => {
  test('shows an offset as neither received nor paid out', () => {
    expect(movementOf({ source: 'offset', amount: '600.00' })).toBe('offset')
    expect(movementOf({ source: 'offset', amount: '-600.00' })).toBe('offset')
    expect(movementOf({ source: 'credit', amount: '-600.00' })).toBe('credit')
    expect(movementOf({ source: 'received', amount: '-600.00' })).toBe('paidOut')
    expect(movementOf({ source: 'received', amount: '600.00' })).toBe('received')
  })

  test('shows a grace period that ended in a lapse of either kind as lapsed, not as settled', () => {
    const issue = { name: 'modification.policy.create', issuedTimestamp: '1800000000000' }
    const lapse = { name: 'modification.policy.lapse', issuedTimestamp: '1810000000000' }
    expect(outcomeOf({}, [issue, lapse])).toBe('open')
    expect(outcomeOf({ settledTimestamp: '1805000000000' }, [issue, lapse])).toBe('settled')
    expect(outcomeOf({ settledTimestamp: '1810000000000' }, [issue, lapse])).toBe('lapsed')
    const byType = { settledTimestamp: '1810000000000', cancellationLocator: 'a cancellation' }
    expect(outcomeOf(byType, [issue])).toBe('lapsed')
  })
})

test('a day begins after midnight where the clock skips midnight, and at its first midnight where there are two', () => {
  for (const [day, zone, begins] of [
    // One hour before, it is 23:59 of the day before.
    ['2027-03-14', 'America/Havana', '2027-03-14T05:00Z'],
    ['2027-09-05', 'America/Santiago', '2027-09-05T04:00Z'],
    ['2027-03-28', 'Atlantic/Azores', '2027-03-28T01:00Z'],
    ['2027-03-28', 'Asia/Beirut', '2027-03-27T22:00Z'],
    ['2027-11-07', 'America/Havana', '2027-11-07T04:00Z'],
    ['2027-03-28', 'Europe/Berlin', '2027-03-27T23:00Z'],
  ] as const) {
    expect([day, zone, timeOf(day, zone)]).toEqual([day, zone, Date.parse(begins)])
    expect(clockAt(timeOf(day, zone)!, zone).slice(0, 10)).toBe(day)
  }
  // Any time of the years in which zones change at midnight, compared with another implementation. In the small size, every hour
  // of the days around a change, and one in 23 of the others.
  for (const zone of ['America/Havana', 'America/Santiago', 'Atlantic/Azores', 'Africa/Cairo']) {
    const begins = Temporal.ZonedDateTime.from(`2027-01-01[${zone}]`)
    const change = begins.getTimeZoneTransition('next')!
    const changes = [change, change.getTimeZoneTransition('next')!].map(one => one.epochMilliseconds)
    expect(changes.every(one => one < Date.UTC(2028, 0, 1))).toBe(true)
    for (let hour = 0; hour < 365 * 24; hour += 1) {
      const clock = Date.UTC(2027, 0, 1, hour, 30)
      const isNearAChange = changes.some(one => Math.abs(one - clock) < 3 * 86_400_000)
      if (!size(isNearAChange || hour % 23 === 0, true)) continue
      const text = new Date(clock).toISOString().slice(0, 16)
      const { epochMilliseconds } = Temporal.PlainDateTime.from(text).toZonedDateTime(zone)
      if (timeOf(text, zone) !== epochMilliseconds) expect([zone, text]).toEqual([])
    }
  }
})

test('a preview shows what is paid back, and not what was never billed, as the refund', () => {
  const shown = (totalChange: string, ...invoices: { totalDue: string; writeOff?: boolean }[]): string[] => {
    const price = { totalChange, newTotalCurrency: 'KWD', holdbacks: [] }
    const made = invoices.map(one => ({
      invoiceType: 'cancellation',
      dueTimestamp: '0',
      totalDueCurrency: 'KWD',
      ...one,
    }))
    const preview = { price, invoices: made, conflicts: [], policyWhenIssued: { documents: [] } }
    const text = textOf(previewPlace({ documents: [] }, { preview, isBusy: false }))
    return [...text.matchAll(/(Refund|no longer due): KWD\s([\d.]+)\./g)].map(one => `${one[1]} ${one[2]}`)
  }
  // A quarter of the year is paid: three of four invoices of 202.799 were still to come.
  expect(shown('-733.733', { totalDue: '-125.342' })).toEqual(['Refund 125.342', 'no longer due 608.391'])
  expect(shown('-733.733', { totalDue: '-733.733' })).toEqual(['Refund 733.733'])
  expect(shown('-50.000')).toEqual(['no longer due 50.000'])
  expect(shown('-0.004', { totalDue: '-0.004', writeOff: true })).toEqual([])
  expect(shown('-50.000', { totalDue: '12.500' })).toEqual([])
  expect(shown('10.000', { totalDue: '10.000' })).toEqual([])
})

test('rows that a table leaves out are counted below it', () => {
  const rowsOf = (count: number) =>
    firstRows('Items', [{ head: 'Item', cell: String }], Array(count).fill(7), 500)
  expect(textOf(rowsOf(1_501)).endsWith('7And 1,001 more.')).toBe(true)
  expect(textOf(rowsOf(500)).endsWith('77')).toBe(true)
})

test('the day a year after a leap day is 28 February', () => {
  expect(['2027-03-01', '2028-02-29', '2027-02-28'].map(aYearAfter)).toEqual([
    '2028-03-01',
    '2029-02-28',
    '2028-02-28',
  ])
})
