// Changes since a cursor: the policyholders and policies that events or journal rows name, each once per response and in its
// current state, and the journal rows. A response is bounded over all shards. The cursor stays before the first change that did
// not fit.
import type { RequestContext } from '../../platform/context.ts'
import { jsonLines, type Line, type ReadyAnswer } from '../../platform/http/route.ts'
import { shardDatabase } from '../../platform/tenancy.ts'
import type { Policyholder } from '../../policyholders/values.ts'
import type { ExportChangesQuery } from './contract.ts'
import { holderLine, journalLine, LARGEST_PAGE_BYTES, lengthOf, policyLine } from './lines.ts'
import { MOST_PERILS, MOST_POLICIES, type Place, readPolicies } from './policies.ts'
import * as store from './store.ts'
import { type Cursor, cursorText, readCursor } from './tokens.ts'

/** Rows of events and of the journal that a response covers. */
const MOST_ROWS = 500

/** The remaining room in a response. */
type Room = { rows: number; policies: number; perils: number; bytes: number }

/** A row of events or of the journal: the cursor after it, the records that it says have changed, and its own line. */
type Change = {
  readonly at: Cursor[number]
  readonly policy: number | undefined
  readonly holder: string | undefined
  readonly perils: number
  readonly line?: string
}

/**
 * Returns the changes after the cursor as NDJSON. The last line has the next cursor, and `isCompleted` if no more changes are
 * known. Rejects with 400 a malformed cursor, and with 409 one from before a restore. At most two round trips to D1 for each shard,
 * one shard after the other.
 */
export async function exportChanges(
  context: RequestContext,
  { cursor: text }: ExportChangesQuery,
): Promise<ReadyAnswer> {
  const { env, tenant, calls } = context
  const cursor = [...readCursor(text, tenant)]
  const room: Room = {
    rows: MOST_ROWS,
    policies: MOST_POLICIES,
    perils: MOST_PERILS,
    bytes: LARGEST_PAGE_BYTES,
  }
  const lines: Line[] = []
  let isCompleted = true
  for (const [shard, from] of cursor.entries()) {
    if (!isCompleted) break
    const place = { context, shard, database: shardDatabase(env, tenant, shard, calls) }
    const { found, isAll } = await findChanges(place, from, room)
    const shown = await showChanges(place, changesThatFit(found, room), room, lines.length === 0)
    lines.push(...shown.lines)
    cursor[shard] = shown.at ?? from
    isCompleted = isAll && shown.count === found.length
  }
  return jsonLines([
    ...lines,
    JSON.stringify({ kind: 'cursor', cursor: cursorText(cursor, tenant), isCompleted }),
  ])
}

/** Returns events first, then rows of the journal, each in their order. */
async function findChanges(
  { shard, database }: Place,
  from: Cursor[number],
  room: Room,
): Promise<{ found: Change[]; isAll: boolean }> {
  const most = Math.max(1, room.rows)
  const [event, journal, policy] = from
  const [result, rows] = await database.batch([
    store.eventRowsQuery(database, from, most),
    store.journalQuery(database, journal, most),
  ])
  const events = (result as unknown as D1Result<store.EventRow>).results
  const placeOf = (sequence: number, journal: number, own: number | null = null): Cursor[number] =>
    own === null ? [sequence, journal] : [sequence, journal, own]
  const last = events.at(-1) ?? { sequence: event, own: policy }
  const found = [
    ...events.map(
      (row): Change => ({
        at: placeOf(row.sequence, journal, row.own),
        policy: row.policy ?? undefined,
        holder: row.holder ?? undefined,
        perils: row.perils ?? 0,
      }),
    ),
    ...rows.map(
      (row): Change => ({
        at: placeOf(last.sequence, row.id, last.own),
        policy: row.policyLocator ?? undefined,
        holder: row.policyholderLocator,
        perils: row.perils ?? 0,
        line: journalLine(shard, row),
      }),
    ),
  ]
  room.rows -= found.length
  return { found, isAll: events.length < most && rows.length < most }
}

/** Returns the first changes that name no more policies than there is room for, and at least one if nothing was taken before. */
function changesThatFit(found: readonly Change[], room: Room): readonly Change[] {
  const seen = new Set<number>()
  const end = found.findIndex(({ policy, perils }) => {
    if (policy === undefined || seen.has(policy)) return false
    const isFirst = room.policies === MOST_POLICIES
    if (room.policies < 1 || (room.perils < perils && !isFirst)) return true
    seen.add(policy)
    room.policies -= 1
    room.perils -= perils
    return false
  })
  return end < 0 ? found : found.slice(0, end)
}

type Shown = {
  readonly lines: Line[]
  /** The cursor after the last change that is shown. Absent if none is shown. */
  readonly at?: Cursor[number]
  readonly count: number
}

async function showChanges(
  place: Place,
  found: readonly Change[],
  room: Room,
  isFirst: boolean,
): Promise<Shown> {
  if (found.length === 0) return { lines: [], count: 0 }
  const policyLocators = [...new Set(found.flatMap(({ policy }) => policy ?? []))]
  const holderLocators = [...new Set(found.flatMap(({ holder }) => holder ?? []))]
  const { results, policies } = await readPolicies(place, policyLocators, [
    store.namedPolicyholdersQuery(place.database, holderLocators),
  ])
  const holders = new Map((results[0] as Policyholder[]).map(one => [String(one.locator), one]))
  const reading = policies()
  let next = await reading.next()
  const shown = new Set<number | string>()
  const lines: Line[] = []
  let at: Cursor[number] | undefined
  let count = 0
  for (const change of found) {
    const { policy, holder, line } = change
    const own: Line[] = []
    const owner = holder === undefined || shown.has(holder) ? undefined : holders.get(holder)
    if (owner) own.push(holderLine(owner))
    // Policies that have been removed since are not among those read.
    if (policy !== undefined && !shown.has(policy) && next.value?.locator === String(policy)) {
      own.push(policyLine(next.value))
      next = await reading.next()
    }
    if (line !== undefined) own.push(line)
    const bytes = own.reduce((sum, one) => sum + lengthOf(one), 0)
    if (bytes > room.bytes && !(isFirst && count === 0)) break
    room.bytes -= bytes
    if (holder !== undefined) shown.add(holder)
    if (policy !== undefined) shown.add(policy)
    lines.push(...own)
    at = change.at
    count += 1
  }
  return { lines, count, ...(at && { at }) }
}
