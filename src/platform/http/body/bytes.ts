// Reads the bytes of bodies. Bytes are counted as they arrive: Content-Length is only a claim of the client, and chunked uploads
// have none.
import { Refusal, tooLarge } from '../../../kernel/errors.ts'
import { Seats } from '../../seats.ts'

const megabytes = (bytes: number): string =>
  bytes % 1_000_000 === 0 ? `${bytes / 1_000_000} MB` : `${Math.ceil(bytes / 1_048_576)} MiB`

/** Returns a 413 whose message has the limit of the path. */
export const bodyTooLarge = (largestBytes: number): Refusal =>
  tooLarge(`The body is larger than ${megabytes(largestBytes)}, which is the limit of this path.`)

/** Small chunks are joined up to this size, so that a body sent byte by byte needs no additional memory. */
const PIECE_BYTES = 65_536

/**
 * Yields the body in pieces. Throws `tooLarge` as soon as more than `largestBytes` have arrived. A caller that stops early leaves
 * the rest to `discardRest`.
 */
export async function* pieces(
  body: ReadableStream<Uint8Array>,
  largestBytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const reader = body.getReader()
  // Most bodies arrive in one chunk, which is yielded unchanged.
  let only: Uint8Array<ArrayBuffer> | undefined
  let piece = new Uint8Array()
  let filled = 0
  let total = 0
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) break
      total += value.length
      if (total > largestBytes) throw bodyTooLarge(largestBytes)
      if (total === value.length && value.length <= PIECE_BYTES) {
        only = value as Uint8Array<ArrayBuffer>
        continue
      }
      if (piece.length === 0) piece = new Uint8Array(PIECE_BYTES)
      if (only) {
        piece.set(only)
        filled = only.length
        only = undefined
      }
      for (let from = 0; from < value.length; ) {
        const taken = value.subarray(from, from + PIECE_BYTES - filled)
        piece.set(taken, filled)
        filled += taken.length
        from += taken.length
        if (filled < PIECE_BYTES) continue
        yield piece
        piece = new Uint8Array(PIECE_BYTES)
        filled = 0
      }
    }
    if (only && only.length > 0) yield only
    if (filled > 0) yield piece.subarray(0, filled)
  } finally {
    reader.releaseLock()
  }
}

const MOST_DISCARDED_BYTES = 64 * 1_048_576

/**
 * Discards up to 64 MiB of a body. Without this, a client that is still sending when the response arrives may see a reset
 * connection instead.
 */
export async function discardRest({ body }: Request): Promise<void> {
  if (!body || body.locked) return
  const reader = body.getReader()
  let discarded = 0
  try {
    while (discarded < MOST_DISCARDED_BYTES) {
      const { done, value } = await reader.read()
      if (done) return
      discarded += value.length
    }
    reader.cancel().catch(() => {})
  } catch {
    // The client has disconnected.
  }
}

/** Copies the parts into one array. Until the parts are released, memory holds the bytes twice. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Returns the whole body. Empty when there is none. */
export async function readBytes(request: Request, largestBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  if (request.body) for await (const piece of pieces(request.body, largestBytes)) parts.push(piece)
  return parts.length === 1 ? parts[0]! : concatBytes(parts)
}

/** Decodes UTF-8 without its byte-order mark. Returns undefined when the bytes are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return undefined
  }
}

// Limits the large files that one isolate has in memory: all its requests and objects share 128 MB. A file takes a place from the
// moment when it turns out to be large until the response. Without a free place the request is rejected, because requests cannot
// wait for each other.

export const MOST_LARGE_FILES = 2

/** A file up to this size needs no place, like a JSON body. */
export const LARGEST_SMALL_FILE_BYTES = 4 * 1024 * 1024

const RETRY_AFTER_SECONDS = 5

const seats = new Seats(MOST_LARGE_FILES, 60_000)

export type FilePlace = {
  /** Reports that the file has or will have `bytes`. Throws 503 for a large one without a free place. */
  reach(bytes: number): void
  /** Reports that the file is no longer in memory. */
  leave(): void
}

/** Returns a place for one file, which is taken only when needed. */
export function filePlace(): FilePlace {
  const place = Symbol('large file')
  return {
    reach(bytes) {
      if (bytes > LARGEST_SMALL_FILE_BYTES) take(place)
    },
    leave: () => seats.leave(place),
  }
}

function take(place: symbol): void {
  if (!seats.take(place))
    throw new Refusal(
      'overloaded',
      'Other large files are being read at the moment. Send the request again in a few seconds.',
      {},
      RETRY_AFTER_SECONDS,
    )
}
