import { invalidRequest, isRefused, notFound } from '../../kernel/errors.ts'
import { newUuid, readUuid } from '../../kernel/locators.ts'
import { plainFileName } from '../../kernel/text.ts'
import { commit, isBySubject, type JsonAnswer, jsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { putRows } from '../../platform/database/rows.ts'
import { expectRecord } from '../../platform/events/timers.ts'
import type { FilePart } from '../../platform/http/body/form.ts'
import { fileKey, HOME_SHARD, homeDatabase, tenantFiles } from '../../platform/tenancy.ts'
import type { Media } from '../../policy/contract/documents.ts'
import { mediaResponse } from '../../policy/projection/records.ts'
import { type Medium, mediumPath } from '../../policy/records/transactions.ts'
import { deleteFile, readMedia } from '../../policy/store/aggregates.ts'
import { media } from '../../policy/tables/documents.ts'

/**
 * Stores the file and its record. Each attempt has its own file, which is deleted if the request is rejected or repeats an earlier
 * one. A timer deletes the file of an attempt that was cut off.
 */
export async function uploadMedium(
  context: RequestContext,
  fileName: string | undefined,
  file: FilePart | undefined,
): Promise<JsonAnswer> {
  if (!file || file.bytes.length === 0)
    throw invalidRequest("The part 'file' is missing or empty. Send the file in it.")
  const locator = newUuid(HOME_SHARD)
  const name = plainFileName(fileName ?? file.fileName ?? '') || 'file'
  const medium: Medium = { locator, fileName: name, mimeType: mimeTypeOf(file, [name, file.fileName ?? '']) }
  await expectRecord(context, 'medium.file.unrecorded', locator)
  context.calls.r2 += 1
  await tenantFiles(context.env, context.tenant).put(
    fileKey(context.tenant, ...mediumPath(locator)),
    file.bytes,
    { httpMetadata: { contentType: medium.mimeType } },
  )
  const database = homeDatabase(context)
  const row = { ...medium, sizeBytes: file.bytes.length, createdAt: context.now }
  let isUnneeded = false
  try {
    const committed = await commit(context, database, {
      shard: HOME_SHARD,
      guards: [],
      facts: putRows(database, media, [row]),
      answer: jsonAnswer(mediaResponse(medium)),
      subject: locator,
    })
    if (isBySubject(committed)) throw new Error('The response to an upload must be stored.')
    isUnneeded = !committed.text.includes(locator)
    return committed
  } catch (problem) {
    isUnneeded = isRefused(problem)
    throw problem
  } finally {
    if (isUnneeded)
      context.later(
        deleteFile(context, locator).catch(problem =>
          console.warn(JSON.stringify({ at: 'uploadMedium', medium: locator, problem: String(problem) })),
        ),
      )
  }
}

/** Returns the name, type and address of the file. Throws 404 if there is none. Takes one round trip. */
export async function readMedium(context: RequestContext, text: string): Promise<Media> {
  const locator = readUuid(text)
  const [found] = locator ? await readMedia(context, [locator]) : []
  if (!found) throw notFound('medium', text)
  return mediaResponse(found)
}

/** First bytes of the formats that always have a mark. */
const MARKS: readonly [string, RegExp][] = [
  ['application/pdf', /^%PDF-/],
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF....WEBP/s],
]

const OFFICE = 'application/vnd.openxmlformats-officedocument'
const OPEN_DOCUMENT = 'application/vnd.oasis.opendocument'

/** Subtypes with the same name as their file extension. */
const IMAGES = ['png', 'jpeg', 'gif', 'webp', 'avif', 'heic', 'heif', 'tiff', 'bmp']
const TEXTS = ['csv', 'html']
const APPLICATIONS = ['pdf', 'json', 'xml', 'rtf', 'zip']

/** Media types by file extension: the files that policyholders and adjusters send. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ...IMAGES.map(ending => [ending, `image/${ending}`] as const),
  ...TEXTS.map(ending => [ending, `text/${ending}`] as const),
  ...APPLICATIONS.map(ending => [ending, `application/${ending}`] as const),
  ['jpg', 'image/jpeg'],
  ['tif', 'image/tiff'],
  ['svg', 'image/svg+xml'],
  ['txt', 'text/plain'],
  ['text', 'text/plain'],
  ['htm', 'text/html'],
  ['md', 'text/markdown'],
  ['doc', 'application/msword'],
  ['docx', `${OFFICE}.wordprocessingml.document`],
  ['xls', 'application/vnd.ms-excel'],
  ['xlsx', `${OFFICE}.spreadsheetml.sheet`],
  ['ppt', 'application/vnd.ms-powerpoint'],
  ['pptx', `${OFFICE}.presentationml.presentation`],
  ['odt', `${OPEN_DOCUMENT}.text`],
  ['ods', `${OPEN_DOCUMENT}.spreadsheet`],
  ['eml', 'message/rfc822'],
  ['msg', 'application/vnd.ms-outlook'],
  ['mp3', 'audio/mpeg'],
  ['m4a', 'audio/mp4'],
  ['wav', 'audio/wav'],
  ['ogg', 'audio/ogg'],
  ['mp4', 'video/mp4'],
  ['m4v', 'video/mp4'],
  ['mov', 'video/quicktime'],
  ['webm', 'video/webm'],
  ['avi', 'video/x-msvideo'],
])

/** Clients send it for every file whose type they do not know. */
const UNKNOWN = 'application/octet-stream'

const MEDIA_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/

const typeOfName = (name: string): string | undefined =>
  TYPES.get(/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '')

/** Determines the type by the first bytes, else the client's type, else the first of `names` with a known extension. */
function mimeTypeOf(
  { bytes, mediaType }: Pick<FilePart, 'bytes' | 'mediaType'>,
  names: readonly string[],
): string {
  const head = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  const marked = MARKS.find(([, mark]) => mark.test(head))?.[0]
  if (marked !== undefined) return marked
  const declared = mediaType?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (MEDIA_TYPE.test(declared) && declared !== UNKNOWN) return declared
  return names.map(typeOfName).find(type => type !== undefined) ?? UNKNOWN
}
