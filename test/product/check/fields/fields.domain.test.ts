import { describe, expect, test } from 'vitest'
import { compileWith, foundIn, withFields } from '../../minimal-archive.ts'

const fieldOf = (field: object) => {
  const compilation = withFields([field])
  expect(compilation.findings).toEqual([])
  return compilation.configuration!.products.boat!.fields[0]
}
const foundWith = (...fields: unknown[]): string[] =>
  foundIn(withFields(fields)).map(line => line.replace(/ policy\/policy\.json.*/, ''))
const bare = { optional: false, repeatable: false, searchable: false, conditions: [] }

describe('compiling a field', () => {
  test('derives a missing title from the name', () => {
    expect(fieldOf({ name: 'home_port', type: 'string' })).toEqual({
      ...bare,
      name: 'home_port',
      title: 'Home Port',
      type: 'string',
    })
  })

  test('accepts numbers and booleans as JSON values or as text', () => {
    expect(
      fieldOf({
        name: 'length',
        title: 'Length',
        type: 'Number',
        optional: 'true',
        search: 'text',
        minimum: 2.5,
        maximum: '30',
        decimalPlaces: '1',
        width: 3,
      }),
    ).toEqual({
      ...bare,
      name: 'length',
      title: 'Length',
      type: 'number',
      optional: true,
      searchable: true,
      minimum: '2.5',
      maximum: '30',
      decimalPlaces: 1,
    })
    expect(fieldOf({ name: 'berths', type: 'select', values: [1, 2, true] })?.values).toEqual([
      '1',
      '2',
      'true',
    ])
    expect(fieldOf({ name: 'a', type: 'string', search: 'none' })?.searchable).toBe(false)
    expect(fieldOf({ name: 'a', type: 'string', regex: null, condition: null })).not.toHaveProperty('regex')
  })

  test('reads fixed and relative bounds of dates', () => {
    expect(
      fieldOf({
        name: 'built',
        type: 'date',
        precision: 'day',
        minimum: '1900-01-01',
        maximum: 4102444800000,
        maximumOffset: { field: 'years', amount: '18' },
        minimumOffset: { field: 'day', amount: 3, roundToDay: 'true' },
      }),
    ).toMatchObject({
      precision: 'day',
      earliest: '1900-01-01',
      latest: '4102444800000',
      latestOffset: { unit: 'year', amount: 18, roundToDay: false },
      earliestOffset: { unit: 'day', amount: 3, roundToDay: true },
    })
  })

  test('reads date bounds with slashes as month/day/year, with a warning that states the date', () => {
    const bounds = (minimum: string, maximum: string) =>
      withFields([{ name: 'a', type: 'date', precision: 'day', minimum, maximum }])
    const { findings, configuration } = bounds('1/2/1985', '12/31/15')
    expect(configuration!.products.boat!.fields[0]).toMatchObject({
      earliest: '1985-01-02',
      latest: '2015-12-31',
    })
    expect(findings.map(({ severity, code, message }) => [severity, code, message])).toEqual([
      ['WARNING', 'slashedDate', expect.stringContaining("'1/2/1985', is read as 1985-01-02")],
      ['WARNING', 'slashedDate', expect.stringContaining("'12/31/15', is read as 2015-12-31")],
    ])
    expect(bounds('1/1/50', '1/1/49').configuration!.products.boat!.fields[0]).toMatchObject({
      earliest: '1950-01-01',
      latest: '2049-01-01',
    })
  })

  test('treats blank bounds and patterns as absent', () => {
    const blank = { minimum: '', maximum: ' ', regex: '' }
    expect(fieldOf({ name: 'a', type: 'string', maximum: '', regex: '' })).not.toHaveProperty('regex')
    for (const type of ['number', 'date'])
      expect(withFields([{ name: 'a', type, precision: 'day', ...blank }]).configuration).toBeDefined()
  })

  test('reads a group with its fields and its maximum count', () => {
    const group = fieldOf({
      name: 'owners',
      type: 'group',
      repeatable: true,
      maximum: 6,
      fields: [{ name: 'owner', type: 'string', maximum: 40 }],
    })
    expect(group).toMatchObject({ repeatable: true, maximumCount: 6, fields: [{ maximumCount: 40 }] })
  })

  test('reads conditions on one or several values, also on a field outside the group', () => {
    const { findings, configuration } = withFields([
      { name: 'kind', type: 'select', values: ['Sail', 'Motor', '3'] },
      { name: 'mast', type: 'string', condition: { kind: 'Sail' } },
      { name: 'engine', type: 'string', condition: { kind: ['Motor', 3] } },
      {
        name: 'sails',
        type: 'group',
        fields: [
          { name: 'cloth', type: 'string' },
          { name: 'area', type: 'number', condition: { kind: 'Sail', cloth: 'x' } },
        ],
      },
    ])
    expect(findings).toEqual([])
    const fields = configuration!.products.boat!.fields
    expect(fields[2]!.conditions).toEqual([{ field: 'kind', values: ['Motor', '3'] }])
    expect(fields[3]!.fields![1]!.conditions).toHaveLength(2)
  })
})

test.each([
  ['integer', `Write 'number' with "decimalPlaces": 0.`],
  ['boolean', `Write 'select' with "values": ["yes", "no"].`],
  ['text', `Write 'string'.`],
  ['datetime', `Write 'date' with "precision": "second".`],
  ['file', `Write 'media'.`],
  ['slect', `Did you mean 'select'?`],
])('the type %s of another system gets the type that serves for it', (type, hint) => {
  const { findings } = compileWith({ 'policy/policy.json': { fields: [{ name: 'a', type }] } })
  expect(findings.map(({ message }) => message)).toEqual([
    `The field 'a' has the type '${type}'. Use one of string, number, date, select, lookup, email, phone, group, media. ${hint}`,
  ])
})

describe('the check of fields', () => {
  test.each<[string, unknown, string]>([
    ['no name', { type: 'string' }, 'missingProperty'],
    ['no type', { name: 'a' }, 'missingProperty'],
    ['a list for a name', { name: [], type: 'string' }, 'badValue'],
    ['no object at all', 'a', 'badValue'],
    ['an unknown type', { name: 'a', type: 'text' }, 'unknownFieldType'],
    ['a type named like a built-in property', { name: 'a', type: 'constructor' }, 'unknownFieldType'],
    ['a name with a blank', { name: 'a b', type: 'string' }, 'badName'],
    ['a reserved name', { name: '__proto__', type: 'string' }, 'badName'],
    ['select without values', { name: 'a', type: 'select' }, 'selectWithoutValues'],
    ['select with an empty list', { name: 'a', type: 'select', values: [] }, 'selectWithoutValues'],
    ['lookup without a table', { name: 'a', type: 'lookup' }, 'lookupWithoutTable'],
    ['lookup in a table that no product has', { name: 'a', type: 'lookup', table: 't' }, 'missingTable'],
    ['group without fields', { name: 'a', type: 'group' }, 'groupWithoutFields'],
    [
      'a pattern with look-ahead at no certain place',
      { name: 'a', type: 'string', regex: 'a*(?=x)' },
      'badRegex',
    ],
    ['a pattern that does not parse', { name: 'a', type: 'string', regex: '[a-' }, 'badRegex'],
    ['a pattern of enormous length', { name: 'a', type: 'string', regex: 'a'.repeat(3_000) }, 'badRegex'],
    ['a minimum above the maximum', { name: 'a', type: 'number', minimum: 9, maximum: '8.5' }, 'badBounds'],
    ['a minimum that is no number', { name: 'a', type: 'number', minimum: 'low' }, 'badBounds'],
    ['a hundred decimal places', { name: 'a', type: 'number', decimalPlaces: 100 }, 'badBounds'],
    ['fractional decimal places', { name: 'a', type: 'number', decimalPlaces: 1.5 }, 'badValue'],
    ['a length of nothing', { name: 'a', type: 'string', maximum: 0 }, 'badBounds'],
    ['an unknown precision', { name: 'a', type: 'date', precision: 'hour' }, 'badValue'],
    [
      'a day that does not exist',
      { name: 'a', type: 'date', precision: 'day', minimum: '2023-02-30' },
      'badBounds',
    ],
    [
      'a day that does not exist, with slashes',
      { name: 'a', type: 'date', precision: 'day', minimum: '31/1/2023' },
      'badBounds',
    ],
    [
      'dates in the wrong order',
      { name: 'a', type: 'date', precision: 'day', minimum: '2024-01-01', maximum: '2023-01-01' },
      'badBounds',
    ],
    [
      'an offset beyond the calendar',
      { name: 'a', type: 'date', precision: 'day', maximumOffset: { field: 'year', amount: 999_999 } },
      'badBounds',
    ],
    ['a condition on itself', { name: 'a', type: 'string', condition: { a: 'x' } }, 'unknownConditionField'],
    ['a condition on nothing', { name: 'a', type: 'string', condition: { b: 'x' } }, 'unknownConditionField'],
  ])('reports an error for %s', (_, field, code) => {
    expect(foundWith(field)).toEqual([`ERROR ${code}`])
  })

  test('rejects two fields with the same name', () => {
    expect(foundWith({ name: 'a', type: 'string' }, { name: 'a', type: 'string' })).toEqual([
      'ERROR duplicateName',
    ])
  })

  test('rejects a group inside a group', () => {
    const inner = { name: 'b', type: 'group', fields: [{ name: 'c', type: 'string' }] }
    expect(foundWith({ name: 'a', type: 'group', fields: [inner] })).toEqual(['ERROR nestedGroup'])
  })

  test('reports each circle of conditions once, with its path', () => {
    const field = (name: string, ...on: string[]) => ({
      name,
      type: 'string',
      condition: Object.fromEntries(on.map(other => [other, 'x'])),
    })
    const messages = (...fields: unknown[]) => withFields(fields).findings.map(({ message }) => message)
    const fields = [field('a', 'start', 'b'), field('b', 'a'), field('c', 'a'), field('start')]
    expect(messages(...fields)).toEqual([
      "The field 'a' depends on itself through other fields: a → b → a. Remove one of these conditions.",
    ])
    expect(foundWith(...fields)).toEqual(['ERROR circularConditions'])
    const ring = ['d', 'e', 'f'].map((name, at) => field(name, ['e', 'f', 'd'][at]!))
    expect(foundWith(...fields, ...ring)).toEqual(['ERROR circularConditions', 'ERROR circularConditions'])
    const group = { name: 'g', type: 'group', fields: [field('x', 'y'), field('y', 'x')] }
    expect(foundWith(group)).toEqual(['ERROR circularConditions'])
    expect(foundWith(field('a'), field('b', 'a'), field('c', 'a', 'b'))).toEqual([])
    const chain = Array.from({ length: 20_000 }, (_, at) =>
      field(`f${at}`, ...(at > 0 ? [`f${at - 1}`] : [])),
    )
    expect(foundWith(...chain)).toEqual([])
  })

  test('does not report a condition as unknown when the field that it names was itself rejected', () => {
    expect(foundWith({ name: 'a', type: 'string', condition: { b: 'x' } }, { name: 'b' })).toEqual([
      'ERROR missingProperty',
    ])
  })
})

describe('warnings about fields', () => {
  test.each<[string, unknown, string]>([
    ['a property that is not known', { name: 'a', type: 'string', optinal: true }, 'unknownProperty'],
    ['a property of another type', { name: 'a', type: 'string', decimalPlaces: 0 }, 'propertyOfOtherType'],
    ['a value offered twice', { name: 'a', type: 'select', values: ['x', 'x'] }, 'duplicateValue'],
    ['a date without precision', { name: 'a', type: 'date' }, 'missingPrecision'],
    ['a longer text than is kept', { name: 'a', type: 'string', maximum: 50_000 }, 'badBounds'],
  ])('warns about %s', (_, field, code) => {
    expect(foundWith(field)).toEqual([`WARNING ${code}`])
  })

  test('warns about offsets between which no date lies, even in different units', () => {
    const found = (earliest: object, latest: object) =>
      foundWith({
        name: 'a',
        type: 'date',
        precision: 'day',
        minimumOffset: earliest,
        maximumOffset: latest,
      })
    const years = (amount: number) => ({ field: 'year', amount, roundToDay: true })
    expect(found(years(-18), years(-100))).toEqual(['WARNING badBounds'])
    expect(found(years(1), { field: 'month', amount: 6 })).toEqual(['WARNING badBounds'])
    expect(found(years(-100), years(-18))).toEqual([])
    expect(found(years(0), years(0))).toEqual([])
    expect(found({ field: 'month', amount: 1 }, { field: 'day', amount: 30 })).toEqual([])
  })

  test('warns about a condition on a value that the field does not offer', () => {
    const fields = [
      { name: 'a', type: 'select', values: ['x'] },
      { name: 'b', type: 'string', condition: { a: 'y' } },
    ]
    expect(foundWith(...fields)).toEqual(['WARNING conditionNeverHolds'])
  })
})

describe('a condition on an empty text, which no value can equal', () => {
  test.each(['string', 'number', 'date', 'select'])('is a warning on a field of type %s', type => {
    const asked = { name: 'a', type, optional: true, values: ['x'], precision: 'day' }
    const on = (condition: string[]) => ({ name: 'b', type: 'string', condition: { a: condition } })
    const found = (condition: string[]) =>
      foundWith(asked, on(condition)).filter(one => one.includes('condition'))
    expect(found([''])).toEqual(['WARNING conditionNeverHolds'])
    expect(found(['x', ''])).toEqual(['WARNING conditionNeverHolds'])
    expect(found(['x'])).toEqual([])
  })
})

test('policyholder fields may not be groups, look-ups or media; payment fields may not be groups or look-ups', () => {
  const fields = [
    { name: 'a', type: 'group', fields: [{ name: 'x', type: 'string' }] },
    { name: 'b', type: 'lookup', table: 't' },
    { name: 'c', type: 'media' },
  ]
  const compilation = compileWith({
    'policyholder/policyholder.dictionary.json': fields,
    'payment/payment.json': { fields },
  })
  expect(compilation.findings.map(({ path, code }) => `${path} ${code}`)).toEqual([
    'payment/payment.json fieldTypeNotAllowed',
    'payment/payment.json fieldTypeNotAllowed',
    'policyholder/policyholder.dictionary.json fieldTypeNotAllowed',
    'policyholder/policyholder.dictionary.json fieldTypeNotAllowed',
    'policyholder/policyholder.dictionary.json fieldTypeNotAllowed',
  ])
})

test('every problem of a file is reported at its line, not only the first', () => {
  const text = `{
  "fields": [
    { "name": "a", "type": "sting" },
    { "title": "no name", "type": "string" },
    { "name": "b", "type": "select" },
    { "name": "c", "type": "string", "regex": "(" },
    { "name": "d", "type": "string", "colour": "red" }
  ]
}`
  expect(foundIn(compileWith({ 'policy/policy.json': text }))).toEqual([
    'ERROR unknownFieldType policy/policy.json:3',
    'ERROR missingProperty policy/policy.json:4',
    'ERROR selectWithoutValues policy/policy.json:5',
    'ERROR badRegex policy/policy.json:6',
    'WARNING unknownProperty policy/policy.json:7',
  ])
})
