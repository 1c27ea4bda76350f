import { and, eq, gt, inArray, lte } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Uuid } from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { NewTimer } from '../../platform/commit.ts'
import { putRows } from '../../platform/database/rows.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { TimerOwner } from '../../platform/events/timers.ts'
import { writes } from '../../platform/tables.ts'
import { shardDatabase, tenantNow } from '../../platform/tenancy.ts'
import type { PolicyCreateRequest } from '../../policy/contract/requests.ts'
import type { QuickQuoteResponse } from './contract.ts'

export type QuickQuote = typeof quickQuotes.$inferSelect

export const quickQuoteRows = (database: Database, quickQuote: QuickQuote): Query[] =>
  putRows(database, quickQuotes, [quickQuote])

/** Returns undefined if there is no such quick quote or it has expired. The timer that removes it may run late. */
export async function findQuickQuote(
  database: Database,
  locator: Uuid,
  now: Instant,
): Promise<QuickQuote | undefined> {
  const [rows] = await database.batch([
    database.build
      .select()
      .from(quickQuotes)
      .where(and(eq(quickQuotes.locator, locator), gt(quickQuotes.expiresAt, now))),
  ])
  return rows[0]
}

export const QUICK_QUOTE_TIMER = 'quickQuote.expiry'

/** Returns the timer that removes the quick quote at its `expiresAt`. */
export const expiryTimer = ({ locator, expiresAt }: QuickQuote): NewTimer => ({
  dueAt: expiresAt as Instant,
  kind: QUICK_QUOTE_TIMER,
  subject: locator,
  payload: {},
})

/** Removes the quick quote if it has expired by the tenant's clock. */
export const removeQuickQuote: TimerOwner = async ({ subject }, { env, tenant, shard, calls }) => {
  const database = shardDatabase(env, tenant, shard, calls)
  await database.batch([
    database.build
      .delete(quickQuotes)
      .where(and(eq(quickQuotes.locator, subject), lte(quickQuotes.expiresAt, tenantNow(tenant)))),
  ])
}

/** Removes stored responses too, because prices may contain values of the policyholder. */
export function removeQuickQuotesOf(database: Database, policyholderLocator: Uuid): Query[] {
  const own = eq(quickQuotes.policyholderLocator, policyholderLocator)
  const locators = database.build.select({ locator: quickQuotes.locator }).from(quickQuotes).where(own)
  return [
    database.build.update(writes).set({ answer: null }).where(inArray(writes.subject, locators)),
    database.build.delete(quickQuotes).where(own),
  ]
}

/** Quick quotes, in the shard of their policyholder, for 30 days. */
export const quickQuotes = sqliteTable(
  'quick_quote',
  {
    locator: text().primaryKey(),
    policyholderLocator: text().notNull(),
    configVersion: integer().notNull(),
    createdAt: integer().notNull(),
    expiresAt: integer().notNull(),
    /** The request with autofill applied. Every read builds the content from it again. */
    request: text({ mode: 'json' }).$type<PolicyCreateRequest>().notNull(),
    answer: text({ mode: 'json' }).$type<QuickQuoteResponse>().notNull(),
  },
  table => [index('quick_quote_policyholder').on(table.policyholderLocator)],
)
