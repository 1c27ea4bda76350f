import { describe, expect, test } from 'vitest'
import { output } from './rendering.ts'

const holds = (condition: string, data?: unknown): boolean =>
  output(`{% if ${condition} %}yes{% endif %}`, data) === 'yes'

describe('Conditions', () => {
  test.each([
    '"5" == 5',
    '"5" == "5.0"',
    '" 5 " == 5.00',
    '"abc" == "abc"',
    '"10" > "9"',
    '"10.5" >= 10.5',
    '"b" > "a"',
    '0.1 < data.n',
    'data.list contains 2',
    'data.list contains "2.0"',
    '"abcd" contains "bc"',
    '12345 contains 34',
    'data contains "list"',
    'nothing == nil',
    'nothing != 5',
    'data.list != nil',
    '"" == empty',
    '"  " == blank',
    'nothing == blank',
    'data.none == empty',
    '5 <> 6',
    '"" ',
    '0',
    'true and 1 == 1',
    'false or true and true',
    '(false or true) and true',
    'data.list == data.same',
  ])('%s is true', condition => {
    expect(holds(condition, { n: 0.2, list: [1, 2], same: ['1', '2.0'], none: [] })).toBe(true)
  })

  test.each([
    'nothing > 0',
    'nothing < 1',
    'nothing >= 0',
    'nothing <= 0',
    'nil == 0',
    'nil == ""',
    'nil == false',
    '5 > nothing',
    '"abc" > 5',
    '"abc" < 5',
    'nothing contains "a"',
    '"abc" contains nothing',
    'true == "true"',
    'true == 1',
    '"1e3" == 1000',
    'true and false or false',
    '(true or true) and false',
    'nothing',
    'false',
    'data.list > 1',
  ])('%s is false, not an error', condition => {
    expect(holds(condition, { list: [1, 2] })).toBe(false)
  })

  test('case chooses the first equal value, and compares numbers by value', () => {
    const source =
      '{% case data.x %}{% when "a", "b" %}AB{% when 5 or 6 %}five{% when "5" %}again{% else %}none{% endcase %}'
    expect(output(source, { x: '5.0' })).toBe('five')
    expect(output(source, { x: 'b' })).toBe('AB')
    expect(output(source, {})).toBe('none')
  })

  test('elsif, else and unless choose one branch', () => {
    const source = '{% if data > 10 %}big{% elsif data > 5 %}middle{% else %}small{% endif %}'
    expect([12, 7, 1].map(x => output(source, x))).toEqual(['big', 'middle', 'small'])
    expect(output('{% unless data > 10 %}no{% else %}yes{% endunless %}', 12)).toBe('yes')
  })
})
