import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FieldConstraint, FieldDefinition } from '../../src/product/configuration.ts'
import { constraintCircles, constraintGraph, governorOf } from '../../src/product/constraint-graph.ts'
import type { ColumnType } from '../../src/product/resources.ts'
import {
  allowedValues,
  type ConstraintTable,
  constrainedFields,
  type Element,
  TableScan,
} from '../../src/reference/constraints/evaluation.ts'

const field = (name: string, more: Partial<FieldDefinition> = {}): FieldDefinition => ({
  name,
  title: name,
  type: 'string',
  optional: true,
  repeatable: false,
  searchable: false,
  conditions: [],
  ...more,
})

const where = (keys: Record<string, string>): FieldConstraint['where'] =>
  Object.entries(keys).map(([column, key]) => ({ column, key, values: [] }))

const constrained = (name: string, keys: Record<string, string>, more: Partial<FieldDefinition> = {}) =>
  field(name, { constraint: { table: 'vehicles', column: name, where: where(keys) }, ...more })

/** `make,model,year` by make and model, as fields of the policy itself. */
const VEHICLE = [
  field('make'),
  constrained('model', { make: 'make' }),
  constrained('year', { make: 'make', model: 'model' }, { type: 'number' }),
]

const ROWS = [
  ['VW', 'Golf', '2024'],
  ['Ford', 'Fiesta', '2022'],
  ['VW', 'Polo', '2023'],
  ['VW', 'Golf', '2023'],
  ['Ford', 'Focus', '2021'],
  ['VW', 'Golf', '2024.0'],
]

const table = (
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  types: Record<string, ColumnType> = {},
): ConstraintTable => ({
  typeOf: column => types[column] ?? 'string',
  ask: async questions => {
    const scan = new TableScan(columns, questions)
    for (const row of rows) scan.take(row)
    return scan.answers()
  },
})

const vehicles = table(['make', 'model', 'year'], ROWS)

const policy = (fields: FieldDefinition[], values: Record<string, string[]>): Element => ({
  kind: 'policy',
  locator: 'P',
  fields,
  values,
})

type Assumed = Record<string, Record<string, string>>

async function evaluated(element: Element, assumed: Assumed = {}, only?: string[], of = vehicles) {
  const all = constrainedFields([element]).filter(one => !only || only.includes(one.field.name))
  const assumptions = new Map(
    all
      .filter(one => assumed[one.field.name])
      .map(one => [one, new Map(Object.entries(assumed[one.field.name]!))] as const),
  )
  const answers = await allowedValues(all, assumptions, () => of)
  return Object.fromEntries([...answers].map(([one, values]) => [one.field.name, values]))
}

describe('the allowed values of a constrained field', () => {
  it('are those of the rows that match the stored values, in file order and without duplicates', async () => {
    expect(await evaluated(policy(VEHICLE, { make: ['VW'], model: ['Golf'] }))).toEqual({
      model: ['Golf', 'Polo'],
      year: ['2024', '2023'],
    })
  })

  it('are not narrowed by a governing field without a value', async () => {
    expect(await evaluated(policy(VEHICLE, { model: ['Golf'] }))).toEqual({
      model: ['Golf', 'Fiesta', 'Polo', 'Focus'],
      year: ['2024', '2023'],
    })
  })

  it('follow assumed values in place of the stored ones', async () => {
    const stored = policy(VEHICLE, { make: ['VW'], model: ['Golf'] })
    expect(await evaluated(stored, { year: { model: 'Polo' } }, ['year'])).toEqual({ year: ['2023'] })
    expect(await evaluated(stored, { year: { make: 'Ford' } }, ['year'])).toEqual({ year: [] })
    expect(await evaluated(stored, { year: { make: 'Ford', model: 'Focus' } }, ['year'])).toEqual({
      year: ['2021'],
    })
    expect(await evaluated(stored, { model: { make: '' } }, ['model'])).toEqual({
      model: ['Golf', 'Fiesta', 'Polo', 'Focus'],
    })
  })

  it('follow an assumed make along the chain of fields evaluated together: its models, then their years', async () => {
    const stored = policy(VEHICLE, { make: ['VW'], model: ['Golf'] })
    expect(await evaluated(stored, { model: { make: 'Ford' } })).toEqual({
      model: ['Fiesta', 'Focus'],
      year: ['2022', '2021'],
    })
    expect(await evaluated(stored, { model: { make: 'VW' }, year: { model: 'Polo' } })).toEqual({
      model: ['Golf', 'Polo'],
      year: ['2023'],
    })
  })

  it('are empty if no row matches', async () => {
    expect(await evaluated(policy(VEHICLE, { make: ['Lada'] }))).toEqual({ model: [], year: [] })
  })

  it('match any of several values of a governing field', async () => {
    const fields = [field('make', { repeatable: true }), constrained('model', { make: 'make' })]
    expect(await evaluated(policy(fields, { make: ['Ford', 'VW'] }))).toEqual({
      model: ['Golf', 'Fiesta', 'Polo', 'Focus'],
    })
    expect(await evaluated(policy(fields, { make: ['Ford', 'Lada'] }))).toEqual({
      model: ['Fiesta', 'Focus'],
    })
  })

  it('are found by comparing numbers by value, and text exactly', async () => {
    const rows = [
      ['1.0', 'a'],
      ['01', 'b'],
      ['2', 'c'],
    ]
    const fields = [
      field('size', { type: 'number' }),
      field('code'),
      field('letter', {
        constraint: { table: 'vehicles', column: 'letter', where: where({ number: 'size' }) },
      }),
      field('other', {
        constraint: { table: 'vehicles', column: 'letter', where: where({ number: 'code' }) },
      }),
    ]
    const stored = policy(fields, { size: ['1'], code: ['01'] })
    const plain = table(['number', 'letter'], rows)
    expect(await evaluated(stored, {}, undefined, plain)).toEqual({ letter: ['a', 'b'], other: ['b'] })
    const typed = table(['number', 'letter'], rows, { number: 'decimal' })
    expect(await evaluated(stored, {}, undefined, typed)).toEqual({ letter: ['a', 'b'], other: ['a', 'b'] })
  })

  it('are found by the fixed values if the governing field has no value or does not exist', async () => {
    const constraint = (key: string | undefined): FieldConstraint => ({
      table: 'vehicles',
      column: 'model',
      where: [{ column: 'make', ...(key && { key }), values: ['Ford'] }],
    })
    const fields = [
      field('make'),
      field('model', { constraint: constraint('make') }),
      field('ford', { constraint: constraint(undefined) }),
    ]
    const ford = ['Fiesta', 'Focus']
    expect(await evaluated(policy(fields, {}))).toEqual({ model: ford, ford })
    expect(await evaluated(policy(fields, { make: ['VW'] }))).toEqual({ model: ['Golf', 'Polo'], ford })
  })

  it('equal those of a direct reading of the rule, for any table and any values', async () => {
    const word = fc.constantFrom('a', 'b', 'c')
    const some = fc.uniqueArray(word, { maxLength: 2 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(word, word, word), { maxLength: 12 }),
        fc.record({ make: some, model: some }),
        fc.dictionary(fc.constantFrom('make', 'model'), word, { noNullPrototype: true }),
        async (rows, values, assumed) => {
          const stored = policy(VEHICLE, values)
          const expected = rows
            .filter(([make, model]) =>
              (
                [
                  [make, 'make'],
                  [model, 'model'],
                ] as const
              ).every(([cell, name]) => {
                const wanted = assumed[name] === undefined ? values[name] : [assumed[name]]
                return wanted.length === 0 || wanted.includes(cell)
              }),
            )
            .map(([, , year]) => year)
          const { year } = await evaluated(
            stored,
            { year: assumed },
            ['year'],
            table(['make', 'model', 'year'], rows),
          )
          expect(year).toEqual([...new Set(expected)])
        },
      ),
      { numRuns: 300 },
    )
  })

  it('of 500 elements are found in one pass over the rows', async () => {
    let passes = 0
    const counted: ConstraintTable = {
      ...vehicles,
      ask: asked => {
        passes += 1
        return vehicles.ask(asked)
      },
    }
    const elements = Array.from({ length: 500 }, (_, at) => ({
      ...policy(VEHICLE, { make: [at % 2 ? 'VW' : 'Ford'] }),
      locator: `E${at}`,
    }))
    const answers = await allowedValues(constrainedFields(elements), new Map(), () => counted)
    expect(passes).toBe(1)
    const models = [...answers].filter(([one]) => one.field.name === 'model').map(([, values]) => values)
    expect(models.slice(0, 3)).toEqual([
      ['Fiesta', 'Focus'],
      ['Golf', 'Polo'],
      ['Fiesta', 'Focus'],
    ])
  })
})

describe('the field that governs a constrained field', () => {
  const holder: Element = {
    kind: 'policyholder',
    locator: 'H',
    fields: [field('state')],
    values: { state: ['NY'] },
  }
  const whole: Element = { ...policy([field('state'), field('use')], { state: ['CA'] }), outer: holder }
  const vehicle: Element = {
    kind: 'exposure',
    locator: 'V',
    fields: [field('make')],
    values: {},
    outer: whole,
  }
  const named = (key: string): string | undefined => {
    const found = governorOf(vehicle, key)
    return found && `${found.scope.locator}.${found.field.name}`
  }

  it('is the nearest field with the name, or that of the element that the path names', () => {
    expect(
      ['make', 'use', 'state', 'policy.state', 'account.data.state', 'exposure.fieldValues.make'].map(named),
    ).toEqual(['V.make', 'P.use', 'P.state', 'P.state', 'H.state', 'V.make'])
    expect([named('model'), named('policy.make'), named('peril.make')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('the constraint graph of a product', () => {
  const product = (fields: FieldDefinition[], vehicle: FieldDefinition[] = []) => ({
    fields,
    exposures: [{ name: 'vehicle', displayName: 'Vehicle', fields: vehicle, perils: [] }],
  })

  it('has no circle when fields govern one another in a line', () => {
    const graph = constraintGraph(
      product([field('state')], [...VEHICLE, constrained('zone', { s: 'state' })]),
      [],
    )
    expect(graph.nodes.map(({ path }) => path)).toEqual(['vehicle.model', 'vehicle.year', 'vehicle.zone'])
    expect(graph.tables).toEqual(['vehicles'])
    expect([...graph.nodes[2]!.governors]).toEqual([['s', 'policy.state']])
    expect(constraintCircles(graph)).toEqual([])
  })

  it('reports the circle in which fields depend on themselves', () => {
    const fields = [
      constrained('a', { b: 'b' }),
      constrained('b', { c: 'c' }),
      constrained('c', { a: 'a' }),
      constrained('d', { a: 'a' }),
    ]
    expect(constraintCircles(constraintGraph(product(fields), []))).toEqual([
      ['policy.a', 'policy.b', 'policy.c'],
    ])
    const alone = constraintGraph(product([constrained('a', { x: 'a' })]), [])
    expect(constraintCircles(alone)).toContainEqual(['policy.a'])
  })
})
