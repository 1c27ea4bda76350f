// Untidy files as they occur, each with exactly what is read from it.
import { zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../../src/kernel/errors.ts'
import type { RangeTableDeclaration, TableDeclaration } from '../../../src/product/resources.ts'
import {
  csvBytes,
  csvSource,
  MemoryUse,
  MOST_HELD_BYTES,
  type RangedFile,
} from '../../../src/reference/data-tables/csv-source.ts'
import type { TableKind } from '../../../src/reference/data-tables/layout.ts'
import { TableReading } from '../../../src/reference/data-tables/reading.ts'
import { size } from '../../support/sizes.ts'

type Declared = TableDeclaration | RangeTableDeclaration

async function* piecesOf(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

/** Returns what is read: rows as key and cells, and problems and warnings as `line: message`. */
async function read(
  content: string | Uint8Array,
  { kind = 'table' as TableKind, declared = undefined as Declared | undefined, pieceBytes = 65_536 } = {},
) {
  const reading = new TableReading(kind, declared)
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const rows: [string, ...string[]][] = []
  for await (const some of reading.rows(piecesOf(bytes, pieceBytes)))
    for (const { key, cells } of some) rows.push([key, ...cells])
  return {
    rows,
    problems: reading.notes.sortedProblems.map(({ line, message }) => `${line}: ${message}`),
    warnings: reading.notes.warnings,
  }
}

const RAGGED = 'add or remove commas, or quote cells that contain one.'

const CORPUS: [string, string | Uint8Array, Partial<Awaited<ReturnType<typeof read>>>][] = [
  ['a byte-order mark', '\ufeffkey,value\na,1\n', { rows: [['a', 'a', '1']] }],
  [
    'CR LF',
    'key,value\r\na,1\r\nb,2\r\n',
    {
      rows: [
        ['a', 'a', '1'],
        ['b', 'b', '2'],
      ],
    },
  ],
  [
    'CR alone',
    'key,value\ra,1\rb,2',
    {
      rows: [
        ['a', 'a', '1'],
        ['b', 'b', '2'],
      ],
    },
  ],
  ['no line end at the end', 'key,value\na,1', { rows: [['a', 'a', '1']] }],
  ['quoted commas', 'key,value\n"Smith, J",1\n', { rows: [['Smith, J', 'Smith, J', '1']] }],
  ['doubled quotes', 'key,value\n"say ""hi""",1\n', { rows: [['say "hi"', 'say "hi"', '1']] }],
  [
    'line breaks in quotes',
    'key,value\n"a\r\nb",1\nc\n',
    {
      rows: [['a\r\nb', 'a\r\nb', '1']],
      problems: [`4: The row has 1 cell, but the header has 2; ${RAGGED}`],
    },
  ],
  [
    'blanks around cells and quotes',
    ' key ,value\n a ,1.73 \n "b" , "2" \n',
    {
      rows: [
        ['a', 'a', '1.73'],
        ['b', 'b', '2'],
      ],
    },
  ],
  [
    'empty cells',
    'key,value\na,\n,2\n',
    {
      rows: [
        ['a', 'a', ''],
        ['', '', '2'],
      ],
    },
  ],
  [
    'empty lines and lines of commas',
    'key,value\n\na,1\n\n,\n  \nb,2\n\n',
    {
      rows: [
        ['a', 'a', '1'],
        ['b', 'b', '2'],
      ],
    },
  ],
  [
    'commas that a spreadsheet leaves behind',
    'key,value,,\na,1,,\nb,2\n',
    {
      rows: [
        ['a', 'a', '1'],
        ['b', 'b', '2'],
      ],
    },
  ],
  [
    'a row too short, one too long',
    'key,value\na\nb,2,3\nc,3\n',
    {
      rows: [['c', 'c', '3']],
      problems: [
        `2: The row has 1 cell, but the header has 2; ${RAGGED}`,
        `3: The row has 3 cells, but the header has 2; ${RAGGED}`,
      ],
    },
  ],
  [
    'a quote that is never closed',
    'key,value\na,1\n"b,2\nc,3\n',
    {
      rows: [['a', 'a', '1']],
      problems: ['3: A quote is opened in this line and never closed. Close or double it.'],
    },
  ],
  [
    'text after a quote',
    'key,value\n"5" pipe,1\nb,2\n',
    {
      rows: [['b', 'b', '2']],
      problems: ['2: There is text after a closing quote. Double the quotes that belong to a cell.'],
    },
  ],
  ['a quote inside a cell', 'key,value\n5" pipe,1\n', { rows: [['5" pipe', '5" pipe', '1']] }],
  [
    'a header in other letters',
    'KEY,Value\na,1\n',
    {
      rows: [['a', 'a', '1']],
      warnings: [
        "Line 1: The column 'KEY' is read as 'key'; write it that way.",
        "Line 1: The column 'Value' is read as 'value'; write it that way.",
      ],
    },
  ],
  ['no file at all', '', { problems: ['1: The file is empty; its first line must name the columns.'] }],
  [
    'blank lines only',
    '\n \n,,\n',
    { problems: ['1: The file is empty; its first line must name the columns.'] },
  ],
  [
    'a header only',
    'key,value\n',
    { rows: [], problems: [], warnings: ['Line 1: The table has no rows below its header.'] },
  ],
  [
    'line ends that were lost',
    'key,valuea,1b,2',
    {
      rows: [],
      warnings: [
        'Line 1: The table has no rows below its header. It is a single line; if its line ends were lost in transfer, preserve them (curl: --data-binary).',
      ],
    },
  ],
  [
    'a column without a name',
    'key,,value\na,b,1\n',
    { problems: ['1: Column 2 of the header has no name; name it.'] },
  ],
  [
    'a column named twice',
    'key,value,key\na,1,b\n',
    { problems: ["1: The header contains the column 'key' twice; rename one of them."] },
  ],
  [
    'UTF-16',
    new Uint8Array([0xff, 0xfe, 0x6b, 0, 0x2c, 0, 0x0a, 0]),
    {
      problems: ['1: The text is not UTF-8 from this line on; save the file as UTF-8.'],
    },
  ],
  [
    'Latin-1 in line 3',
    Buffer.from('key,value\na,1\nM\xfcller,2\n', 'latin1'),
    {
      problems: ['3: The text is not UTF-8 from this line on; save the file as UTF-8.'],
    },
  ],
  [
    'an end within a character',
    new Uint8Array([...Buffer.from('key,value\na,1\n'), 0xc3]),
    {
      problems: ['3: The text is not UTF-8 from this line on; save the file as UTF-8.'],
    },
  ],
  [
    'letters of any script',
    'key,value\nMüller,é\n東京,🚗\n',
    {
      rows: [
        ['Müller', 'Müller', 'é'],
        ['東京', '東京', '🚗'],
      ],
    },
  ],
  [
    'semicolons',
    'key;value\na;1\n',
    {
      problems: [
        '1: Cells are separated by commas, but the header by semicolons; save the file as CSV with commas.',
      ],
    },
  ],
  [
    'tabs',
    'key\tvalue\na\t1\n',
    {
      problems: [
        '1: Cells are separated by commas, but the header by tabs; save the file as CSV with commas.',
      ],
    },
  ],
  ['semicolons within cells', 'key,value\na;b,1\n', { rows: [['a;b', 'a;b', '1']] }],
  [
    'NUL',
    'key,value\na\0,1\n',
    { rows: [], problems: ["2: The cell 'key' has a NUL character, which cannot be stored."] },
  ],
  [
    'the separator of keys',
    'key,value\na\u001fb,1\n',
    { rows: [], problems: ["2: The key 'key' contains the control character U+001F; remove it."] },
  ],
  [
    'a cell too long',
    `key,value\na,${'x'.repeat(8_193)}\n`,
    {
      rows: [],
      problems: ['2: A cell has more than 8192 characters. Shorten it.'],
    },
  ],
  [
    'a cell just short enough',
    `key,value\na,${'x'.repeat(8_192)}\n`,
    { rows: [['a', 'a', 'x'.repeat(8_192)]] },
  ],
  [
    '201 columns',
    `${Array.from({ length: 201 }, (_, at) => `c${at}`).join()}\n`,
    {
      problems: ['1: The row has more than 200 cells. Remove some of them.'],
    },
  ],
]

describe('an untidy CSV', () => {
  it.each(CORPUS)('is read or rejected as expected: %s', async (_, content, expected) => {
    const whole = await read(content)
    expect(whole).toMatchObject({
      problems: [],
      warnings: [],
      ...expected,
    })
    // The result is the same no matter how the file is cut into pieces.
    for (const pieceBytes of [1, 2, 3, 7]) {
      const { rows, problems, warnings } = await read(content, { pieceBytes })
      expect([problems, warnings]).toEqual([whole.problems, whole.warnings])
      // Rows before invalid bytes may be read or not.
      if (!problems[0]?.includes('UTF-8')) expect(rows).toEqual(whole.rows)
    }
  })

  it('is checked column by column if its table is declared', async () => {
    const declared: TableDeclaration = {
      columns: [
        { name: 'territory', dataType: 'int', isKey: true },
        { name: 'state', dataType: 'string', isKey: true },
        { name: 'rate', dataType: 'decimal', isKey: false },
        { name: 'limit', dataType: 'long', isKey: false },
        { name: 'ends', dataType: 'datetime', isKey: false },
      ],
      selectionTimeBasis: 'policyStartTime',
    }
    const header = 'state,territory,Rate,limit,ends,note'
    const { rows, problems, warnings } = await read(
      [
        header,
        'CA,07,1.50,9223372036854775807,2026-01-01T00:00:00+02:00,',
        'CA,7.5,1,1,,',
        'CA,,1,1,,',
        'CA,2147483648,1,1,,',
        'CA,8,1e3,9223372036854775808,2026-13-01T00:00,',
        ',-9,.5,,,x',
      ].join('\n'),
      { declared },
    )
    // Keys are in the order in which they are declared.
    expect(rows.map(([key]) => key)).toEqual(['7\u001fCA', '-9\u001f'])
    expect(warnings).toEqual(["Line 1: The column 'Rate' is read as 'rate'; write it that way."])
    expect(problems).toEqual([
      "3: The cell 'territory' is not a whole number of at most 32 bits.",
      "4: The key 'territory' is empty; a key of this type must have a value.",
      "5: The cell 'territory' is not a whole number of at most 32 bits.",
      "6: The cell 'rate' is not a plain decimal number.",
      "6: The cell 'limit' is not a whole number of at most 64 bits.",
      "6: The cell 'ends' is not a time such as 2026-11-21T12:00:00Z.",
    ])
  })

  it('has the keys that its header implies if its table is not declared', async () => {
    const keysOf = async (header: string, kind: TableKind = 'table') => {
      const cells = header.split(',').map((_, at) => String(at + 1))
      return (await read(`${header}\n${cells.join()}\n`, { kind })).rows[0]![0].split('\u001f')
    }
    expect(await keysOf('key,value')).toEqual(['1'])
    expect(await keysOf('state,class,value')).toEqual(['1', '2'])
    expect(await keysOf('value,state,class')).toEqual(['2', '3'])
    expect(await keysOf('code,rate,note')).toEqual(['1'])
    expect(await keysOf('state,rangeStart,rangeEnd,value', 'rangeTable')).toEqual(['1'])
    expect(await keysOf('state,rangeStart,rate', 'rangeTable')).toEqual(['1'])
    expect(await keysOf('rangeStart,rate', 'rangeTable')).toEqual([''])
    expect((await read('from,to\n1,2\n', { kind: 'rangeTable' })).problems).toEqual([
      "1: A range table needs a column 'rangeStart'; add it, or declare the table in config.json.",
    ])
  })

  it('is rejected with more than a million rows', async () => {
    const million = new TextEncoder().encode(`key\n${'a\n'.repeat(1_000_001)}`)
    await expect(read(million)).rejects.toThrow('The table has more than 1,000,000 rows')
  })
})

const inMemory = (bytes: Uint8Array): RangedFile => ({
  sizeBytes: bytes.length,
  read: async (offset, length) => bytes.subarray(offset, offset + length),
})

async function unpacked(bytes: Uint8Array, held = new MemoryUse()): Promise<string> {
  const file = inMemory(bytes)
  const parts: Uint8Array[] = []
  const source = await csvSource(file)
  for await (const piece of csvBytes(file, source, held)) parts.push(piece.slice())
  return Buffer.concat(parts).toString('utf8')
}

const zipped = (files: Record<string, string>, level: 0 | 9 = 9): Uint8Array =>
  zipSync(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [name, [Buffer.from(text), { level }]])),
  )

const refusalOf = (bytes: Uint8Array): Promise<string> =>
  unpacked(bytes).then(
    () => 'read',
    (problem: Refusal) => {
      expect(problem).toBeInstanceOf(Refusal)
      return `${problem.status}: ${problem.message}`
    },
  )

describe('a file with a table', () => {
  it('is the CSV, or a zip with it and the files that systems leave behind', async () => {
    expect(await unpacked(Buffer.from('key,value\n'))).toBe('key,value\n')
    for (const level of [0, 9] as const)
      expect(
        await unpacked(
          zipped(
            { 'rates/Rates.CSV': 'key,value\na,1\n', '__MACOSX/._Rates.CSV': 'x', '.DS_Store': 'x' },
            level,
          ),
        ),
      ).toBe('key,value\na,1\n')
    expect(await unpacked(zipped({ 'a.csv': '' }))).toBe('')
  })

  it('is rejected with the reason if it is any other zip', async () => {
    expect(await refusalOf(zipped({}))).toBe('400: The zip must contain exactly one CSV, but is empty.')
    expect(await refusalOf(zipped({ 'a.csv': '1', 'b/c.csv': '2' }))).toBe(
      "400: The zip must contain exactly one CSV, but contains 'a.csv', 'b/c.csv'.",
    )
    expect(await refusalOf(zipped({ 'in.zip': 'PK\x03\x04' }))).toBe(
      "400: The zip must contain exactly one CSV, but contains 'in.zip'.",
    )
    expect(await refusalOf(zipped({ 'a.csv': 'PK\x03\x04' }))).toBe(
      '400: The zip contains another zip; put the CSV itself into the zip.',
    )
    const sound = zipped({ 'a.csv': 'key,value\n'.repeat(1_000) })
    expect(await refusalOf(sound.subarray(0, sound.length - 30))).toMatch(/^400: The zip cannot be read: /)
    for (let at = 40; at < 60; at += 1) {
      const broken = sound.slice()
      broken[at]! ^= 0xff
      expect(await refusalOf(broken)).toMatch(/^400: The zip is damaged/)
    }
  })

  it('is never held with more than 8 MiB in memory, no matter how well it is compressed', async () => {
    const held = new MemoryUse()
    const long = 'x,'.repeat(size(6, 20) * 1_048_576)
    expect((await unpacked(zipped({ 'a.csv': long }), held)).length).toBe(long.length)
    expect(held.most).toBeGreaterThan(0)
    expect(held.most).toBeLessThan(MOST_HELD_BYTES - 2 * 1_000_000)
  })
})
