// Files that one isolate has whole in memory at a time: its 128 MB are shared by all its requests and objects. A
// place is held from when a file turns out to be large until the request is answered. Who finds none is refused
// at once: waiting for another request is nothing that the runtime lets a request do.
import { Refusal } from '../../../kernel/errors.ts'
import { Seats } from '../../seats.ts'

export const MOST_LARGE_FILES = 2

/** Up to this size a file is as good as a JSON body, and is not counted. */
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
