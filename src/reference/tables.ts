import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ColumnType, ResourceType, TemplateFormat } from '../product/resources.ts'
import type { TableLayout } from './data-tables/layout.ts'

/** Resources by name. They are in the home shard, like everything that belongs to no policy. */
export const resources = sqliteTable(
  'resource',
  {
    name: text().primaryKey(),
    type: text().$type<ResourceType>().notNull(),
    staticName: text().notNull(),
    jurisdictions: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    createdAt: integer().notNull(),
    createdBy: text().notNull(),
    /** The present contents. A replacement changes only this column. */
    revision: text().notNull(),
    templateFormat: text().$type<TemplateFormat>(),
    format: text(),
  },
  table => [
    index('resource_static_name').on(table.staticName),
    index('resource_created').on(table.createdAt, table.name),
  ],
)

/** The contents of resources, including earlier ones. The files are in R2 under these locators. */
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
    /** Raised by every change, so that a change that was decided on earlier members is rejected. */
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

/** Contents of data tables and range tables with rows for look-ups (data-tables/), by the revision of the file. */
export const tableContents = sqliteTable(
  'table_contents',
  {
    /** Identifies the contents in their rows. Rows of this table are never removed, so that no number is used twice. */
    number: integer().primaryKey(),
    revision: text().notNull(),
    layout: text({ mode: 'json' }).$type<TableLayout>().notNull(),
    /** The types of the keys, in the order of look-ups. They determine which form of a value is compared. */
    keyTypes: text({ mode: 'json' }).$type<readonly ColumnType[]>().notNull(),
    rowCount: integer().notNull(),
    /**
     * `loading`: rows are arriving and are not read yet. `loaded`: rows can be read. `dropped`: the rows are being removed, or are
     * gone. A revision becomes current in the batch that makes its contents `loaded`.
     */
    state: text().$type<'loading' | 'loaded' | 'dropped'>().notNull(),
    /** In real time, not the tenant's. */
    startedAt: integer().notNull(),
  },
  table => [index('table_contents_revision').on(table.revision, table.state)],
)

/** The primary key is a single index for finding a record, its neighbours, and the differences of two tables. */
export const tableRows = sqliteTable(
  'table_row',
  {
    contents: integer().notNull(),
    /** The canonical texts of the keys, joined with U+001F. */
    key: text().notNull(),
    /** In a range table, a sortable decimal (data-tables/values.ts); otherwise empty. */
    start: text().notNull(),
    /** Null: no bound. */
    end: text(),
    line: integer().notNull(),
    /** The texts of the cells, as a JSON list in the order of the file. */
    cells: text().notNull(),
  },
  table => [primaryKey({ columns: [table.contents, table.key, table.start] })],
)

/** The table contents that were read to rate a recorded transaction. In the policy's shard. */
export const tableUses = sqliteTable(
  'table_use',
  {
    policyLocator: integer().notNull(),
    modificationLocator: text().notNull(),
    staticName: text().notNull(),
    name: text().notNull(),
    revision: text().notNull(),
    at: integer().notNull(),
  },
  table => [primaryKey({ columns: [table.policyLocator, table.modificationLocator, table.revision] })],
)

/** The items of secrets, in the home shard. Replaced items are deleted. */
export const secrets = sqliteTable('secret', {
  resourceName: text().primaryKey(),
  /** The stored secret as JSON, sealed (platform/sealed) for the tenant and the name. */
  items: text().notNull(),
})
