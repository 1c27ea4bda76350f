import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { PolicyCreateRequest } from '../../policy/contract/requests.ts'
import type { QuickQuoteResponse } from './contract.ts'

/** Price requests that are no policies; in the shard of their policyholder, for 30 days. */
export const quickQuotes = sqliteTable(
  'quick_quote',
  {
    locator: text().primaryKey(),
    policyholderLocator: text().notNull(),
    configVersion: integer().notNull(),
    createdAt: integer().notNull(),
    expiresAt: integer().notNull(),
    /** As it was filled in; its content is made of it again whenever it is asked for. */
    request: text({ mode: 'json' }).$type<PolicyCreateRequest>().notNull(),
    answer: text({ mode: 'json' }).$type<QuickQuoteResponse>().notNull(),
  },
  table => [index('quick_quote_policyholder').on(table.policyholderLocator)],
)
