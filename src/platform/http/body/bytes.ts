// Bytes of a body, counted while they come: Content-Length is a claim of the client, and chunked uploads have none.
import { Refusal, tooLarge } from '../../../kernel/errors.ts'
import { Seats } from '../../seats.ts'

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_048_576)} MiB`

export const bodyTooLarge = (largestBytes: number): Refusal =>
  tooLarge(`The body is larger than ${megabytes(largestBytes)}, the most that this path takes.`)

/** Joins small chunks up to this size, so that a body sent byte by byte costs no more memory than another. */
const PIECE_BYTES = 65_536

/**
 * The body in pieces; throws `tooLarge` as soon as more than `largestBytes` have come. Who stops before the end
 * leaves the rest to `discardRest`.
 */
export async function* pieces(
  body: ReadableStream<Uint8Array>,
  largestBytes: number,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  const reader = body.getReader()
  // Most bodies come in one chunk, which is handed on as it is.
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

/** Most bytes of a refused body that are read only to be thrown away. */
export const MOST_DISCARDED_BYTES = 64 * 1_048_576

/**
 * Reads what is left of a body and forgets it, 64 MiB at most: a client that is still sending when its answer comes
 * may see a reset connection in its place.
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
    // The client has gone, and its answer goes nowhere.
  }
}

/** The parts as one. */
export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** The whole body, empty when there is none. */
export async function readBytes(request: Request, largestBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  if (request.body) for await (const piece of pieces(request.body, largestBytes)) parts.push(piece)
  return parts.length === 1 ? parts[0]! : joined(parts)
}

/** Text of UTF-8 bytes without its byte-order mark; undefined when they are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    return undefined
  }
}

// Files that one isolate has whole in memory at a time: its 128 MB are shared by all its requests and objects. A
// place is held from when a file turns out to be large until the request is answered. A request that finds none is refused
// at once, since the runtime does not let one request wait for another.

export const MOST_LARGE_FILES = 2

/** Up to this size a file counts no more than a JSON body does. */
export const LARGEST_SMALL_FILE_BYTES = 4 * 1024 * 1024

const RETRY_AFTER_SECONDS = 5

const seats = new Seats(MOST_LARGE_FILES, 60_000)

export type FilePlace = {
  /** The file has `bytes`, or will have them. Refuses with 503 when it is large and no place is left. */
  reach(bytes: number): void
  /** The file is no longer in memory. */
  leave(): void
}

/** The place of one file, which is taken when it is needed. */
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
      'Other large files are being read at the moment; send it again in some seconds.',
      {},
      RETRY_AFTER_SECONDS,
    )
}
