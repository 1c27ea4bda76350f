import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import type { Entity } from './values.ts'

export const policyholders = sqliteTable(
  'policyholder',
  {
    locator: text().$type<Uuid>().primaryKey(),
    /** Starts at 1; each update adds 1. */
    version: integer().notNull(),
    completed: integer({ mode: 'boolean' }).notNull(),
    accountLocator: text().$type<Uuid>().notNull(),
    entity: text({ mode: 'json' }).$type<Entity>().notNull(),
    createdAt: integer().$type<Instant>().notNull(),
    updatedAt: integer().$type<Instant>().notNull(),
  },
  table => [index('policyholder_created').on(table.createdAt, table.locator)],
)

/** Earlier versions, each as it was before the update that replaced it. */
export const policyholderVersions = sqliteTable(
  'policyholder_version',
  {
    policyholderLocator: text().notNull(),
    version: integer().notNull(),
    completed: integer({ mode: 'boolean' }).notNull(),
    entity: text({ mode: 'json' }).$type<Entity>().notNull(),
    replacedAt: integer().notNull(),
  },
  table => [primaryKey({ columns: [table.policyholderLocator, table.version] })],
)

/** Folded values of searchable fields. */
export const policyholderTerms = sqliteTable(
  'policyholder_term',
  { field: text().notNull(), term: text().notNull(), policyholderLocator: text().notNull() },
  // Without row ids, which drizzle cannot express (migrations/tenant/0007_keys_of_policies.sql).
  table => [
    primaryKey({ columns: [table.field, table.term, table.policyholderLocator] }),
    index('policyholder_term_of').on(table.policyholderLocator),
  ],
)
