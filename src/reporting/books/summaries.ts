// Summaries of the journal: sums by the day to which entries are booked. They are built from its rows in the order of recording,
// a portion at a time, and can be rebuilt.
import { startOfDay, type TimeZone } from '../../kernel/time.ts'
import { commit, GuardTripped } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { bookedAt, type StoredJournalRow } from '../../policy/journal/rows.ts'
import { readJournalRow, rowsAfterQuery } from '../../policy/store/journal.ts'
import * as store from './store.ts'

/** Rows per portion, because their sums are one parameter of one statement. */
const MOST_ROWS = 1_000

/** Returns debits and credits of the rows by day, product, currency and account. */
export function sumsOf(rows: readonly StoredJournalRow[], zone: TimeZone): store.Sum[] {
  const sums = new Map<string, { -readonly [K in keyof store.Sum]: store.Sum[K] }>()
  for (const row of rows)
    for (const entry of row.entries) {
      const day = startOfDay(bookedAt(row, entry), zone)
      const productName = row.productName ?? ''
      const key = [day, productName, row.currency, entry.account].join('\n')
      const known = sums.get(key) ?? {
        day,
        productName,
        currency: row.currency,
        account: entry.account,
        debit: 0,
        credit: 0,
      }
      if (entry.minor > 0) known.debit += entry.minor
      else known.credit -= entry.minor
      sums.set(key, known)
    }
  return [...sums.values()]
}

/**
 * Summarizes the next rows of the shard. Returns `done` when the summaries contain all rows. A row counts once, even if another
 * request does the same simultaneously.
 */
export async function summarizePortion(
  context: RequestContext,
  database: Database,
  shard: number,
  zone: TimeZone,
): Promise<'done' | 'more'> {
  const [states] = await database.batch([store.booksQuery(database)])
  const { summarizedTo } = states[0] ?? store.NO_BOOKS
  const [found] = await database.batch([rowsAfterQuery(database, summarizedTo, MOST_ROWS)])
  const last = found.at(-1)
  if (!last) return 'done'
  try {
    await commit(context, database, {
      shard,
      subject: 'books',
      isRepeatable: true,
      guards: [store.summaryGuard(summarizedTo)],
      facts: store.addSumsQueries(database, sumsOf(found.map(readJournalRow), zone), last.id),
    })
  } catch (problem) {
    if (!(problem instanceof GuardTripped)) throw problem
  }
  return found.length < MOST_ROWS ? 'done' : 'more'
}
