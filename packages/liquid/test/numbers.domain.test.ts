import Big from 'big.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failure, output } from './rendering.ts'

describe('Numbers in templates', () => {
  test.each([
    ['{{ 0.1 | plus: 0.2 }}', '0.3'],
    ['{{ 11.655 | times: 12 }}', '139.86'],
    ['{{ 1.005 | times: 1000 }}', '1005'],
    ['{{ 10 | minus: 0.9 }}', '9.1'],
    ['{{ -3 | abs }} {{ "-2.50" | abs }}', '3 2.5'],
    ['{{ 1.2 | ceil }} {{ -1.2 | ceil }} {{ 1.8 | floor }} {{ -1.2 | floor }}', '2 -1 1 -2'],
    ['{{ 3 | at_least: 5 }} {{ 3 | at_most: 2.5 }} {{ "7" | at_least: 5 }}', '5 2.5 7'],
    ['{{ 123456789012345678901234567890 | plus: 1 }}', '123456789012345678901234567891'],
    ['{{ 0.0000001 }} {{ 1000000000000000000000 }}', '0.0000001 1000000000000000000000'],
  ])('%s computes with exact decimals', (source, expected) => {
    expect(output(source)).toBe(expected)
  })

  test.each([
    ['{{ 346.5 | round }}', '347'],
    ['{{ -346.5 | round }}', '-347'],
    ['{{ 2.675 | round: 2 }}', '2.68'],
    ['{{ 1.10 | round: 2 }}', '1.1'],
    ['{{ 1250 | round: -2 }}', '1300'],
  ])('%s rounds half away from zero', (source, expected) => {
    expect(output(source)).toBe(expected)
  })

  test('dividing whole numbers rounds down, whether they are literals, text or data', () => {
    expect(
      output('{{ 7 | divided_by: 2 }} {{ -7 | divided_by: 2 }} {{ "7" | divided_by: data.n }}', { n: 2 }),
    ).toBe('3 -4 3')
  })

  test('a decimal point on either side makes a division exact, even if the value is whole', () => {
    expect(output('{{ 7 | divided_by: 2.0 }} {{ "7.0" | divided_by: 2 }}')).toBe('3.5 3.5')
    expect(output('{% assign n = 7 | times: 1.0 %}{{ n }} {{ n | divided_by: 2 }}')).toBe('7 3.5')
    expect(output('{{ 2 | divided_by: 3.0 }}')).toBe('0.6666666666666666666666666666666666666667')
  })

  test('an amount of the data divides exactly, even if it is whole', () => {
    expect(output('{{ data.a }} {{ data.a | divided_by: 2 }}', { a: new Big('7') })).toBe('7 3.5')
  })

  test('a number may begin with its decimal point', () => {
    expect(output('{{ 100 | times: .5 }} {{ .25 }} {{ 8 | plus: -.5 }}')).toBe('50 0.25 7.5')
    expect(output('{% assign a = .05 %}{{ a | times: 2 }}{% if .5 < 0.6 and 1 > .9 %}!{% endif %}')).toBe(
      '0.1!',
    )
    expect(output('{{ data.5 }}{{ data.a.5 }}', { 5: 'x', a: { 5: 'y' } })).toBe('xy')
  })

  test.each([
    '{% assign a = 1,000 %}',
    '{{ 1,000 }}',
    '{% assign a = 1,000.50 | times: 2 %}',
    '{% if 2 > 1,000 %}x{% endif %}',
    '{% if false %}{% elsif 2 > 1,000 %}x{% endif %}',
    '{% case 1,000 %}{% when 1 %}x{% endcase %}',
  ])('%s is rejected rather than read as 1', source => {
    expect(() => output(source)).toThrow(/cannot read ",000/)
  })

  test('times rejects a second argument, because it is the rest of a number with a comma', () => {
    expect(() => output('{{ 2 | times: 1,000 }}')).toThrow(/'times' accepts one value, but has 2/)
    expect(output('{{ "a-b" | replace: "-", "+" }}')).toBe('a+b')
  })

  test('a rounded number counts as whole', () => {
    expect(output('{{ 7.0 | round | divided_by: 2 }}')).toBe('3')
  })

  test('modulo has the sign of the divisor', () => {
    expect(
      output('{{ 7 | modulo: 3 }} {{ -7 | modulo: 3 }} {{ 7 | modulo: -3 }} {{ 5.5 | modulo: 2 }}'),
    ).toBe('1 2 -2 1.5')
  })

  test('division by zero fails with the line and column of the filter', () => {
    expect(failure('ab\n{{ 1 | divided_by: 0 }}')).toMatchObject({
      code: 'templateFailed',
      line: 2,
      column: 8,
      path: 'test.liquid',
    })
    expect(failure('{{ 1 | modulo: "0.0" }}').message).toContain('zero')
  })

  test('numeric text counts as a number, blanks ignored, and an absent value or other text counts as 0', () => {
    expect(output('{{ " 2.50 " | times: "4" }} {{ nothing | plus: 3 }} {{ "abc" | plus: 3 }}')).toBe('10 3 3')
  })

  test('numbers of the data print in their shortest decimal form', () => {
    expect(output('{{ data.a }} {{ data.a | times: 3 }} {{ data.b }}', { a: 0.1, b: 1e21 })).toBe(
      '0.1 0.3 1000000000000000000000',
    )
  })

  test('sums of lists are exact', () => {
    expect(output('{{ data | sum }} {{ data | map: "x" | compact | size }}', [0.1, 0.2, '0.3'])).toBe('0.6 0')
    expect(output('{{ data | sum: "p" }}', [{ p: 0.1 }, { p: 0.7 }])).toBe('0.8')
  })

  test('compounding in a loop stays within 100 decimal places', () => {
    const grown = output(
      '{% assign f = 1 %}{% for i in (1..360) %}{% assign f = f | times: 1.0034567 %}{% endfor %}{{ f }}',
    )
    expect(grown.length).toBeLessThanOrEqual(102)
    expect(new Big(grown).round(9).toFixed()).toBe(new Big('1.0034567').pow(360).round(9).toFixed())
  })

  test('a number of more than 400 digits stops the template', () => {
    expect(
      failure('{% assign f = 10 %}{% for i in (1..20) %}{% assign f = f | times: f %}{% endfor %}').code,
    ).toBe('templateLimit')
  })

  test('plus, minus, times and divided_by agree with big.js', () => {
    const decimal = fc
      .tuple(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), fc.integer({ min: 0, max: 9 }))
      .map(([digits, places]) => new Big(digits).div(new Big(10).pow(places)))
    const exact = Big()
    exact.DP = 40
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const data = { a: a.toFixed(), b: b.toFixed() }
        expect(output('{{ data.a | plus: data.b }}', data)).toBe(a.plus(b).toFixed())
        expect(output('{{ data.a | minus: data.b }}', data)).toBe(a.minus(b).toFixed())
        expect(output('{{ data.a | times: data.b }}', data)).toBe(unsigned(a.times(b)))
        if (!b.eq(0))
          expect(output('{{ data.a | times: 1.0 | divided_by: data.b }}', data)).toBe(
            unsigned(new exact(a).div(b)),
          )
      }),
      { seed: 20_261, numRuns: 300 },
    )
  })
})

const unsigned = (value: Big): string => (value.eq(0) ? '0' : value.toFixed())
