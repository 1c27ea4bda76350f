import { auditRows } from '../../access/audit/store.ts'
import { invalidParameter, invalidRequest, Refusal, wrongState } from '../../kernel/errors.ts'
import { type CurrencyCode, fromMinor, toNumber } from '../../kernel/money.ts'
import { didYouMean } from '../../kernel/text.ts'
import { type Instant, isoDay, startOfDay, type TimeZone } from '../../kernel/time.ts'
import { commit, GuardTripped, isBySubject, jsonAnswer, storedAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import { HOME_SHARD, homeDatabase, shardDatabase, tenantNow } from '../../platform/tenancy.ts'
import { ACCOUNT_NAMES, type AccountName } from '../../product/books.ts'
import { requireConfiguration } from '../configuration.ts'
import { readTime } from '../parameters.ts'
import { backfillPortion } from '../run/backfill.ts'
import type * as contract from './contract.ts'
import * as store from './store.ts'
import { summarizePortion } from './summaries.ts'

/** The maximum number of portions that one request brings in, and summarizes, in each shard. */
const MOST_PORTIONS = 3
const MOST_BALANCES = 10_000

/** Throws 503 `tenantBehind`, with a retry after 60 s, while the tenant's databases lack the tables of the books. */
export function requireBooks({ tenant }: RequestContext): void {
  if (tenant.keepsBooks) return
  const message = "The tenant's databases are not migrated to keep books yet; try again later."
  throw new Refusal('tenantBehind', message, {}, 60)
}

const shardsOf = (context: RequestContext) =>
  context.tenant.shards.map((_, shard) => ({
    shard,
    database: shardDatabase(context.env, context.tenant, shard, context.calls),
  }))

/**
 * Returns how far the books of all shards have progressed. The closed time is the earliest of all shards. One round trip for each
 * shard, in parallel.
 */
export async function readBooks(context: RequestContext): Promise<contract.BooksResponse> {
  requireBooks(context)
  const states = await Promise.all(
    shardsOf(context).map(async ({ database }) => {
      const [states, rows] = await database.batch([store.booksQuery(database), store.rowsQuery(database)])
      return { ...(states[0] ?? store.NO_BOOKS), ...rows[0]! }
    }),
  )
  const sum = (of: (one: (typeof states)[number]) => number): number =>
    states.reduce((total, one) => total + of(one), 0)
  const closedUntil = Math.min(...states.map(state => state.closedUntil))
  const [rows, summarizedRows] = [sum(one => one.rows), sum(one => one.summarizedTo)]
  return {
    ...(closedUntil > 0 && { closedUntilTimestamp: String(closedUntil) }),
    isBroughtIn: states.every(state => state.broughtInAt !== null),
    isSummarized: rows === summarizedRows,
    rows,
    summarizedRows,
  }
}

/** Whether the shard's journal contains the policies that are older than the journal. If not, brings some of them in. */
async function isBroughtIn(context: RequestContext, database: Database, shard: number): Promise<boolean> {
  for (let portion = 0; portion < MOST_PORTIONS; portion += 1)
    try {
      if ((await backfillPortion(context, database, shard)) === 'done') return true
    } catch (problem) {
      // A report brought some in at the same time, or one of the policies changed. Read them again.
      if (!(problem instanceof GuardTripped)) throw problem
    }
  return false
}

/** Lists the closed periods, newest first. */
export async function listPeriods(context: RequestContext): Promise<contract.PeriodResponse[]> {
  requireBooks(context)
  const database = homeDatabase(context)
  const [rows] = await database.batch([store.closingsQuery(database)])
  return rows.map(periodResponse)
}

const periodResponse = ({
  until,
  closedAt,
  username,
}: {
  until: number
  closedAt: number
  username: string
}): contract.PeriodResponse => ({
  untilTimestamp: String(until),
  closedTimestamp: String(closedAt),
  closedBy: username,
})

/**
 * Closes all periods before a time in the past: first in one shard after the other, then the period itself, so that an
 * interrupted call can be repeated. Entries that are recorded later and take effect before that time are booked at it. Rejects
 * with 409 a time that is not later than the last.
 */
export async function closePeriod(
  context: RequestContext,
  { until: asked }: contract.ClosePeriodRequest,
): Promise<JsonText> {
  requireBooks(context)
  const configuration = await requireConfiguration(context)
  const zone = configuration.timeZone
  const until = readDay(asked, 'until', zone)!
  if (until > tenantNow(context.tenant))
    throw invalidRequest(
      `'until' is ${isoDay(until, zone)}, which is in the future; only past periods can be closed.`,
    )
  const home = homeDatabase(context)
  const [same, all] = await home.batch([store.closingOfQuery(home, until), store.closingsQuery(home)])
  if (same[0] && (await storedAnswer(context, home))) return jsonText(jsonAnswer(periodResponse(same[0])))
  const last = all[0]
  if (last && last.until >= until)
    throw wrongState(
      `The books are already closed until ${isoDay(last.until as Instant, zone)}; a closed period stays closed.`,
    )
  for (const { database, shard } of shardsOf(context))
    if (!(await isBroughtIn(context, database, shard)))
      throw wrongState(
        'Policies from before the journal are still being brought in, and belong to the period. Try again: each attempt brings in more, and so does any report.',
      )
  for (const { database, shard } of shardsOf(context))
    if (shard !== HOME_SHARD)
      await commit(context, database, {
        shard,
        subject: 'books',
        guards: [],
        isRepeatable: true,
        facts: [store.closeQuery(database, until)],
      })
  const closing = { until, closedAt: context.now, username: context.caller.username }
  const answer = jsonAnswer(periodResponse(closing))
  try {
    const committed = await commit(context, home, {
      shard: HOME_SHARD,
      subject: 'books',
      answer,
      guards: [store.closingGuard(until)],
      facts: [
        store.closeQuery(home, until),
        store.newClosingQuery(home, closing),
        ...auditRows(home, context, HOME_SHARD, [
          { action: 'books.write', subject: String(until), details: { action: 'close' } },
        ]),
      ],
    })
    return jsonText(isBySubject(committed) ? answer : committed)
  } catch (problem) {
    if (!(problem instanceof GuardTripped)) throw problem
    throw wrongState('Another call closed a period at the same time. Read the periods and try again.')
  }
}

/** Returns debits and credits of accounts. Summarizes more of the journal first. */
export async function readBalances(
  context: RequestContext,
  { from, to, by = ['account'], account }: contract.BalancesQuery,
): Promise<contract.BalancesResponse> {
  requireBooks(context)
  const configuration = await requireConfiguration(context)
  const zone = configuration.timeZone
  if (account !== undefined && !(ACCOUNT_NAMES as readonly string[]).includes(account))
    throw invalidParameter(
      `There is no account '${account}'.${didYouMean(account, ACCOUNT_NAMES)} Use one of: ${ACCOUNT_NAMES.join(', ')}.`,
    )
  const asked: store.Asked = { from: readDay(from, 'from', zone), to: readDay(to, 'to', zone), account }
  const byDay = by.includes('day') || by.includes('month')
  let isComplete = true
  const found = await Promise.all(
    shardsOf(context).map(async ({ database, shard }) => {
      if (!(await isBroughtIn(context, database, shard))) isComplete = false
      let left: 'done' | 'more' = 'more'
      for (let portion = 0; portion < MOST_PORTIONS && left === 'more'; portion += 1)
        left = await summarizePortion(context, database, shard, zone)
      if (left === 'more') isComplete = false
      const [rows] = await database.batch([store.balancesQuery(database, asked, byDay, MOST_BALANCES + 1)])
      return rows
    }),
  )
  if (found.some(rows => rows.length > MOST_BALANCES)) throw tooMany()
  const sums = new Map<string, { place: Place; currency: CurrencyCode; debit: number; credit: number }>()
  for (const row of found.flat()) {
    const place = placeOf(row, by, zone)
    const currency = row.currency as CurrencyCode
    const key = JSON.stringify([place, currency])
    const known = sums.get(key) ?? { place, currency, debit: 0, credit: 0 }
    known.debit += row.debit
    known.credit += row.credit
    sums.set(key, known)
  }
  if (sums.size > MOST_BALANCES) throw tooMany()
  const codes = configuration.books?.accounts ?? {}
  const items = [...sums]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { place, currency, debit, credit }]) => {
      const code = codes[place.account as AccountName]?.code
      const major = (minor: number): number => toNumber(fromMinor(minor, currency))
      return {
        ...place,
        ...(code !== undefined && { accountCode: code }),
        currency,
        debit: major(debit),
        credit: major(credit),
        balance: major(debit - credit),
      }
    })
  return { isComplete, items }
}

/** Summaries are by day, so a time within a day is rejected with 400. */
function readDay(value: string | number | undefined, name: string, zone: TimeZone): Instant | undefined {
  const at = readTime(value, name, zone)
  if (at !== undefined && at !== startOfDay(at, zone))
    throw invalidRequest(
      `'${name}' is within ${isoDay(at, zone)}. Send the time at which a day begins in ${zone}.`,
    )
  return at
}

type Place = { day?: string; month?: string; product?: string; account?: string }

function placeOf(
  { day, productName, account }: { day: number; productName: string; account: string },
  by: readonly contract.BalanceDimension[],
  zone: TimeZone,
): Place {
  const date = by.includes('day') || by.includes('month') ? isoDay(day as Instant, zone) : ''
  return {
    ...(by.includes('month') && { month: date.slice(0, 7) }),
    ...(by.includes('day') && { day: date }),
    ...(by.includes('product') && { product: productName }),
    ...(by.includes('account') && { account }),
  }
}

const tooMany = (): Refusal =>
  invalidParameter(
    `There are more than ${MOST_BALANCES} balances. Use a shorter period, or leave out day or product.`,
  )

/** Deletes the summaries. The next requests for balances rebuild them from the journal. */
export async function rebuildSummaries(context: RequestContext): Promise<void> {
  requireBooks(context)
  for (const { database, shard } of shardsOf(context))
    await commit(context, database, {
      shard,
      subject: 'books',
      guards: [],
      isRepeatable: true,
      facts: [
        ...store.forgetSummariesQueries(database),
        ...(shard === HOME_SHARD
          ? auditRows(database, context, shard, [
              { action: 'books.write', subject: 'summaries', details: { action: 'rebuild' } },
            ])
          : []),
      ],
    })
}
