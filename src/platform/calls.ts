import { invalidParameter } from '../kernel/errors.ts'

/**
 * Round trips of a request, the one cost that does not depend on the hardware, and the rows (with index entries) that D1 read and
 * wrote. Every binding is reached through a function that counts here. Responses show the figures in `Server-Timing`, and tests
 * assert them.
 */
export type Calls = {
  d1: number
  /** The part of `d1` that went to the control database. It puts no load on any tenant's database. */
  control: number
  object: number
  r2: number
  queue: number
  /** Round trips that read a tenant or revocations again after 5 s. */
  renewed: number
  rowsRead: number
  rowsWritten: number
  /**
   * Statements that this invocation sent to databases, without those of the objects that it called. The platform limits them for
   * each invocation.
   */
  statements?: number
  /** Calls to addresses outside of the platform, where work is divided by their number. */
  external?: number
  /** The part of the round trips that objects made. */
  ofObjects?: number
  /** The latest bookmark of each database in this request, by binding. */
  bookmarks?: Readonly<Record<string, string>>
  /** Size in bytes of each of the tenant's databases at its last response in this request, by binding. */
  sizes?: Readonly<Record<string, number>>
  /** The bookmarks that the client sent, by binding. */
  clientBookmarks?: Readonly<Record<string, string>>
  /** Whether the request is a pure read. Any copy of a database that has reached the client's bookmark may then answer. */
  isRead?: boolean
  /** Whether something was committed that the caller can see. Set as soon as that is known, which can be late. */
  hasChanged?: boolean
  /** Called with the number of rows read, before the rows are used (platform/seats.ts). */
  heavy?: { read(rows: number): Promise<void> }
  /** The token of the request. The tenant's databases reject it once it has ended (tenancy/fence.ts). */
  token?: AccessToken | LongLivedToken | undefined
}

export type AccessToken = { readonly accountLocator: string; readonly epoch: number }

/** A long-lived token of an account of the tenant, by the locator of its row. */
export type LongLivedToken = { readonly tokenLocator: string }

type Figure = Exclude<
  keyof Calls,
  | 'statements'
  | 'external'
  | 'ofObjects'
  | 'bookmarks'
  | 'sizes'
  | 'clientBookmarks'
  | 'isRead'
  | 'hasChanged'
  | 'heavy'
  | 'token'
>

const FIGURES: readonly Figure[] = [
  'd1',
  'control',
  'object',
  'r2',
  'queue',
  'renewed',
  'rowsRead',
  'rowsWritten',
]

/** Returns figures of zero in a new object, because calls are added to it in place. */
export const noCalls = (): Calls => ({
  d1: 0,
  control: 0,
  object: 0,
  r2: 0,
  queue: 0,
  renewed: 0,
  rowsRead: 0,
  rowsWritten: 0,
})

/**
 * No further portion of divided work starts in an invocation after this many statements or external calls. The platform allows a
 * thousand statements, and ten thousand calls of all kinds. The rest is for the portion that is under way.
 */
const MOST_STATEMENTS = 500
const MOST_EXTERNAL = 8_000

/** A portion of unknown cost stops after this many statements. The rest is for recording how far it came. */
const LAST_STATEMENT = 900

/** Whether work that is divided may start another portion in this invocation. Otherwise the next alarm continues it. */
export const hasRoomForMore = ({ statements = 0, external = 0 }: Calls): boolean =>
  statements <= MOST_STATEMENTS && external <= MOST_EXTERNAL

/** Whether a portion that is under way may read more in this invocation. Otherwise it must record what it has, or nothing. */
export const mayReadMore = ({ statements = 0 }: Calls): boolean => statements <= LAST_STATEMENT

/** Adds the figures of a request that was made within another request. */
export function addFigures(to: Calls, more: Calls): void {
  for (const name of FIGURES) to[name] += more[name]
}

/** Adds the calls that a Durable Object reports to the figures of its caller. */
export function addCalls(to: Calls, more: Calls): void {
  addFigures(to, more)
  to.ofObjects = (to.ofObjects ?? 0) + more.d1 + more.object
  if (more.hasChanged) to.hasChanged = true
  for (const [binding, bookmark] of Object.entries(more.bookmarks ?? {})) noteBookmark(to, binding, bookmark)
  for (const [binding, bytes] of Object.entries(more.sizes ?? {})) noteSize(to, binding, bytes)
}

const sizes = new Map<string, number>()

/** Returns the size of a database at its last response to this isolate or to an object that it called; 0 before the first. */
export const sizeOf = (binding: string): number => sizes.get(binding) ?? 0

/** Records the size of a database for the request and for the isolate (`sizeOf`). */
export function noteSize(calls: Calls, binding: string, bytes: number): void {
  sizes.set(binding, bytes)
  calls.sizes = { ...calls.sizes, [binding]: bytes }
}

/** Formats the `Server-Timing` header: `total;dur=12, d1;desc="1", …, rows;desc="12 read, 3 written"`; milliseconds and counts. */
export function serverTiming(calls: Calls, durationMs: number, showsRows = true): string {
  const { rowsRead, rowsWritten } = calls
  const trips = ['d1', 'object', 'r2', 'queue', 'renewed'] as const
  const figures = trips.map(name => `${name};desc="${calls[name]}"`)
  const rows = showsRows ? [`rows;desc="${rowsRead} read, ${rowsWritten} written"`] : []
  return [`total;dur=${durationMs}`, ...figures, ...rows].join(', ')
}

/** Records the bookmark of a database, unless a later one is recorded already. */
export function noteBookmark(calls: Calls, binding: string, bookmark: string): void {
  const noted = laterBookmark(calls.bookmarks?.[binding], bookmark)
  if (noted !== undefined) calls.bookmarks = { ...calls.bookmarks, [binding]: noted }
}

/** Returns the later bookmark. Bookmarks of one database sort as text, older before newer. */
const laterBookmark = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined || (other !== undefined && other > one) ? other : one

// D1 bookmarks (`x-d1-bookmark`): a client that sends the bookmark of its last response reads its own writes from the nearest
// copy. Without a bookmark, reads go to the primary. Writes always do, because decisions need current data.

export const BOOKMARK_HEADER = 'x-d1-bookmark'

const FORM = /^([0-9a-f]{8}\.\d{1,9})\.(\d{1,2}=[\w-]{1,128}(?:,\d{1,2}=[\w-]{1,128})*)$/

type Sharded = { readonly locator: string; readonly generation: number; readonly shards: readonly string[] }

/** Returns a name for the tenant's databases that is valid until the tenant is recreated. */
const scopeOf = ({ locator, generation }: Sharded): string => `${locator.slice(0, 8)}.${generation}`

/**
 * Reads the client's bookmarks, by binding. Ignores those of another tenant or an earlier generation: the primary then answers,
 * which is at least as recent. Throws 400 for text that is not a bookmark.
 */
export function readBookmarks(header: string | null, tenant: Sharded): Readonly<Record<string, string>> {
  if (header === null) return {}
  const [, scope, list] = FORM.exec(header.trim()) ?? []
  if (scope === undefined || list === undefined)
    throw invalidParameter(
      'X-D1-Bookmark must be the unchanged value of an earlier response. Send that, or leave the header out.',
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

/** Formats the later of the client's bookmark and the one seen for each shard. Returns undefined if there are none. */
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
