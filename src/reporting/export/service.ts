// Reads pages of records, shard by shard. A page ends with a line that says how to continue, or that it was the last. Records
// are read again for each page, so no page shows a value that was overwritten before.
import { Refusal } from '../../kernel/errors.ts'
import { didYouMean } from '../../kernel/text.ts'
import type { RequestContext } from '../../platform/context.ts'
import { jsonLines, type ReadyAnswer } from '../../platform/http/route.ts'
import { shardDatabase } from '../../platform/tenancy.ts'
import { requireBooks } from '../books/service.ts'
import * as changes from './changes.ts'
import {
  EXPORT_KINDS,
  type ExportChangesQuery,
  type ExportPageQuery,
  type ExportResponse,
} from './contract.ts'
import { PAGES } from './pages.ts'
import * as store from './store.ts'
import { cursorText, pageToken, readPageToken } from './tokens.ts'

/** Returns the number of records, and the cursor after which changes may be missing in an export that begins now. */
export async function readExport(context: RequestContext): Promise<ExportResponse> {
  requireBooks(context)
  const { env, tenant, calls } = context
  const ends = await Promise.all(
    tenant.shards.map(async (_, shard) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const [end] = await database.batch([store.endQuery(database, tenant.keepsNotes === true)])
      return (end as D1Result<store.End>).results[0]!
    }),
  )
  const sum = (name: keyof store.End): number => ends.reduce((total, one) => total + one[name], 0)
  const records = { events: sum('event'), journal: sum('journalRows') }
  return {
    cursor: cursorText(
      ends.map(({ event, journal }) => [event, journal]),
      tenant,
    ),
    kinds: EXPORT_KINDS.map(kind => ({
      kind,
      records: kind === 'events' || kind === 'journal' ? records[kind] : sum(kind),
    })),
  }
}

/** One batch; two for policies. */
export async function exportPage(
  context: RequestContext,
  kindText: string,
  { pageSize, pagingToken }: ExportPageQuery,
): Promise<ReadyAnswer> {
  requireBooks(context)
  const kind = EXPORT_KINDS.find(one => one === kindText)
  if (!kind)
    throw new Refusal(
      'notFound',
      `There is no kind of record '${kindText.slice(0, 100)}' to export.${didYouMean(kindText, EXPORT_KINDS)} Use one of: ${EXPORT_KINDS.join(', ')}.`,
    )
  const { env, tenant, calls } = context
  const { shard, after } = readPageToken(pagingToken, tenant.shards.length)
  const place = { context, shard, database: shardDatabase(env, tenant, shard, calls) }
  const { lines, next } = await PAGES[kind](place, after, pageSize)
  const isLast = next === undefined && shard + 1 >= tenant.shards.length
  const token = next === undefined ? pageToken(shard + 1, '') : pageToken(shard, next)
  return jsonLines([
    ...lines,
    JSON.stringify(isLast ? { kind: 'end' } : { kind: 'page', pagingToken: token }),
  ])
}

/** Rejects with 503 a tenant without books; otherwise as in `changes.ts`. */
export async function exportChanges(
  context: RequestContext,
  query: ExportChangesQuery,
): Promise<ReadyAnswer> {
  requireBooks(context)
  return changes.exportChanges(context, query)
}
