import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Uuid } from '../../kernel/locators.ts'
import type { FieldValues } from '../../product/fields/values.ts'
import type { InvoiceType, PaymentSource } from '../contract/billing.ts'
import type { BillingPeriod, InstallmentFee, InvoiceStatusEntry, Replanned } from '../records/invoice.ts'
import {
  foundPolicyTable,
  keyOf,
  OPEN_WORK,
  olderLocators,
  policyTable,
  type Stored,
  span,
  times,
} from './policies.ts'

/**
 * What an installment bills is derived from the charges (bills/items.ts). Only a plugin's plan stores `items`: minor units by
 * charge id.
 */
export const installments = policyTable('installment', {
  modificationLocator: text().notNull(),
  number: integer().notNull(),
  ...span,
  issueAt: integer().notNull(),
  dueAt: integer().notNull(),
  periods: text({ mode: 'json' }).$type<BillingPeriod[]>().notNull(),
  carriesBelow: integer(),
  absorbedBy: text({ mode: 'json' }).$type<Uuid[]>().notNull(),
  takesOver: text({ mode: 'json' }).$type<Uuid[]>(),
  leavesOut: text({ mode: 'json' }).$type<Uuid[]>(),
  items: text({ mode: 'json' }).$type<Record<string, number>>(),
  fees: text({ mode: 'json' }).$type<Stored<InstallmentFee[]>>(),
  writeOff: integer({ mode: 'boolean' }),
  replans: text({ mode: 'json' }).$type<Replanned>(),
  paidBefore: text({ mode: 'json' }).$type<Record<Uuid, number>>(),
})

export const invoices = foundPolicyTable(
  'invoice',
  {
    displayId: integer().notNull(),
    policyModificationLocator: text().notNull(),
    installmentNumber: integer().notNull(),
    type: text().$type<InvoiceType>().notNull(),
    ...span,
    dueAt: integer().notNull(),
    ...times,
    statuses: text({ mode: 'json' }).$type<InvoiceStatusEntry[]>().notNull(),
    graceEndAt: integer(),
    isRefund: integer({ mode: 'boolean' }),
  },
  { index: 'invoice_owed', by: 'dueAt', where: OPEN_WORK.owedInvoice },
  { index: 'invoice_number', by: 'displayId' },
)

/** The condition for payments that made or used credit. An index has it, so queries must repeat it. */
export const MOVES_CREDIT = sql.raw(`credited > 0 or source = 'credit'`)

/** Amounts are in minor units, with the sign of the invoice. `credited` is the part that became the policyholder's credit. */
export const payments = sqliteTable(
  'payment',
  {
    locator: text().notNull(),
    displayId: integer().notNull(),
    policyLocator: integer().notNull(),
    policyholderLocator: text().notNull(),
    invoiceLocator: text().notNull(),
    source: text().$type<PaymentSource>().notNull(),
    offsetInvoiceLocator: text(),
    amount: integer().notNull(),
    credited: integer().notNull(),
    currency: text().notNull(),
    fieldValues: text({ mode: 'json' }).$type<FieldValues>().notNull(),
    postedAt: integer().notNull(),
    reversedAt: integer(),
  },
  table => [
    keyOf(table),
    olderLocators('payment', table),
    index('payment_of_credit')
      .on(table.policyholderLocator, table.postedAt, table.locator)
      .where(MOVES_CREDIT),
  ],
)

/** Money paid out of policyholders' credit. Amounts are in minor units and positive. */
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
