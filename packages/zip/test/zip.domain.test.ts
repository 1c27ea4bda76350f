import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { crc32 } from '../crc32.ts'
import {
  beginsLikeZip,
  checkSize,
  type DirectoryEntry,
  entryContent,
  entryRange,
  readDirectory,
} from '../directory.ts'
import { entryPath } from '../entry-path.ts'
import { ArchiveRefused, type RefusalCode } from '../refusal.ts'

const long = strToU8('a line that comes again\n'.repeat(2_000))
const zip = zipSync({
  'a.txt': [strToU8('hello'), { level: 0 }],
  'folder/long.txt': long,
  'inner.bin': zipSync({ 'b.txt': strToU8('b') }),
})

const namesOf = (entries: DirectoryEntry[]): string[] => entries.map(entry => entryPath(entry.name).path)

function refusalCode(read: () => unknown): RefusalCode {
  try {
    read()
  } catch (error) {
    if (error instanceof ArchiveRefused) return error.code
    throw error
  }
  throw new Error('The archive was read.')
}

describe('A zip archive', () => {
  it('has the entries of its directory, stored or deflated, with their sizes and checksums', () => {
    const entries = readDirectory(zip)
    expect(namesOf(entries)).toEqual(['a.txt', 'folder/long.txt', 'inner.bin'])
    const [hello, packed, inner] = entries as [DirectoryEntry, DirectoryEntry, DirectoryEntry]
    expect(entryContent(zip, hello, 'a.txt')).toEqual(strToU8('hello'))
    expect(entryContent(zip, packed, 'folder/long.txt')).toEqual(long)
    expect(packed).toMatchObject({ method: 8, sizeBytes: long.length, crc32: crc32(long) })
    expect(() => checkSize(zip, packed, 'folder/long.txt')).not.toThrow()
    expect([hello, packed, inner].map(entry => beginsLikeZip(zip, entry, ''))).toEqual([false, false, true])
    expect(entryRange(zip, hello, 'a.txt').end).toBeLessThan(entryRange(zip, packed, '').end)
  })

  it('needs only its last bytes for its directory to be read', () => {
    const before = zip.length - 300
    expect(namesOf(readDirectory(zip.subarray(before), before))).toEqual(namesOf(readDirectory(zip)))
  })

  it('is rejected if it is not a zip, is truncated, or unpacks to more than it declares', () => {
    expect(refusalCode(() => readDirectory(strToU8('no zip at all, whatever it is called')))).toBe('notAZip')
    expect(refusalCode(() => readDirectory(zip.subarray(0, zip.length - 30)))).toBe('damagedArchive')
    const packed = { ...readDirectory(zip)[1]!, sizeBytes: long.length - 1 }
    expect(refusalCode(() => entryContent(zip, packed, 'folder/long.txt'))).toBe('damagedArchive')
    expect(refusalCode(() => checkSize(zip, packed, 'folder/long.txt'))).toBe('damagedArchive')
  })
})

describe('A damaged zip archive', () => {
  /** What a reader requires of an archive. Excludes sizes that a reader rejects before it unpacks anything. */
  const readAll = (bytes: Uint8Array): void => {
    for (const entry of readDirectory(bytes)) {
      entryRange(bytes, entry, 'x')
      beginsLikeZip(bytes, entry, 'x')
      if (entry.sizeBytes <= 1_000_000) checkSize(bytes, entry, 'x')
    }
  }
  const fate = (bytes: Uint8Array): string => {
    try {
      readAll(bytes)
      return 'read'
    } catch (error) {
      return error instanceof ArchiveRefused ? 'refused' : String(error)
    }
  }
  // The end and the directory of a zip with 64-bit fields, built by hand, with one empty entry.
  const wide = Buffer.alloc(30 + 1 + 46 + 1 + 28 + 56 + 20 + 22)
  wide.writeUInt32LE(0x04034b50, 0)
  wide.writeUInt16LE(1, 26)
  wide.write('a', 30)
  wide.writeUInt32LE(0x02014b50, 31)
  for (const field of [20, 24, 42]) wide.writeUInt32LE(0xffffffff, 31 + field)
  wide.writeUInt16LE(1, 31 + 28)
  wide.writeUInt16LE(28, 31 + 30)
  wide.write('a', 77)
  wide.writeUInt16LE(1, 78)
  wide.writeUInt16LE(24, 80)
  wide.writeUInt32LE(0x06064b50, 106)
  wide.writeUInt32LE(1, 106 + 32)
  wide.writeUInt32LE(31, 106 + 48)
  wide.writeUInt32LE(0x07064b50, 162)
  wide.writeUInt32LE(106, 162 + 8)
  wide.writeUInt32LE(0x06054b50, 182)
  wide.writeUInt16LE(0xffff, 182 + 10)
  wide.writeUInt32LE(0xffffffff, 182 + 16)

  it.each([
    ['with 32-bit fields', zip],
    ['with 64-bit fields', new Uint8Array(wide)],
  ])('%s is read or rejected for any changed byte, any missing byte and any truncation', (_, whole) => {
    expect(fate(whole)).toBe('read')
    const fates = new Map<string, number>()
    const count = (bytes: Uint8Array): void => {
      const found = fate(bytes)
      fates.set(found, (fates.get(found) ?? 0) + 1)
    }
    for (let at = 0; at < whole.length; at += 1) {
      for (const value of [0, 0xff, whole[at]! ^ 1]) {
        const damaged = whole.slice()
        damaged[at] = value
        count(damaged)
      }
      count(whole.slice(0, at))
      count(whole.slice(at + 1))
    }
    expect([...fates.keys()].sort()).toEqual(['read', 'refused'])
  })
})

describe('The path of an entry', () => {
  it('must be below the root, in UTF-8, and at most 1,024 bytes long', () => {
    expect(entryPath(strToU8('a\\b/./c.txt'))).toEqual({
      path: 'a/b/c.txt',
      isFolder: false,
      hadBackslashes: true,
    })
    for (const name of ['/etc/passwd', 'a/../b', 'C:\\x', 'a\u0000b'])
      expect(refusalCode(() => entryPath(strToU8(name)))).toBe('unsafePath')
    expect(refusalCode(() => entryPath(Uint8Array.of(0xff)))).toBe('nameNotUtf8')
    expect(refusalCode(() => entryPath(strToU8('x'.repeat(1_025))))).toBe('nameTooLong')
  })
})

it('crc32 returns the same checksum for all bytes together as for one part after the other', () => {
  const bytes = strToU8('123456789')
  expect(crc32(bytes)).toBe(0xcbf43926)
  expect(crc32(bytes.subarray(4), crc32(bytes.subarray(0, 4)))).toBe(0xcbf43926)
})
