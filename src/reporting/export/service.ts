// Pages of records, shard by shard. A page ends with a line that says how to go on, or that this was the last. Records are read anew for
// each page, so none shows a value that was overwritten before.
import { invalidParameter, Refusal } from '../../kernel/errors.ts'
import { type CurrencyCode, fromMinor, toText } from '../../kernel/money.ts'
import { didYouMean } from '../../kernel/text.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database, Query } from '../../platform/database.ts'
import { EVERY_EVENT } from '../../platform/events/rows.ts'
import { shardDatabase } from '../../platform/tenancy.ts'
import { policyResponse } from '../../policy/projection/policy.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import { AGGREGATE_QUERIES, aggregateQueries, readAggregates } from '../../policy/store/aggregates.ts'
import { readJournalRow } from '../../policy/store/journal.ts'
import { type Policyholder, policyholderResponse } from '../../policyholders/values.ts'
import { allVersionsQuery, loadConfiguration } from '../../product/cache.ts'
import { requireBooks } from '../books/service.ts'
import {
  EXPORT_KINDS,
  type ExportChangesQuery,
  type ExportKind,
  type ExportPageQuery,
  type ExportResponse,
} from './contract.ts'
import * as store from './store.ts'

/** Policies of a page, and their perils: a larger one is a page alone. */
const MOST_POLICIES = 50
const MOST_PERILS = 1_000
/** Rows of events whose records one page of changes has. */
const MOST_CHANGES = 200

type Line = { readonly kind: string; readonly record: unknown }

/** A page of one shard, and where it goes on there; undefined at its end. */
type Page = { readonly lines: readonly Line[]; readonly next: string | undefined }

type Place = { readonly context: RequestContext; readonly database: Database }

const databaseOf = (context: RequestContext, shard: number): Database =>
  shardDatabase(context.env, context.tenant, shard, context.calls)

/** How many records there are, and the cursor from which on changes may be missing in an export that begins now. */
export async function readExport(context: RequestContext): Promise<ExportResponse> {
  requireBooks(context)
  const ends = await endsOf(context)
  const sum = (name: keyof store.End): number => ends.reduce((total, one) => total + one[name], 0)
  return {
    cursor: cursorText(ends.map(({ event, journal }) => [event, journal])),
    kinds: [
      { kind: 'policyholders', records: sum('policyholders') },
      { kind: 'policies', records: sum('policies') },
      { kind: 'disbursements', records: sum('disbursements') },
      { kind: 'events', records: sum('event') },
      { kind: 'journal', records: sum('journalRows') },
    ],
  }
}

const endsOf = (context: RequestContext): Promise<store.End[]> =>
  Promise.all(
    context.tenant.shards.map(async (_, shard) => {
      const database = databaseOf(context, shard)
      const [end] = await database.batch([store.endQuery(database)])
      return (end as D1Result<store.End>).results[0]!
    }),
  )

const wrongToken = (name: string): Refusal =>
  invalidParameter(
    `'${name}' is not one that an answer gave; send the one of the answer before, or none to begin.`,
  )

/** Of each shard: the last event and the last row of the journal. */
type Cursor = readonly (readonly [event: number, journal: number])[]

const cursorText = (cursor: Cursor): string => cursor.map(one => one.join('.')).join('_')

/** Shards that came since begin at their start. */
function readCursor(text: string | undefined, shards: number): [number, number][] {
  const parts = text === undefined ? [] : text.split('_')
  if (parts.length > shards || parts.some(part => !/^\d{1,15}\.\d{1,15}$/.test(part)))
    throw wrongToken('cursor')
  return Array.from({ length: shards }, (_, shard) => {
    const [event = 0, journal = 0] = (parts[shard] ?? '0.0').split('.').map(Number)
    return [event, journal]
  })
}

export async function exportPage(
  context: RequestContext,
  kindText: string,
  { pageSize, pagingToken }: ExportPageQuery,
): Promise<Response> {
  requireBooks(context)
  const kind = EXPORT_KINDS.find(one => one === kindText)
  if (!kind)
    throw new Refusal(
      'notFound',
      `There is no kind of record '${kindText.slice(0, 100)}' to export.${didYouMean(kindText, EXPORT_KINDS)} There are: ${EXPORT_KINDS.join(', ')}.`,
    )
  let { shard, after } = readToken(pagingToken, context.tenant.shards.length)
  const place = { context, database: databaseOf(context, shard) }
  const { lines, next } = await PAGES[kind](place, after, pageSize)
  if (next === undefined) {
    shard += 1
    after = ''
  } else after = next
  const isLast = shard >= context.tenant.shards.length
  return ndjson([...lines, isLast ? { kind: 'end' } : { kind: 'page', pagingToken: `${shard}-${after}` }])
}

function readToken(token: string | undefined, shards: number): { shard: number; after: string } {
  if (token === undefined) return { shard: 0, after: '' }
  const [, shard, after = ''] = /^(\d{1,2})-([0-9a-f-]{0,40})$/.exec(token) ?? []
  if (shard === undefined || Number(shard) >= shards) throw wrongToken('pagingToken')
  return { shard: Number(shard), after }
}

const ndjson = (lines: readonly object[]): Response =>
  new Response(lines.map(line => `${JSON.stringify(line)}\n`).join(''), {
    headers: { 'content-type': 'application/x-ndjson', 'cache-control': 'private, no-store' },
  })

const PAGES: Record<ExportKind, (place: Place, after: string, pageSize: number) => Promise<Page>> = {
  async policyholders({ database }, after, pageSize) {
    const [rows] = await database.batch([store.policyholdersQuery(database, after, pageSize)])
    return pageOf(rows as unknown as Policyholder[], pageSize, one => one.locator, holderLine)
  },
  async policies(place, after, pageSize) {
    const { database } = place
    const most = Math.min(pageSize, MOST_POLICIES)
    const [rows] = await database.batch([store.policyLocatorsQuery(database, Number(after || 0), most)])
    const locators = withinPerils(rows).map(({ locator }) => locator)
    const isEnd = rows.length < most && locators.length === rows.length
    return {
      lines: (await policiesNamed(place, locators)).map(policyLine),
      next: isEnd ? undefined : String(locators.at(-1)),
    }
  },
  async disbursements({ database }, after, pageSize) {
    const [rows] = await database.batch([store.disbursementsQuery(database, after, pageSize)])
    return pageOf(
      rows,
      pageSize,
      one => one.locator,
      ({ amount, currency, ...one }) => ({
        kind: 'disbursement',
        record: { ...one, amount: toText(fromMinor(amount, currency as CurrencyCode)), currency },
      }),
    )
  },
  async events({ database }, after, pageSize) {
    const [result] = await database.batch([
      database.effect(
        `select * from ${EVERY_EVENT} where sequence > ?1 order by sequence limit ?2`,
        Number(after || 0),
        pageSize,
      ),
    ])
    const { results } = result as D1Result<{ sequence: number; data: string } & Record<string, unknown>>
    return pageOf(
      results,
      pageSize,
      one => String(one.sequence),
      ({ sequence, ...event }) => ({ kind: 'event', record: eventRecord(event) }),
    )
  },
  async journal({ database }, after, pageSize) {
    const [rows] = await database.batch([store.journalQuery(database, Number(after || 0), pageSize)])
    return pageOf(
      rows,
      pageSize,
      one => String(one.id),
      one => ({
        kind: 'journal',
        record: readJournalRow(one),
      }),
    )
  },
}

const eventRecord = (row: Record<string, unknown>) => ({
  locator: row.locator,
  requestId: row.request_id,
  type: row.type,
  newerType: row.newer_type,
  timestamp: row.at,
  username: row.username,
  policyholderLocator: row.policyholder_locator,
  policyLocator: row.policy_locator === null ? null : String(row.policy_locator),
  data: JSON.parse(String(row.data)),
})

function pageOf<R>(
  rows: readonly R[],
  size: number,
  place: (row: R) => string,
  line: (row: R) => Line,
): Page {
  return { lines: rows.map(line), next: rows.length < size ? undefined : place(rows.at(-1)!) }
}

const holderLine = (holder: Policyholder): Line => ({
  kind: 'policyholder',
  record: policyholderResponse(holder),
})

type ReadPolicy = Awaited<ReturnType<typeof policiesNamed>>[number]

const policyLine = ({ policy }: ReadPolicy): Line => ({ kind: 'policy', record: policy })

/** With all that belongs to them: quotes, transactions, exposures, invoices with payments, documents, grace periods. */
async function policiesNamed({ context, database }: Place, locators: readonly number[]) {
  if (locators.length === 0) return []
  const { env, tenant, calls } = context
  const results = (await database.batch([
    ...aggregateQueries(database, { locators: JSON.stringify(locators) }),
    allVersionsQuery(database),
  ] as [Query, ...Query[]])) as unknown[]
  const versions = new Map(
    (results[AGGREGATE_QUERIES] as { version: number; hash: string }[]).map(one => [one.version, one.hash]),
  )
  const read: { policy: object; aggregate: PolicyAggregate }[] = []
  for (const aggregate of readAggregates(results.slice(0, AGGREGATE_QUERIES))) {
    const { configVersion, productName } = aggregate.policy
    const { configuration } = await loadConfiguration(env, tenant, versions.get(configVersion)!, calls)
    const product = configuration.products[productName]!
    read.push({ policy: policyResponse(aggregate, product, { summarizeQuotes: false }), aggregate })
  }
  return read
}

function withinPerils<R extends { perils: number }>(rows: readonly R[]): readonly R[] {
  let perils = 0
  const end = rows.findIndex((one, at) => {
    perils += one.perils
    return at > 0 && perils > MOST_PERILS
  })
  return end < 0 ? rows : rows.slice(0, end)
}

/**
 * Records that changed after the cursor, each once and as it is now, and rows of the journal since. What is read after the events may have
 * changed again: then a later page has it once more. The last page of now says `isCompleted`.
 */
export async function exportChanges(
  context: RequestContext,
  { cursor: text }: ExportChangesQuery,
): Promise<Response> {
  requireBooks(context)
  const cursor = readCursor(text, context.tenant.shards.length)
  const lines: object[] = []
  let isCompleted = true
  for (const [shard, [event, journal]] of cursor.entries()) {
    const database = databaseOf(context, shard)
    const [found, rows] = await database.batch([
      store.eventRowsQuery(database, event, MOST_CHANGES),
      store.journalQuery(database, journal, MOST_CHANGES),
    ])
    const events = (found as unknown as D1Result<store.EventRow>).results
    const holders = [...new Set(events.flatMap(({ holder }) => holder ?? []))]
    const policies = [...new Set(events.flatMap(({ policy }) => policy ?? []))]
    if (holders.length > 0) {
      const [changed] = await database.batch([store.namedPolicyholdersQuery(database, holders)])
      lines.push(...(changed as unknown as Policyholder[]).map(holderLine))
    }
    for (let at = 0; at < policies.length; at += MOST_POLICIES)
      lines.push(
        ...(await policiesNamed({ context, database }, policies.slice(at, at + MOST_POLICIES))).map(
          policyLine,
        ),
      )
    lines.push(...rows.map(row => ({ kind: 'journal', record: readJournalRow(row) })))
    cursor[shard] = [events.at(-1)?.sequence ?? event, rows.at(-1)?.id ?? journal]
    if (events.length === MOST_CHANGES || rows.length === MOST_CHANGES) isCompleted = false
  }
  return ndjson([...lines, { kind: 'cursor', cursor: cursorText(cursor), isCompleted }])
}
