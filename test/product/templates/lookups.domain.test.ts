import { describe, expect, test } from 'vitest'
import type { RenderingObserver } from '../../../packages/liquid/observation.ts'
import type { Lookup, LookupResult } from '../../../src/product/templates/effects.ts'
import { failure, output, rendering } from './rendering.ts'

describe('look-ups', () => {
  test('return text that can be used in arithmetic', () => {
    expect(
      output('{{ "rates" | lookup: "12" }} {{ "rates" | lookup: data.key | times: 3 }}', { key: 'a' }),
    ).toBe('1.25 6')
  })

  test.each([
    ['{{ "rates" | lookup: 12 }}', 'Write "12"'],
    ['{{ "rates" | lookup: 12.5 }}', 'Write "12.5"'],
    ['{{ 12 | lookup: "a" }}', 'table'],
    ['{{ "rates" | lookup: nothing }}', 'key'],
    ['{{ "rates" | lookup }}', 'key'],
    ['{{ "rates" | lookup: "b" }}', "'rates' has no key 'b'"],
    ['{{ "rate" | lookup: "a" }}', "no table 'rate'"],
    ['{{ "rates" | lookup_effective: "a" }}', 'time'],
  ])('fail with the reason: %s', (source, message) => {
    const error = failure(source)
    expect(error).toMatchObject({ code: 'templateFailed', line: 1 })
    expect(error.message).toContain(message)
  })

  test('collect each key that is not loaded once, and rendering continues', () => {
    const asked = (_table: string, key: string): LookupResult =>
      key === 'known' ? { value: '2' } : 'notLoaded'
    const source = `{% assign a = "t" | lookup: "x" %}{% assign b = "t" | lookup: "x" %}{% assign c = "u" | lookup: "y" %}
      {% assign d = "t" | lookup_effective: "z", 5 %}{{ 10 | divided_by: a }}{{ a | set_year_premium }}{{ "t" | lookup: a }}`
    expect(rendering(source, {}, { lookup: asked }).missing).toEqual([
      { table: 't', key: 'x' },
      { table: 'u', key: 'y' },
      { table: 't', key: 'z', at: 5 },
    ])
  })

  test('report missing keys even if rendering then reaches a limit', () => {
    const result = rendering(
      '{% assign a = "t" | lookup: "x" %}{% for i in (1..1000) %}{% endfor %}',
      {},
      {
        lookup: () => 'notLoaded',
        limits: { nodes: 100 },
      },
    )
    expect(result).toMatchObject({ output: '', missing: [{ table: 't', key: 'x' }] })
  })

  test('give the result in the second round, when the keys are loaded', () => {
    const loaded: Record<string, string> = {}
    const lookup = (_table: string, key: string): LookupResult =>
      loaded[key] === undefined ? 'notLoaded' : { value: loaded[key] }
    const source = '{% assign a = "t" | lookup: "x" %}{{ a | times: 2 | set_year_premium }}'
    expect(rendering(source, {}, { lookup }).missing).toHaveLength(1)
    loaded.x = '10.50'
    const second = rendering(source, {}, { lookup })
    expect(second.missing).toEqual([])
    expect(second.effects.premium.yearly?.toFixed()).toBe('21')
  })

  test('resolve policyholders by locator and images by name', () => {
    const more = {
      policyholderInfo: (locator: string) => ({ entity: { values: { name: `N${locator}` } } }),
      imageUrl: (name: string) => `https://example.test/${name}`,
    }
    expect(
      output('{% assign p = data | get_policyholder_info_from_id %}{{ p.entity.values.name }}', 'x', more),
    ).toBe('Nx')
    expect(output('{{ "logo.png" | image_url }}', {}, more)).toBe('https://example.test/logo.png')
    expect(output('{{ data | get_policyholder_info_from_id }}{{ "logo.png" | image_url }}', 'x')).toBe(
      'logo.png',
    )
  })
})

describe('an observed look-up', () => {
  const lookup: Lookup = () => ({ value: '1.25' })
  const row = { path: 'products/boat/policy/tables/rates.csv', line: 7 }

  test('reports its table, keys, column and row', () => {
    lookup.rowOf = () => row
    const details: unknown[] = []
    const observer: RenderingObserver = { filter: ({ name, detail }) => details.push([name, detail]) }
    rendering('{{ "rates" | lookup: "CA", "1", column: "rate" | times: 2 }}', {}, { lookup, observer })
    expect(details).toEqual([
      ['lookup', { table: 'rates', keys: ['CA', '1'], column: 'rate', row }],
      ['times', undefined],
    ])
  })

  test('reads the row only if there is an observer', () => {
    let asked = 0
    lookup.rowOf = () => {
      asked += 1
      return row
    }
    expect(output('{{ "rates" | lookup: "a" }}', {}, { lookup })).toBe('1.25')
    expect(asked).toBe(0)
  })
})
