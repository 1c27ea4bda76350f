import { strToU8, zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { ArchiveRefused, type RefusalCode } from '../../../packages/zip/refusal.ts'
import { readArchive } from '../../../src/product/archive/read.ts'
import { type RawEntry, rawZip, zipOf } from '../archive-maker.ts'

function refusalOf(read: () => unknown): ArchiveRefused {
  try {
    read()
  } catch (error) {
    if (error instanceof ArchiveRefused) return error
    throw error
  }
  throw new Error('The archive was not refused.')
}

const refused = (entries: RawEntry[]): RefusalCode => refusalOf(() => readArchive(rawZip(entries))).code
const pathsOf = (zip: Uint8Array): string[] => readArchive(zip).files.map(file => file.path)
const textOf = (zip: Uint8Array, path: string): string =>
  readArchive(zip)
    .files.find(file => file.path === path)!
    .text()

const hello = strToU8('hello')

describe('opening an archive', () => {
  test('rejects bytes that are not a zip', () => {
    expect(refusalOf(() => readArchive(new Uint8Array())).code).toBe('notAZip')
    expect(refusalOf(() => readArchive(strToU8('{"config": true}'.repeat(10)))).code).toBe('notAZip')
  })

  test('rejects a zip cut off before its central directory', () => {
    const zip = zipOf({ 'config.json': 'x'.repeat(1000) })
    expect(refusalOf(() => readArchive(zip.subarray(0, zip.length - 30))).code).toBe('damagedArchive')
  })

  test('rejects more than 32 MiB', () => {
    expect(refusalOf(() => readArchive(new Uint8Array(32 * 1024 * 1024 + 1))).code).toBe('archiveTooLarge')
  })

  test('rejects a file that unpacks to more than 100 times its packed size', () => {
    const zip = zipSync({
      'config.json': [new Uint8Array(2_000_000), { level: 9 }],
      'a.pdf': [Uint8Array.from({ length: 50_000 }, (_, index) => (index * index) >> 3), { level: 0 }],
    })
    expect(refusalOf(() => readArchive(zip))).toMatchObject({ code: 'suspiciousRatio', path: 'config.json' })
  })

  test('rejects many small files that together unpack to more than 100 times the size of the archive', () => {
    const blanks = new Uint8Array(1_000_000)
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`${index}.csv`, blanks]))
    expect(refusalOf(() => readArchive(zipSync(files, { level: 9 }))).code).toBe('suspiciousRatio')
  })

  test('rejects more than 500 MB unpacked, before unpacking anything', () => {
    const entries = Array.from({ length: 6 }, (_, index) => ({ name: `${index}`, sizeBytes: 90_000_000 }))
    expect(refused(entries)).toBe('unpackedTooLarge')
  })

  test('rejects more than 20,000 entries', () => {
    const entries = Array.from({ length: 20_001 }, (_, index) => ({ name: `f${index}` }))
    expect(refused(entries)).toBe('tooManyEntries')
  })

  test.each([
    ['/etc/passwd', 'an absolute path'],
    ['\\windows\\system', 'an absolute path with backslashes'],
    ['C:/config.json', 'a drive'],
    ['../config.json', 'a path that leaves the folder'],
    ['products/../../config.json', 'a path that leaves the folder on the way'],
    ['products\\..\\..\\config.json', 'a path that leaves the folder with backslashes'],
    ['config\u0000.json', 'a control character'],
  ])('rejects the path %j: %s', name => {
    expect(refused([{ name }])).toBe('unsafePath')
  })

  test.each([1_025, 40_000, 65_535])('rejects a name of %d bytes', length => {
    for (const name of ['a'.repeat(length), 'a/'.repeat(length).slice(0, length), '~'.repeat(length)])
      expect(refused([{ name }])).toBe('nameTooLong')
    expect(refused([{ name: new Uint8Array(length).fill(0xff) }])).toBe('nameTooLong')
  })

  test('accepts a name of 1,024 bytes', () => {
    const name = 'a/'.repeat(512).slice(1)
    expect(() => readArchive(rawZip([{ name: `b${name}` }]))).not.toThrow()
  })

  test.each([
    ['symbolic links', 0o120777],
    ['devices', 0o060666],
    ['pipes', 0o010666],
  ])('rejects %s', (_, mode) => {
    expect(refused([{ name: 'config.json', content: hello, mode }])).toBe('link')
  })

  test('rejects two entries with the same path, even when the paths are written differently', () => {
    expect(refused([{ name: 'config.json' }, { name: 'config.json' }])).toBe('duplicateEntry')
    expect(refused([{ name: 'a/b.json' }, { name: './a//b.json' }])).toBe('duplicateEntry')
    expect(refused([{ name: 'a/b.json' }, { name: 'a\\b.json' }])).toBe('duplicateEntry')
    expect(refused([{ name: 'caf\u00e9.json' }, { name: 'cafe\u0301.json' }])).toBe('duplicateEntry')
  })

  test('rejects names that are not UTF-8', () => {
    expect(refused([{ name: Uint8Array.of(0x66, 0xfc, 0x72) }])).toBe('nameNotUtf8')
  })

  test('rejects encrypted entries', () => {
    expect(refused([{ name: 'config.json', content: hello, flags: 1 }])).toBe('encryptedEntry')
  })

  test('rejects compression methods other than deflate', () => {
    expect(refused([{ name: 'config.json', content: hello, method: 93 }])).toBe('unsupportedCompression')
  })

  test('rejects entries whose bytes overlap', () => {
    const entries = [
      { name: 'a.json', content: new Uint8Array(100) },
      { name: 'b.json', content: new Uint8Array(100), headerOffset: 0 },
    ]
    expect(refused(entries)).toBe('damagedArchive')
  })

  test('rejects entries that point outside the zip', () => {
    expect(refused([{ name: 'a.json', headerOffset: 5_000 }])).toBe('damagedArchive')
  })

  test('rejects a central directory with fewer entries than the zip declares', () => {
    expect(refusalOf(() => readArchive(rawZip([{ name: 'a.json' }], 3))).code).toBe('damagedArchive')
  })
})

describe('archives nested in an archive', () => {
  const inner = zipOf({ 'config.json': {} })
  const long = zipOf({ 'a.json': 'abcdefghij'.repeat(5_000), 'b.json': 'klmnopqrst'.repeat(5_000) })
  const ignored = (zip: Uint8Array) => {
    const { files, findings } = readArchive(zip)
    return [
      files.map(({ path }) => path),
      findings.map(({ severity, code, path }) => `${severity} ${code} ${path}`),
    ]
  }
  const one = (path: string) => [['config.json'], [`WARNING nestedArchive ${path}`]]

  test('are ignored with a warning, recognized by name or by content, in any folder', () => {
    const named = (name: string, content: Uint8Array) =>
      ignored(rawZip([{ name: 'config.json' }, { name, content }]))
    expect(named('backup.zip', hello)).toEqual(one('backup.zip'))
    expect(named('products/more.tar.gz', hello)).toEqual(one('products/more.tar.gz'))
    expect(named('products/more.bin', inner)).toEqual(one('products/more.bin'))
    for (const level of [0, 6] as const)
      expect(ignored(zipSync({ 'config.json': hello, 'products/more.bin': inner }, { level }))).toEqual(
        one('products/more.bin'),
      )
    expect(ignored(zipOf({ 'config.json': {}, 'products/more.bin': long }))).toEqual(one('products/more.bin'))
    expect(ignored(zipOf({ 'boat/config.json': {}, 'boat/old.zip': inner }))).toEqual(one('old.zip'))
  })

  test('are ordinary files among the resources that a tenant starts with', () => {
    const path = 'bootstrap/resources/resourceFiles/tables/rates.zip'
    expect(ignored(zipOf({ 'config.json': {}, [path]: inner }))).toEqual([[path, 'config.json'], []])
  })
})

describe('reading a file of an archive', () => {
  const read = (entry: Omit<RawEntry, 'name'>) =>
    refusalOf(() => textOf(rawZip([{ name: 'config.json', ...entry }]), 'config.json')).code

  const packed = (content: Uint8Array) => {
    const zip = zipSync({ x: [content, { level: 9 }] })
    return zip.subarray(31, 31 + new DataView(zip.buffer).getUint32(18, true))
  }

  test('rejects more bytes than the directory declares', () => {
    const content = new Uint8Array(500_000).fill(32)
    expect(read({ content, packed: packed(content), method: 8, sizeBytes: 10 })).toBe('damagedArchive')
  })

  test('rejects more bytes than the directory declares in a file that is inflated in several steps', () => {
    const content = Uint8Array.from(
      { length: 90_000 },
      (_, index) => Math.imul(index ^ (index >> 3), 0x9e3779b1) >>> 13,
    )
    const inflated = packed(content)
    expect(inflated.byteLength).toBeGreaterThan(20_000)
    expect(read({ content, packed: inflated, method: 8, sizeBytes: 70_000 })).toBe('damagedArchive')
  })

  test('rejects fewer bytes than the directory declares', () => {
    expect(read({ content: hello, packed: packed(hello), method: 8, sizeBytes: 10 })).toBe('damagedArchive')
    expect(read({ content: hello, sizeBytes: 10 })).toBe('damagedArchive')
  })

  test('rejects content that does not match its checksum', () => {
    expect(read({ content: hello, crc32: 1 })).toBe('damagedArchive')
  })

  test('rejects bytes that are not a deflate stream', () => {
    expect(read({ content: hello, packed: strToU8('\xff\xff\xff\xff'), method: 8 })).toBe('damagedArchive')
  })

  test('rejects text that is not UTF-8', () => {
    expect(read({ content: Uint8Array.of(0x22, 0xfc, 0x22) })).toBe('textNotUtf8')
  })

  test('rejects more than 24 MiB of text in all files together, counting each file once', () => {
    const content = new Uint8Array(9_000_000).fill(0x20)
    const { files } = readArchive(rawZip([1, 2, 3].map(index => ({ name: `${index}.csv`, content }))))
    files[0]!.text()
    files[0]!.text()
    files[1]!.text()
    expect(refusalOf(() => files[2]!.text()).code).toBe('tooMuchText')
  })
})

describe('checking the entries that were not read', () => {
  const blanks = new Uint8Array(60_000_000)
  const packed = zipSync({ x: [blanks, { level: 9 }] }).subarray(31, -69)
  const check = (entry: RawEntry, read: readonly string[] = []) => {
    const { files, checkUnread } = readArchive(rawZip([entry]))
    for (const file of files) if (read.includes(file.path)) file.bytes()
    return refusalOf(checkUnread)
  }
  const bomb = { content: hello, packed, method: 8, sizeBytes: 100 }

  test.each(['notes.pdf', '.DS_Store', 'folder/'])(
    'rejects %s when it unpacks to 60 MB but declares 100 bytes',
    name => {
      expect(check({ name, ...bomb })).toMatchObject({ code: 'damagedArchive', path: name.replace('/', '') })
    },
  )

  test('rejects a small file that is longer or shorter than it declares', () => {
    const small = zipSync({ x: [new Uint8Array(1000), { level: 9 }] }).subarray(31, -69)
    for (const sizeBytes of [10, 2_000])
      expect(check({ name: 'a.pdf', packed: small, method: 8, sizeBytes }).code).toBe('damagedArchive')
    expect(check({ name: 'a.pdf', content: hello, sizeBytes: 10 }).code).toBe('damagedArchive')
  })

  test('accepts correct entries, and does not unpack again the files that were read', () => {
    readArchive(zipOf({ 'config.json': '{}', 'a.pdf': new Uint8Array(90_000), '.git/x': 'x' })).checkUnread()
    const lie = { name: 'a.json', content: hello, crc32: 1 }
    const { files, checkUnread } = readArchive(rawZip([lie]))
    expect(refusalOf(() => files[0]!.bytes()).code).toBe('damagedArchive')
    checkUnread()
  })
})

describe('reading an untidy archive', () => {
  test('removes a single wrapping folder, and ignores files next to it with a warning', () => {
    const zip = zipOf({ 'boat-main/config.json': '{}', 'boat-main/products/b/x': '', 'notes.txt': '' })
    const { files, findings } = readArchive(zip)
    expect(files.map(file => file.path)).toEqual(['config.json', 'products/b/x'])
    expect(findings).toMatchObject([{ severity: 'WARNING', path: 'notes.txt', code: 'outsideRoot' }])
  })

  test('removes two wrapping folders, as in the zip of a repository with the configuration in a folder', () => {
    const zip = zipOf({
      'boats-main/README.md': 'x',
      'boats-main/configuration/config.json': '{}',
      'boats-main/configuration/products/b/x': '',
    })
    const { files, findings } = readArchive(zip)
    expect(files.map(file => file.path)).toEqual(['config.json', 'products/b/x'])
    expect(findings).toEqual([
      {
        severity: 'WARNING',
        path: 'boats-main/README.md',
        code: 'outsideRoot',
        message:
          "The configuration is in the folder 'boats-main/configuration'; this file next to it is ignored.",
      },
    ])
  })

  test('removes no folder if the configuration could be in several, or is three folders deep', () => {
    for (const paths of [
      ['boats-main/harbour/config.json', 'boats-main/open-sea/config.json'],
      ['boats-main/all/configuration/config.json'],
    ])
      expect(pathsOf(zipOf(Object.fromEntries(paths.map(path => [path, '{}']))))).toEqual(paths)
  })

  test('does not take a root with only the folder products for a wrapping folder', () => {
    expect(pathsOf(zipOf({ 'products/products/policy/policy.json': '' }))).toEqual([
      'products/products/policy/policy.json',
    ])
  })

  test('skips the files that operating systems and editors leave behind', () => {
    const zip = zipOf({
      'config.json': '{}',
      '.DS_Store': 'x',
      '__MACOSX/._config.json': 'x',
      'products/Thumbs.db': 'x',
      'products/.git/config': 'x',
      'products/.policy.json.swp': 'x',
      'products/policy.json~': 'x',
      '.idea/old.zip': 'x',
    })
    expect(pathsOf(zip)).toEqual(['config.json'])
  })

  test('removes a byte-order mark and reads CR LF and CR as LF', () => {
    expect(textOf(zipOf({ 'config.json': '\ufeff{\r\n}\r' }), 'config.json')).toBe('{\n}\n')
  })

  test('reads backslashes as folder separators, with one warning', () => {
    const { files, findings } = readArchive(
      rawZip([{ name: 'products\\a.json' }, { name: 'products\\b.json' }]),
    )
    expect(files.map(file => file.path)).toEqual(['products/a.json', 'products/b.json'])
    expect(findings).toMatchObject([{ code: 'backslashInPath' }])
  })

  test('skips entries of folders', () => {
    expect(pathsOf(rawZip([{ name: 'products/' }, { name: 'products/a.json' }]))).toEqual(['products/a.json'])
  })

  test('reads sizes that are only in the data descriptor and the directory', () => {
    const zip = zipOf({ 'config.json': '{"timezone":"UTC"}' })
    const view = new DataView(zip.buffer, zip.byteOffset)
    for (const at of [14, 18, 22]) view.setUint32(at, 0, true)
    view.setUint16(6, 8, true)
    expect(textOf(zip, 'config.json')).toBe('{"timezone":"UTC"}')
  })

  test('reads sizes from 64-bit fields', () => {
    const zip = rawZip([{ name: 'a' }, { name: 'config.json', content: hello, isZip64: true }])
    expect(textOf(zip, 'config.json')).toBe('hello')
  })

  test('lists a stray office document instead of ignoring it as a nested archive', () => {
    expect(pathsOf(zipOf({ 'config.json': '{}', 'rates.xlsx': zipOf({ 'a.xml': '<a/>' }) }))).toEqual([
      'config.json',
      'rates.xlsx',
    ])
  })

  test('reads a zip with a comment after its central directory', () => {
    const zip = rawZip([{ name: 'config.json', content: hello }])
    const commented = new Uint8Array([...zip, ...strToU8('bye')])
    new DataView(commented.buffer).setUint16(zip.length - 2, 3, true)
    expect(textOf(commented, 'config.json')).toBe('hello')
  })

  test('returns no files for an empty zip', () => {
    expect(pathsOf(rawZip([]))).toEqual([])
  })
})
