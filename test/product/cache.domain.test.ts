import { expect, test } from 'vitest'
import { compiledText, loadedConfiguration, readCompiledText } from '../../src/product/cache.ts'
import type { Configuration } from '../../src/product/configuration.ts'
import { lookUpKey } from '../../src/product/templates/effects.ts'
import { compileTemplate } from '../../src/product/templates/liquid.ts'
import { compileWith, minimal } from './minimal-archive.ts'

const second = Object.fromEntries(
  Object.entries(minimal)
    .filter(([path]) => path.startsWith('products/boat/'))
    .map(([path, content]) => [path.replace('/boat/', '/canoe/'), content]),
)

const { configuration } = compileWith({
  ...second,
  'products/boat/policy/tables/rate.csv': 'key,value\nsmall,1\nlarge,2\nsmall,3\n',
  'products/boat/policy/tables/own.csv': 'key,value\na,boat\n',
  'products/canoe/policy/tables/own.csv': 'key,value\na,canoe\n',
  'products/canoe/policy/tables/models.csv': 'make,model\nA,B\n',
}) as { configuration: Configuration }

test('a compiled configuration comes back from its text, with tables shared as before', () => {
  const text = compiledText(configuration)
  const back = readCompiledText(text)
  expect(back).toEqual(configuration)
  expect(back.tables.rate).toBe(back.products.boat!.tables.rate)
  expect(text.split('large')).toHaveLength(2)
})

test('a look-up asks the table of the product before that of the tenant', () => {
  const { lookup } = loadedConfiguration(configuration, 'hash', compileTemplate)
  expect(lookup('boat')('own', 'a')).toEqual({ value: 'boat' })
  expect(lookup('canoe')('own', 'a')).toEqual({ value: 'canoe' })
  expect(lookup('canoe')('rate', 'large')).toEqual({ value: '2' })
  expect(lookup('nothing')('rate', 'large')).toEqual({ value: '2' })
})

test('of rows with the same key the first counts; what is not there is told apart', () => {
  const boat = loadedConfiguration(configuration, 'hash', compileTemplate).lookup('boat')
  expect(boat('rate', 'small')).toEqual({ value: '1' })
  expect(boat('rate', 'huge')).toBe('noSuchKey')
  expect(boat('rate', '__proto__')).toBe('noSuchKey')
  expect(boat('unknown', 'a')).toBe('noSuchTable')
  expect(boat('models', 'A')).toBe('noSuchTable')
  expect(boat('__proto__', 'a')).toBe('noSuchTable')
})

test('a look-up may name the column that has the value, and no other', () => {
  const boat = loadedConfiguration(configuration, 'hash', compileTemplate).lookup('boat')
  expect(boat('rate', lookUpKey(['large'], 'value'))).toEqual({ value: '2' })
  expect(boat.rowOf!('rate', lookUpKey(['large'], 'value'))).toMatchObject({ line: 3 })
  expect(boat('rate', lookUpKey(['large'], 'rate'))).toBe('noSuchKey')
  expect(boat('rate', lookUpKey(['huge'], 'value'))).toBe('noSuchKey')
})

test('the row of a look-up is told with its file and line, across blank lines and breaks within quotes', () => {
  const path = 'products/boat/policy/tables/notes.csv'
  const { configuration: noted } = compileWith({
    ...minimal,
    'products/boat/policy/tables/rate.csv': 'key,value\nsmall,1\nlarge,2\nsmall,3\n',
    [path]: 'key,value,note\n\na,1,"two\nlines"\nb,2,\n',
  }) as { configuration: Configuration }
  const { rowOf } = loadedConfiguration(noted, 'hash', compileTemplate).lookup('boat')
  expect(noted.products.boat!.tables.rate).not.toHaveProperty('lines')
  expect(rowOf!('rate', 'small')).toEqual({ path: 'products/boat/policy/tables/rate.csv', line: 2 })
  expect(rowOf!('rate', 'large')).toMatchObject({ line: 3 })
  expect(rowOf!('notes', 'a')).toEqual({ path, line: 3 })
  expect(rowOf!('notes', 'b')).toEqual({ path, line: 5 })
  expect(rowOf!('notes', 'c')).toBeUndefined()
  expect(rowOf!('unknown', 'a')).toBeUndefined()
})
