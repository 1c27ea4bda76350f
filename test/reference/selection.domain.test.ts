import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Uuid } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { clashes, type Selectable } from '../../src/product/resources.ts'
import { type ResourceGroup, selectInForce } from '../../src/reference/resource.ts'

const instance = (name: string, ...jurisdictions: string[]) => ({ name, staticName: 'rates', jurisdictions })

let made = 0

const group = (start: number, resourceNames: string[], more: Partial<ResourceGroup> = {}): ResourceGroup => {
  made += 1
  return {
    locator: `00000000-0000-4000-8000-${String(made).padStart(12, '0')}` as Uuid,
    name: `group ${made}`,
    selectionStart: start as Instant,
    createdAt: made as Instant,
    createdBy: '' as Uuid,
    retired: false,
    version: 1,
    resourceNames,
    ...more,
  }
}

const chosen = (
  instances: readonly Selectable[],
  groups: ResourceGroup[],
  at: number,
  jurisdiction?: string,
) => selectInForce(instances, groups, { at: at as Instant, jurisdiction }).chosen?.resource.name

describe('the resource in force', () => {
  const [old, young] = [instance('rates_2026'), instance('rates_2027')]
  const both = [old, young]

  it('is that of the group that began last, from the moment of its beginning', () => {
    const groups = [group(100, ['rates_2026']), group(200, ['rates_2027'])]
    expect([99, 100, 199, 200].map(at => chosen(both, groups, at))).toEqual([
      undefined,
      'rates_2026',
      'rates_2026',
      'rates_2027',
    ])
  })

  it('stays in force if newer groups do not name it or are retired', () => {
    const groups = [group(100, ['rates_2026']), group(200, ['other'])]
    expect(chosen(both, groups, 300)).toBe('rates_2026')
    expect(chosen(both, [...groups, group(250, ['rates_2027'], { retired: true })], 300)).toBe('rates_2026')
  })

  it('is that of the group created later, then of the greater locator, if groups begin at the same time', () => {
    const [a, b] = [group(100, ['rates_2026']), group(100, ['rates_2027'])]
    expect(chosen(both, [a, b], 100)).toBe('rates_2027')
    expect(chosen(both, [{ ...a, createdAt: b.createdAt }, b], 100)).toBe('rates_2027')
    expect(chosen(both, [{ ...a, createdAt: (b.createdAt + 1) as Instant }, b], 100)).toBe('rates_2026')
  })

  it('is the one for the jurisdiction before the one for all, and never one that is in no group', () => {
    const [everywhere, ca] = [instance('us'), instance('ca', 'CA', 'OR')]
    const groups = [group(100, ['us', 'ca'])]
    expect(chosen([everywhere, ca], groups, 100, 'CA')).toBe('ca')
    expect(chosen([everywhere, ca], groups, 100, 'NY')).toBe('us')
    expect(chosen([everywhere, ca], groups, 100)).toBe('us')
    // A single instance is in force without a jurisdiction, but not in another one.
    expect(chosen([ca], [group(100, ['ca'])], 100)).toBe('ca')
    expect(chosen([ca], [group(100, ['ca'])], 100, 'NY')).toBeUndefined()
    expect(chosen([ca, instance('ny', 'NY')], [group(100, ['ca', 'ny'])], 100)).toBeUndefined()
    expect(chosen([everywhere], [], 100)).toBeUndefined()
  })

  it('is explained by every group considered, and why it did not decide', () => {
    const groups = [group(1, ['ca']), group(2, ['other']), group(3, ['rates_2026'], { retired: true })]
    const { considered, chosen: none } = selectInForce([instance('ca', 'CA')], groups, {
      at: 9 as Instant,
      jurisdiction: 'NY',
    })
    expect(none).toBeUndefined()
    expect(considered.map(one => [one.group.selectionStart, one.outcome])).toEqual([
      [2, 'nothing'],
      [1, 'otherPlace'],
    ])
  })
})

describe('selectInForce', () => {
  const PLACES = ['CA', 'NY']
  const history = fc.record({
    instances: fc.array(fc.subarray(PLACES), { minLength: 1, maxLength: 5 }),
    groups: fc.array(
      fc.record({
        start: fc.integer({ min: 0, max: 6 }),
        members: fc.array(fc.nat(4)),
        retired: fc.boolean(),
      }),
      { maxLength: 8 },
    ),
    at: fc.integer({ min: 0, max: 7 }),
    jurisdiction: fc.option(fc.constantFrom(...PLACES, 'TX'), { nil: undefined }),
  })

  it('agrees with a direct reading of the rules that does not sort, for any history of groups', () => {
    fc.assert(
      fc.property(history, ({ instances, groups, at, jurisdiction }) => {
        const all = instances.map((places, index) => instance(`i${index}`, ...places))
        const made = groups.map(({ start, members, retired }) =>
          group(start, [...new Set(members.map(index => `i${index}`))], { retired }),
        )
        const fitting = (one: ResourceGroup): string | undefined => {
          const own = all.filter(each => one.resourceNames.includes(each.name))
          const inOrder = one.resourceNames.map(name => own.find(each => each.name === name)!).filter(Boolean)
          const here = inOrder.find(
            each => jurisdiction !== undefined && each.jurisdictions.includes(jurisdiction),
          )
          const everywhere = inOrder.find(each => each.jurisdictions.length === 0)
          const only = jurisdiction === undefined && inOrder.length === 1 ? inOrder[0] : undefined
          return (here ?? everywhere ?? only)?.name
        }
        let best: { of: ResourceGroup; name: string } | undefined
        for (const of of made) {
          const name = fitting(of)
          if (of.retired || of.selectionStart > at || name === undefined) continue
          const beats =
            !best ||
            of.selectionStart > best.of.selectionStart ||
            (of.selectionStart === best.of.selectionStart && of.createdAt > best.of.createdAt)
          if (beats) best = { of, name }
        }
        expect(chosen(all, made, at, jurisdiction)).toBe(best?.name)
      }),
      { numRuns: 500, seed: 20261121 },
    )
  })
})

it('two resources clash in a group if a jurisdiction would have both', () => {
  const [us, ca, caToo, ny, other] = [
    instance('us'),
    instance('ca', 'CA'),
    instance('ca2', 'CA', 'OR'),
    instance('ny', 'NY'),
    { ...instance('other'), staticName: 'factors' },
  ]
  expect(clashes([us, ca, ny, other])).toEqual([])
  expect(clashes([us, instance('us2')])).toHaveLength(1)
  expect(clashes([ca, caToo, ny])).toEqual([[ca, caToo]])
})
