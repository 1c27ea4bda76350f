import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Uuid } from '../platform/locators.ts'
import type { InvoiceStatusEntry, InvoiceType } from './invoice.ts'
import type { BillingPeriod } from './schedule.ts'

/** The plan of a transaction. What an installment bills follows from the charges (items.ts) and has no row. */
export const installments = sqliteTable(
  'installment',
  {
    locator: text().primaryKey(),
    policyLocator: integer().notNull(),
    modificationLocator: text().notNull(),
    number: integer().notNull(),
    start: integer().notNull(),
    end: integer().notNull(),
    issueAt: integer().notNull(),
    dueAt: integer().notNull(),
    periods: text({ mode: 'json' }).$type<BillingPeriod[]>().notNull(),
    absorbedBy: text({ mode: 'json' }).$type<Uuid[]>().notNull(),
  },
  table => [index('installment_policy').on(table.policyLocator)],
)

export const invoices = sqliteTable(
  'invoice',
  {
    locator: text().primaryKey(),
    displayId: integer().notNull(),
    policyLocator: integer().notNull(),
    policyModificationLocator: text().notNull(),
    installmentNumber: integer().notNull(),
    type: text().$type<InvoiceType>().notNull(),
    start: integer().notNull(),
    end: integer().notNull(),
    dueAt: integer().notNull(),
    createdAt: integer().notNull(),
    updatedAt: integer().notNull(),
    statuses: text({ mode: 'json' }).$type<InvoiceStatusEntry[]>().notNull(),
  },
  table => [index('invoice_policy').on(table.policyLocator)],
)
