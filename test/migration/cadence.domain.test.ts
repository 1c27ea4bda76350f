import { expect, it } from 'vitest'
import type { TermMigrationRequest } from '../../src/servicing/migration/contract-request.ts'
import { derivedCadence } from '../../src/servicing/migration/convert/policy.ts'

/** A term with installments due on these days. */
const term = (...days: string[]): TermMigrationRequest =>
  ({
    transactions: [{ installments: days.map(day => ({ dueTime: Date.parse(`${day}T00:00:00Z`) })) }],
  }) as unknown as TermMigrationRequest

const monthly = (year: number): string[] =>
  Array.from({ length: 12 }, (_, at) => new Date(Date.UTC(year, at, 15)).toISOString().slice(0, 10))

it.each([
  ['months', monthly(2025), ['monthly']],
  ['months in a leap year', monthly(2024), ['monthly']],
  ['months from January 31', ['2025-01-31', '2025-02-28', '2025-03-31', '2025-04-30'], ['monthly']],
  [
    'months of which the first and the last are short',
    ['2025-01-20', ...monthly(2025).slice(1), '2025-12-20'],
    ['monthly'],
  ],
  ['quarters', ['2025-01-01', '2025-04-01', '2025-07-01', '2025-10-01'], ['quarterly']],
  ['half years', ['2025-01-01', '2025-07-01'], ['semiannually']],
  ['years', ['2024-01-01', '2025-01-01', '2026-01-01'], ['annually']],
  ['weeks', ['2025-01-01', '2025-01-08', '2025-01-15'], ['every_week']],
  ['two weeks', ['2025-01-01', '2025-01-15', '2025-01-29'], ['every_two_weeks']],
  ['one date', ['2025-01-01'], ['total', 'annually']],
  ['the same date twice', ['2025-01-01', '2025-01-01'], ['total', 'annually']],
  ['no rhythm', ['2025-01-01', '2025-02-11', '2025-02-20'], undefined],
  ['months with a hole', ['2025-01-01', '2025-02-01', '2025-04-01', '2025-05-01', '2025-06-01'], undefined],
  ['no installments', [], undefined],
])('the cadence derived from due dates of %s', (_, days, types) => {
  expect(derivedCadence([term(...days)])?.types).toEqual(types)
})

/** A term with several transactions, given by the due dates of the installments of each. */
const transactions = (...each: string[][]): TermMigrationRequest =>
  ({ transactions: each.flatMap(days => term(...days).transactions) }) as unknown as TermMigrationRequest

it.each([
  ['a year paid monthly, changed', [monthly(2025), ['2025-03-20']], ['monthly']],
  ['a year paid at once, changed a month later', [['2025-01-01'], ['2025-02-01']], ['total', 'annually']],
  [
    'a year paid at once, changed twice',
    [['2025-01-01'], ['2025-03-20'], ['2025-04-02']],
    ['total', 'annually'],
  ],
  ['a transaction for each bill', monthly(2025).map(day => [day]), ['monthly']],
  ['a transaction without bills before', [[], monthly(2025)], ['monthly']],
])('the cadence derived from due dates of several transactions: %s', (_, each, types) => {
  expect(derivedCadence([transactions(...each)])?.types).toEqual(types)
})

it('the cadence is derived from the last term with installments', () => {
  expect(derivedCadence([term('2024-01-01'), term(...monthly(2025)), term()])?.types).toEqual(['monthly'])
})
