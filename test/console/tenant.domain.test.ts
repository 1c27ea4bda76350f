// What pages of the tenant derive from responses: files of an archive, rows of a table, lines of failures.
import { zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { entriesOf, isTable, productOf, rowsOf, tableName } from '../../console/tenant/archive.ts'
import { csvOf, failureLines } from '../../console/tenant/failure-lines.ts'
import { mayOpen, pagesFor, TENANT_PAGES } from '../../console/tenant/pages.ts'
import { zipOf } from '../../scripts/example.ts'
import { ALL_PERMISSIONS } from '../../src/platform/http/permissions.ts'
import { rawZip } from '../product/archive-maker.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

test('an archive is read by its directory, with compressed and stored entries', async () => {
  const long = 'key,value\n'.repeat(500)
  const zip = new Uint8Array(
    zipSync({
      'products/a/policy/tables/long.csv': bytesOf(long),
      'tables/stored.csv': [bytesOf('k,v\nÄ,1\n'), { level: 0 }],
      'bootstrap/resources/tables/later.csv': bytesOf('k,v\n'),
    }),
  )
  const entries = entriesOf(zip)
  expect(entries.map(({ path }) => path).sort()).toEqual([
    'bootstrap/resources/tables/later.csv',
    'products/a/policy/tables/long.csv',
    'tables/stored.csv',
  ])
  const of = Object.fromEntries(entries.map(one => [one.path, one]))
  expect(await of['products/a/policy/tables/long.csv']!.text()).toBe(long)
  expect(await of['tables/stored.csv']!.text()).toBe('k,v\nÄ,1\n')
  expect(entries.filter(isTable).map(({ path }) => [tableName(path), productOf(path)])).toEqual([
    ['long', 'a'],
    ['stored', ''],
  ])
  expect(() => entriesOf(new Uint8Array(40))).toThrow('cannot be read')
})

test('an archive is read as in a deployment, whichever tool created it', async () => {
  const table = bytesOf('\uFEFFkey,value\r\nA,1\r\n')
  const zip = rawZip([
    { name: 'motor/' },
    { name: 'motor/products/a/policy/tables/upper.CSV', content: table },
    { name: 'motor\\products\\a\\policy\\tables\\windows.csv', content: table },
    { name: './motor/products/a/policy/tables/wide.csv', content: table, isZip64: true },
    { name: '__MACOSX/motor/products/a/policy/tables/._upper.csv', content: bytesOf('\0\x05\x16\x07') },
    { name: 'motor/products/a/policy/tables/.~lock.upper.csv', content: bytesOf('x') },
    { name: 'motor/bootstrap/resources/resourceFiles/tables/later.csv', content: table },
  ])
  const tables = entriesOf(new Uint8Array(zip)).filter(isTable)
  expect(tables.map(({ path }) => [tableName(path), productOf(path)])).toEqual([
    ['upper', 'a'],
    ['windows', 'a'],
    ['wide', 'a'],
  ])
  for (const { text } of tables)
    expect(rowsOf(await text())).toEqual([
      ['key', 'value'],
      ['A', '1'],
    ])
})

test('the tables of the motor example are found with their rows', async () => {
  const tables = entriesOf(zipOf('examples/motor/configuration')).filter(isTable)
  expect(tables.map(({ path }) => tableName(path))).toContain('region_factor')
  const regions = tables.find(({ path }) => tableName(path) === 'region_factor')!
  expect(rowsOf(await regions.text()).slice(0, 2)).toEqual([
    ['key', 'value'],
    ['R1', '0.86'],
  ])
})

test('rows are parsed according to RFC 4180', () => {
  expect(rowsOf('a,b\r1,2\r')).toEqual([
    ['a', 'b'],
    ['1', '2'],
  ])
  expect(rowsOf('\uFEFFa,b\r\n"x, ""y""\nz",\r\n,\n1,2')).toEqual([
    ['a', 'b'],
    ['x, "y"\nz', ''],
    ['', ''],
    ['1', '2'],
  ])
  expect(rowsOf('a,')).toEqual([['a', '']])
  expect(rowsOf('')).toEqual([])
})

const fault = (originalId: string, locator: string, ...errors: string[]) => ({
  originalId,
  errors: { success: false, validationItems: [{ elementType: 'policy', locator, errors }] },
})

test('failures have a line for each reason, and no cell is a formula in a spreadsheet', () => {
  const lines = failureLines([
    {
      accountLocator: 'l',
      accountOriginalId: 'A1',
      accountError: fault('A1', 'A1', 'is "odd", and\nlong'),
      policies: { P1: fault('P1', 'P1/terms[0]', 'one', 'two') },
      invoices: {},
      payments: { '=1+1': fault('=1+1', '=1+1', 'three') },
      disbursements: {},
    },
  ])
  expect(lines.map(({ kind, item, reason }) => [kind, item, reason])).toEqual([
    ['account', 'A1', 'is "odd", and\nlong'],
    ['policies', 'P1', 'one'],
    ['policies', 'P1', 'two'],
    ['payments', '=1+1', 'three'],
  ])
  const csv = csvOf(lines)
  expect(
    csv.startsWith('account,kind,item,place,reason\r\nA1,account,A1,A1,"is ""odd"", and\nlong"\r\n'),
  ).toBe(true)
  expect(csv.endsWith("A1,payments,'=1+1,'=1+1,three\r\n")).toBe(true)
})

test('each page names existing permissions, and opens for accounts with any one of them', () => {
  for (const permission of Object.values(TENANT_PAGES).flat()) expect(ALL_PERMISSIONS).toContain(permission)
  expect(pagesFor(new Set())).toEqual([])
  expect(pagesFor(new Set(['audit.list', 'migration.list']))).toEqual(['audit', 'migrations'])
  expect(mayOpen(new Set(['webhooks.list']), 'webhooks')).toBe(true)
  expect(mayOpen(new Set(['webhooks.write']), 'webhooks')).toBe(false)
})
