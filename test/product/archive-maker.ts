import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { strToU8, type Zippable, zipSync } from 'fflate'

export type ArchiveContent = Record<string, string | Uint8Array | object>

/** Returns a zip of the files. Objects are written as JSON. Level 0 stores the files as they are, which takes less time. */
export function zipOf(files: ArchiveContent, level: 0 | 6 = 6): Uint8Array {
  const zippable: Zippable = {}
  for (const [path, content] of Object.entries(files))
    zippable[path] =
      content instanceof Uint8Array
        ? content
        : strToU8(typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  return zipSync(zippable, { level })
}

/** Returns all files below a folder, by path. */
export function filesOf(folder: string): ArchiveContent {
  const files: ArchiveContent = {}
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const path = join(entry.parentPath, entry.name)
      files[path.slice(folder.length + 1)] = readFileSync(path)
    }
  return files
}

/** One entry of a hand-made zip. Missing properties are derived from the content, which is stored uncompressed. */
export type RawEntry = {
  name: string | Uint8Array
  content?: Uint8Array
  method?: number
  flags?: number
  mode?: number
  crc32?: number
  packed?: Uint8Array
  sizeBytes?: number
  /** The offset of the local header, as the central directory states it. */
  headerOffset?: number
  /** Whether the directory gives sizes and offset in a 64-bit field. */
  isZip64?: boolean
}

/** Writes a zip byte by byte, so that its headers may contradict its content. */
export function rawZip(entries: readonly RawEntry[], entryCount = entries.length): Uint8Array {
  const locals: Uint8Array[] = []
  const directory: Uint8Array[] = []
  let offset = 0
  for (const entry of entries) {
    const name = typeof entry.name === 'string' ? strToU8(entry.name) : entry.name
    const content = entry.content ?? new Uint8Array()
    const packed = entry.packed ?? content
    const size = entry.sizeBytes ?? content.byteLength
    const crc = entry.crc32 ?? crc32(content)
    const local = new DataView(new ArrayBuffer(30))
    local.setUint32(0, 0x04034b50, true)
    local.setUint16(8, entry.method ?? 0, true)
    local.setUint16(26, name.byteLength, true)
    locals.push(new Uint8Array(local.buffer), name, packed)
    const record = new DataView(new ArrayBuffer(46))
    record.setUint32(0, 0x02014b50, true)
    record.setUint16(8, entry.flags ?? 0, true)
    record.setUint16(10, entry.method ?? 0, true)
    record.setUint32(16, crc, true)
    const wide = new DataView(new ArrayBuffer(entry.isZip64 ? 28 : 0))
    const sizes = [size, packed.byteLength, entry.headerOffset ?? offset]
    if (entry.isZip64) {
      wide.setUint16(0, 1, true)
      wide.setUint16(2, 24, true)
      for (const [index, value] of sizes.entries()) wide.setBigUint64(4 + index * 8, BigInt(value), true)
    }
    for (const [index, at] of [24, 20, 42].entries())
      record.setUint32(at, entry.isZip64 ? 0xffffffff : sizes[index]!, true)
    record.setUint16(28, name.byteLength, true)
    record.setUint16(30, wide.byteLength, true)
    record.setUint32(38, ((entry.mode ?? 0) << 16) >>> 0, true)
    directory.push(new Uint8Array(record.buffer), name, new Uint8Array(wide.buffer))
    offset += 30 + name.byteLength + packed.byteLength
  }
  const directoryBytes = Buffer.concat(directory)
  const end = new DataView(new ArrayBuffer(22))
  end.setUint32(0, 0x06054b50, true)
  end.setUint16(8, entryCount, true)
  end.setUint16(10, entryCount, true)
  end.setUint32(12, directoryBytes.byteLength, true)
  end.setUint32(16, offset, true)
  return new Uint8Array(Buffer.concat([...locals, directoryBytes, new Uint8Array(end.buffer)]))
}
