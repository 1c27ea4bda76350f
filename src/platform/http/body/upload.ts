// An uploaded file, read as it arrives: the file part of a multipart form, or the whole body. Nothing of the file is stored here,
// regardless of its length.
import { createHash, type Hash } from 'node:crypto'
import type { z } from '@hono/zod-openapi'
import { invalidRequest, Refusal, tooLarge } from '../../../kernel/errors.ts'
import type { IdempotencyKey } from '../../context.ts'
import type { FilePlace } from './bytes.ts'
import { bodyTooLarge, concatBytes, pieces } from './bytes.ts'
import { boundaryOf } from './form.ts'
import { refuseCompression } from './json.ts'

export type Upload = {
  /** As declared by the client, without parameters and in lower case. */
  readonly mediaType: string | undefined
  /** The name that the client gave it. For display only. */
  readonly fileName: string | undefined
  /**
   * Pieces of about 64 KiB. Read them once and to the end. Throws a Refusal: `tooLarge`, or `malformedMultipart` for a form that
   * is cut off or contains another file.
   */
  readonly stream: AsyncIterable<Uint8Array<ArrayBuffer>>
}

/** Size of the boundaries, headers and text parts around the file. */
const FORM_OVERHEAD_BYTES = 1_048_576
const LARGEST_HEADER_BYTES = 8_192
const MOST_PARTS = 20

const malformed = (message: string): Refusal => new Refusal('malformedMultipart', message)

/** `close` releases the body, whether or not it was read to the end. */
export type OpenUpload = { readonly upload: Upload; readonly close: () => Promise<void> }

/**
 * Opens the file of a request. In a form, the file is the part named `file` (or as in `partNames`), otherwise the first part with
 * a file name. Text parts are skipped. Any other body is the file itself. Throws 400 for a request without a file.
 */
export async function openUpload(
  request: Request,
  { largestBytes, partNames = ['file'] }: Pick<UploadBody, 'largestBytes' | 'partNames'>,
  place: FilePlace,
): Promise<OpenUpload> {
  refuseCompression(request)
  const type = request.headers.get('content-type') ?? ''
  const isForm = /^\s*multipart\//i.test(type)
  if (!request.body) throw noFile()
  const body = countPassingBytes(
    pieces(request.body, largestBytes + (isForm ? FORM_OVERHEAD_BYTES : 0)),
    Number(request.headers.get('content-length') ?? 0),
    place,
  )
  const close = async (): Promise<void> => void (await body.return())
  try {
    const upload = isForm
      ? await fileOfForm(body, boundaryOf(request), largestBytes, partNames)
      : { mediaType: plainType(type), fileName: undefined, stream: await withFirstByte(body) }
    return { upload, close }
  } catch (problem) {
    await close()
    throw problem
  }
}

const noFile = (): Refusal =>
  invalidRequest("The request contains no file; send it as the part 'file' of a form, or as the body itself.")

/** Rejects a body without a first byte: servers give requests without a body an empty one. */
async function withFirstByte(body: Body): Promise<Body> {
  const first = await body.next()
  if (first.done) throw noFile()
  return (async function* () {
    yield first.value
    yield* body
  })()
}

const plainType = (header: string | undefined): string | undefined =>
  header?.replace(/;.*/s, '').trim().toLowerCase() || undefined

async function* countPassingBytes(
  body: AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>,
  announcedBytes: number,
  place: FilePlace,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  place.reach(announcedBytes)
  let total = 0
  for await (const piece of body) {
    total += piece.length
    place.reach(total)
    yield piece
  }
}

type Body = AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>

/** Reads a form up to a mark. `rest` was read and is not used yet. */
class FormCursor {
  readonly #body: Body
  #rest: Buffer<ArrayBuffer> = Buffer.from('\r\n')
  #ended = false

  constructor(body: Body) {
    this.#body = body
  }

  async #more(): Promise<boolean> {
    if (this.#ended) return false
    const { done, value } = await this.#body.next()
    this.#ended = done === true
    if (value) this.#rest = Buffer.from(concatBytes([this.#rest, value]).buffer)
    return !this.#ended
  }

  /** Yields the text before the mark in pieces, and skips the mark. Throws when the form ends before it. */
  async *until(mark: Buffer): Body {
    for (;;) {
      const at = this.#rest.indexOf(mark)
      if (at >= 0) {
        const before = this.#rest.subarray(0, at)
        this.#rest = this.#rest.subarray(at + mark.length)
        if (before.length > 0) yield before
        return
      }
      const safe = this.#rest.length - mark.length + 1
      if (safe > 0) {
        const before = this.#rest.subarray(0, safe)
        this.#rest = this.#rest.subarray(safe)
        yield before
      }
      if (!(await this.#more()))
        throw malformed(
          'The form is incomplete, or not separated by the boundary that its Content-Type names; send it again.',
        )
    }
  }

  async skipTo(mark: Buffer): Promise<void> {
    for await (const _ of this.until(mark));
  }

  /** Returns the header lines of a part, or undefined after the last part. Call it right after a boundary. */
  async header(): Promise<string | undefined> {
    while (this.#rest.length < 2 && (await this.#more()));
    if (this.#rest.subarray(0, 2).toString('latin1') === '--') return undefined
    const lines: Uint8Array[] = []
    let length = 0
    for await (const piece of this.until(END_OF_HEADER)) {
      length += piece.length
      if (length > LARGEST_HEADER_BYTES)
        throw tooLarge(`A part's header is larger than ${LARGEST_HEADER_BYTES / 1024} KiB.`)
      lines.push(piece)
    }
    return Buffer.from(concatBytes(lines)).toString('utf8')
  }
}

const END_OF_HEADER = Buffer.from('\r\n\r\n')

async function fileOfForm(
  body: Body,
  boundary: string,
  largestBytes: number,
  partNames: readonly string[],
): Promise<Upload> {
  const cursor = new FormCursor(body)
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  await cursor.skipTo(delimiter)
  const parts = { left: MOST_PARTS }
  const file = await nextFile(cursor, delimiter, parts, partNames)
  if (!file) throw noFile()
  const stream = async function* (): Body {
    let total = 0
    for await (const piece of cursor.until(delimiter)) {
      total += piece.length
      if (total > largestBytes) throw bodyTooLarge(largestBytes)
      yield piece
    }
    if (await nextFile(cursor, delimiter, parts, partNames))
      throw malformed('The form contains more than one file; send one, as the part named file.')
    // Data after the last boundary is not part of the form. It is read so that the client can finish sending.
    for await (const _ of body);
  }
  return { ...file, stream: stream() }
}

/** Skips parts that are not files. Returns undefined when no file is left. */
async function nextFile(
  cursor: FormCursor,
  delimiter: Buffer,
  parts: { left: number },
  partNames: readonly string[],
): Promise<Omit<Upload, 'stream'> | undefined> {
  for (;;) {
    const header = await cursor.header()
    if (header === undefined) return undefined
    parts.left -= 1
    if (parts.left < 0) throw tooLarge(`The form has more than ${MOST_PARTS} parts.`)
    const disposition = headerLine(header, 'content-disposition') ?? ''
    const fileName = encodedFileName(disposition) ?? parameter(disposition, 'filename')
    if (fileName !== undefined || partNames.includes(parameter(disposition, 'name') ?? ''))
      return { fileName, mediaType: plainType(headerLine(header, 'content-type')) }
    await cursor.skipTo(delimiter)
  }
}

const headerLine = (header: string, name: string): string | undefined =>
  header
    .split('\r\n')
    .find(line => line.toLowerCase().startsWith(`${name}:`))
    ?.slice(name.length + 1)
    .trim()

function parameter(disposition: string, name: string): string | undefined {
  const match = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]*))`, 'i').exec(disposition)
  return match?.[1]?.replace(/\\(.)/g, '$1') ?? match?.[2]
}

/** Returns the name of `filename*=UTF-8''…` (RFC 8187), which some clients send alone for names with other letters than ASCII. */
function encodedFileName(disposition: string): string | undefined {
  const encoded = /;\s*filename\*=utf-8'[^']*'([^\s;]*)/i.exec(disposition)?.[1]
  try {
    return encoded && decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

/** Returns the whole file, for uploads that fit in memory. */
export async function uploadedBytes({ stream }: Upload): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  for await (const piece of stream) parts.push(piece)
  return concatBytes(parts)
}

/** Starts the SHA-256 hash of a file. `withContents` takes its hexadecimal digest. */
export const contentsHash = (): Hash => createHash('sha256')

/**
 * Adds the hash of the file to the request's key, so that the same key with a different file is rejected. Until the upload is
 * read, the key covers only path and query.
 */
export function withContents<C extends { readonly idempotency: IdempotencyKey | undefined }>(
  context: C,
  contents: string,
): C {
  const { idempotency } = context
  if (!idempotency) return context
  const bodyHash = createHash('sha256').update(`${idempotency.bodyHash}\n${contents}`).digest('hex')
  return { ...context, idempotency: { ...idempotency, bodyHash } }
}

/** A file that the handler reads as it arrives. The idempotency key of the request does not cover it: use `withContents`. */
export type UploadBody = {
  readonly largestBytes: number
  /** Names of form parts that are the file even without a file name. Default `file`. */
  readonly partNames?: readonly string[]
  /** Media type of a body that is the file itself, for the OpenAPI document. Default application/octet-stream. */
  readonly media?: string
  /** Schema of a JSON body that is read as it arrives, for the OpenAPI document. There is no form then. */
  readonly json?: z.ZodType
}
