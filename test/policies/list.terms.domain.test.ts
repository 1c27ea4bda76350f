import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newUuid, type Uuid } from '../../src/kernel/locators.ts'
import { searchableNames, termChange } from '../../src/policy/list/store.ts'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import type { ProductDefinition } from '../../src/product/configuration.ts'
import type { FieldData } from '../../src/product/fields/groups.ts'
import { field } from '../product/fields/definitions.ts'
import { aggregateOf, at, fieldsOf, modificationOf, policyOf, quoteOf, stretchOf } from './list-aggregates.ts'

const SEED = 20_261_121

const peril = (name: string, fields: ReturnType<typeof field>[]) => ({
  name,
  displayName: name,
  fields,
  defaults: {},
})

/**
 * Searchable are the broker, a driver's name, a plate, and the insured of a vehicle's theft. The `theft` of a trailer has no
 * searchable field.
 */
const product = {
  name: 'motor',
  fields: [
    field('broker', 'string', { searchable: true }),
    field('channel', 'string'),
    field('drivers', 'group', {
      fields: [field('name', 'string', { searchable: true }), field('licence', 'string')],
    }),
  ],
  exposures: [
    {
      name: 'vehicle',
      displayName: 'Vehicle',
      fields: [field('plate', 'string', { searchable: true })],
      perils: [peril('theft', [field('insured', 'string', { searchable: true })])],
    },
    {
      name: 'trailer',
      displayName: 'Trailer',
      fields: [field('plate', 'string')],
      perils: [peril('theft', [field('insured', 'string')])],
    },
  ],
} as unknown as ProductDefinition

const POLICY = policyOf()
const QUOTE = quoteOf()
const CREATION = modificationOf({ quoteLocator: QUOTE.locator, issuedAt: at(2_000) })

type Content = {
  segments?: readonly object[]
  /** By exposure name, the data of a run of the exposure and of its theft. */
  runs?: readonly { exposure: string; data: FieldData; theft?: FieldData; changes?: object }[]
  quotes?: readonly ReturnType<typeof quoteOf>[]
  modifications?: readonly ReturnType<typeof modificationOf>[]
  policy?: object
}

function aggregate({ segments = [], runs = [], quotes, modifications, policy }: Content): PolicyAggregate {
  const parts = runs.map(run => ({ run, exposure: newUuid(0), peril: newUuid(0) }))
  const record = (locator: Uuid, name: string) => ({ locator, name, quoteLocator: QUOTE.locator })
  return aggregateOf(
    { ...POLICY, ...policy },
    {
      quotes: quotes ?? [QUOTE],
      modifications: modifications ?? [CREATION],
      segments: segments as never,
      exposures: parts.map(({ run, exposure }) => record(exposure, run.exposure)),
      exposureRuns: parts.map(({ run, exposure }) => ({
        ...stretchOf(CREATION.locator, run.data, run.changes),
        exposureLocator: exposure,
      })),
      perils: parts.map(({ exposure, peril }) => ({ ...record(peril, 'theft'), exposureLocator: exposure })),
      perilRuns: parts.map(({ run, peril }) => ({
        ...stretchOf(CREATION.locator, run.theft ?? fieldsOf({}), run.changes),
        perilLocator: peril,
      })),
    },
  )
}

const plate = (value: string): FieldData => fieldsOf({ plate: [value] })
const own = (data: FieldData, changes: object = {}) => stretchOf(CREATION.locator, data, changes)
const vehicle = (data: FieldData, changes: object = {}) => ({ exposure: 'vehicle', data, changes })

/** The policy's search terms as `field=term`. */
const terms = (one: PolicyAggregate): string[] =>
  termChange(product, undefined, one)
    .added.map(({ field, term }) => `${field}=${term}`)
    .sort()

describe('The search terms of a policy', () => {
  it('come from searchable fields of the policy, its groups, exposures and perils, each value once', () => {
    const drivers = fieldsOf({ broker: ['BRK-1'], channel: ['web'], drivers: ['g1', 'g2'] }, [
      { locator: 'g1', fieldName: 'drivers', values: { name: ['Ada'], licence: ['A'] } },
      { locator: 'g2', fieldName: 'drivers', values: { name: ['Bob'] } },
    ])
    const one = aggregate({
      segments: [own(drivers)],
      runs: [
        { exposure: 'vehicle', data: plate('B-A 1'), theft: fieldsOf({ insured: ['Ada'] }) },
        { exposure: 'vehicle', data: plate('b-a 1') },
        { exposure: 'trailer', data: plate('T-1'), theft: fieldsOf({ insured: ['Nobody'] }) },
      ],
    })
    expect(terms(one)).toEqual(['broker=brk-1', 'insured=ada', 'name=ada', 'name=bob', 'plate=b-a 1'])
    expect(searchableNames(product)).toEqual(['broker', 'name', 'plate', 'insured'])
  })

  it('are those of the selected quote, and change when another is selected', () => {
    const other = quoteOf({ selected: false })
    const copy = modificationOf({ quoteLocator: other.locator, number: 1 })
    const segments = [
      own(fieldsOf({ broker: ['one'] })),
      stretchOf(copy.locator, fieldsOf({ broker: ['two'] })),
    ]
    const modifications = [CREATION, copy]
    const before = aggregate({ segments, modifications, quotes: [QUOTE, other] })
    expect(terms(before)).toEqual(['broker=one'])
    const after = {
      ...before,
      quotes: new Map([
        [QUOTE.locator, { ...QUOTE, selected: false }],
        [other.locator, { ...other, selected: true }],
      ]),
    }
    expect(termChange(product, before, after)).toEqual({
      all: false,
      added: [{ field: 'broker', term: 'two' }],
      removed: [{ field: 'broker', term: 'one' }],
    })
  })

  it('include replaced data until the replacement is issued, and data of part of the term', () => {
    const change = modificationOf({ kind: 'reinstatement', number: 1 })
    const issued = { ...change, issuedAt: at(3_000) }
    const runs = [
      vehicle(plate('whole'), { cuts: [{ by: change.locator, from: at(10_000) }] }),
      vehicle(plate('half'), { cuts: [{ by: change.locator, from: at(15_000) }] }),
    ]
    const segments = [own(fieldsOf({ broker: ['old'] }), { replacedBy: change.locator })]
    expect(terms(aggregate({ segments, runs, modifications: [CREATION, change] }))).toEqual([
      'broker=old',
      'plate=half',
      'plate=whole',
    ])
    expect(terms(aggregate({ segments, runs, modifications: [CREATION, issued] }))).toEqual(['plate=half'])
  })

  it('do not include data of an invalidated modification', () => {
    const change = modificationOf({ kind: 'reinstatement', number: 1 })
    const segments = [stretchOf(change.locator, fieldsOf({ broker: ['new'] }))]
    expect(terms(aggregate({ segments, modifications: [CREATION, change] }))).toEqual(['broker=new'])
    const invalidated = { ...change, invalidatedAt: at(3_000) }
    expect(terms(aggregate({ segments, modifications: [CREATION, invalidated] }))).toEqual([])
  })

  it('remain after a cancellation', () => {
    for (const kind of ['cancellation', 'withdrawal'] as const) {
      const ended = modificationOf({ kind, number: 1, issuedAt: at(3_000) })
      const segments = [own(fieldsOf({ broker: ['old'] }), { replacedBy: ended.locator })]
      expect(terms(aggregate({ segments, modifications: [CREATION, ended] }))).toEqual(['broker=old'])
    }
  })
})

describe('A change of the search terms', () => {
  it('is empty when the data do not change', () => {
    const before = aggregate({ runs: [vehicle(plate('a'))] })
    const after = { ...before, policy: { ...before.policy, version: 2 } }
    expect(termChange(product, before, after)).toEqual({ all: false, added: [], removed: [] })
  })

  it('removes a value also as an earlier release stored it, with its blanks', () => {
    const before = aggregate({ runs: [vehicle(plate('B-GL  1985')), vehicle(plate('kept'))] })
    const after = aggregate({ runs: [vehicle(plate('kept'))] })
    expect(termChange(product, before, after).removed.map(({ term }) => term)).toEqual([
      'b-gl 1985',
      'b-gl  1985',
    ])
    const same = aggregate({ runs: [vehicle(plate('B-GL  1985'))] })
    expect(termChange(product, before, same).removed.map(({ term }) => term)).toEqual(['kept'])
  })

  it('replaces all terms when the configuration version changes', () => {
    const before = aggregate({ runs: [vehicle(plate('a'))] })
    const after = { ...before, policy: { ...before.policy, configVersion: 2 } }
    expect(termChange(product, before, after)).toEqual({
      all: true,
      added: [{ field: 'plate', term: 'a' }],
      removed: [],
    })
  })

  it('leads to the terms of the last state, for any sequence of changes', () => {
    const data = 'abcdef'.split('').map(letter => plate(letter === 'f' ? 'A' : letter))
    const state = fc.subarray(data).map(some => aggregate({ runs: some.map(one => vehicle(one)) }))
    fc.assert(
      fc.property(fc.array(state, { minLength: 1, maxLength: 6 }), states => {
        const stored = new Set<string>()
        let before: PolicyAggregate | undefined
        for (const after of states) {
          const { added, removed } = termChange(product, before, after)
          for (const { term } of removed) expect(stored.delete(`plate=${term}`)).toBe(true)
          for (const { term } of added) stored.add(`plate=${term}`)
          expect([...stored].sort()).toEqual(terms(after))
          before = after
        }
      }),
      { seed: SEED },
    )
  })
})
