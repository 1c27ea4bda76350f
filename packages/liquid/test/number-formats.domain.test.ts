import { describe, expect, test } from 'vitest'
import { failure, output } from './rendering.ts'

describe('Number formats', () => {
  test.each([
    ['123456.7 | format_number: "en", "US"', '123,456.7'],
    ['123456.7 | format_number: "de", "DE"', '123.456,7'],
    ['" 1234.5678 " | format_number', '1,234.568'],
    ['9007199254740993.1 | format_number', '9,007,199,254,740,993.1'],
    ['123456.7 | format_number_currency: "de", "DE"', '€123.456,70'],
    ['1234.005 | format_number_currency: "en", "US"', '€1,234.01'],
    ['-5 | format_number_currency: "en", "US"', '-€5.00'],
    ['1234.5 | format_number_currency: "USD"', '$1,234.50'],
    ['1234.5 | format_number_currency: "JPY"', '¥1,235'],
    ['1234.56 | format_number_currency: "HUF"', 'HUF1,234.56'],
    ['1234.5 | format_number_currency', '€1,234.50'],
    ['5 | format_number_pattern: "0.0"', '5.0'],
    ['1234567.891 | format_number_pattern: "#,##0.00"', '1,234,567.89'],
    ['12345 | format_number_pattern: "#,#0"', '1,23,45'],
    ['123456 | format_number_pattern: "#,##0"', '123,456'],
    ['12 | format_number_pattern: "#,##0"', '12'],
    ['0.125 | format_number_pattern: "0.0#"', '0.13'],
    ['0.5 | format_number_pattern: "#.##"', '.5'],
    ['7 | format_number_pattern: "000"', '007'],
    ['0.256 | format_number_pattern: "0.0%"', '25.6%'],
    ['-1234.5 | format_number_pattern: "#,##0.00;(#,##0.00)"', '(1,234.50)'],
    ['-2 | format_number_pattern: "$0.00"', '-$2.00'],
    ['12 | format_number_pattern: "0 \'#\'"', '12 #'],
    ['2.5 | format_number_pattern: "0"', '3'],
    ['-0.001 | format_number_pattern: "0.00"', '0.00'],
    ['nothing | format_number', ''],
    ['"unlimited" | format_number_currency: "en", "US"', 'unlimited'],
  ])('%s', (expression, expected) => {
    expect(output(`{{ ${expression} }}`)).toBe(expected)
  })

  test('amounts have the currency of the tenant', () => {
    expect(output('{{ 10 | format_number_currency: "en", "US" }}', {}, { currency: 'GBP' })).toBe('£10.00')
  })

  test('an invalid pattern or locale fails, and so does a pattern that is too long', () => {
    for (const call of [
      'format_number_pattern: "abc"',
      'format_number_pattern: "0.0.0"',
      'format_number: "e!", "?"',
    ])
      expect(failure(`{{ 1 | ${call} }}`).code).toBe('templateFailed')
    expect(failure(`{{ 1 | format_number_pattern: "${';'.repeat(5_000)}" }}`).message).toContain('long')
  })
})
