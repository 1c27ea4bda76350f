import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FieldDefinition } from '../../../src/product/configuration.ts'
import { changeFields, NO_FIELD_DATA } from '../../../src/product/fields/groups.ts'
import { validateFields } from '../../../src/product/fields/validate.ts'
import { mergeFieldValues, normaliseFieldData, readFieldValues } from '../../../src/product/fields/values.ts'
import { BERLIN, context, field } from './definitions.ts'

const SEED = 20_260_715
const RUNS = { seed: SEED, numRuns: 500 }
console.log(`properties of field values: seed ${SEED}`)

const DEFINITIONS: FieldDefinition[] = [
  field('s', 'string', { regex: '[a-z0-9 ]*', maximumCount: 40 }),
  field('n', 'number', { decimalPlaces: 2, minimum: '-10', maximum: '1000000', repeatable: true }),
  field('d', 'date', {
    optional: false,
    earliest: '1900-01-01',
    latestOffset: { unit: 'year', amount: 10, roundToDay: true },
  }),
  field('c', 'select', { values: ['a', 'b'], conditions: [{ field: 'd', values: ['2020-01-01'] }] }),
  field('l', 'lookup', { table: 'vehicles' }),
  field('e', 'email'),
  field('p', 'phone'),
  field('m', 'media', { repeatable: true }),
  field('g', 'group', {
    repeatable: true,
    maximumCount: 3,
    fields: [field('d', 'date', { optional: false }), field('x', 'string')],
  }),
]

const scalar = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    '2020-01-01',
    '2021-02-28',
    'Audi',
    'a@example.com',
    '+49 30 123456',
    '12.50',
    '',
  ),
  fc.constantFrom<unknown>(12.5, 1577833200000, true, null, 1e21),
  fc.uuid().map(uuid => uuid.toUpperCase()),
  fc.string(),
)
const name = fc.constantFrom('s', 'n', 'd', 'c', 'l', 'e', 'p', 'm', 'g', 'x', 'toString', '__proto__')
const likelyWire = fc.dictionary(name, fc.oneof(scalar, fc.array(scalar, { maxLength: 3 })))
const anyWire = fc.oneof(fc.jsonValue(), likelyWire, fc.dictionary(name, fc.jsonValue()))
const changes = fc.record({
  fieldValues: anyWire,
  addFieldGroups: fc.array(
    fc.record({ fieldName: fc.constantFrom('g', 's', '__proto__'), fieldValues: anyWire }),
    {
      maxLength: 4,
    },
  ),
})

/** Values that mostly fit the definitions above. */
const fitting = fc.record(
  {
    s: fc.constantFrom('abc', 'x 1', null),
    n: fc.array(fc.integer({ min: -10, max: 1_000_000 }), { maxLength: 3 }),
    d: fc.constantFrom<unknown>('2020-01-01', 1577833200000, '1999-12-31', '0012'),
    c: fc.constantFrom('a', 'b'),
    l: fc.constantFrom('Audi', 'Volvo'),
    m: fc.array(
      fc.uuid().map(uuid => uuid.toUpperCase()),
      { maxLength: 3 },
    ),
  },
  { requiredKeys: ['d'] },
)
const fittingChanges = fc.record({
  fieldValues: fitting,
  addFieldGroups: fc.array(
    fc.record({ fieldName: fc.constant('g'), fieldValues: fc.record({ d: fc.constant('1980-06-15') }) }),
    { maxLength: 3 },
  ),
})

const locators = () => {
  let last = 0
  return () => `g${++last}`
}
const strict = context({ requireMissing: true })

describe('field values', () => {
  it('from any JSON are read, checked and stored without an exception', () => {
    fc.assert(
      fc.property(changes, change => {
        const { data, reported } = changeFields(NO_FIELD_DATA, change, locators())
        const found = validateFields(DEFINITIONS, data.values, data.groups, { ...strict, reported })
        normaliseFieldData(DEFINITIONS, data, BERLIN)
        if (reported.hasErrors) expect(found.hasErrors).toBe(true)
        expect(Object.getPrototypeOf(data.values)).toBe(Object.prototype)
      }),
      RUNS,
    )
  })

  it('do not change when the same update is merged again', () => {
    fc.assert(
      fc.property(likelyWire, likelyWire, (first, second) => {
        const current = mergeFieldValues({}, readFieldValues(first).values)
        const update = readFieldValues(second).values
        const once = mergeFieldValues(current, update)
        expect(mergeFieldValues(once, update)).toEqual(once)
      }),
      RUNS,
    )
  })

  it('do not change when they are normalized again', () => {
    fc.assert(
      fc.property(changes, change => {
        const once = normaliseFieldData(
          DEFINITIONS,
          changeFields(NO_FIELD_DATA, change, locators()).data,
          BERLIN,
        )
        expect(normaliseFieldData(DEFINITIONS, once, BERLIN)).toEqual(once)
      }),
      RUNS,
    )
  })

  it('do not change when they are read back from an answer', () => {
    fc.assert(
      fc.property(changes, change => {
        const { data } = changeFields(NO_FIELD_DATA, change, locators())
        expect(readFieldValues(JSON.parse(JSON.stringify(data.values)))).toEqual({
          values: data.values,
          problems: [],
        })
      }),
      RUNS,
    )
  })

  it('that were accepted are also accepted in their stored form', () => {
    let accepted = 0
    fc.assert(
      fc.property(fc.oneof(fittingChanges, changes), change => {
        const { data, reported } = changeFields(NO_FIELD_DATA, change, locators())
        if (validateFields(DEFINITIONS, data.values, data.groups, { ...strict, reported }).hasErrors) return
        accepted += 1
        const stored = normaliseFieldData(DEFINITIONS, data, BERLIN)
        expect(validateFields(DEFINITIONS, stored.values, stored.groups, strict).errors).toEqual([])
        expect(validateFields(DEFINITIONS, stored.values, stored.groups, strict).hasErrors).toBe(false)
      }),
      RUNS,
    )
    expect(accepted).toBeGreaterThan(50)
  })
})
