// Multipart forms, parsed as they arrive: parts in any order, with or without a Content-Type, and chunked uploads without
// Content-Length (brief 0.12).

import {
  MaxFileSizeExceededError,
  MaxHeaderSizeExceededError,
  MaxPartsExceededError,
  MaxTotalSizeExceededError,
  MultipartParseError,
  MultipartParser,
  type MultipartPart,
} from '@remix-run/multipart-parser'
import { z } from 'zod'
import { Refusal, tooLarge } from '../../../kernel/errors.ts'
import { shortened } from '../../../kernel/text.ts'
import type { FilePlace } from './bytes.ts'
import { bodyTooLarge, concatBytes, pieces, utf8Text } from './bytes.ts'
import { refuseCompression } from './json.ts'

const MOST_PARTS = 20
const LARGEST_TEXT_BYTES = 65_536
const LARGEST_HEADER_BYTES = 8_192

/** Size that boundaries, headers and text parts may add to the file. */
const FORM_OVERHEAD_BYTES = MOST_PARTS * (LARGEST_TEXT_BYTES + LARGEST_HEADER_BYTES)

export type Form = {
  readonly texts: Readonly<Record<string, string>>
  readonly file: FilePart | undefined
}

const malformed = (message: string): Refusal => new Refusal('malformedMultipart', message)

/**
 * Reads a form. The part named `fileName` is the file, regardless of its position and its label. It stays in memory until the
 * caller leaves the place. Skips parts that the schema does not have.
 */
export async function readForm(
  request: Request,
  { schema, file: fileName, largestFileBytes }: MultipartBody<z.ZodType>,
  place: FilePlace,
): Promise<Form> {
  refuseCompression(request)
  place.reach(Number(request.headers.get('content-length') ?? 0))
  const partNames = propertiesOf(schema)
  const boundary = boundaryOf(request)
  const parser = new MultipartParser(boundary, {
    maxHeaderSize: LARGEST_HEADER_BYTES,
    maxFileSize: largestFileBytes,
    maxParts: MOST_PARTS,
    maxTotalSize: largestFileBytes + FORM_OVERHEAD_BYTES,
  })
  const texts = new Map<string, string>()
  let file: FilePart | undefined
  let total = 0
  const take = (part: MultipartPart): void => {
    const { name, fileName: givenName, mediaType } = labelOf(part)
    if (!partNames.has(name)) return
    if (texts.has(name) || (name === fileName && file))
      throw malformed(`The form contains the part '${shortName(name)}' twice; send it once.`)
    if (name === fileName) file = { fileName: givenName, mediaType, bytes: concatBytes(part.content) }
    else texts.set(name, textOf(part, name))
  }
  try {
    if (request.body) {
      const body = pieces(request.body, largestFileBytes + FORM_OVERHEAD_BYTES)
      for await (const piece of withoutPreamble(body, boundary)) {
        // Data after the last boundary is not part of the form, and the parser would fail on it.
        if (isEnded(parser)) continue
        total += piece.length
        place.reach(total)
        for (const part of parser.write(piece)) take(part)
      }
    }
    parser.finish()
  } catch (problem) {
    throw formRefusal(problem, largestFileBytes)
  }
  return { texts: Object.fromEntries(texts), file }
}

/** Returns the boundary of a form. Rejects a body that is not a form. */
export function boundaryOf(request: Request): string {
  const type = request.headers.get('content-type') ?? ''
  if (!/^\s*multipart\/form-data/i.test(type))
    throw new Refusal(
      'unsupportedMediaType',
      'This path reads a form. Send multipart/form-data with its boundary in Content-Type.',
    )
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(type)
  const boundary = match?.[1] ?? match?.[2]
  if (boundary === undefined || !/^[\x20-\x7e]+$/.test(boundary))
    throw malformed('The Content-Type has no boundary. Let the client library set the header.')
  return boundary
}

/** Returns the part names that the schema reads. The schema is a z.object, or one behind a preprocess. */
function propertiesOf(schema: z.core.$ZodType): ReadonlySet<string> {
  if (schema instanceof z.core.$ZodPipe) return propertiesOf(schema._zod.def.out)
  if (schema instanceof z.core.$ZodObject) return new Set(Object.keys(schema._zod.def.shape))
  throw new Error('The schema of a form must be a z.object.')
}

/** Skips text before the first boundary, which is not part of the form (RFC 2046, 5.1.1). */
async function* withoutPreamble(
  body: AsyncIterable<Uint8Array<ArrayBuffer>>,
  boundary: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  // A boundary starts a line. The first line has no line break before it, so one is added.
  const delimiter = `\r\n--${boundary}`
  let read: Uint8Array | undefined = new TextEncoder().encode('\r\n')
  for await (const piece of body) {
    if (read === undefined) {
      yield piece
      continue
    }
    read = concatBytes([read, piece])
    const at = Buffer.from(read.buffer, read.byteOffset, read.byteLength).indexOf(delimiter)
    if (at < 0) read = read.subarray(Math.max(0, read.length - delimiter.length + 1))
    else {
      yield read.subarray(at + 2)
      read = undefined
    }
  }
}

type Label = { name: string; fileName: string | undefined; mediaType: string | undefined }

function labelOf(part: MultipartPart): Label {
  let label: Omit<Label, 'name'> & { name: string | undefined }
  try {
    label = { name: part.name, fileName: part.filename, mediaType: part.headers['content-type'] }
  } catch {
    throw malformed("A part's header cannot be decoded; write it in UTF-8.")
  }
  const { name } = label
  if (name === undefined)
    throw malformed('A part of the form has no name; name it in its Content-Disposition.')
  return { ...label, name }
}

function isEnded(parser: MultipartParser): boolean {
  try {
    parser.finish()
    return true
  } catch {
    return false
  }
}

function textOf(part: MultipartPart, name: string): string {
  if (part.size > LARGEST_TEXT_BYTES)
    throw tooLarge(
      `The part '${shortName(name)}' of the form is larger than ${LARGEST_TEXT_BYTES / 1024} KiB.`,
    )
  const text = utf8Text(concatBytes(part.content))
  if (text === undefined) throw malformed(`The part '${shortName(name)}' of the form is not UTF-8 text.`)
  return text
}

const shortName = (name: string): string => shortened(name, 40)

function formRefusal(problem: unknown, largestFileBytes: number): unknown {
  if (problem instanceof MaxFileSizeExceededError)
    return tooLarge(`A part of the form may be at most ${Math.floor(largestFileBytes / 1_048_576)} MiB.`)
  if (problem instanceof MaxPartsExceededError) return tooLarge(`The form has more than ${MOST_PARTS} parts.`)
  if (problem instanceof MaxHeaderSizeExceededError)
    return tooLarge(`A part's header is larger than ${LARGEST_HEADER_BYTES / 1024} KiB.`)
  if (problem instanceof MaxTotalSizeExceededError) return bodyTooLarge(largestFileBytes)
  if (problem instanceof MultipartParseError)
    return malformed(
      'The form is incomplete, or not separated by the boundary that its Content-Type names; send it again.',
    )
  return problem
}

export type FilePart = {
  /** The name that the client gave it. For display only. */
  readonly fileName: string | undefined
  /** As declared by the client. Undefined without a Content-Type. */
  readonly mediaType: string | undefined
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** A form. `schema` gets the text parts by name and the part `file` as a `FilePart`, which is also the handler's `input.file`. */
export type MultipartBody<Schema extends z.ZodType> = {
  readonly schema: Schema
  readonly file: string
  readonly largestFileBytes: number
}
