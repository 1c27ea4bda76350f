// Parquet files as data warehouses read them: with the Rust implementation of Arrow, which shares no code with the writer.
import { type Table, tableFromIPC } from 'apache-arrow'
import { readParquet } from 'parquet-wasm'
import { describe, expect, it } from 'vitest'
import type { Layout } from '../../src/reporting/columns.ts'
import { ParquetFile } from '../../src/reporting/files/parquet.ts'
import type { Cell } from '../../src/reporting/kind.ts'

const LINES = 2_500

const layout: Layout = {
  columns: [
    { name: 'policyLocator', type: 'text', about: '' },
    { name: 'currency', type: 'text', about: '' },
    { name: 'at', type: 'time', about: '' },
    { name: 'count', type: 'integer', about: '', isMeasure: true },
    { name: 'amount', type: 'amount', about: '', isMeasure: true },
  ],
  dimensions: 0,
  currency: 1,
  measures: [3, 4],
  cellsOf: () => [],
}

const CURRENCIES = ['EUR', 'JPY', 'BHD'] as const
const DIGITS = { EUR: 2, JPY: 0, BHD: 3 }

const lineOf = (at: number): [string, (typeof CURRENCIES)[number], number | null, number, number] => [
  `Zürich – 東京 🚲 ${at}`,
  CURRENCIES[at % 3]!,
  at % 7 === 0 ? null : 1_795_000_000_000 + at,
  at % 5,
  at % 2 === 0 ? at * 1_000_003 : -at,
]

/** Writes row groups as alarms do: each with a new writer that continues from the state of the previous one. */
function written(lines: readonly Cell[][], size: number): Uint8Array {
  const pieces: Uint8Array[] = []
  let groups = ''
  let file = new ParquetFile(layout, undefined)
  for (let at = 0; at < lines.length; at += size) {
    pieces.push(file.rowGroup(lines.slice(at, at + size)))
    groups += file.groups()
    file = new ParquetFile(layout, file.state())
  }
  return new Uint8Array(Buffer.concat([...pieces, file.end(groups.split('\n').filter(Boolean))]))
}

const readBack = (bytes: Uint8Array): Table => tableFromIPC(readParquet(bytes).intoIPCStream())

/** Ten-thousandths, from 128-bit two's complement. */
const decimal = (value: unknown): bigint => {
  const words = [...(value as Uint32Array)].map(BigInt)
  return BigInt.asIntN(
    128,
    words.reduce((sum, word, at) => sum + (word << BigInt(32 * at)), 0n),
  )
}

describe('a Parquet file', () => {
  it('contains every cell with types that data warehouses support', () => {
    const lines = Array.from({ length: LINES }, (_, at) => lineOf(at))
    const table = readBack(written(lines, 1_000))
    expect(table.schema.fields.map(({ name, type }) => `${name}: ${type}`)).toEqual([
      'policyLocator: Utf8',
      'currency: Utf8',
      'at: Timestamp<MILLISECOND, UTC>',
      'count: Int64',
      'amount: Decimal[18e+4]',
    ])
    expect(table.numRows).toBe(LINES)
    const read = table.toArray().map(row => row.toJSON())
    expect(
      read.map(({ policyLocator, currency, at, count }) => [policyLocator, currency, at, Number(count)]),
    ).toEqual(lines.map(line => line.slice(0, 4)))
    for (const currency of CURRENCIES) {
      const sum = read
        .filter(one => one.currency === currency)
        .reduce((total, one) => total + decimal(one.amount), 0n)
      const minor = lines.filter(line => line[1] === currency).reduce((total, line) => total + line[4], 0)
      expect(sum).toBe(BigInt(minor) * 10n ** BigInt(4 - DIGITS[currency]))
    }
  })

  it('is the same whether one writer or several wrote it', () => {
    const lines = Array.from({ length: 300 }, (_, at) => lineOf(at))
    const file = new ParquetFile(layout, undefined)
    const first = file.rowGroup(lines.slice(0, 150))
    const atOnce = Buffer.concat([first, file.rowGroup(lines.slice(150)), file.end([])])
    expect(Buffer.compare(Buffer.from(written(lines, 150)), atOnce)).toBe(0)
  })

  it('without lines is a table without rows', () => {
    expect(readBack(written([], 10)).numRows).toBe(0)
  })
})
