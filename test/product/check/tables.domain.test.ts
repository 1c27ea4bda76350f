import { describe, expect, test } from 'vitest'
import { compileWith, foundIn } from '../minimal-archive.ts'

const tableOf = (csv: string) => {
  const compilation = compileWith({ 'policy/tables/rates.csv': csv })
  return { found: foundIn(compilation), table: compilation.configuration?.tables.rates }
}

describe('reading a table', () => {
  test('gives its columns and rows to the product and to the tenant', () => {
    const { configuration, findings } = compileWith({ 'policy/tables/rates.csv': 'key,value\na,1\nb,2\n' })
    const table = {
      path: 'products/boat/policy/tables/rates.csv',
      columns: ['key', 'value'],
      rows: [
        ['a', '1'],
        ['b', '2'],
      ],
    }
    expect(findings).toEqual([])
    expect(configuration?.products.boat?.tables).toEqual({ rates: table })
    expect(configuration?.tables).toEqual({ rates: table })
  })

  test.each<[string, string, string[][]]>([
    [
      'quoted cells with commas, quotes and line breaks',
      'key,value\n"a, b","say ""x""\n y"\n',
      [['a, b', 'say "x"\n y']],
    ],
    ['CR LF and a byte-order mark', '\ufeffkey,value\r\na,1\r\n', [['a', '1']]],
    [
      'trailing blanks, also after a quoted cell',
      'key,value\na  ,1.73 \n"b" ,2\n',
      [
        ['a', '1.73'],
        ['b', '2'],
      ],
    ],
    ['blanks in front, which are kept', 'key,value\n a,1\n', [[' a', '1']]],
    ['a quote in the middle of a cell', 'key,value\n5" pipe,1\n', [['5" pipe', '1']]],
    ['empty lines and rows of commas', 'key,value\n\n,\na,1\n\n', [['a', '1']]],
    ['trailing commas of a spreadsheet', 'key,value,,\na,1,,\n', [['a', '1']]],
    ['no line break at the end', 'key,value\na,1', [['a', '1']]],
  ])('accepts %s', (_, csv, rows) => {
    expect(tableOf(csv)).toMatchObject({ found: [], table: { columns: ['key', 'value'], rows } })
  })

  test('accepts columns other than key and value', () => {
    expect(tableOf('make,model,year\nA,B,2020\n').table?.columns).toEqual(['make', 'model', 'year'])
  })
})

describe('errors in a table', () => {
  test.each<[string, string, string[]]>([
    ["Excel's line in place of the header", 'sep=,\nkey,value\na,1\n', ['badTable:1']],
    ["Excel's line with a semicolon", 'SEP=;\r\nkey;value\r\na;1,5\r\n', ['badTable:1']],
    ['rows of other lengths', 'key,value\na,1\nb\nc,1,2\n', ['badTable:3', 'badTable:4']],
    ['after rows that span lines', 'key,value\n"a\nb",1\n\nc\n', ['badTable:5']],
    ['a quote that never closes', 'key,value\n"a,1\n', ['badTable:2']],
    ['rows before a quote that never closes', 'key,value\na\nb,1\n"c,1\n', ['badTable:2', 'badTable:4']],
    ['a header before a quote that never closes', 'key,key\n"a,1\n', ['badTable:1', 'badTable:2']],
    ['an empty file', '', ['badTable']],
    ['a column without a name', 'key,,value\na,b,1\n', ['badTable:1']],
    ['two columns of one name', 'key,key\na,1\n', ['badTable:1']],
    [
      'too many columns',
      `${Array.from({ length: 201 }, (_, index) => `c${index}`).join()}\n`,
      ['tableTooLarge:1'],
    ],
    ['a cell that is too long', `key,value\na,${'x'.repeat(9_000)}\n`, ['tableTooLarge:2']],
  ])('are reported at their lines: %s', (_, csv, codes) => {
    expect(tableOf(csv).found).toEqual(
      codes.map(code => {
        const [name, line] = code.split(':')
        return `ERROR ${name} policy/tables/rates.csv${line ? `:${line}` : ''}`
      }),
    )
  })

  test('include more than a million cells in all tables together', () => {
    const half = `key,value\n${Array.from({ length: 260_000 }, (_, index) => `${(index * 7919) % 260_003},${index}\n`).join('')}`
    expect(foundIn(compileWith({ 'policy/tables/a.csv': half, 'policy/tables/b.csv': half }))).toEqual([
      'ERROR tableTooLarge policy/tables/b.csv',
    ])
  })
})

describe('warnings about a table', () => {
  test('include a header in another case, which is read as key,value', () => {
    const { found, table } = tableOf('Key,VALUE\na,1\n')
    expect(found).toEqual(['WARNING headerCase policy/tables/rates.csv:1'])
    expect(table?.columns).toEqual(['key', 'value'])
  })

  test('include a header without rows', () => {
    expect(tableOf('key,value\n').found).toEqual(['WARNING emptyTable policy/tables/rates.csv:1'])
  })

  test('include a duplicate key', () => {
    expect(tableOf('key,value\na,1\nb,1\na,2\n').found).toEqual([
      'WARNING duplicateTableKey policy/tables/rates.csv:4',
    ])
  })
})
