import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** Money paid out of policyholders' credit. Amounts in minor units, positive. */
export const disbursements = sqliteTable(
  'disbursement',
  {
    locator: text().primaryKey(),
    policyholderLocator: text().notNull(),
    type: text().notNull(),
    amount: integer().notNull(),
    currency: text().notNull(),
    data: text({ mode: 'json' }).$type<Readonly<Record<string, unknown>>>().notNull(),
    disbursedAt: integer().notNull(),
    createdAt: integer().notNull(),
  },
  table => [
    index('disbursement_policyholder').on(table.policyholderLocator, table.disbursedAt, table.locator),
  ],
)
