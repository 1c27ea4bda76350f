import {
  beginsLikeZip,
  checkSize,
  type DirectoryEntry,
  entryContent,
  entryRange,
  readDirectory,
} from '../../../packages/zip/directory.ts'
import { entryPath, isArchiveName, isJunk, isOfficeName } from '../../../packages/zip/entry-path.ts'
import { ArchiveRefused, type RefusalCode } from '../../../packages/zip/refusal.ts'
import type { Finding } from '../configuration.ts'

/** Smaller files may compress a thousandfold: a table full of blanks is not a zip bomb. */
const RATIO_COUNTS_FROM_BYTES = 1_048_576

/** A file that is unpacked on each call of `bytes` or `text`, both of which throw `ArchiveRefused`. */
export type ArchiveFile = {
  /** Relative to the root of the configuration, with `/` between segments. */
  path: string
  sizeBytes: number
  bytes: () => Uint8Array
  /** UTF-8 without a byte-order mark; lines end with `\n`. */
  text: () => string
}

type Archive = {
  /** Sorted by path. */
  files: ArchiveFile[]
  findings: Finding[]
  /**
   * Throws `ArchiveRefused` if an unread entry does not have its declared size: other programs unpack the archive after downloading
   * it.
   */
  checkUnread: () => void
}

/** Reads the directory of a zip and checks it before unpacking anything (resources brief 10.3). Throws `ArchiveRefused`. */
export function readArchive(zip: Uint8Array): Archive {
  const tooLarge = `The zip has ${zip.byteLength} bytes; the limit is ${LARGEST_ARCHIVE_BYTES}. Upload large tables as resources.`
  if (zip.byteLength > LARGEST_ARCHIVE_BYTES) throw new ArchiveRefused('archiveTooLarge', tooLarge)
  const directory = readDirectory(zip)
  refuseBombs(zip, directory)
  const findings: Finding[] = []
  const entries = new Map<string, DirectoryEntry>()
  const unread = new Map<DirectoryEntry, string>()
  const ranges: { start: number; end: number; path: string }[] = []
  for (const entry of directory) {
    const { path, isFolder, hadBackslashes } = entryPath(entry.name)
    refuseEntry(entry, path, isFolder)
    if (entry.compressedBytes > 0) unread.set(entry, path)
    if (isFolder) continue
    const repeated = `'${path}' is in the zip more than once. Keep only one.`
    if (entries.has(path)) throw new ArchiveRefused('duplicateEntry', repeated, path)
    entries.set(path, entry)
    ranges.push({ ...entryRange(zip, entry, path), path })
    const message = "The zip separates folders by '\\' instead of '/'. They are treated as folders."
    if (hadBackslashes && findings.length === 0)
      findings.push({ severity: 'WARNING', path, code: 'backslashInPath', message })
  }
  refuseOverlaps(ranges)
  const kept = [...entries.keys()].filter(path => !isJunk(path)).sort()
  const { prefix, outside } = configurationRoot(kept)
  const message = `The configuration is in the folder '${prefix.slice(0, -1)}'; this file next to it is ignored.`
  for (const path of outside) findings.push({ severity: 'WARNING', path, code: 'outsideRoot', message })
  const inside = kept.filter(path => path.startsWith(prefix))
  const isNested = (path: string, index: number): boolean =>
    isNestedArchive(zip, entries.get(path)!, path, index < MOST_LOOKED_INTO)
  const nested = new Set(inside.filter(path => !path.startsWith(`${prefix}${RESOURCES}`)).filter(isNested))
  for (const path of nested) {
    const message = `'${path}' is an archive inside the archive and is ignored. Put its files into the folders where they belong, or leave it out.`
    findings.push({ severity: 'WARNING', path: path.slice(prefix.length), code: 'nestedArchive', message })
  }
  const budget = textBudget()
  const files = inside
    .filter(path => !nested.has(path))
    .map(path => {
      const entry = entries.get(path)!
      const bytes = (): Uint8Array => {
        unread.delete(entry)
        return entryContent(zip, entry, path.slice(prefix.length))
      }
      return archiveFile(entry, path.slice(prefix.length), bytes, budget)
    })
  const checkUnread = (): void => {
    for (const [entry, path] of unread) checkSize(zip, entry, path)
  }
  return { files, findings, checkUnread }
}

function refuseBombs(zip: Uint8Array, directory: DirectoryEntry[]): void {
  const unpacked = directory.reduce((total, entry) => total + entry.sizeBytes, 0)
  const tooLarge = `The zip unpacks to ${unpacked} bytes; the limit is ${LARGEST_UNPACKED_BYTES}. Leave out files that the configuration does not use.`
  if (unpacked > LARGEST_UNPACKED_BYTES) throw new ArchiveRefused('unpackedTooLarge', tooLarge)
  const suspicious = `The zip unpacks to more than ${LARGEST_RATIO} times its size. Leave out files of repeated content.`
  if (unpacked > RATIO_COUNTS_FROM_BYTES && unpacked > LARGEST_RATIO * zip.byteLength)
    throw new ArchiveRefused('suspiciousRatio', suspicious)
}

/** General-purpose flags: encrypted, strong encryption, encrypted directory. */
const ENCRYPTED = 0x0001 | 0x0040 | 0x2000
const FILE_TYPE = 0xf000
/** No type, a regular file, or a folder. */
const ORDINARY_TYPES = new Set([0x0000, 0x8000, 0x4000])

function refuseEntry(entry: DirectoryEntry, path: string, isFolder: boolean): void {
  const refuse = (code: RefusalCode, message: string): never => {
    throw new ArchiveRefused(code, `'${path}' ${message}`, path)
  }
  const { flags, mode, method, sizeBytes, compressedBytes } = entry
  if (flags & ENCRYPTED) refuse('encryptedEntry', 'is encrypted. Create the archive without a password.')
  if (!ORDINARY_TYPES.has(mode & FILE_TYPE))
    refuse('link', 'is a link or device. Replace it with the file itself.')
  if (isFolder) return
  if (method !== 0 && method !== 8)
    refuse(
      'unsupportedCompression',
      `is compressed by method ${method}. Create the archive with the usual method, deflate.`,
    )
  if (sizeBytes > RATIO_COUNTS_FROM_BYTES && sizeBytes > LARGEST_RATIO * Math.max(1, compressedBytes))
    refuse(
      'suspiciousRatio',
      `unpacks to more than ${LARGEST_RATIO} times its size. Leave it out, or remove its repeated content.`,
    )
}

/**
 * Throws `ArchiveRefused` for entries that share bytes. With those, a small zip could declare honest sizes and still unpack to a
 * huge total.
 */
function refuseOverlaps(ranges: { start: number; end: number; path: string }[]): void {
  ranges.sort((a, b) => a.start - b.start)
  for (const [index, { start, path }] of ranges.entries()) {
    const before = ranges[index - 1]
    if (!before || start >= before.end) continue
    const message = `'${path}' overlaps '${before.path}' in the zip. Create the archive again and upload it.`
    throw new ArchiveRefused('damagedArchive', message, path)
  }
}

/** Tables and documents that a tenant starts with may be zip files (resources brief 1.2 and 4.1). */
const RESOURCES = 'bootstrap/'

/** Unpacking the beginning of a file takes time too. After this many files only the name decides. */
const MOST_LOOKED_INTO = 5_000

const isNestedArchive = (
  zip: Uint8Array,
  entry: DirectoryEntry,
  path: string,
  isLookedInto: boolean,
): boolean => isArchiveName(path) || (isLookedInto && !isOfficeName(path) && beginsLikeZip(zip, entry, path))

/** Returns a function that counts the text of each file once, and whether the total is still within the limit. */
function textBudget(): (file: DirectoryEntry) => boolean {
  const counted = new Set<DirectoryEntry>()
  let bytes = 0
  return entry => {
    if (!counted.has(entry)) {
      counted.add(entry)
      bytes += entry.sizeBytes
    }
    return bytes <= LARGEST_TEXT_BYTES
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

function archiveFile(
  entry: DirectoryEntry,
  path: string,
  bytes: () => Uint8Array,
  withinBudget: (entry: DirectoryEntry) => boolean,
): ArchiveFile {
  return {
    path,
    sizeBytes: entry.sizeBytes,
    bytes,
    text: () => {
      const message = `With '${path}' the configuration has more than ${LARGEST_TEXT_BYTES} bytes of text. Upload large tables as resources.`
      if (!withinBudget(entry)) throw new ArchiveRefused('tooMuchText', message, path)
      try {
        return utf8.decode(bytes()).replace(/\r\n?/g, '\n')
      } catch (error) {
        if (error instanceof ArchiveRefused) throw error
        throw new ArchiveRefused('textNotUtf8', `'${path}' is not UTF-8 text. Save it as UTF-8.`, path)
      }
    },
  }
}

/** Limits of an archive (resources brief 10.3). */
export const LARGEST_ARCHIVE_BYTES = 32 * 1024 * 1024
const LARGEST_UNPACKED_BYTES = 500_000_000
const LARGEST_RATIO = 100
/** The limit for all text files together: what fits in an isolate next to its other work. */
export const LARGEST_TEXT_BYTES = 24 * 1024 * 1024

/** The folders at the root that belong to a configuration. */
export const ROOT_FOLDERS: ReadonlySet<string> = new Set(
  'products payment policyholder security scripts bootstrap'.split(' '),
)

/** Names that occur only at the root and therefore identify it. */
const ROOT_NAMES = new Set(['config.json', ...ROOT_FOLDERS])

/** Two, as in the zip of a repository that keeps its configuration in a folder: `boats-main/configuration/config.json`. */
const MOST_WRAPPING_FOLDERS = 2

/**
 * Finds the root: the top, or the only folder that has names of a configuration and is closest to the top, at most two folders deep
 * (brief 0.8 has one). `prefix` is empty, also if several folders could be the root, or ends with `/`.
 */
export function configurationRoot(paths: string[]): { prefix: string; outside: string[] } {
  const split = paths.map(path => path.split('/'))
  for (let depth = 0; depth <= MOST_WRAPPING_FOLDERS; depth += 1) {
    const folders = new Set(
      split
        .filter(segments => ROOT_NAMES.has(segments[depth] ?? ''))
        .map(segments => segments.slice(0, depth).join('/')),
    )
    if (folders.size === 0) continue
    const prefix = depth > 0 && folders.size === 1 ? `${[...folders][0]}/` : ''
    return { prefix, outside: paths.filter(path => !path.startsWith(prefix)) }
  }
  return { prefix: '', outside: [] }
}
