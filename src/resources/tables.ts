import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ResourceType, TemplateFormat } from './resource.ts'

/** Resources by their own names; in the home shard, like all that belongs to no policy. */
export const resources = sqliteTable(
  'resource',
  {
    name: text().primaryKey(),
    type: text().$type<ResourceType>().notNull(),
    staticName: text().notNull(),
    jurisdictions: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    createdAt: integer().notNull(),
    createdBy: text().notNull(),
    /** The contents in force; a replacement is this column's change. */
    revision: text().notNull(),
    templateFormat: text().$type<TemplateFormat>(),
    format: text(),
  },
  table => [
    index('resource_static_name').on(table.staticName),
    index('resource_created').on(table.createdAt, table.name),
  ],
)

/** Contents of resources, the earlier ones too; the files are in R2 under these locators. */
export const resourceRevisions = sqliteTable(
  'resource_revision',
  {
    locator: text().primaryKey(),
    resourceName: text().notNull(),
    createdAt: integer().notNull(),
    createdBy: text().notNull(),
    sizeBytes: integer().notNull(),
    hash: text().notNull(),
    mediaType: text().notNull(),
  },
  table => [index('resource_revision_resource').on(table.resourceName, table.createdAt)],
)

export const resourceGroups = sqliteTable(
  'resource_group',
  {
    locator: text().primaryKey(),
    name: text().notNull().unique(),
    selectionStart: integer().notNull(),
    createdAt: integer().notNull(),
    createdBy: text().notNull(),
    retired: integer({ mode: 'boolean' }).notNull(),
    /** Raised with every change, so that one that was decided on older members does not count. */
    version: integer().notNull(),
  },
  table => [index('resource_group_created').on(table.createdAt, table.locator)],
)

export const resourceGroupMembers = sqliteTable(
  'resource_group_member',
  { groupLocator: text().notNull(), resourceName: text().notNull() },
  table => [
    primaryKey({ columns: [table.groupLocator, table.resourceName] }),
    index('resource_group_member_resource').on(table.resourceName),
  ],
)
