import { Inflate, inflateSync } from 'fflate'
import { crc32 } from './crc32.ts'
import type { DirectoryEntry } from './directory.ts'
import { ArchiveRefused } from './refusal.ts'

const LOCAL_SIGNATURE = 0x04034b50
const LOCAL_BYTES = 30
/** Compressed bytes inflated at once: deflate unpacks at most 1032-fold, so at most 8 MiB at a time. */
const STEP_BYTES = 8_192
/** Enough packed bytes to hold the longest block header and the first letters after it. */
const PREFIX_BYTES = 320

const damaged = (path: string, what: string): ArchiveRefused =>
  new ArchiveRefused('damagedArchive', `'${path}' ${what}. Make the archive again and upload that.`, path)

type DataRange = { start: number; end: number }

/** Where the entry's local header begins and its packed bytes end. Throws `ArchiveRefused` when outside the zip. */
export function entryRange(zip: Uint8Array, entry: DirectoryEntry, path: string): DataRange {
  const start = dataStart(zip, entry, path)
  const end = start + entry.compressedBytes
  if (end > zip.byteLength) throw damaged(path, 'is cut off in the zip')
  return { start: entry.headerOffset, end }
}

function dataStart(zip: Uint8Array, entry: DirectoryEntry, path: string): number {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength)
  const at = entry.headerOffset
  if (at + LOCAL_BYTES > zip.byteLength || view.getUint32(at, true) !== LOCAL_SIGNATURE)
    throw damaged(path, 'is listed in the zip but is not there')
  return at + LOCAL_BYTES + view.getUint16(at + 26, true) + view.getUint16(at + 28, true)
}

/**
 * The unpacked bytes. Stops as soon as more come out than the directory declares, so memory and work are bounded
 * by the sizes that were checked. Throws `ArchiveRefused`.
 */
export function entryContent(zip: Uint8Array, entry: DirectoryEntry, path: string): Uint8Array {
  const packed = packedBytes(zip, entry, path)
  const content = entry.method === 0 ? packed : inflate(packed, entry.sizeBytes, path)
  if (content.byteLength !== entry.sizeBytes) throw damaged(path, 'is not as long as the zip says')
  if (crc32(content) !== entry.crc32) throw damaged(path, 'does not match its checksum')
  return content
}

/**
 * Throws `ArchiveRefused` unless the entry unpacks to as many bytes as the directory declares. Holds none of them,
 * and stops as `entryContent` does.
 */
export function checkSize(zip: Uint8Array, entry: DirectoryEntry, path: string): void {
  const packed = packedBytes(zip, entry, path)
  let length = packed.byteLength
  if (entry.method !== 0)
    length =
      length <= STEP_BYTES
        ? inflate(packed, entry.sizeBytes, path).byteLength
        : inflateInSteps(packed, entry.sizeBytes, path, () => {})
  if (length !== entry.sizeBytes) throw damaged(path, 'is not as long as the zip says')
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
    // One byte more than declared: what does not fit is dropped, and a filled buffer tells.
    return inflateSync(packed, { out: new Uint8Array(sizeBytes + 1) })
  } catch {
    throw damaged(path, 'cannot be unpacked')
  }
}

/** The unpacked bytes one after the other to `take`, and how many they were. */
function inflateInSteps(
  packed: Uint8Array,
  sizeBytes: number,
  path: string,
  take: (chunk: Uint8Array, at: number) => void,
): number {
  let length = 0
  const stream = new Inflate(chunk => {
    if (length + chunk.byteLength > sizeBytes) throw damaged(path, 'is longer than the zip says')
    take(chunk, length)
    length += chunk.byteLength
  })
  try {
    for (let at = 0; at < packed.byteLength; at += STEP_BYTES)
      stream.push(packed.subarray(at, at + STEP_BYTES), at + STEP_BYTES >= packed.byteLength)
    return length
  } catch (error) {
    throw error instanceof ArchiveRefused ? error : damaged(path, 'cannot be unpacked')
  }
}

/** Whether the unpacked bytes begin like a zip. Unpacks no more than the beginning. */
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
    // It always ends early; what came before is in `first`.
  }
  return isZipMagic(first)
}

const UNCOMPRESSED_BLOCK_HEADER_BYTES = 5
const END_OF_SMALLEST_ZIP = 22

const isZipMagic = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 &&
  bytes[1] === 0x4b &&
  ((bytes[2] === 3 && bytes[3] === 4) || (bytes[2] === 5 && bytes[3] === 6))
