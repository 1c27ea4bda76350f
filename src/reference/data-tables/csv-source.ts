// The CSV of an uploaded file: the file itself, or the only entry of a zip. It is read from storage in ranges, and downloaded as a
// zip.
import { Inflate } from 'fflate'
import { crc32 } from '../../../packages/zip/crc32.ts'
import { type DirectoryEntry, readDirectory } from '../../../packages/zip/directory.ts'
import { entryPath, isJunk } from '../../../packages/zip/entry-path.ts'
import { ArchiveRefused } from '../../../packages/zip/refusal.ts'
import { Refusal, tooLarge } from '../../kernel/errors.ts'
import { LARGEST_TABLE_BYTES } from './layout.ts'

export type RangedFile = {
  readonly sizeBytes: number
  read(offset: number, length: number): Promise<Uint8Array>
}

/** The location of the CSV in its file: the bytes at `offset`, packed by `method` (0 stored, 8 deflate). */
export type CsvSource = {
  readonly offset: number
  readonly packedBytes: number
  readonly method: 0 | 8
  /** For an entry of a zip, the size that its directory declares. */
  readonly sizeBytes?: number
  readonly crc32?: number
}

const RANGE_BYTES = 1_048_576
/** Packed bytes that are unpacked in one step. Deflate expands at most 1032-fold, so the result has at most about 4 MiB. */
const STEP_BYTES = 4_096
const PIECE_BYTES = 65_536
/** The end of a zip that is read for its directory. A zip with one file needs some hundred bytes. */
const TAIL_BYTES = 1_048_576
const LOCAL_HEADER_BYTES = 30
const ENCRYPTED = 0x0001 | 0x0040 | 0x2000

const invalidTableRefusal = (message: string): Refusal => new Refusal('invalidTable', message)

/** Finds the CSV. Rejects with 400 a zip that cannot be read or does not contain exactly one CSV. */
export async function csvSource(file: RangedFile): Promise<CsvSource> {
  const head = await file.read(0, Math.min(4, file.sizeBytes))
  if (!beginsLikeZip(head)) return { offset: 0, packedBytes: file.sizeBytes, method: 0 }
  const entry = await findOnlyCsv(file)
  if (entry.flags & ENCRYPTED)
    throw invalidTableRefusal('The CSV in the zip is encrypted; create the zip without a password.')
  if (entry.method !== 0 && entry.method !== 8)
    throw invalidTableRefusal(
      `The CSV in the zip is compressed by method ${entry.method}; create the zip with the usual method, deflate.`,
    )
  if (entry.sizeBytes > LARGEST_TABLE_BYTES)
    throw tooLarge(
      `The CSV in the zip has more than ${LARGEST_TABLE_BYTES / 1_048_576} MiB; split it into several tables.`,
    )
  const local = await file.read(entry.headerOffset, LOCAL_HEADER_BYTES)
  const view = new DataView(local.buffer, local.byteOffset, local.byteLength)
  if (local.byteLength < LOCAL_HEADER_BYTES || view.getUint32(0, true) !== 0x04034b50)
    throw damagedZipRefusal()
  const offset = entry.headerOffset + LOCAL_HEADER_BYTES + view.getUint16(26, true) + view.getUint16(28, true)
  if (offset + entry.compressedBytes > file.sizeBytes) throw damagedZipRefusal()
  const { method, sizeBytes } = entry
  return { offset, packedBytes: entry.compressedBytes, method, sizeBytes, crc32: entry.crc32 }
}

const damagedZipRefusal = (): Refusal =>
  invalidTableRefusal('The zip is damaged: its contents do not match its directory; create it again.')

/** Whether the bytes begin like those of a zip, even an empty one. */
export const beginsLikeZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 &&
  bytes[1] === 0x4b &&
  ((bytes[2] === 3 && bytes[3] === 4) || (bytes[2] === 5 && bytes[3] === 6))

async function findOnlyCsv(file: RangedFile): Promise<DirectoryEntry> {
  const before = Math.max(0, file.sizeBytes - TAIL_BYTES)
  let entries: { entry: DirectoryEntry; path: string }[]
  try {
    entries = readDirectory(await file.read(before, file.sizeBytes - before), before)
      .map(entry => ({ entry, ...entryPath(entry.name) }))
      .filter(({ path, isFolder }) => !isFolder && !isJunk(path))
  } catch (problem) {
    if (problem instanceof ArchiveRefused)
      throw invalidTableRefusal(`The zip cannot be read: ${problem.message}`)
    throw problem
  }
  const [only, ...others] = entries
  if (only && others.length === 0 && /\.csv$/i.test(only.path)) return only.entry
  if (entries.some(({ path }) => path === '[Content_Types].xml'))
    throw invalidTableRefusal('The file is a workbook; save the sheet as CSV (UTF-8, commas) and send that.')
  const named = entries
    .slice(0, 5)
    .map(({ path }) => `'${path}'`)
    .join(', ')
  throw invalidTableRefusal(
    `The zip must contain exactly one CSV, but ${named === '' ? 'is empty' : `contains ${named}${entries.length > 5 ? ` and ${entries.length - 5} more` : ''}`}.`,
  )
}

/** Yields the CSV's bytes in pieces of at most 64 KiB. Rejects with 400 contents that do not match the zip's size or checksum. */
export async function* csvBytes(
  file: RangedFile,
  source: CsvSource,
  held = new MemoryUse(),
): AsyncGenerator<Uint8Array, void, undefined> {
  let [length, sum] = [0, 0]
  for await (const piece of inflateEntry(file, source, held)) {
    if (length === 0 && beginsLikeZip(piece))
      throw invalidTableRefusal('The zip contains another zip; put the CSV itself into the zip.')
    length += piece.length
    if (source.sizeBytes !== undefined) {
      if (length > source.sizeBytes) throw damagedZipRefusal()
      sum = crc32(piece, sum)
    }
    yield piece
  }
  if (source.sizeBytes !== undefined && (length !== source.sizeBytes || sum !== source.crc32))
    throw damagedZipRefusal()
}

async function* inflateEntry(
  file: RangedFile,
  source: CsvSource,
  held: MemoryUse,
): AsyncGenerator<Uint8Array> {
  const out: Uint8Array[] = []
  const inflate = new Inflate(chunk => {
    held.hold(chunk.length)
    out.push(chunk)
  })
  let pushed = 0
  for await (const range of packedRanges(file, source)) {
    held.hold(range.length)
    if (source.method === 0) yield* splitBytes(range)
    else
      for (let at = 0; at < range.length; at += STEP_BYTES) {
        try {
          const step = range.subarray(at, at + STEP_BYTES)
          pushed += step.length
          inflate.push(step, pushed === source.packedBytes)
        } catch {
          throw damagedZipRefusal()
        }
        for (const chunk of out.splice(0)) {
          yield* splitBytes(chunk)
          held.release(chunk.length)
        }
      }
    held.release(range.length)
  }
}

async function* packedRanges(
  file: RangedFile,
  { offset, packedBytes }: CsvSource,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < packedBytes; at += RANGE_BYTES) {
    const wanted = Math.min(RANGE_BYTES, packedBytes - at)
    const range = await file.read(offset + at, wanted)
    if (range.length !== wanted) throw new Error(`A range of ${wanted} bytes came with ${range.length}.`)
    yield range
  }
}

function* splitBytes(bytes: Uint8Array): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
}

export const MOST_HELD_BYTES = 8 * 1_048_576

/** Counts the bytes of one file in memory, at present and at most. An isolate's memory is shared, and nothing else measures it. */
export class MemoryUse {
  #now = 0
  #most = 0

  /** Holding more than `MOST_HELD_BYTES` is a fault of the service, so it throws an Error. */
  hold(bytes: number): void {
    this.#now += bytes
    this.#most = Math.max(this.#most, this.#now)
    if (this.#now > MOST_HELD_BYTES) throw new Error(`${this.#now} bytes of a file are in memory at once.`)
  }

  release(bytes: number): void {
    this.#now -= bytes
  }

  get most(): number {
    return this.#most
  }
}

const DEFLATE = 8
const UTF8_NAME = 0x0800
/** Flag: the sizes and the checksum follow the data. */
const DESCRIPTOR = 0x0008
const VERSION = 20
/** 1980-01-01. A fixed date, so that equal contents make an equal zip. */
const FIRST_DAY = 0x0021

type Sums = { crc: number; packed: number; size: number }

/** A zip of the CSV under this name: packed as in the file, or deflated while it is sent. */
export function zipOf(file: RangedFile, source: CsvSource, name: string): ReadableStream<Uint8Array> {
  const isPacked = source.sizeBytes !== undefined
  const sums: Sums = {
    crc: source.crc32 ?? 0,
    packed: isPacked ? source.packedBytes : 0,
    size: source.sizeBytes ?? 0,
  }
  const data = isPacked ? packedRanges(file, source) : deflateStream(csvBytes(file, source), sums)
  return streamOf(zip(new TextEncoder().encode(name), isPacked ? source.method : DEFLATE, data, sums))
}

function streamOf(bytes: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await bytes.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: () => void bytes.return(undefined),
  })
}

async function* deflateStream(bytes: AsyncGenerator<Uint8Array>, sums: Sums): AsyncGenerator<Uint8Array> {
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const piece of bytes) {
      sums.crc = crc32(piece, sums.crc)
      sums.size += piece.length
      yield piece
    }
  }
  const packed = streamOf(counted()).pipeThrough(
    new CompressionStream('deflate-raw') as unknown as ReadableWritablePair<Uint8Array, Uint8Array>,
  )
  const reader = packed.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    sums.packed += value.length
    yield value
  }
}

async function* zip(
  name: Uint8Array,
  method: number,
  data: AsyncGenerator<Uint8Array>,
  sums: Sums,
): AsyncGenerator<Uint8Array> {
  const fields = (): number[][] => [
    ...[VERSION, UTF8_NAME | DESCRIPTOR, method, 0, FIRST_DAY].map(u16),
    ...[sums.crc, sums.packed, sums.size].map(u32),
    ...[name.length, 0].map(u16),
  ]
  // When deflating, the sums are still zero here. They follow the data.
  const local = bytesOf(u32(0x04034b50), ...fields())
  yield local
  yield name
  yield* data
  yield bytesOf(u32(0x08074b50), u32(sums.crc), u32(sums.packed), u32(sums.size))
  const directoryAt = local.length + name.length + sums.packed + 16
  const entry = bytesOf(u32(0x02014b50), u16(VERSION), ...fields(), u16(0), u16(0), u16(0), u32(0), u32(0))
  yield entry
  yield name
  yield bytesOf(
    u32(0x06054b50),
    ...[0, 0, 1, 1].map(u16),
    u32(entry.length + name.length),
    u32(directoryAt),
    u16(0),
  )
}

const u16 = (value: number): number[] => [value & 0xff, (value >>> 8) & 0xff]
const u32 = (value: number): number[] => [...u16(value & 0xffff), ...u16(value >>> 16)]
const bytesOf = (...fields: number[][]): Uint8Array => Uint8Array.from(fields.flat())
