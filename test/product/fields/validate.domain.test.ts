import { describe, expect, it } from 'vitest'
import type { FieldDefinition } from '../../../src/product/configuration.ts'
import { changeFields, NO_FIELD_DATA } from '../../../src/product/fields/groups.ts'
import { validateFields } from '../../../src/product/fields/validate.ts'
import { context, field } from './definitions.ts'

/** Returns the field and the `code` of each problem in values without groups. */
const problems = (definitions: FieldDefinition[], values: Record<string, string[]>, requireMissing = false) =>
  validateFields(definitions, values, [], context({ requireMissing })).errors.map(
    ({ fieldName, code }) => `${fieldName}: ${code}`,
  )

const message = (definition: FieldDefinition, ...values: string[]) =>
  validateFields([definition], { [definition.name]: values }, [], context()).errors[0]?.message

describe('names and presence', () => {
  const definitions = [field('use', 'string', { optional: false }), field('note', 'string')]

  it('reports unknown fields', () => {
    expect(problems(definitions, { colour: ['red'], constructor: ['x'] })).toEqual([
      'colour: INVALID_FIELD',
      'constructor: INVALID_FIELD',
    ])
  })

  it('requires nothing of a draft, and the required fields of a finalized owner', () => {
    expect(problems(definitions, {})).toEqual([])
    expect(problems(definitions, {}, true)).toEqual(['use: MISSING'])
    expect(problems(definitions, { use: ['private'] }, true)).toEqual([])
  })

  it('does not report a field as missing when its values were beyond a limit', () => {
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`f${at}`, 'x']))
    const long = 'n'.repeat(100)
    const codesOf = (fieldValues: object, list = definitions) => {
      const { data, reported } = changeFields(NO_FIELD_DATA, { fieldValues }, () => 'new')
      const checks = context({ requireMissing: true, reported })
      return validateFields(list, data.values, data.groups, checks).errors.map(({ code }) => code)
    }
    expect(codesOf({ use: 'private', ...many })).toEqual(['INVALID_VALUE'])
    expect(codesOf({ use: Array(1_001).fill('x') })).toEqual(['INVALID_VALUE'])
    const required = [field(long, 'string', { optional: false })]
    expect(codesOf({ [long]: Array(1_001).fill('x') }, required)).toEqual(['INVALID_VALUE'])
  })

  it('requires a field whose name is that of a built-in property', () => {
    expect(problems([field('constructor', 'string', { optional: false })], {}, true)).toEqual([
      'constructor: MISSING',
    ])
  })

  it('accepts a single value for a field that is not repeatable', () => {
    expect(problems([field('a', 'string')], { a: ['1', '2'] })).toEqual(['a: INVALID_VALUE'])
    expect(problems([field('a', 'string', { repeatable: true })], { a: ['1', '2'] })).toEqual([])
  })

  it('reports all problems together, and each wrong value of a repeatable field by its position', () => {
    const list = [...definitions, field('n', 'number', { repeatable: true })]
    const found = validateFields(
      list,
      { x: ['1'], n: ['a', '1', 'b'] },
      [],
      context({ requireMissing: true }),
    )
    expect(found.hasErrors).toBe(true)
    expect(found.errors.map(error => error.code)).toEqual([
      'MISSING',
      'INVALID_TYPE',
      'INVALID_TYPE',
      'INVALID_FIELD',
    ])
    expect(found.errors[2]?.message).toContain('(value 3)')
  })

  it('does not report a field as missing when its value could not be read', () => {
    const { data, reported } = changeFields(NO_FIELD_DATA, { fieldValues: { use: { a: 1 } } }, () => 'g')
    const found = validateFields(
      definitions,
      data.values,
      data.groups,
      context({ requireMissing: true, reported }),
    )
    expect(found.errors.map(({ fieldName, code }) => [fieldName, code])).toEqual([['use', 'INVALID_TYPE']])
  })
})

describe('conditions', () => {
  const cover = field('cover', 'select', { values: ['full', 'part', 'none'] })
  const excess = field('excess', 'number', {
    optional: false,
    conditions: [{ field: 'cover', values: ['full', 'part'] }],
  })
  const reason = field('reason', 'string', {
    optional: false,
    conditions: [
      { field: 'excess', values: ['0'] },
      { field: 'cover', values: ['full'] },
    ],
  })
  const definitions = [cover, excess, reason]

  it('require a field only while they hold', () => {
    expect(problems(definitions, { cover: ['none'] }, true)).toEqual([])
    expect(problems(definitions, { cover: ['part'] }, true)).toEqual(['excess: MISSING'])
    expect(problems(definitions, { cover: ['part'], excess: ['0'] }, true)).toEqual([])
    expect(problems(definitions, { cover: ['full'], excess: ['0'] }, true)).toEqual(['reason: MISSING'])
  })

  it('reject a value while they do not hold, and say how to remove it', () => {
    const found = validateFields(definitions, { cover: ['none'], excess: ['100'] }, [], context())
    expect(found.errors).toEqual([
      {
        fieldName: 'excess',
        code: 'INVALID_FIELD',
        message:
          "Field 'excess' can have a value only while 'cover' is 'full' or 'part'; send null to remove it.",
      },
    ])
  })

  it('do not hold through a field that does not apply itself, so a whole chain is reported', () => {
    expect(problems(definitions, { cover: ['none'], excess: ['0'], reason: ['x'] })).toEqual([
      'excess: INVALID_FIELD',
      'reason: INVALID_FIELD',
    ])
  })

  it('hold when any value of a repeatable field matches', () => {
    const list = [
      field('covers', 'string', { repeatable: true }),
      field('a', 'string', { conditions: [{ field: 'covers', values: ['x'] }] }),
    ]
    expect(problems(list, { covers: ['y', 'x'], a: ['1'] })).toEqual([])
  })

  it('compare numbers and dates by value and not as text', () => {
    const list = [
      field('n', 'number'),
      field('d', 'date'),
      field('a', 'string', {
        conditions: [
          { field: 'n', values: ['1.50'] },
          { field: 'd', values: ['2020-01-01'] },
        ],
      }),
    ]
    expect(problems(list, { n: ['1.5'], d: ['1577833200000'], a: ['x'] })).toEqual([])
    expect(problems(list, { n: ['1.5'], d: ['1577833200001'], a: ['x'] })).toEqual(['a: INVALID_FIELD'])
  })

  it('that form a circle are evaluated without an endless loop', () => {
    const list = [
      field('a', 'string', { conditions: [{ field: 'b', values: ['1'] }] }),
      field('b', 'string', { conditions: [{ field: 'a', values: ['1'] }] }),
    ]
    expect(problems(list, {})).toEqual([])
    expect(problems(list, { a: ['1'], b: ['1'] })).toEqual([])
  })
})

describe('groups', () => {
  const drivers = field('drivers', 'group', {
    repeatable: true,
    maximumCount: 2,
    optional: false,
    fields: [
      field('name', 'string', { optional: false }),
      field('age', 'number', { decimalPlaces: 0 }),
      field('permit', 'string', { conditions: [{ field: 'age', values: ['17'] }] }),
      field('employer', 'string', { optional: false, conditions: [{ field: 'use', values: ['business'] }] }),
    ],
  })
  const use = field('use', 'string')
  const group = (locator: string, values: Record<string, string[]>) => ({
    locator,
    fieldName: 'drivers',
    values,
  })
  const check = (values: Record<string, string[]>, groups: ReturnType<typeof group>[]) =>
    validateFields([use, drivers], values, groups, context({ requireMissing: true }))

  it('are reported with their field, locator and index', () => {
    const found = check({ drivers: ['d1', 'd2'] }, [
      group('d2', { age: ['4.5'], x: ['1'] }),
      group('d1', { name: ['Ada'] }),
    ])
    expect(found.errors).toEqual([])
    expect(found.fieldGroupErrors).toMatchObject([
      {
        fieldName: 'drivers',
        locator: 'd2',
        index: 1,
        errors: [
          { fieldName: 'name', code: 'MISSING' },
          { fieldName: 'age', code: 'INVALID_VALUE' },
          { fieldName: 'x', code: 'INVALID_FIELD' },
        ],
      },
    ])
    expect(found.hasErrors).toBe(true)
  })

  it('look for the fields of their conditions in the group, then in its owner', () => {
    expect(
      check({ drivers: ['d1'] }, [group('d1', { name: ['A'], age: ['17'], permit: ['x'] })]).hasErrors,
    ).toBe(false)
    const business = check({ use: ['business'], drivers: ['d1'] }, [group('d1', { name: ['A'] })])
    expect(business.fieldGroupErrors[0]?.errors.map(error => error.fieldName)).toEqual(['employer'])
  })

  it('are required, limited in number, and single if the field is not repeatable', () => {
    expect(check({}, []).errors.map(error => error.code)).toEqual(['MISSING'])
    const three = ['a', 'b', 'c']
    const groups = three.map(locator => group(locator, { name: ['A'] }))
    expect(check({ drivers: three }, groups).errors.map(error => error.message)).toEqual([
      "Field 'drivers' accepts at most 2 groups, not 3; remove some.",
    ])
    const single = { ...drivers, repeatable: false }
    expect(
      validateFields([single], { drivers: ['a', 'b'] }, groups.slice(0, 2), context()).errors.map(
        e => e.code,
      ),
    ).toEqual(['INVALID_VALUE'])
  })

  it('must exist, be listed in their field, and be listed only once', () => {
    const ada = group('d1', { name: ['Ada'] })
    expect(check({ drivers: ['d1', 'd7'] }, [ada]).errors[0]).toMatchObject({
      code: 'INVALID_VALUE',
      message: expect.stringContaining("'d7'"),
    })
    expect(check({ drivers: ['d1', 'd1'] }, [ada]).errors.map(error => error.code)).toEqual(['INVALID_VALUE'])
    expect(check({}, [ada]).errors.map(error => error.code)).toEqual(['INVALID_FIELD'])
  })

  it('are reported once when several of their values cannot be read', () => {
    const { data, reported } = changeFields(
      NO_FIELD_DATA,
      { addFieldGroups: [{ fieldName: 'drivers', fieldValues: { name: {}, age: 'old' } }] },
      () => 'g1',
    )
    const found = validateFields(
      [drivers],
      data.values,
      data.groups,
      context({ requireMissing: true, reported }),
    )
    expect(found.fieldGroupErrors).toHaveLength(1)
    expect(found.fieldGroupErrors[0]?.errors.map(({ fieldName, code }) => [fieldName, code])).toEqual([
      ['name', 'INVALID_TYPE'],
      ['age', 'INVALID_TYPE'],
    ])
  })

  it('are rejected for a field of another type', () => {
    const found = validateFields(
      [use],
      { use: ['g1'] },
      [{ locator: 'g1', fieldName: 'use', values: {} }],
      context(),
    )
    expect(found.errors.map(error => error.code)).toEqual(['INVALID_TYPE'])
  })
})

describe('messages', () => {
  it('say what is wrong and what to do', () => {
    expect(message(field('vehicle_value', 'number', { decimalPlaces: 0 }), '1.5')).toBe(
      "Field 'vehicle_value' must be a number with at most 0 decimal places.",
    )
    expect(message(field('use', 'string'), 'a', 'b')).toBe("Field 'use' accepts one value, not 2; send one.")
    expect(message(field('use', 'select', { values: ['a', 'b'] }), 'c')).toBe(
      "Field 'use' must be exactly one of 'a', 'b'.",
    )
  })

  it('never repeat the value', () => {
    const types = ['number', 'date', 'select', 'lookup', 'email', 'phone', 'media'] as const
    for (const type of types) expect(message(field('f', type), 'secret!')).not.toContain('secret')
    expect(message(field('f', 'string', { regex: 'a' }), 'secret')).not.toContain('secret')
  })
})
