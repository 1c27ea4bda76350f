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

describe('a zip', () => {
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

  it('has its directory read from its last bytes alone', () => {
    const before = zip.length - 300
    expect(namesOf(readDirectory(zip.subarray(before), before))).toEqual(namesOf(readDirectory(zip)))
  })

  it('is refused where it is none, is cut off, or unpacks to more than it says', () => {
    expect(refusalCode(() => readDirectory(strToU8('no zip at all, whatever it is called')))).toBe('notAZip')
    expect(refusalCode(() => readDirectory(zip.subarray(0, zip.length - 30)))).toBe('damagedArchive')
    const packed = { ...readDirectory(zip)[1]!, sizeBytes: long.length - 1 }
    expect(refusalCode(() => entryContent(zip, packed, 'folder/long.txt'))).toBe('damagedArchive')
    expect(refusalCode(() => checkSize(zip, packed, 'folder/long.txt'))).toBe('damagedArchive')
  })
})

describe('the path of an entry', () => {
  it('stays below its root', () => {
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

it('has the checksum of the bytes, all at once or one after the other', () => {
  const bytes = strToU8('123456789')
  expect(crc32(bytes)).toBe(0xcbf43926)
  expect(crc32(bytes.subarray(4), crc32(bytes.subarray(0, 4)))).toBe(0xcbf43926)
})
