// Writes lines as Parquet, a row group at a time. Two numbers are enough to continue, so that another alarm can write the next
// row groups. The metadata of each row group, which the footer needs, is stored separately and read once.
import type { RowGroup, SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer/src/index.js'
import { type CurrencyCode, minorDigits } from '../../kernel/money.ts'
import type { Layout } from '../columns.ts'
import type { Cell, Column } from '../kind.ts'

/** The number of decimal places of every amount: more than any currency has, because a column contains several currencies. */
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
      // Decimal text of arbitrary precision remains text.
      return { ...element, type: 'BYTE_ARRAY', converted_type: 'UTF8' }
  }
}

const schemaOf = ({ columns }: Layout): SchemaElement[] => [
  { name: 'root', num_children: columns.length },
  ...columns.map(elementOf),
]

/** The position so far: bytes and rows. */
export type ParquetState = { readonly offset: number; readonly rows: number }

/**
 * A file that is being written. Each call returns the bytes that follow. The first row group begins with the header of the file.
 */
export class ParquetFile {
  readonly #layout: Layout
  readonly #writer = new ByteWriter()
  readonly #parquet: ParquetWriter

  constructor(layout: Layout, state: ParquetState | undefined) {
    this.#layout = layout
    this.#parquet = new ParquetWriter({
      writer: this.#writer,
      schema: schemaOf(layout),
      createdBy: 'bindery',
    })
    if (!state) return
    this.#writer.index = 0
    this.#writer.offset = state.offset
    this.#parquet.num_rows = BigInt(state.rows)
  }

  rowGroup(lines: readonly (readonly Cell[])[]): Uint8Array {
    const { columns, currency } = this.#layout
    this.#parquet.write({
      columnData: columns.map((column, at) => ({
        name: column.name,
        data: lines.map(line => parquetValue(line[at] ?? null, column, line[currency] as CurrencyCode)),
        columnIndex: false,
        offsetIndex: false,
      })),
      rowGroupSize: lines.length,
    })
    return this.#taken()
  }

  /** Returns the metadata of the row groups written by this object, as a line of JSON for each. */
  groups(): string {
    return this.#parquet.row_groups.map(group => `${JSON.stringify(group, packed)}\n`).join('')
  }

  /**
   * Returns the footer of the file. `groupsBefore` are the lines of all row groups before those of this object. A file without
   * row groups has only header and footer.
   */
  end(groupsBefore: Iterable<string>): Uint8Array {
    const before = [...groupsBefore].map(line => JSON.parse(line, unpacked) as RowGroup)
    this.#parquet.row_groups = [...before, ...this.#parquet.row_groups]
    this.#parquet.finish()
    const bytes = this.#taken()
    return this.#parquet.num_rows === 0n ? withListOfStructs(bytes) : bytes
  }

  #taken(): Uint8Array {
    const bytes = this.#writer.getBytes().slice()
    this.#writer.index = 0
    return bytes
  }

  state(): ParquetState {
    return { offset: this.#writer.offset, rows: Number(this.#parquet.num_rows) }
  }
}

function packed(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return { bigint: String(value) }
  return value instanceof Uint8Array ? { bytes: [...value] } : value
}

function unpacked(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if ('bigint' in value) return BigInt(String(value.bigint))
  return 'bytes' in value ? new Uint8Array(value.bytes as number[]) : value
}

/** In the footer: the number of rows, which is 0, and an empty list without a type. */
const NO_ROW_GROUPS = [0x16, 0x00, 0x19, 0x00]
const EMPTY_LIST_OF_STRUCTS = 0x0c

/** Strict readers (Arrow's in Rust) reject an empty list of row groups unless it is a list of structs. */
function withListOfStructs(bytes: Uint8Array): Uint8Array {
  const at = bytes.findLastIndex((_, from) =>
    NO_ROW_GROUPS.every((byte, next) => bytes[from + next] === byte),
  )
  if (at >= 0) bytes[at + NO_ROW_GROUPS.length - 1] = EMPTY_LIST_OF_STRUCTS
  return bytes
}

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
