// What a medium is: by its first bytes, else by what the client says, else by the ending of its name.
import type { FilePart } from '../../platform/http/body/form.ts'

/** Formats whose files all begin with a mark. */
const MARKS: readonly [string, RegExp][] = [
  ['application/pdf', /^%PDF-/],
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF....WEBP/s],
]

const OFFICE = 'application/vnd.openxmlformats-officedocument'
const OPEN_DOCUMENT = 'application/vnd.oasis.opendocument'

/** Types by the endings of names: what policyholders and adjusters send. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['pdf', 'application/pdf'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['avif', 'image/avif'],
  ['heic', 'image/heic'],
  ['heif', 'image/heif'],
  ['tif', 'image/tiff'],
  ['tiff', 'image/tiff'],
  ['bmp', 'image/bmp'],
  ['svg', 'image/svg+xml'],
  ['txt', 'text/plain'],
  ['text', 'text/plain'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['htm', 'text/html'],
  ['md', 'text/markdown'],
  ['json', 'application/json'],
  ['xml', 'application/xml'],
  ['rtf', 'application/rtf'],
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
  ['zip', 'application/zip'],
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

/** What stands for a type where nobody knows it; clients send it for every file that they know nothing of. */
const UNKNOWN = 'application/octet-stream'

const MEDIA_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/

const typeOfName = (name: string): string | undefined =>
  TYPES.get(/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '')

/** The type of the file. Of `names` the first with an ending that says something counts. */
export function mimeTypeOf(
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
