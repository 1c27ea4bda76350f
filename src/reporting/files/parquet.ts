// Lines as Parquet, a row group at a time. What is needed to go on is plain JSON, so another alarm can write the next row group.
import type { RowGroup, SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer/src/index.js'
import { type CurrencyCode, minorDigits } from '../../kernel/money.ts'
import type { Layout } from '../columns.ts'
import type { Cell, Column } from '../kind.ts'

/** Digits after the point of every amount: more than any currency has, since a column has several. */
const SCALE = 4

const elementOf = ({ name, type }: Column): SchemaElement => {
  const element = { name, repetition_type: 'OPTIONAL' as const }
  switch (type) {
    case 'amount':
      return { ...element, type: 'INT64', converted_type: 'DECIMAL', precision: 18, scale: SCALE }
    case 'integer':
      return { ...element, type: 'INT64' }
    case 'time':
      return { ...element, type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }
    default:
      // Decimal text of any precision stays text.
      return { ...element, type: 'BYTE_ARRAY', converted_type: 'UTF8' }
  }
}

const schemaOf = ({ columns }: Layout): SchemaElement[] => [
  { name: 'root', num_children: columns.length },
  ...columns.map(elementOf),
]

/** What is written so far, but for the bytes. */
export type ParquetState = { readonly offset: number; readonly rows: number; readonly groups: string }

/** Bytes of the row group of the lines, and the state after it. The first begins with the head of the file. */
export function rowGroupOf(
  lines: readonly (readonly Cell[])[],
  layout: Layout,
  state: ParquetState | undefined,
): { bytes: Uint8Array; state: ParquetState } {
  const { parquet, writer } = resumed(layout, state)
  parquet.write({
    columnData: layout.columns.map((column, at) => ({
      name: column.name,
      data: lines.map(line => parquetValue(line[at] ?? null, column, line[layout.currency] as CurrencyCode)),
      columnIndex: false,
      offsetIndex: false,
    })),
    rowGroupSize: lines.length,
  })
  return { bytes: new Uint8Array(writer.getBytes()), state: stateOf(parquet, writer) }
}

/** Bytes of the end of the file. A file without row groups is only head and end. */
export function parquetEnd(layout: Layout, state: ParquetState | undefined): Uint8Array {
  const { parquet, writer } = resumed(layout, state)
  parquet.finish()
  return new Uint8Array(writer.getBytes())
}

function resumed(layout: Layout, state: ParquetState | undefined) {
  const writer = new ByteWriter()
  const parquet = new ParquetWriter({ writer, schema: schemaOf(layout), createdBy: 'bindery' })
  if (state) {
    // The head was written with the first row group.
    writer.index = 0
    writer.offset = state.offset
    parquet.row_groups = readGroups(state.groups)
    parquet.num_rows = BigInt(state.rows)
  }
  return { parquet, writer }
}

const stateOf = (parquet: ParquetWriter, writer: ByteWriter): ParquetState => ({
  offset: writer.offset,
  rows: Number(parquet.num_rows),
  groups: JSON.stringify(parquet.row_groups, (_, value: unknown) =>
    typeof value === 'bigint'
      ? { bigint: String(value) }
      : value instanceof Uint8Array
        ? { bytes: [...value] }
        : value,
  ),
})

const readGroups = (text: string): RowGroup[] =>
  JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value
    if ('bigint' in value) return BigInt(String(value.bigint))
    return 'bytes' in value ? new Uint8Array(value.bytes as number[]) : value
  })

function parquetValue(cell: Cell, { type }: Column, currency: CurrencyCode): unknown {
  if (cell === null) return undefined
  switch (type) {
    case 'amount':
      return BigInt(cell) * 10n ** BigInt(SCALE - minorDigits(currency))
    case 'integer':
    case 'time':
      return BigInt(cell)
    default:
      return String(cell)
  }
}
