import { describe, expect, it } from 'vitest'
import { mergeFieldValues, readFieldValues, valuesOf } from '../../../src/product/fields/values.ts'

const codes = (wire: unknown) =>
  readFieldValues(wire).problems.map(({ fieldName, code }) => [fieldName, code])

describe('reading field values', () => {
  it('turns scalars and arrays into arrays of text', () => {
    const { values, problems } = readFieldValues({ a: 'x', b: ['y', 2], c: true, d: 12.5 })
    expect(problems).toEqual([])
    expect(values).toEqual({ a: ['x'], b: ['y', '2'], c: ['true'], d: ['12.5'] })
  })

  it('writes numbers as decimal text without an exponent', () => {
    const { values } = readFieldValues({ a: 1e21, b: 1.5e-7, c: -0, d: -3 })
    expect(values).toEqual({ a: ['1000000000000000000000'], b: ['0.00000015'], c: ['0'], d: ['-3'] })
  })

  it('reads null, an empty array, "" and lists of these as the removal of a value', () => {
    const { values, problems } = readFieldValues({ a: null, b: [], c: '', d: ['', null], e: ['', 'x'] })
    expect(problems).toEqual([])
    expect(values).toEqual({ a: [], b: [], c: [], d: [], e: ['x'] })
  })

  it('reads null and undefined as no values', () => {
    expect(readFieldValues(null)).toEqual({ values: {}, problems: [] })
    expect(readFieldValues(undefined)).toEqual({ values: {}, problems: [] })
  })

  it.each([['text'], [5], [['a']]])('rejects %j in place of the map', wire => {
    expect(codes(wire)).toEqual([['fieldValues', 'INVALID_TYPE']])
  })

  it('reports every field with an object or a nested list, and reads the others', () => {
    const wire = { a: { x: 1 }, b: [['x']], c: 'fine' }
    expect(codes(wire)).toEqual([
      ['a', 'INVALID_TYPE'],
      ['b', 'INVALID_TYPE'],
    ])
    expect(readFieldValues(wire).values).toEqual({ c: ['fine'] })
  })

  it('rejects __proto__ and leaves the prototype unchanged', () => {
    const { values, problems } = readFieldValues(JSON.parse('{"__proto__": ["x"], "a": "y"}'))
    expect(problems.map(problem => problem.code)).toEqual(['INVALID_FIELD'])
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype)
    expect(values).toEqual({ a: ['y'] })
  })

  it('finds no values under the names of built-in properties', () => {
    expect(valuesOf({}, 'constructor')).toEqual([])
    expect(valuesOf(readFieldValues({ constructor: 'x' }).values, 'constructor')).toEqual(['x'])
  })

  it('limits a value to 20,000 characters, a field to 1,000 values and a record to 1,000 fields', () => {
    expect(codes({ a: 'x'.repeat(20_000), b: Array(1_000).fill('x') })).toEqual([])
    expect(codes({ a: 'x'.repeat(20_001) })).toEqual([['a', 'INVALID_VALUE']])
    expect(codes({ b: Array(1_001).fill('x') })).toEqual([['b', 'INVALID_VALUE']])
    const fields = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, '']))
    expect(codes(fields(1_000))).toEqual([])
    expect(codes(fields(1_001))).toEqual([['fieldValues', 'INVALID_VALUE']])
  })

  it('rejects text that the database cannot store, and names that no field can have', () => {
    expect(codes({ a: 'x\0', b: '\ud800' })).toEqual([
      ['a', 'INVALID_VALUE'],
      ['b', 'INVALID_VALUE'],
    ])
    expect(
      readFieldValues({ '': 'x', ['n'.repeat(201)]: 'x' }).problems.map(problem => problem.code),
    ).toEqual(['INVALID_FIELD', 'INVALID_FIELD'])
  })

  it('never repeats a value in a message', () => {
    const wire = { a: `secret${'x'.repeat(20_000)}`, b: 'secret\0', c: { secret: 'secret' } }
    expect(JSON.stringify(readFieldValues(wire).problems)).not.toContain('secret')
  })
})

describe('merging field values', () => {
  it('replaces named fields, removes empty ones and keeps the others in their order', () => {
    const merged = mergeFieldValues({ a: ['1'], b: ['2'], c: ['3'] }, { b: ['4', '5'], a: [], d: ['6'] })
    expect(merged).toEqual({ b: ['4', '5'], c: ['3'], d: ['6'] })
    expect(Object.keys(merged)).toEqual(['b', 'c', 'd'])
  })

  it('does not change its arguments', () => {
    const [current, update] = [{ a: ['1'] }, { a: [] }]
    mergeFieldValues(current, update)
    expect([current, update]).toEqual([{ a: ['1'] }, { a: [] }])
  })
})
