import { expect, test } from 'vitest'
import { packFolder } from '../../cli/folder.ts'
import type { Tenant } from '../../src/platform/tenancy.ts'
import { compiledKey, compiledText, loadedConfiguration, readCompiledText } from '../../src/product/cache.ts'
import { compileArchive } from '../../src/product/compile.ts'
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

test('a compiled configuration can be written as text and read back, and a shared table is written once', () => {
  const text = compiledText(configuration)
  const back = readCompiledText(text)
  expect(back).toEqual(configuration)
  expect(back.tables.rate).toBe(back.products.boat!.tables.rate)
  expect(text.split('large')).toHaveLength(2)
})

test('a configuration that an earlier compiler wrote is not read: with other properties, the format is another', async () => {
  const names = new Set<string>()
  for (const example of ['motor', 'home', 'commercial_property']) {
    const { configuration: compiled } = await compileArchive(
      packFolder(`examples/${example}/configuration`).zip,
    )
    for (const part of [compiled!, ...Object.values(compiled!.products)])
      for (const name of Object.keys(part)) names.add(name)
  }
  const key = compiledKey({ locator: 'of-tenant', generation: 1 } as Tenant, 'hash')
  // If this list changes, increase COMPILER_FORMAT: the Worker then compiles the archives of all tenants again.
  expect(`${key.split('.').at(-2)}: ${[...names].sort().join(' ')}`).toBe(
    '5: books calculations cancellationTypes currency defaultPaymentTerms displayName documents endReminders endorsements exposures ' +
      'features fees fields invoicing lapse legacyCancellationProration locator name paymentFields paymentSchedules plugins ' +
      'policyholderFields policyholderForm products renewals roles scripts secrets staticDocuments strict tables taxes templates ' +
      'testUsers timeZone underwriting',
  )
})

test('a look-up prefers the table of the product to the one that all products share', () => {
  const { lookup } = loadedConfiguration(configuration, 'hash', compileTemplate)
  expect(lookup('boat')('own', 'a')).toEqual({ value: 'boat' })
  expect(lookup('canoe')('own', 'a')).toEqual({ value: 'canoe' })
  expect(lookup('canoe')('rate', 'large')).toEqual({ value: '2' })
  expect(lookup('nothing')('rate', 'large')).toEqual({ value: '2' })
})

test('a look-up uses the first row with the key, and distinguishes a missing key from a missing table', () => {
  const boat = loadedConfiguration(configuration, 'hash', compileTemplate).lookup('boat')
  expect(boat('rate', 'small')).toEqual({ value: '1' })
  expect(boat('rate', 'huge')).toBe('noSuchKey')
  expect(boat('rate', '__proto__')).toBe('noSuchKey')
  expect(boat('unknown', 'a')).toBe('noSuchTable')
  expect(boat('models', 'A')).toBe('noSuchTable')
  expect(boat('__proto__', 'a')).toBe('noSuchTable')
})

test('a look-up key may name the column of the value, and finds nothing with any other column', () => {
  const boat = loadedConfiguration(configuration, 'hash', compileTemplate).lookup('boat')
  expect(boat('rate', lookUpKey(['large'], 'value'))).toEqual({ value: '2' })
  expect(boat.rowOf!('rate', lookUpKey(['large'], 'value'))).toMatchObject({ line: 3 })
  expect(boat('rate', lookUpKey(['large'], 'rate'))).toBe('noSuchKey')
  expect(boat('rate', lookUpKey(['huge'], 'value'))).toBe('noSuchKey')
})

test('a look-up reports the file and line of its row, across blank lines and line breaks in quotes', () => {
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
