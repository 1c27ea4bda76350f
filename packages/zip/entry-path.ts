import { ArchiveRefused } from './refusal.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const CONTROL_CHARACTERS = /\p{Cc}/gu
/** The longest entry name, in bytes, that operating systems unpack. Names of a configuration need a tenth of it. */
const LONGEST_NAME_BYTES = 1_024

type EntryPath = {
  /** Segments joined by `/`, without `.` and empty segments, in Unicode NFC. Empty for the root itself. */
  path: string
  isFolder: boolean
  /** Whether the archiver wrote `\` between segments. */
  hadBackslashes: boolean
}

/** Returns a path that is safe below any root. Throws `ArchiveRefused` for any other name. */
export function entryPath(name: Uint8Array): EntryPath {
  if (name.byteLength > LONGEST_NAME_BYTES)
    throw new ArchiveRefused(
      'nameTooLong',
      `The entry '${shownBytes(name)}…' has a name of ${name.byteLength} bytes, but at most ${LONGEST_NAME_BYTES} are allowed. Give it and its folders shorter names, or remove it.`,
    )
  let text: string
  try {
    text = utf8.decode(name)
  } catch {
    throw new ArchiveRefused(
      'nameNotUtf8',
      `The entry '${shownBytes(name)}' has a name that is not UTF-8. Rename it with plain letters, or pack the archive with a tool that writes UTF-8 names.`,
    )
  }
  const unified = text.replaceAll('\\', '/')
  const segments = unified.split('/').filter(segment => segment !== '' && segment !== '.')
  const refuse = (what: string): ArchiveRefused =>
    new ArchiveRefused(
      'unsafePath',
      `The entry '${text.replace(CONTROL_CHARACTERS, '?')}' ${what}. Pack the contents of the configuration folder with paths relative to it.`,
    )
  if (text.search(CONTROL_CHARACTERS) !== -1) throw refuse('has a control character in its name')
  if (unified.startsWith('/')) throw refuse('has an absolute path')
  if (/^[A-Za-z]:/.test(unified)) throw refuse('names a drive')
  if (segments.includes('..')) throw refuse("leaves the folder with '..'")
  return {
    path: segments.join('/').normalize('NFC'),
    isFolder: unified.endsWith('/') || segments.length === 0,
    hadBackslashes: text.includes('\\'),
  }
}

const shownBytes = (name: Uint8Array): string =>
  Array.from(name.subarray(0, 80), byte =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '?',
  ).join('')

const JUNK_SEGMENT =
  /^(\..*|__MACOSX|Thumbs\.db|desktop\.ini|ehthumbs\.db|node_modules|~\$.*|.*~|.*\.(swp|swo|tmp|bak|orig))$/i

/** Whether an operating system or editor left the file behind: dot files and folders, `__MACOSX`, `Thumbs.db`, backups. */
export const isJunk = (path: string): boolean => path.split('/').some(segment => JUNK_SEGMENT.test(segment))

const ARCHIVE_NAME =
  /\.(zip|jar|war|ear|apk|tar|gz|tgz|bz2|tbz2?|xz|txz|zst|lz|lzma|7z|rar|cab|iso|arj|ar|cpio|z)$/i

/** Whether the file name ends like that of an archive, such as `.zip`, `.jar` or `.tgz`. Office documents do not count. */
export const isArchiveName = (path: string): boolean => ARCHIVE_NAME.test(path)

/** Office documents are zip files inside. A stray one is ignored like any unknown file. */
const OFFICE_NAME = /\.(docx|docm|dotx|xlsx|xlsm|xltx|pptx|pptm|odt|ods|odp|epub)$/i

export const isOfficeName = (path: string): boolean => OFFICE_NAME.test(path)
