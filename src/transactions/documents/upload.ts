// Documents that are uploaded to a policy or a transaction.
import { Refusal } from '../../kernel/errors.ts'
import { plainFileName } from '../../kernel/text.ts'
import type { DocumentType } from '../../policy/contract/documents.ts'
import type { PolicyDocument } from '../../policy/records/transactions.ts'

/** Resources brief 4.1. */
export const LARGEST_UPLOAD_BYTES = 25 * 1024 * 1024

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

/** Returns the 404 for a document that the owner does not have. */
export const noDocument = ({ title }: Pick<UploadOwner, 'title'>, locator: string): Refusal =>
  new Refusal('notFound', `${title} has no document '${locator}'.`)
