/**
 * Round trips that a request has made, the one cost that does not depend on the machine, and the rows that D1 read and
 * wrote for it, index entries included. Every binding is reached through a function that counts here; answers carry
 * the figures in `Server-Timing`, and tests assert them.
 */
export type Calls = {
  d1: number
  object: number
  r2: number
  queue: number
  /** Of the round trips to D1, those that looked again at a tenant, or at what was revoked, known from more than 5 s ago. */
  renewed: number
  rowsRead: number
  rowsWritten: number
  /** Round trips among them that objects made: they are no calls of the caller's own. */
  ofObjects?: number
  /** How far each database had come that answered, by binding (platform/database/bookmarks.ts). */
  bookmarks?: Readonly<Record<string, string>>
  /** How far each had come for the client, by binding. */
  brought?: Readonly<Record<string, string>>
  /** Nothing is written or decided: any copy of a database will do that has come as far as the client has seen. */
  isRead?: boolean
  /** Is told of rows that were read before anything is made of them (platform/heavy.ts). */
  heavy?: { read(rows: number): Promise<void> }
}

type Figure = Exclude<keyof Calls, 'ofObjects' | 'bookmarks' | 'brought' | 'isRead' | 'heavy'>

const FIGURES: readonly Figure[] = ['d1', 'object', 'r2', 'queue', 'renewed', 'rowsRead', 'rowsWritten']

export const noCalls = (): Calls => ({
  d1: 0,
  object: 0,
  r2: 0,
  queue: 0,
  renewed: 0,
  rowsRead: 0,
  rowsWritten: 0,
})

/** Adds what a Durable Object reports of its own calls to the caller's figures. */
export function addCalls(to: Calls, more: Calls): void {
  for (const name of FIGURES) to[name] += more[name]
  to.ofObjects = (to.ofObjects ?? 0) + more.d1 + more.object
  for (const [binding, bookmark] of Object.entries(more.bookmarks ?? {})) noteBookmark(to, binding, bookmark)
}

/**
 * The `Server-Timing` header: `total;dur=12, d1;desc="1", object;desc="0", …, renewed;desc="0", rows;desc="12 read, 3 written"`; milliseconds, and
 * how often.
 */
export function serverTiming(calls: Calls, durationMs: number): string {
  const { rowsRead, rowsWritten } = calls
  const trips = ['d1', 'object', 'r2', 'queue', 'renewed'] as const
  const figures = trips.map(name => `${name};desc="${calls[name]}"`)
  return [`total;dur=${durationMs}`, ...figures, `rows;desc="${rowsRead} read, ${rowsWritten} written"`].join(
    ', ',
  )
}

/** Notes how far the database has come. */
export function noteBookmark(calls: Calls, binding: string, bookmark: string): void {
  const noted = laterBookmark(calls.bookmarks?.[binding], bookmark)
  if (noted !== undefined) calls.bookmarks = { ...calls.bookmarks, [binding]: noted }
}

/** Bookmarks of one database sort as texts, the older before the newer. */
export const laterBookmark = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined || (other !== undefined && other > one) ? other : one
