// Loads the rows of a table's file into the database. Rows are checked while they arrive, and look-ups do not read them until all
// are stored.
import { Refusal } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { Guard, NewTimer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database, Query } from '../../platform/database.ts'
import { armDispatcher } from '../../platform/events/outbox.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { HOME_SHARD, shardDatabase, tenantNow } from '../../platform/tenancy.ts'
import type { Resource, ResourceRevision } from '../resource.ts'
import { storedFile } from '../stored-files.ts'
import { csvBytes, csvSource, MemoryUse } from './csv-source.ts'
import { type AnyDeclaration, declarationFor, type TableKind } from './layout.ts'
import { invalidTable, MOST_NOTES } from './notes.ts'
import { TableReading, type TableRow } from './reading.ts'
import * as store from './store.ts'

type StoredTable = { readonly revision: Uuid; readonly sizeBytes: number; readonly staticName: string }

/** Reads the file of a table to its end. Rejects with 400 (`invalidTable`) a file with problems. */
export type ReadTable = (
  file: StoredTable,
  context: RequestContext,
  database: Database,
) => Promise<{
  readonly warnings: readonly string[]
  /** Part of the commit that makes the file the table's contents. */
  readonly guards?: readonly Guard[]
  readonly facts?: readonly Query[]
  /** Timers for the contents that are replaced. */
  readonly timersAfter?: (before: Resource) => readonly NewTimer[]
  /** Removes what reading the file has added to the database. */
  readonly abandon?: () => void
}>

/** UTF-8 bytes of rows in one query. D1 accepts 2 MB. */
const LARGEST_CHUNK_BYTES = 1_000_000

type TableFile = {
  readonly revision: Uuid
  readonly sizeBytes: number
  readonly kind: TableKind
  readonly declared: AnyDeclaration | undefined
  /** Set if the file was loaded before. Repeated keys are not reported again; the first row of a key still counts. */
  readonly isKnown?: boolean
}

/**
 * Reads the file and adds its rows as contents that look-ups do not read yet. Rejects a table with problems (400 `invalidTable`
 * with the first 50) or over a limit (413), and then removes its rows.
 */
export async function loadTable(
  context: RequestContext,
  database: Database,
  { revision, sizeBytes, kind, declared, isKnown = false }: TableFile,
) {
  const file = storedFile(context, revision, sizeBytes)
  const source = await csvSource(file)
  const memory = new MemoryUse()
  const reading = new TableReading(kind, declared)
  const { notes } = reading
  let contents: number | undefined
  let texts: string[] = []
  let bytes = 0
  const flush = async (): Promise<void> => {
    if (texts.length === 0 || contents === undefined) return
    const most = MOST_NOTES - notes.problems.length
    const [rows, count, sent] = [`[${texts.join(',')}]`, texts.length, bytes]
    texts = []
    bytes = 0
    for (const repeated of await store.addRows(database, contents, rows, count, most))
      if (!isKnown) noteRepeated(reading, kind, repeated)
    memory.release(sent)
  }
  try {
    for await (const rows of reading.rows(csvBytes(file, source, memory))) {
      if (reading.layout && contents === undefined) {
        await armDispatcher(context, HOME_SHARD)
        const timer = contentsTimer(revision, context.now, LONGEST_LOADING_MS)
        contents = await store.beginContents(database, { revision, layout: reading.layout }, timer)
      }
      for (const row of rows) {
        const text = rowText(row)
        const size = Buffer.byteLength(text) + 1
        if (bytes + size > LARGEST_CHUNK_BYTES) await flush()
        memory.hold(size)
        bytes += size
        texts.push(text)
      }
      if (notes.isFull) break
    }
    await flush()
    const hasEnd = reading.layout?.range?.end !== undefined
    if (contents !== undefined && !notes.isFull)
      for (const { line, firstLine } of await store.findOverlaps(database, contents, hasEnd, MOST_NOTES))
        notes.problem(
          line,
          `The range begins before the range of line ${firstLine} has ended; ranges with the same key may share only an edge.`,
        )
    if (notes.problems.length > 0 || contents === undefined) throw invalidTable(notes)
    return { contents, rowCount: reading.rowCount, warnings: notes.warnings }
  } catch (problem) {
    if (contents !== undefined) abandon(context, database, contents)
    throw problem
  }
}

/**
 * Loads the removed rows of a revision from its file again, reading them as the first time. The rows then stay as long as an upload
 * may take.
 */
export async function reloadContents(
  context: RequestContext,
  database: Database,
  { locator, sizeBytes }: ResourceRevision,
  kind: TableKind,
): Promise<store.TableContents> {
  const layout = await store.findLayout(database, locator)
  if (!layout) throw new Error(`Revision ${locator} has no stored layout.`)
  const { contents, rowCount } = await loadTable(context, database, {
    revision: locator,
    sizeBytes,
    kind,
    declared: declarationFor(layout),
    isKnown: true,
  })
  await database.batch(store.loadedRows(database, contents, rowCount) as [Query, ...Query[]])
  const loaded = await store.findContents(database, locator)
  if (!loaded) throw new Refusal('overloaded', 'The contents are being removed; try again.', {}, 1)
  return loaded
}

/** Removes the rows of a failed upload after the response is sent. If that fails, the timer removes them. */
export function abandon(context: RequestContext, database: Database, contents: number): void {
  context.later(
    store
      .dropContents(database, contents)
      .then(() => store.removeRows(database, contents))
      .catch(problem =>
        console.error(
          JSON.stringify({ at: 'table', requestId: context.requestId, problem: String(problem) }),
        ),
      ),
  )
}

function noteRepeated(
  { notes, isKeyUnique }: TableReading,
  kind: TableKind,
  { line, firstLine }: store.RepeatedKey,
): void {
  const what = kind === 'table' ? 'key' : 'key and start'
  if (isKeyUnique || kind === 'rangeTable')
    notes.problem(line, `The row has the same ${what} as line ${firstLine}; remove one of them.`)
  else notes.warn(line, `The row has the same ${what} as line ${firstLine}, which counts.`)
}

/** A row as JSON: key, start, end and line, and the cells as a nested list. */
const rowText = ({ key, start, end, line, cells }: TableRow): string =>
  JSON.stringify([key, start, end, line, cells])

/**
 * How long rows of replaced contents stay, in milliseconds of the tenant's time: isolates trust what was in force for some seconds.
 */
const KEEP_UNREAD_MS = 10 * 60_000

/** Milliseconds of real time. An upload that takes longer was interrupted. */
const LONGEST_LOADING_MS = 60 * 60_000

/** A timer that removes the revision's rows after they are no longer current. */
export const unreadTimer = (revision: Uuid, at: Instant): NewTimer =>
  contentsTimer(revision, at, KEEP_UNREAD_MS)

const contentsTimer = (revision: Uuid, at: Instant, afterMs: number): NewTimer => ({
  dueAt: (at + afterMs) as Instant,
  kind: 'resource.table.contents',
  subject: revision,
  payload: {},
})

/**
 * Removes the rows of a revision that are not current: those of replaced contents and of failed uploads. Can be repeated safely.
 * The file stays in R2, so the rows can be loaded again to explain an old price.
 */
export const collectContents: TimerOwner = async (timer, { env, tenant, shard, calls }) => {
  const database = shardDatabase(env, tenant, shard, calls)
  const { dropped, loadingFrom } = await store.dropUnread(database, timer.subject, now() - LONGEST_LOADING_MS)
  for (const contents of dropped) await store.removeRows(database, contents)
  // In real time: a test tenant's clock may have been moved while rows arrive.
  if (loadingFrom !== null) {
    const leftMs = Math.max(1_000, loadingFrom + LONGEST_LOADING_MS - now())
    await store.postponeTimer(database, timer, (tenantNow(tenant) + leftMs) as Instant)
  }
}
