import { describe, expect, it } from 'vitest'
import type { FieldDefinition } from '../../../src/product/configuration.ts'
import { validateFields } from '../../../src/product/fields/validate.ts'
import { context, field, NOW } from './definitions.ts'

/** Returns the code of the only problem of the value, or `fine`. */
const check = (definition: FieldDefinition, value: string): string =>
  validateFields([definition], { [definition.name]: [value] }, [], context()).errors[0]?.code ?? 'fine'

const DAY = 86_400_000

describe('number fields', () => {
  it.each(['0', '-12.50', '007', '9'.repeat(40)])('accept %s', value => {
    expect(check(field('n', 'number'), value)).toBe('fine')
  })

  it.each(['1,000', '1e3', '+1', '.5', '5.', ' 5', '', 'NaN', '٣', '0x1f'])('reject %j', value => {
    expect(check(field('n', 'number'), value)).toBe('INVALID_TYPE')
  })

  it('count trailing zeros as decimal places', () => {
    const n = field('n', 'number', { decimalPlaces: 2 })
    expect(check(n, '1.25')).toBe('fine')
    expect(check(n, '1.250')).toBe('INVALID_VALUE')
  })

  it('enforce their bounds exactly', () => {
    const n = field('n', 'number', { minimum: '0', maximum: '0.3' })
    expect(['0', '0.3', '-0.1', '0.30000000000000000001'].map(value => check(n, value))).toEqual([
      'fine',
      'fine',
      'INVALID_VALUE',
      'INVALID_VALUE',
    ])
  })

  it('allow at most 40 digits on each side of the point', () => {
    expect(check(field('n', 'number'), `-${'9'.repeat(40)}.${'1'.repeat(40)}`)).toBe('fine')
    expect(check(field('n', 'number'), '9'.repeat(41))).toBe('INVALID_VALUE')
    expect(check(field('n', 'number'), `0.${'1'.repeat(41)}`)).toBe('INVALID_VALUE')
  })
})

describe('date fields', () => {
  it.each(['1577833200000', '-1', '2020-02-29', '1900-01-01'])('accept %s', value => {
    expect(check(field('d', 'date'), value)).toBe('fine')
  })

  it.each(['2019-02-29', '2020-1-1', '2020-01-01T00:00:00Z', '01.02.2020', '1.5', '9'.repeat(300), 'soon'])(
    'reject %s',
    value => {
      expect(check(field('d', 'date'), value)).toBe('INVALID_TYPE')
    },
  )

  it('include the whole day of a fixed bound', () => {
    const d = field('d', 'date', { earliest: '1900-01-01', latest: '2020-06-30' })
    expect(check(d, '1900-01-01')).toBe('fine')
    expect(check(d, '1899-12-31')).toBe('INVALID_VALUE')
    // 2020-06-30 23:59:59.999 in Berlin, and a millisecond later.
    expect(check(d, '1593554399999')).toBe('fine')
    expect(check(d, '1593554400000')).toBe('INVALID_VALUE')
  })

  it('apply bounds in milliseconds to the millisecond', () => {
    const d = field('d', 'date', { earliest: '1000', latest: '2000' })
    expect(['999', '1000', '2000', '2001'].map(value => check(d, value))).toEqual([
      'INVALID_VALUE',
      'fine',
      'fine',
      'INVALID_VALUE',
    ])
  })

  it('apply bounds relative to the clock in calendar units', () => {
    const adult = field('d', 'date', { latestOffset: { unit: 'year', amount: -18, roundToDay: true } })
    expect(check(adult, '2008-07-15')).toBe('fine')
    expect(check(adult, '2008-07-16')).toBe('INVALID_VALUE')
    const soon = field('d', 'date', { earliestOffset: { unit: 'second', amount: 0, roundToDay: false } })
    expect(check(soon, String(NOW))).toBe('fine')
    expect(check(soon, String(NOW - 1))).toBe('INVALID_VALUE')
  })

  it('include the whole day of a rounded offset, at both bounds', () => {
    const today = { unit: 'day', amount: 0, roundToDay: true } as const
    const d = field('d', 'date', { earliestOffset: today, latestOffset: today })
    expect(check(d, '2026-07-15')).toBe('fine')
    expect(check(d, String(NOW + DAY / 4))).toBe('fine')
    expect(check(d, '2026-07-14')).toBe('INVALID_VALUE')
    expect(check(d, '2026-07-16')).toBe('INVALID_VALUE')
  })

  it('accept any date when the offset reaches beyond the calendar', () => {
    const d = field('d', 'date', {
      earliestOffset: { unit: 'year', amount: -1e9, roundToDay: true },
      latestOffset: { unit: 'year', amount: 1e9, roundToDay: true },
    })
    expect(check(d, '2026-07-15')).toBe('fine')
  })

  it('state the bound in the message as a date or a local time', () => {
    const d = field('d', 'date', {
      earliest: '1900-01-01',
      latestOffset: { unit: 'hour', amount: 1, roundToDay: false },
    })
    const messageOf = (value: string) => validateFields([d], { d: [value] }, [], context()).errors[0]?.message
    expect(messageOf('1850-01-01')).toBe("Field 'd' must be a date not before 1900-01-01.")
    expect(messageOf('2050-01-01')).toBe(
      "Field 'd' must be a date not after 2026-07-15 13:30:00 Europe/Berlin.",
    )
  })
})

describe('choice fields', () => {
  it('of type select match a value exactly', () => {
    const select = field('s', 'select', { values: ['Yes', 'No'] })
    expect(['Yes', 'yes', 'Yes '].map(value => check(select, value))).toEqual([
      'fine',
      'INVALID_VALUE',
      'INVALID_VALUE',
    ])
  })

  it('of type lookup accept keys of the first column, or of the column with the name of the field', () => {
    const lookup = (name: string) => field(name, 'lookup', { table: 'vehicles' })
    expect(check(lookup('brand'), 'Audi')).toBe('fine')
    expect(check(lookup('brand'), 'A4')).toBe('INVALID_VALUE')
    expect(check(lookup('model'), 'A4')).toBe('fine')
    expect(check(lookup('model'), 'Audi')).toBe('INVALID_VALUE')
    expect(check(field('x', 'lookup', { table: 'gone' }), 'Audi')).toBe('INVALID_VALUE')
  })

  it('of type lookup list the first keys and the table in the message', () => {
    const messageOf = (table: string) =>
      validateFields([field('model', 'lookup', { table })], { model: ['Zeppelin'] }, [], context()).errors[0]
        ?.message
    expect(messageOf('vehicles')).toContain("must be exactly one of 'A4'")
    expect(messageOf('vehicles')).toContain("(keys in the table 'vehicles')")
  })
})

describe('contact fields', () => {
  it.each(['a@example.com', 'first.last+tag@sub.example.co', 'jürgen@müller.de', '"a b"@example.com'])(
    'of type email accept %s',
    value => {
      expect(check(field('e', 'email'), value)).toBe('fine')
    },
  )

  it.each([
    'a',
    'a@b',
    '@example.com',
    'a@@example.com',
    'a..b@example.com',
    'a@-x.com',
    'a b@example.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(63)}.com`,
  ])('of type email reject %s', value => {
    expect(check(field('e', 'email'), value)).toBe('INVALID_TYPE')
  })

  it.each(['+4915112345678', '(030) 123-456', '555 0100', '110'])('of type phone accept %s', value => {
    expect(check(field('p', 'phone'), value)).toBe('fine')
  })

  it.each(['12', 'call me', '555.0100', '+()-', '1'.repeat(21)])('of type phone reject %s', value => {
    expect(check(field('p', 'phone'), value)).toBe('INVALID_TYPE')
  })

  it('of type media accept only locators', () => {
    expect(check(field('m', 'media'), '3F2504E0-4F89-41D3-9A0C-0305E82C3301')).toBe('fine')
    expect(check(field('m', 'media'), 'photo.jpg')).toBe('INVALID_TYPE')
  })
})

describe('string fields', () => {
  it('match their pattern against the whole text', () => {
    const plate = field('s', 'string', { regex: '[A-Z]{1,3}-\\d{1,4}|NONE' })
    expect(['B-12', 'NONE', 'xB-12', 'B-12\n', 'B-12345'].map(value => check(plate, value))).toEqual([
      'fine',
      'fine',
      'INVALID_VALUE',
      'INVALID_VALUE',
      'INVALID_VALUE',
    ])
  })

  it('enforce their maximum length and a limit of 20,000 characters', () => {
    expect(check(field('s', 'string', { maximumCount: 3 }), 'abc')).toBe('fine')
    expect(check(field('s', 'string', { maximumCount: 3 }), 'abcd')).toBe('INVALID_VALUE')
    expect(check(field('s', 'string', { maximumCount: 3 }), '🚗🚗🚗')).toBe('fine')
    expect(check(field('s', 'string', { maximumCount: 3 }), '🚗🚗🚗🚗')).toBe('INVALID_VALUE')
    expect(check(field('s', 'string'), 'x'.repeat(20_000))).toBe('fine')
    expect(check(field('s', 'string'), 'x'.repeat(20_001))).toBe('INVALID_VALUE')
  })

  it('finish on patterns that would hang a backtracking engine', () => {
    for (const regex of ['(a+)+$', '(a|aa)+$', '(a|a?)+$'])
      expect(check(field('s', 'string', { regex }), `${'a'.repeat(19_999)}!`)).toBe('INVALID_VALUE')
  })

  it('limit the total work of matching patterns for one owner', () => {
    const s = field('s', 'string', { regex: 'a{0,1000}', repeatable: true })
    const values = Array.from({ length: 100 }, () => 'a'.repeat(1_000))
    const { errors } = validateFields([s], { s: values }, [], context())
    expect(errors[0]?.message).toContain('too long to be compared with its pattern')
    expect(validateFields([s], { s: values.slice(0, 20) }, [], context()).hasErrors).toBe(false)
  })
})
