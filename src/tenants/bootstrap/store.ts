import { asc, eq } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { type Database, putRows, type Query } from '../../platform/database.ts'
import type { ResourceType } from '../../product/resources.ts'
import type { BootstrapItem, BootstrapStatus } from './bootstrap.ts'

/** Rows of waiting items, for the commit of the tenant's first configuration. */
export const bootstrapRows = (database: Database, items: readonly BootstrapItem[]): Query[] =>
  putRows(database, bootstrapItems, items)

export async function readItems(database: Database): Promise<BootstrapItem[]> {
  const [rows] = await database.batch([
    database.build.select().from(bootstrapItems).orderBy(asc(bootstrapItems.ordinal)),
  ])
  return rows
}

/** A finished item never changes again. */
export async function writeItem(database: Database, item: BootstrapItem): Promise<void> {
  const { ordinal, status, message, attempts } = item
  await database.batch([
    database.build
      .update(bootstrapItems)
      .set({ status, message, attempts })
      .where(eq(bootstrapItems.ordinal, ordinal)),
  ])
}

/** A new tenant's resources, in the home shard; written once, with its first configuration. */
export const bootstrapItems = sqliteTable('resource_bootstrap', {
  ordinal: integer().primaryKey(),
  kind: text().$type<BootstrapItem['kind']>().notNull(),
  name: text().notNull(),
  type: text().$type<ResourceType>(),
  status: text().$type<BootstrapStatus>().notNull(),
  message: text(),
  attempts: integer().notNull(),
})
