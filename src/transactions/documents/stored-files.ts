// Uploads: stores the file of a document before its record, and deletes it when the record is not made.

import { isRefused, Refusal } from '../../kernel/errors.ts'
import { newUuid, readUuid, type Uuid } from '../../kernel/locators.ts'
import type { JsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { FilePart } from '../../platform/http/body/form.ts'
import { fileKey, tenantFiles } from '../../platform/tenancy.ts'
import type { AddDocumentForm, AddDocumentQuery, DocumentType } from '../../policy/contract/documents.ts'
import { documentPath, type UnplacedDocument } from '../../policy/records/document.ts'
import { deleteUnnamedFile, expectDocument } from './gone-files.ts'
import { noDocument, typeOfBytes, uploadedName } from './upload.ts'

export const MEDIA_TYPES: Readonly<Record<DocumentType, string>> = {
  pdf: 'application/pdf',
  html: 'text/html; charset=utf-8',
}

/** What a client sends of a document: its words stand in the query or are parts of the form (brief 0.6). */
export type Upload = { query: AddDocumentQuery; form: AddDocumentForm; file: FilePart | undefined }

/**
 * Stores the file, then has `add` put the document where it belongs. A file that is not recorded goes again: of a
 * refusal, and of a repeat with the same key, which is answered with the document that was stored at first. Each try
 * has a locator of its own, so that no file is ever in another's place. Where it is not known whether the document was
 * recorded, or the request is cut off, the file's timer looks at it later.
 */
export async function withStoredFile(
  context: RequestContext,
  shard: number,
  upload: Upload,
  add: (document: UnplacedDocument) => Promise<JsonAnswer>,
): Promise<JsonAnswer> {
  const { file, type, ...words } = readUpload(upload)
  const locator = newUuid(shard)
  const key = fileKey(context.tenant, ...documentPath(locator))
  await expectDocument(context, locator)
  context.calls.r2 += 1
  await tenantFiles(context.env, context.tenant).put(key, file.bytes, {
    httpMetadata: { contentType: MEDIA_TYPES[type] },
  })
  try {
    const answer = await add({
      locator,
      ...words,
      fileName: uploadedName(file.fileName, type),
      type,
      state: 'ready',
      createdAt: context.now,
      updatedAt: context.now,
    })
    // The answer shows the documents, and so this one if it was recorded.
    if (!answer.text.includes(locator)) deleteUnnamedFile(context, locator)
    return answer
  } catch (problem) {
    if (isRefused(problem)) deleteUnnamedFile(context, locator)
    throw problem
  }
}

/**
 * Has `remove` take the document off what it was uploaded to, which `title` names, and takes its file away at once: who
 * removes a document does not want it read any more. A crash in between leaves that to the timer (gone-files.ts).
 */
export async function withoutStoredFile(
  context: RequestContext,
  title: string,
  documentLocator: string,
  remove: (document: Uuid) => Promise<JsonAnswer>,
): Promise<JsonAnswer> {
  const locator = readUuid(documentLocator)
  if (!locator) throw noDocument({ title }, documentLocator)
  const answer = await remove(locator)
  deleteUnnamedFile(context, locator)
  return answer
}

/** Refuses (400) what is incomplete, and files that are neither PDF nor HTML or not what they are said to be. */
function readUpload({ query, form, file }: Upload): {
  file: FilePart
  type: DocumentType
  displayName: string
  documentType: string
} {
  const named = (name: 'displayName' | 'documentType'): string => {
    const value = query[name] ?? form[name]
    if (value === undefined)
      throw new Refusal(
        'invalidRequest',
        `Say the ${name} of the document, in the query or as a part of the form.`,
      )
    return value
  }
  const [displayName, documentType] = [named('displayName'), named('documentType')]
  if (!file || file.bytes.length === 0)
    throw new Refusal('invalidRequest', "The part 'document' is missing or empty; send the file in it.")
  const type = typeOfBytes(file.bytes)
  if (!type)
    throw new Refusal(
      'invalidRequest',
      'The file is neither a PDF nor HTML in UTF-8; other files cannot be documents.',
    )
  if (/^(?:pdf|html)$/i.test(documentType) && documentType.toLowerCase() !== type)
    throw new Refusal(
      'invalidRequest',
      `documentType says ${documentType}, and the file is ${type}; correct one of them.`,
    )
  return { file, type, displayName, documentType }
}
