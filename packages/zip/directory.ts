import { Inflate, inflateSync } from 'fflate'
import { crc32 } from './crc32.ts'
import { ArchiveRefused } from './refusal.ts'

/** Includes folders (resources brief 10.3). */
const LARGEST_ENTRY_COUNT = 20_000

/** A record of the central directory, the only part of a zip whose sizes and names are trusted. */
export type DirectoryEntry = {
  name: Uint8Array
  flags: number
  /** 0 is stored, 8 is deflate. */
  method: number
  crc32: number
  compressedBytes: number
  sizeBytes: number
  headerOffset: number
  /** The Unix file mode; 0 if the archiver wrote none. */
  mode: number
}

const END_SIGNATURE = 0x06054b50
const END_64_SIGNATURE = 0x06064b50
const END_64_LOCATOR_SIGNATURE = 0x07064b50
const ENTRY_SIGNATURE = 0x02014b50
const END_BYTES = 22
const ENTRY_BYTES = 46
const LONGEST_COMMENT = 0xffff
const IN_ZIP64_FIELD_16 = 0xffff
const IN_ZIP64_FIELD_32 = 0xffffffff
const ZIP64_FIELD = 0x0001

const damagedArchiveError = (what: string): ArchiveRefused =>
  new ArchiveRefused(
    'damagedArchive',
    `The zip is damaged: ${what}. Create the archive again and upload the new one.`,
  )

/**
 * Returns the entries of the central directory. `before` is the number of bytes of the file ahead of `zip`. Throws
 * `ArchiveRefused`.
 */
export function readDirectory(zip: Uint8Array, before = 0): DirectoryEntry[] {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength)
  const end = findEnd(view, before)
  const tooMany = `The zip has ${end.entries} entries, but at most ${LARGEST_ENTRY_COUNT} are allowed. Remove files that the configuration does not use.`
  if (end.entries > LARGEST_ENTRY_COUNT) throw new ArchiveRefused('tooManyEntries', tooMany)
  const entries: DirectoryEntry[] = []
  let at = end.offset - before
  if (at < 0) throw damagedArchiveError('its table of contents is not at the recorded position')
  for (let index = 0; index < end.entries; index += 1) {
    if (at + ENTRY_BYTES > end.limit || view.getUint32(at, true) !== ENTRY_SIGNATURE)
      throw damagedArchiveError(`entry ${index + 1} of its table of contents is missing`)
    const nameBytes = view.getUint16(at + 28, true)
    const extraBytes = view.getUint16(at + 30, true)
    const next = at + ENTRY_BYTES + nameBytes + extraBytes + view.getUint16(at + 32, true)
    if (next > end.limit)
      throw damagedArchiveError(`entry ${index + 1} of its table of contents is truncated`)
    entries.push(readEntry(view, at, nameBytes, extraBytes))
    at = next
  }
  return entries
}

function readEntry(view: DataView, at: number, nameBytes: number, extraBytes: number): DirectoryEntry {
  const name = new Uint8Array(view.buffer, view.byteOffset + at + ENTRY_BYTES, nameBytes)
  const entry: DirectoryEntry = {
    name,
    flags: view.getUint16(at + 8, true),
    method: view.getUint16(at + 10, true),
    crc32: view.getUint32(at + 16, true),
    compressedBytes: view.getUint32(at + 20, true),
    sizeBytes: view.getUint32(at + 24, true),
    headerOffset: view.getUint32(at + 42, true),
    mode: view.getUint32(at + 38, true) >>> 16,
  }
  readZip64Field(view, at + ENTRY_BYTES + nameBytes, extraBytes, entry)
  return entry
}

/** Streaming archivers write 64-bit fields even for small files, so they are read. */
function readZip64Field(view: DataView, start: number, length: number, entry: DirectoryEntry): void {
  const end = start + length
  for (let at = start; at + 4 <= end; ) {
    const fieldEnd = at + 4 + view.getUint16(at + 2, true)
    if (view.getUint16(at, true) === ZIP64_FIELD && fieldEnd <= end) {
      let value = at + 4
      for (const key of ['sizeBytes', 'compressedBytes', 'headerOffset'] as const)
        if (entry[key] === IN_ZIP64_FIELD_32 && value + 8 <= fieldEnd) {
          entry[key] = Number(view.getBigUint64(value, true))
          value += 8
        }
    }
    at = fieldEnd
  }
}

type DirectoryEnd = { entries: number; offset: number; limit: number }

function findEnd(view: DataView, before: number): DirectoryEnd {
  const last = view.byteLength - END_BYTES
  for (let at = last; at >= Math.max(0, last - LONGEST_COMMENT); at -= 1)
    if (
      view.getUint32(at, true) === END_SIGNATURE &&
      at + END_BYTES + view.getUint16(at + 20, true) <= view.byteLength
    )
      return readEnd(view, at, before)
  if (view.byteLength >= 4 && view.getUint32(0, true) === LOCAL_SIGNATURE)
    throw damagedArchiveError('its end, with the table of contents, is missing')
  const message = 'The file is not a zip archive. Upload the configuration folder packed as .zip.'
  throw new ArchiveRefused('notAZip', message)
}

function readEnd(view: DataView, at: number, before: number): DirectoryEnd {
  const end = { entries: view.getUint16(at + 10, true), offset: view.getUint32(at + 16, true), limit: at }
  if (end.entries === IN_ZIP64_FIELD_16 || end.offset === IN_ZIP64_FIELD_32) {
    const locator = at - 20
    if (locator < 0 || view.getUint32(locator, true) !== END_64_LOCATOR_SIGNATURE) return end
    const end64 = Number(view.getBigUint64(locator + 8, true)) - before
    if (end64 < 0 || end64 + 56 > locator || view.getUint32(end64, true) !== END_64_SIGNATURE)
      throw damagedArchiveError('its 64-bit table of contents is missing')
    end.entries = Number(view.getBigUint64(end64 + 32, true))
    end.offset = Number(view.getBigUint64(end64 + 48, true))
    end.limit = end64
  }
  if (view.getUint16(at + 4, true) !== view.getUint16(at + 6, true))
    throw damagedArchiveError('it is one part of an archive split over several files')
  return end
}

const LOCAL_SIGNATURE = 0x04034b50
const LOCAL_BYTES = 30
/** Compressed bytes per step. Deflate expands at most 1,032-fold, so a step unpacks at most 8 MiB. */
const STEP_BYTES = 8_192
/** Enough compressed bytes for the longest block header and the first literals after it. */
const PREFIX_BYTES = 320

const damagedEntryError = (path: string, what: string): ArchiveRefused =>
  new ArchiveRefused(
    'damagedArchive',
    `'${path}' ${what}. Create the archive again and upload the new one.`,
    path,
  )

type DataRange = { start: number; end: number }

/**
 * Returns the start of the local header and the end of the compressed bytes. Throws `ArchiveRefused` if they are outside the
 * zip.
 */
export function entryRange(zip: Uint8Array, entry: DirectoryEntry, path: string): DataRange {
  const start = dataStart(zip, entry, path)
  const end = start + entry.compressedBytes
  if (end > zip.byteLength) throw damagedEntryError(path, 'is truncated in the zip')
  return { start: entry.headerOffset, end }
}

function dataStart(zip: Uint8Array, entry: DirectoryEntry, path: string): number {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength)
  const at = entry.headerOffset
  if (at + LOCAL_BYTES > zip.byteLength || view.getUint32(at, true) !== LOCAL_SIGNATURE)
    throw damagedEntryError(path, 'is listed in the zip, but its data is missing')
  return at + LOCAL_BYTES + view.getUint16(at + 26, true) + view.getUint16(at + 28, true)
}

/** Returns the unpacked bytes, and stops unpacking past the declared size. Throws `ArchiveRefused`. */
export function entryContent(zip: Uint8Array, entry: DirectoryEntry, path: string): Uint8Array {
  const packed = packedBytes(zip, entry, path)
  const content = entry.method === 0 ? packed : inflate(packed, entry.sizeBytes, path)
  if (content.byteLength !== entry.sizeBytes)
    throw damagedEntryError(path, 'does not have the size recorded in the zip')
  if (crc32(content) !== entry.crc32) throw damagedEntryError(path, 'does not match its checksum')
  return content
}

/** Unpacks the entry without keeping its bytes. Throws `ArchiveRefused` unless the size is the declared one. */
export function checkSize(zip: Uint8Array, entry: DirectoryEntry, path: string): void {
  const packed = packedBytes(zip, entry, path)
  let length = packed.byteLength
  if (entry.method !== 0)
    length =
      length <= STEP_BYTES
        ? inflate(packed, entry.sizeBytes, path).byteLength
        : inflateInSteps(packed, entry.sizeBytes, path, () => {})
  if (length !== entry.sizeBytes) throw damagedEntryError(path, 'does not have the size recorded in the zip')
}

function packedBytes(zip: Uint8Array, entry: DirectoryEntry, path: string): Uint8Array {
  const start = dataStart(zip, entry, path)
  return zip.subarray(start, start + entry.compressedBytes)
}

function inflate(packed: Uint8Array, sizeBytes: number, path: string): Uint8Array {
  if (packed.byteLength > STEP_BYTES) {
    const content = new Uint8Array(sizeBytes)
    const length = inflateInSteps(packed, sizeBytes, path, (chunk, at) => content.set(chunk, at))
    return content.subarray(0, length)
  }
  try {
    // One byte more than declared, so that a full buffer reveals an entry that is larger.
    return inflateSync(packed, { out: new Uint8Array(sizeBytes + 1) })
  } catch {
    throw damagedEntryError(path, 'cannot be unpacked')
  }
}

/** Passes the unpacked bytes to `take` in steps. Returns how many there are. */
function inflateInSteps(
  packed: Uint8Array,
  sizeBytes: number,
  path: string,
  take: (chunk: Uint8Array, at: number) => void,
): number {
  let length = 0
  const stream = new Inflate(chunk => {
    if (length + chunk.byteLength > sizeBytes)
      throw damagedEntryError(path, 'is longer than the size recorded in the zip')
    take(chunk, length)
    length += chunk.byteLength
  })
  try {
    for (let at = 0; at < packed.byteLength; at += STEP_BYTES)
      stream.push(packed.subarray(at, at + STEP_BYTES), at + STEP_BYTES >= packed.byteLength)
    return length
  } catch (error) {
    throw error instanceof ArchiveRefused ? error : damagedEntryError(path, 'cannot be unpacked')
  }
}

/** Whether the unpacked bytes begin like a zip. Unpacks only the beginning. */
export function beginsLikeZip(zip: Uint8Array, entry: DirectoryEntry, path: string): boolean {
  if (entry.sizeBytes < END_OF_SMALLEST_ZIP) return false
  const start = dataStart(zip, entry, path)
  const packed = zip.subarray(start, start + Math.min(entry.compressedBytes, PREFIX_BYTES))
  if (entry.method === 0) return isZipMagic(packed)
  const isUncompressedBlock = (packed[0]! & 0b110) === 0
  if (isUncompressedBlock) return isZipMagic(packed.subarray(UNCOMPRESSED_BLOCK_HEADER_BYTES))
  const first = new Uint8Array(4)
  try {
    inflateSync(packed, { out: first })
  } catch {
    // The prefix always ends early; `first` contains the bytes before that.
  }
  return isZipMagic(first)
}

const UNCOMPRESSED_BLOCK_HEADER_BYTES = 5
const END_OF_SMALLEST_ZIP = 22

const isZipMagic = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 &&
  bytes[1] === 0x4b &&
  ((bytes[2] === 3 && bytes[3] === 4) || (bytes[2] === 5 && bytes[3] === 6))
