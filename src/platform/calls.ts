import { invalidParameter } from '../kernel/errors.ts'

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
  /** Round trips to D1 that read a tenant or revocations again, because they were read more than 5 s ago. */
  renewed: number
  rowsRead: number
  rowsWritten: number
  /** How many of these round trips objects made, not the caller itself. */
  ofObjects?: number
  /** How far each database that answered had come, by binding. */
  bookmarks?: Readonly<Record<string, string>>
  /** How far each had come for the client, by binding. */
  clientBookmarks?: Readonly<Record<string, string>>
  /** Nothing is written or decided: any copy of a database will do that has come as far as the client has seen. */
  isRead?: boolean
  /** Called with the number of rows that were read, before they are used (platform/seats.ts). */
  heavy?: { read(rows: number): Promise<void> }
}

type Figure = Exclude<keyof Calls, 'ofObjects' | 'bookmarks' | 'clientBookmarks' | 'isRead' | 'heavy'>

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

// Bookmarks of D1 (`x-d1-bookmark`): a client that sends what its last answer had reads what it wrote, from whichever copy of
// the database is next to it. Without one every read is the primary's. Writes always are: what is decided rests on what is so.

export const BOOKMARK_HEADER = 'x-d1-bookmark'

const FORM = /^([0-9a-f]{8}\.\d{1,9})\.(\d{1,2}=[\w-]{1,128}(?:,\d{1,2}=[\w-]{1,128})*)$/

/** The parts of a tenant that name its databases. */
type Sharded = { readonly locator: string; readonly generation: number; readonly shards: readonly string[] }

/** A tenant's databases, until it is recreated. */
const scopeOf = ({ locator, generation }: Sharded): string => `${locator.slice(0, 8)}.${generation}`

/**
 * The bookmarks that the client sent, by binding. Empty for a bookmark of another tenant or of one that was recreated since: the primary
 * has come at least as far. 400 for text that no answer had.
 */
export function readBookmarks(header: string | null, tenant: Sharded): Readonly<Record<string, string>> {
  if (header === null) return {}
  const [, scope, list] = FORM.exec(header.trim()) ?? []
  if (scope === undefined || list === undefined)
    throw invalidParameter(
      'X-D1-Bookmark must be that of an earlier answer, as it was sent; or leave it out.',
    )
  if (scope !== scopeOf(tenant)) return {}
  const clientBookmarks: Record<string, string> = {}
  for (const one of list.split(',')) {
    const [shard, bookmark] = one.split('=') as [string, string]
    const binding = tenant.shards[Number(shard)]
    if (binding !== undefined) clientBookmarks[binding] = bookmark
  }
  return clientBookmarks
}

/** The bookmarks of the answer: for each shard the later of the client's and the one seen. Undefined where there is neither. */
export function writeBookmarks(
  { clientBookmarks = {}, bookmarks = {} }: Calls,
  tenant: Sharded,
): string | undefined {
  const each = tenant.shards.flatMap((binding, shard) => {
    const latest = laterBookmark(clientBookmarks[binding], bookmarks[binding])
    return latest === undefined ? [] : [`${shard}=${latest}`]
  })
  return each.length === 0 ? undefined : `${scopeOf(tenant)}.${each.join(',')}`
}
