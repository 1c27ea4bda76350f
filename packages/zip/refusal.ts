/** The reasons for rejecting an archive or one of its files, by code. The message of an instance names the entry and the fix. */
export const refusals = {
  notAZip: 'The upload is not a zip archive.',
  damagedArchive: 'The zip is inconsistent: truncated, overlapping or overwritten.',
  archiveTooLarge: 'The zip is larger than 32 MiB.',
  unpackedTooLarge: 'The entries unpack to more than 500 MB.',
  suspiciousRatio: 'Entries unpack to more than a hundred times their compressed size.',
  tooManyEntries: 'The zip has more than 20,000 entries.',
  unsafePath: 'An entry has an absolute path, a drive, a `..` or a control character.',
  nameTooLong: 'The name of an entry, with its folders, is longer than 1,024 bytes.',
  link: 'An entry is a link or a device instead of a file.',
  duplicateEntry: 'Two entries have the same path.',
  nameNotUtf8: 'The name of an entry is not UTF-8.',
  encryptedEntry: 'An entry is encrypted.',
  unsupportedCompression: 'An entry is compressed with something other than deflate.',
  textNotUtf8: 'A text file is not UTF-8.',
  tooMuchText: 'The files of the configuration contain more than 24 MiB of text.',
} as const

export type RefusalCode = keyof typeof refusals

/** `path` is the entry concerned, and is absent if the whole archive is rejected. */
export class ArchiveRefused extends Error {
  readonly code: RefusalCode
  readonly path: string | undefined

  constructor(code: RefusalCode, message: string, path?: string) {
    super(message)
    this.name = 'ArchiveRefused'
    this.code = code
    this.path = path
  }
}
