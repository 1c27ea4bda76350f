import { expect, test } from 'vitest'
import { bordereauColumns } from '../../../src/product/books.ts'
import { compileWith, foundIn } from '../minimal-archive.ts'

const hull = {
  name: 'hull',
  displayName: 'Hull',
  fields: [
    { name: 'value', title: 'Value', type: 'number', decimalPlaces: 2 },
    { name: 'colour', title: 'Colour', type: 'string' },
    { name: 'masts', title: 'Masts', type: 'number', repeatable: true },
  ],
}
const compiled = (books: unknown) =>
  compileWith({ 'books.json': books as never, 'policy/exposures/hull/exposure.json': hull })

test('accounts and bordereau columns compile as they are written', () => {
  const books = {
    accounts: { receivable: { code: '1200', name: 'Premium debtors' }, premium: { code: '4000' } },
    bordereaux: {
      pool: ['field:harbour', 'holder:last_name', 'exposures:hull', 'sum:hull.value'],
      empty: [],
    },
  }
  const { configuration, findings } = compiled(books)
  expect(findings).toEqual([])
  expect(configuration?.books).toEqual(books)
  expect(bordereauColumns(configuration!)).toEqual([
    'field:harbour',
    'holder:last_name',
    'exposures:hull',
    'sum:hull.value',
  ])
})

test('an account code may be a number, and a single bordereau column needs no list', () => {
  const { configuration, findings } = compiled({
    accounts: { cash: { code: 1800 } },
    bordereaux: { pool: 'exposures:hull' },
  })
  expect(findings).toEqual([])
  expect(configuration?.books).toEqual({
    accounts: { cash: { code: '1800' } },
    bordereaux: { pool: ['exposures:hull'] },
  })
})

test('an archive without books.json compiles without books', () => {
  expect(compileWith({}).configuration?.books).toBeUndefined()
})

test('unknown accounts, columns and properties are reported at their lines', () => {
  const text = `{
  "accounts": {
    "recievable": { "code": "1200" },
    "cash": { "name": "Bank" },
    "premium": { "code": "4000", "kind": "income" }
  },
  "bordereaux": {
    "pool": [
      "field:harbor",
      "sum:hull.colour",
      "sum:hull.masts",
      "harbour"
    ],
    "long": [${Array.from({ length: 41 }, () => '"field:harbour"').join(', ')}]
  },
  "ledgers": {}
}`
  const compilation = compiled(text)
  expect(foundIn(compilation)).toEqual([
    'ERROR unknownAccount books.json:3',
    'ERROR missingProperty books.json:4',
    'WARNING unknownProperty books.json:5',
    'ERROR unknownColumn books.json:9',
    'ERROR unknownColumn books.json:10',
    'ERROR unknownColumn books.json:11',
    'ERROR unknownColumn books.json:12',
    'ERROR tooManyColumns books.json:14',
    'WARNING unknownProperty books.json:16',
  ])
  const messages = compilation.findings.map(({ message }) => message)
  expect(messages[0]).toMatch(/no account 'recievable'.*'receivable'/)
  expect(messages[3]).toMatch(/no column 'field:harbor'.*field:NAME.*'field:harbour'/)
})
