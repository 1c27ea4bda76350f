import { describe, expect, it } from 'vitest'
import { compileWith, foundIn, withFields } from '../../minimal-archive.ts'

const constrained = (name: string, keys: Record<string, object>, more: object = {}) => ({
  name,
  type: 'string',
  optional: true,
  constraint: { table: 'vehicles', column: name, where: keys },
  ...more,
})

describe('constraints of fields', () => {
  it('compile with their table, their column and the fields that govern them', () => {
    const { configuration, findings } = withFields([
      { name: 'make', type: 'string' },
      constrained('model', { make: { key: 'make' }, kind: { values: ['car', 'van'] } }),
    ])
    expect(findings).toEqual([])
    expect(configuration!.products.boat!.fields[1]!.constraint).toEqual({
      table: 'vehicles',
      column: 'model',
      where: [
        { column: 'make', key: 'make', values: [] },
        { column: 'kind', values: ['car', 'van'] },
      ],
    })
  })

  it('may depend on fields of the enclosing elements and of the policyholder', () => {
    const compiled = compileWith({
      'policy/policy.json': { fields: [{ name: 'harbour', type: 'string' }] },
      'policy/exposures/hull/exposure.json': {
        name: 'hull',
        displayName: 'Hull',
        fields: [
          constrained('berth', { harbour: { key: 'policy.harbour' }, owner: { key: 'account.last_name' } }),
        ],
      },
    })
    expect(foundIn(compiled)).toEqual([])
  })

  it.each([
    ['a key that names no field', { make: { key: 'brand' } }, 'badConstraint'],
    ['a column held against nothing', { make: {} }, 'badConstraint'],
    ['its own column among the others', { model: { key: 'make' } }, 'badConstraint'],
    ['itself as what governs it', { make: { key: 'model' } }, 'circularConstraints'],
  ])('are rejected with %s', (_, keys, code) => {
    const { configuration, findings } = withFields([
      { name: 'make', type: 'string' },
      constrained('model', keys),
    ])
    expect(configuration).toBeUndefined()
    expect(findings.map(one => [one.severity, one.code])).toEqual([['ERROR', code]])
  })

  it('get a warning when config.json declares their table without a column that they name', () => {
    const found = (columns: object) =>
      compileWith({
        'config.json': { timezone: 'UTC', currency: 'EUR', constraintTables: { vehicles: { columns } } },
        'policy/policy.json': {
          fields: [{ name: 'make', type: 'string' }, constrained('model', { make: { key: 'make' } })],
        },
      }).findings.map(({ severity, code, message }) => `${severity} ${code} ${message}`)
    expect(found({ make: {}, model: {}, year: {} })).toEqual([])
    expect(found({ make: {}, modell: {} })).toEqual([
      "WARNING badConstraint The constraint of 'policy.model' names the column 'model' of 'vehicles', but config.json does not declare that column. Correct the name, or declare the column. Did you mean 'modell'?",
    ])
    expect(found({ brand: {}, model: {} })[0]).toContain("names the column 'make'")
  })

  it('are rejected when they form a circle, and the message names the circle', () => {
    const { findings } = withFields([
      constrained('a', { x: { key: 'b' } }),
      constrained('b', { x: { key: 'c' } }),
      constrained('c', { x: { key: 'policy.a' } }),
    ])
    expect(findings.map(({ code, message }) => [code, message])).toEqual([
      [
        'circularConstraints',
        "The constraint of 'policy.a' depends on itself: policy.a → policy.b → policy.c → policy.a. Remove one of these keys.",
      ],
    ])
  })

  it('are ignored on groups with a warning, and rejected on payment fields', () => {
    const group = { name: 'g', type: 'group', fields: [{ name: 'a', type: 'string' }] }
    expect(foundIn(withFields([{ ...group, constraint: { table: 't', column: 'g' } }]))).toEqual([
      expect.stringContaining('WARNING propertyOfOtherType'),
    ])
    const payment = compileWith({ 'payment/payment.json': { fields: [constrained('bank', {})] } })
    expect(foundIn(payment)).toEqual([expect.stringContaining('ERROR badConstraint payment/payment.json')])
  })
})
