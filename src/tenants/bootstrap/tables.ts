import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ResourceType } from '../../reference/resource.ts'
import type { BootstrapItem, BootstrapStatus } from './bootstrap.ts'

/** What the tenant was to start with, in the home shard; written with its first configuration, and never again. */
export const bootstrapItems = sqliteTable('resource_bootstrap', {
  ordinal: integer().primaryKey(),
  kind: text().$type<BootstrapItem['kind']>().notNull(),
  name: text().notNull(),
  type: text().$type<ResourceType>(),
  status: text().$type<BootstrapStatus>().notNull(),
  message: text(),
  attempts: integer().notNull(),
})
