// Checks uploaded files. A font is recognized by its bytes; a static document by its Content-Type, or else by its file name, or
// else by its first bytes (resources brief 4.1). The bytes must begin as the format requires, so that a broken PDF fails now and
// not in a year. Templates must compile.
import { invalidRequest, Refusal } from '../../kernel/errors.ts'
import { utf8Text } from '../../platform/http/body/bytes.ts'
import type { Finding } from '../../product/configuration.ts'
import type { TemplateFormat } from '../../product/resources.ts'

type DocumentKind = {
  /** The format's own media type comes first. */
  readonly mediaTypes: readonly string[]
  /** The first bytes that the format may have, as Latin-1. */
  readonly marks?: readonly string[]
}

const ZIP_MARKS = ['PK\x03\x04', 'PK\x05\x06']
const OLE_MARKS = ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1']
const JPEG_MARKS = ['\xff\xd8\xff']
const PDF_MARK = '%PDF-'
const OFFICE = 'application/vnd.openxmlformats-officedocument'

/** By the format names of the contract. */
const FORMATS = {
  text: { mediaTypes: ['text/plain'] },
  txt: { mediaTypes: ['text/plain'] },
  html: { mediaTypes: ['text/html', 'application/xhtml+xml'] },
  csv: { mediaTypes: ['text/csv', 'application/csv'] },
  pdf: { mediaTypes: ['application/pdf', 'application/x-pdf'], marks: [PDF_MARK] },
  jpeg: { mediaTypes: ['image/jpeg', 'image/pjpeg'], marks: JPEG_MARKS },
  jpg: { mediaTypes: ['image/jpeg', 'image/jpg'], marks: JPEG_MARKS },
  doc: { mediaTypes: ['application/msword'], marks: OLE_MARKS },
  docx: { mediaTypes: [`${OFFICE}.wordprocessingml.document`], marks: ZIP_MARKS },
  xls: { mediaTypes: ['application/vnd.ms-excel'], marks: OLE_MARKS },
  xlsx: { mediaTypes: [`${OFFICE}.spreadsheetml.sheet`], marks: ZIP_MARKS },
  zip: { mediaTypes: ['application/zip', 'application/x-zip-compressed'], marks: ZIP_MARKS },
} as const satisfies Record<string, DocumentKind>

type DocumentFormat = keyof typeof FORMATS

const KINDS: Readonly<Record<DocumentFormat, DocumentKind>> = FORMATS
const NAMES = Object.keys(FORMATS) as DocumentFormat[]

/** A PDF may have up to this many bytes before its mark. */
const MARK_WITHIN = 1_024

/** Media types that clients send for files of unknown type. */
const SAYS_NOTHING = new Set(['application/octet-stream', 'application/x-www-form-urlencoded'])

type UploadedFile = {
  readonly bytes: Uint8Array
  readonly mediaType: string | undefined
  readonly fileName: string | undefined
}

/** The detected type. Only static documents have a format. */
type FileContents = { readonly mediaType: string; readonly format?: string }

/** Detects the type of a file, and rejects an unusable one. */
export type ReadFile = (
  file: UploadedFile,
  templateFormat: TemplateFormat | undefined,
) => FileContents | Promise<FileContents>

/**
 * Returns the format, and the media type for downloads. Rejects with `unsupportedMediaType` a file of unknown format, and with
 * `invalidRequest` bytes that do not match the declared format.
 */
export function documentFormat(file: UploadedFile): { format: DocumentFormat; mediaType: string } {
  const head = Buffer.from(file.bytes.subarray(0, MARK_WITHIN)).toString('latin1')
  const isDeclared = file.mediaType !== undefined && !SAYS_NOTHING.has(file.mediaType)
  const format = declaredFormat(file) ?? (isDeclared ? undefined : formatOfBytes(head, file.bytes))
  if (!format)
    throw new Refusal(
      'unsupportedMediaType',
      `A static document must be one of ${NAMES.join(', ')}; state the format in Content-Type or in the extension of the file name${file.mediaType === undefined ? '' : ` ('${file.mediaType}' is none of them)`}.`,
    )
  const { mediaTypes } = KINDS[format]
  if (!isMarked(format, head))
    throw invalidRequest(
      `The file is declared as ${format}, but its bytes are not; correct its Content-Type or its name.`,
    )
  const charset =
    mediaTypes[0]!.startsWith('text/') && utf8Text(file.bytes) !== undefined ? '; charset=utf-8' : ''
  return { format, mediaType: mediaTypes[0]! + charset }
}

/** If several formats share a media type, the file name decides. */
function declaredFormat({ mediaType, fileName }: UploadedFile): DocumentFormat | undefined {
  const ending = /\.(\w{1,5})$/.exec(fileName ?? '')?.[1]?.toLowerCase()
  const named = ending === 'htm' ? 'html' : NAMES.find(name => name === ending)
  if (mediaType === undefined || SAYS_NOTHING.has(mediaType)) return named
  const typed = NAMES.filter(name => KINDS[name].mediaTypes.includes(mediaType))
  return typed.find(name => name === named) ?? typed[0] ?? named
}

function formatOfBytes(head: string, bytes: Uint8Array): DocumentFormat | undefined {
  const marked = (['pdf', 'jpeg', 'zip'] as const).find(name => isMarked(name, head))
  if (marked) return marked
  if (/^\s*<(?:!doctype\s+html|html)\b/i.test(head)) return 'html'
  return utf8Text(bytes) !== undefined && !head.includes('\0') ? 'text' : undefined
}

/** Whether the bytes begin as the format requires. True for formats without a mark. */
const isMarked = (format: DocumentFormat, head: string): boolean =>
  format === 'pdf'
    ? head.includes(PDF_MARK)
    : (KINDS[format].marks?.some(mark => head.startsWith(mark)) ?? true)

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '\0\x01\0\0': 'font/ttf',
  true: 'font/ttf',
  OTTO: 'font/otf',
  wOFF: 'font/woff',
  wOF2: 'font/woff2',
}

/** The most bytes of an unpacked font, which is also the limit for all fonts of a document together. */
const MOST_UNPACKED_BYTES = 24_000_000

/** Returns the font's media type. Rejects with 400 files that are not fonts, and fonts that cannot be printed. */
export async function fontFile({ bytes }: { bytes: Uint8Array }): Promise<{ mediaType: string }> {
  const mediaType = fontMediaType(bytes)
  // Loaded on demand: only uploads of fonts need this code.
  const { fontProblem } = await import('../../../packages/pdf/own-fonts.ts')
  const problem = fontProblem(bytes, MOST_UNPACKED_BYTES)
  if (problem !== undefined)
    throw invalidRequest(`The font cannot be used: ${problem}. Send a complete font.`)
  return { mediaType }
}

function fontMediaType(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, 4)).toString('latin1')
  const mediaType = Object.hasOwn(MEDIA_TYPES, head) ? MEDIA_TYPES[head] : undefined
  if (!mediaType)
    throw invalidRequest(
      'The file is not a font; send a TrueType, OpenType, WOFF or WOFF2 file (from a collection, a single font).',
    )
  return mediaType
}

/** The most problems of a template that its rejection lists. */
const MOST_SHOWN = 50

/** Checks that a template or snippet is UTF-8 text and compiles. */
export const templateFile: ReadFile = async ({ bytes, mediaType }, templateFormat) => {
  if (mediaType === 'application/json')
    throw new Refusal(
      'unsupportedMediaType',
      "Send the template as text/plain, or as the part 'file' or 'template' of a form.",
    )
  const text = utf8Text(bytes)
  if (text === undefined)
    throw invalidRequest('The template is not UTF-8 text; save it as UTF-8 and send it again.')
  const errors = (await findingsOf(text, templateFormat)).filter(one => one.severity === 'ERROR')
  if (errors.length > 0) throw invalidRequest(findingsMessage(errors))
  return { mediaType: 'text/plain; charset=utf-8' }
}

/** Loads the engines on demand: they are large, and most requests do not need them. */
async function findingsOf(source: string, format: TemplateFormat | undefined): Promise<Finding[]> {
  const template = { path: 'template', source }
  if (format === 'velocity')
    return (await import('../../../packages/velocity/velocity.ts')).compileVelocity(template).findings
  return (await import('../../product/templates/liquid.ts')).compileTemplate(template).findings
}

/** Formats one problem per line, with its place: `line 3, column 7: …`. */
function findingsMessage(errors: readonly Finding[]): string {
  const listed = errors
    .slice(0, MOST_SHOWN)
    .map(({ line, column, message }) =>
      line === undefined ? message : `line ${line}, column ${column}: ${message}`,
    )
  const more = errors.length > MOST_SHOWN ? [`and ${errors.length - MOST_SHOWN} more.`] : []
  return ['The template cannot be used:', ...listed, ...more].join('\n')
}
