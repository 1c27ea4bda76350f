import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { timesAsLong } from '../../../test/support/scaling.ts'
import { size } from '../../../test/support/sizes.ts'
import { compiled, compileTemplate, environment, failure, NOW, output } from './rendering.ts'

describe('Limits of a rendering, which do not depend on the clock', () => {
  beforeEach(() => {
    vi.spyOn(Date, 'now').mockReturnValue(NOW)
    vi.spyOn(performance, 'now').mockReturnValue(0)
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  const big = '{% assign s = "x" %}{% for i in (1..21) %}{% assign s = s | append: s %}{% endfor %}'

  const largeMap = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`name ${at}`, at]))

  test.each([
    ['a loop without end', '{% for i in (1..100000000) %}{% endfor %}'],
    ['a loop in a loop', '{% for i in (1..9999) %}{% for j in (1..9999) %}{% endfor %}{% endfor %}'],
    ['a table without end', '{% tablerow i in (1..100000000) %}{% endtablerow %}'],
    ['a range that is kept', '{% assign r = (1..100000000) %}'],
    [
      'text that doubles',
      '{% assign s = "x" %}{% for i in (1..60) %}{% assign s = s | append: s %}{% endfor %}',
    ],
    [
      'captured text that doubles',
      '{% assign s = "x" %}{% for i in (1..60) %}{% capture s %}{{ s }}{{ s }}{% endcapture %}{% endfor %}',
    ],
    [
      'a list that doubles',
      '{% assign l = "a" | split: "" %}{% for i in (1..60) %}{% assign l = l | concat: l %}{% endfor %}',
    ],
    [
      'one text many times in a list',
      `${big}{% assign l = s | concat: s %}{% for i in (1..16) %}{% assign l = l | concat: l %}{% endfor %}{{ l | upcase }}`,
    ],
    [
      'joined text',
      `${big}{% assign l = s | concat: s | concat: s | concat: s | concat: s %}{{ l | join: s }}`,
    ],
    ['a replacement of every character', `${big}{{ s | replace: "x", s }}`],
    [
      'a search in long text, over and over',
      `${big}{% for i in (1..100000) %}{% if s contains "y" %}{% endif %}{% endfor %}`,
    ],
    [
      'a comparison of long texts, over and over',
      `${big}{% capture t %}{{ s }}{% endcapture %}{% for i in (1..100000) %}{% if s == t %}{% endif %}{% endfor %}`,
    ],
    [
      'sorting the same long text',
      `${big}{% assign l = s | concat: s %}{% for i in (1..12) %}{% assign l = l | concat: l %}{% endfor %}{{ l | sort_natural }}`,
    ],
    ['filters without number', `{% for i in (1..100000) %}{{ 1${' | plus: 1'.repeat(1_000)} }}{% endfor %}`],
    [
      'conditions without number',
      `{% for i in (1..100000) %}{% if 1 == 2${' or 1 == 2'.repeat(1_000)} %}{% endif %}{% endfor %}`,
    ],
    [
      'branches without number',
      `{% for i in (1..100000) %}{% if false %}${'{% elsif false %}'.repeat(10_000)}{% endif %}{% endfor %}`,
    ],
    [
      'long products',
      '{% assign f = 1.23456789 %}{% for i in (1..190000) %}{% assign f = f | times: f | modulo: 7 %}{% endfor %}',
    ],
    [
      'the names of a large map, over and over',
      '{% for i in (1..3000) %}{% assign n = data.map.size %}{% endfor %}',
    ],
    [
      'a loop over a large map, over and over',
      '{% for i in (1..3000) %}{% for pair in data.map limit: 1 %}{% endfor %}{% endfor %}',
    ],
    ['a filter of a large map, over and over', '{% for i in (1..3000) %}{{ data.map | size }}{% endfor %}'],
    [
      'a map printed to be shortened, over and over',
      '{% for i in (1..1000) %}{{ data.map | truncate: 5 }}{% endfor %}',
    ],
    [
      'a list printed to be shortened, over and over',
      `${big}{% assign l = s | concat: s %}{% for i in (1..1000) %}{{ l | truncate: 5 }}{% endfor %}`,
    ],
    [
      'sums of many numbers',
      '{% assign l = "1,2" | split: "," %}{% for i in (1..19) %}{% assign l = l | concat: l %}{% endfor %}{% assign n = l | sum %}',
    ],
  ])('%s stops the template', (_name, source) => {
    const data = { map: largeMap }
    const limits = size<{ nodes?: number }>({ nodes: 50_000 }, {})
    expect(failure(source, data, { limits })).toMatchObject({
      code: 'templateLimit',
      path: 'test.liquid',
      line: 1,
    })
  })

  test('number formats in more than 250 languages stop the template, and there are fewer currencies', () => {
    const inLanguages = (count: number): string =>
      `{% for i in (1..${count}) %}{% assign l = "x-a" | append: i %}{{ 1 | format_number: "en", l }}{% endfor %}`
    expect(output(inLanguages(250) + inLanguages(250))).toHaveLength(500)
    expect(failure(inLanguages(251))).toMatchObject({ code: 'templateLimit', line: 1 })
    // Formats that one rendering used do not count for the next.
    expect(output(inLanguages(250))).toHaveLength(250)
    expect(Intl.supportedValuesOf('currency').length).toBeLessThan(250)
  })

  test('output beyond 10 MB stops the template', () => {
    expect(failure(`{% for i in (1..20) %}${'x'.repeat(600_000)}{% endfor %}`).code).toBe('templateLimit')
    expect(failure('{{ "€€" }}', {}, { limits: { outputBytes: 5 } }).code).toBe('templateLimit')
    expect(output('{{ "€€" }}', {}, { limits: { outputBytes: 6 } })).toBe('€€')
  })

  test('a message that quotes a long value keeps its beginning and says what to do', () => {
    const long = '{% assign a = "x" %}{% for i in (1..20) %}{% assign a = a | append: a %}{% endfor %}'
    const { message } = failure(`${long}{{ a | date: "yyyy" }}`)
    expect(message).toMatch(/^'x+ … x+' is not a time\. Give milliseconds/)
    expect(message.length).toBeLessThan(1_100)
  })

  test('the default limit is 200,000 rendered nodes and loop iterations', () => {
    expect(failure('{% for i in (1..200001) %}{% endfor %}').message).toContain('200000 rendered nodes')
  })

  test('a loop of 90,000 iterations is within the limits', () => {
    expect(output('{% for i in (1..90000) %}x{% endfor %}')).toHaveLength(90_000)
  })

  test('the environment sets the limits', () => {
    expect(failure('{% for i in (1..10) %}{% endfor %}', {}, { limits: { nodes: 5 } }).message).toContain('5')
  })

  test('a stopped rendering leaves no state behind for the next one', () => {
    const template = compiled(
      '{% for i in data %}{{ i }}{% break %}{% endfor %}{% cycle "a", "b" %}{% increment n %}',
    )
    const first = template.render([1], environment).output
    expect(() => template.render([1], { ...environment, limits: { nodes: 2 } })).toThrow()
    expect(template.render([1], environment).output).toBe(first)
  })

  test('the time to compile a large source does not grow quadratically', async () => {
    const sourceOf = (parts: number): string => '{{a}}{%if b%}{%endif%}'.repeat(parts)
    const read = (source: string): void => expect(compileTemplate({ path: 'p', source }).findings).toEqual([])
    const few = size(1_500, 7_500)
    const [small, large] = [sourceOf(few), sourceOf(8 * few)]
    read(sourceOf(1_000))
    // With quadratic work it would take sixty-four times as long.
    const times = await timesAsLong(
      () => read(small),
      () => read(large),
      { most: 16, leastMs: 31 },
    )
    expect(times).toBeLessThan(16)
  })

  test('the time to group the digits of a number does not grow quadratically', async () => {
    const write = (pattern: string) => (): void => {
      const turns = `{% for i in (1..5000) %}{% assign t = data.n | format_number_pattern: "${pattern}" %}{% endfor %}`
      expect(output(turns, { n: 1e300 })).toBe('')
    }
    // It would take fourteen times as long if each digit looked at all digits after it.
    expect(await timesAsLong(write('0'), write('#,0'), { most: 6, leastMs: 30 })).toBeLessThan(6)
  })
})
