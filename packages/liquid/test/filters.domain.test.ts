import { describe, expect, test } from 'vitest'
import { failure, output } from './rendering.ts'

const DATA = {
  cars: [
    { make: 'Audi', year: 2020, value: '9500.50' },
    { make: 'BMW', year: '2018', value: 12000 },
    { make: 'audi', year: 2020.0, value: null },
  ],
  one: { make: 'Solo', year: 2000 },
  numbers: ['10', 9, '2.5'],
}

describe('Text filters', () => {
  test.each([
    ['"a" | append: "b" | append: 1.50', 'ab1.5'],
    ['"b" | prepend: "a"', 'ab'],
    ['"my TITLE" | capitalize', 'My TITLE'],
    ['"ABC" | downcase', 'abc'],
    ['"abc" | upcase', 'ABC'],
    ['" a " | strip | append: "|"', 'a|'],
    ['" a " | lstrip | append: "|"', 'a |'],
    ['" a " | rstrip | append: "|"', ' a|'],
    ['"  a   b " | squish', 'a b'],
    ['"aXbXc" | replace: "X", "-"', 'a-b-c'],
    ['"aXbXc" | replace_first: "X", "$&"', 'a$&bXc'],
    ['"aXbXc" | replace_last: "X", "-"', 'aXb-c'],
    ['"aXbXc" | remove: "X"', 'abc'],
    ['"aXbXc" | remove_first: "X"', 'abXc'],
    ['"aXbXc" | remove_last: "X"', 'aXbc'],
    ['"a,b,," | split: "," | join: "+"', 'a+b'],
    ['"abcdefgh" | truncate: 5', 'ab...'],
    ['"abcdefgh" | truncate: "4", ""', 'abcd'],
    ['"a b c d" | truncatewords: 2', 'a b...'],
    ['"<a href=\'x\'>&</a>" | escape', '&lt;a href=&#39;x&#39;&gt;&amp;&lt;/a&gt;'],
    ['"&lt; & <" | escape_once', '&lt; &amp; &lt;'],
    ['"<p>a</p>b" | strip_html', 'ab'],
    ['"a b&c" | url_encode', 'a+b%26c'],
    ['"a+b%26c" | url_decode', 'a b&c'],
    ['"hä" | base64_encode | base64_decode', 'hä'],
    ['nothing | default: "x"', 'x'],
    ['"" | default: "x"', 'x'],
    ['false | default: "x", allow_false: true', 'false'],
    ['0 | default: 7', '0'],
    ['12.50 | append: ""', '12.5'],
    ['nothing | upcase | size', '0'],
  ])('%s', (expression, expected) => {
    expect(output(`{{ ${expression} }}`)).toBe(expected)
  })

  test('strip_newlines removes line breaks, and newline_to_br adds <br /> before them', () => {
    expect(output('{{ data | strip_newlines }}|{{ data | newline_to_br }}', 'a\r\nb')).toBe('ab|a<br />\nb')
  })

  test('url_decode and base64_decode fail for text that cannot be decoded', () => {
    expect(failure('{{ "%E0%A4%A" | url_decode }}').code).toBe('templateFailed')
    expect(failure('{{ "=" | base64_decode }}').code).toBe('templateFailed')
  })
})

describe('List filters', () => {
  test.each([
    ['data.cars | map: "make" | join: ", "', 'Audi, BMW, audi'],
    ['data.cars | where: "year", "2020" | map: "make" | join', 'Audi audi'],
    ['data.cars | where: "value" | size', '2'],
    ['data.cars | reject: "year", 2020 | map: "make" | join', 'BMW'],
    ['data.one | where: "year", 2000 | map: "make" | join', 'Solo'],
    ['data.cars | sort: "year" | map: "make" | join', 'BMW Audi audi'],
    ['data.cars | sort: "value" | map: "make" | join', 'Audi BMW audi'],
    ['data.numbers | sort | join', '2.5 9 10'],
    ['data.cars | map: "make" | sort_natural | join', 'Audi audi BMW'],
    ['data.cars | map: "year" | uniq | join', '2020 2018'],
    ['data.cars | map: "value" | compact | size', '2'],
    ['data.numbers | concat: data.numbers | size', '6'],
    ['data.numbers | reverse | join', '2.5 9 10'],
    ['data.numbers | first', '10'],
    ['data.numbers | last', '2.5'],
    ['data.numbers | slice: 1, 2 | join', '9 2.5'],
    ['"abcdef" | slice: -3, "2"', 'de'],
    ['data.one | size', '2'],
    ['data.one | first | join: "="', 'make=Solo'],
    ['nothing | first', ''],
    ['data.cars | has: "make", "BMW"', 'true'],
    ['data.cars | find_index: "make", "BMW"', '1'],
    ['data.numbers | sum', '21.5'],
  ])('%s', (expression, expected) => {
    expect(output(`{{ ${expression} }}`, DATA)).toBe(expected)
  })

  test('find returns the item itself', () => {
    expect(output('{% assign car = data.cars | find: "make", "BMW" %}{{ car.value }}', DATA)).toBe('12000')
  })
})

describe('Paths', () => {
  test.each([
    ['data.cars.first.make', 'Audi'],
    ['data.cars.last.make', 'audi'],
    ['data.cars.size', '3'],
    ['data.cars[1].make', 'BMW'],
    ['data.cars[-1].make', 'audi'],
    ['data["one"]["make"]', 'Solo'],
    ['data.one.size', '2'],
    ['data.cars[0].make.size', '4'],
    ['data.cars[9].make', ''],
    ['data.numbers', '1092.5'],
    ['data.one', '{"make":"Solo","year":2000}'],
  ])('%s', (path, expected) => {
    expect(output(`{{ ${path} }}`, DATA)).toBe(expected)
  })

  test('a variable in brackets is the index or the name', () => {
    expect(
      output(
        '{% assign i = 0 | plus: 1 %}{{ data.cars[i].make }}{% assign n = "make" %}{{ data.one[n] }}',
        DATA,
      ),
    ).toBe('BMWSolo')
    expect(output('{% assign i = 2 | divided_by: 2.0 %}{{ data.cars[i].make }}', DATA)).toBe('BMW')
  })
})
