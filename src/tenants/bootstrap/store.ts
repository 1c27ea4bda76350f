import { asc, eq } from 'drizzle-orm'
import { type Database, putRows, type Query } from '../../platform/database.ts'
import type { BootstrapItem } from './bootstrap.ts'
import { bootstrapItems } from './tables.ts'

/** Rows of items that wait; for the commit of the tenant's first configuration. */
export const bootstrapRows = (database: Database, items: readonly BootstrapItem[]): Query[] =>
  putRows(database, bootstrapItems, items)

export async function readItems(database: Database): Promise<BootstrapItem[]> {
  const [rows] = await database.batch([
    database.build.select().from(bootstrapItems).orderBy(asc(bootstrapItems.ordinal)),
  ])
  return rows
}

/** One that is made or has failed stays so. */
export async function writeItem(database: Database, item: BootstrapItem): Promise<void> {
  const { ordinal, status, message, attempts } = item
  await database.batch([
    database.build
      .update(bootstrapItems)
      .set({ status, message, attempts })
      .where(eq(bootstrapItems.ordinal, ordinal)),
  ])
}
