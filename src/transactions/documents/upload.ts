// The type of an upload is read from its bytes, no matter what the request says.
import { Refusal } from '../../kernel/errors.ts'
import { plainFileName } from '../../kernel/text.ts'
import type { DocumentType } from '../../policy/contract/documents.ts'
import type { PolicyDocument } from '../../policy/records/transactions.ts'

/** Resources brief 4.1. */
export const LARGEST_UPLOAD_BYTES = 25 * 1024 * 1024

/** A PDF may have up to this many bytes before its mark. */
const PDF_MARK_WITHIN = 1_024

const HTML_TAG =
  /<(?:!doctype\s+html|html|head|body|div|p|h[1-6]|table|section|article|main|title|meta|style|span)\b/iy
const XML_DECLARATION = /<\?xml[^>]*\?>/iy
const BLANKS = /\s*/y

/**
 * Blanks, an XML declaration and comments may precede the first tag. They are skipped one by one: a pattern for any number of
 * comments would try every way to divide the text into them, in time that doubles with each.
 */
function beginsAsHtml(text: string): boolean {
  let at = 0
  const pass = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return false
    at = pattern.lastIndex
    return true
  }
  pass(BLANKS)
  if (pass(XML_DECLARATION)) pass(BLANKS)
  while (text.startsWith('<!--', at)) {
    const end = text.indexOf('-->', at + 4)
    if (end < 0) return false
    at = end + 3
    pass(BLANKS)
  }
  return pass(HTML_TAG)
}

/** Returns undefined for anything but PDF and HTML in UTF-8. */
export function typeOfBytes(bytes: Uint8Array): DocumentType | undefined {
  if (Buffer.from(bytes.subarray(0, PDF_MARK_WITHIN)).includes('%PDF-')) return 'pdf'
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return undefined
  }
  return beginsAsHtml(text.slice(0, 65_536)) ? 'html' : undefined
}

/** How a `documentType` names a format: by a file ending or a media type, as in the formats of resources and others in use. */
const NAMED_FORMATS: readonly (readonly [DocumentType | undefined, RegExp])[] = [
  ['pdf', /^(?:\.?pdf|application\/(?:x-)?pdf)$/],
  ['html', /^(?:\.?x?html?|text\/html|application\/xhtml\+xml)$/],
  [
    undefined,
    /^(?:\.?(?:docx?|xlsx?|pptx?|odt|ods|csv|txt|text|rtf|xml|json|zip|jpe?g|png|gif|tiff?|bmp|webp|svg|eml|msg)|(?:application|audio|image|message|text|video)\/(?!octet-stream)[\w.+-]+)$/,
  ],
]

/**
 * Whether the `documentType` names a format other than that of the file. Any word that names no format, such as `terms`, is the
 * kind of the document and contradicts nothing.
 */
export function contradictsType(documentType: string, type: DocumentType): boolean {
  const word = documentType.replace(/;.*$/s, '').trim().toLowerCase()
  const named = NAMED_FORMATS.find(([, pattern]) => pattern.test(word))
  return named !== undefined && named[0] !== type
}

const ENDINGS: Readonly<Record<DocumentType, RegExp>> = { pdf: /\.pdf$/i, html: /\.html?$/i }

/** Returns a safe file name: no path, no control characters, the ending of its type. */
export function safeFileName(given: string | undefined, type: DocumentType): string {
  const name = plainFileName(given ?? '')
  if (name === '') return `document.${type}`
  return ENDINGS[type].test(name) ? name : `${name}.${type}`
}

export type UploadOwner = Pick<PolicyDocument, 'subject' | 'subjectLocator'> & {
  /** The name that messages use. */
  readonly title: string
  readonly isIssued: boolean
}

export const noDocument = ({ title }: Pick<UploadOwner, 'title'>, locator: string): Refusal =>
  new Refusal('notFound', `${title} has no document '${locator}'.`)
