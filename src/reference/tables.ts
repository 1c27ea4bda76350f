import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ColumnType, ResourceType, TemplateFormat } from '../product/resources.ts'
import type { TableLayout } from './data-tables/layout.ts'

/** Resources by name, in the home shard like everything that belongs to no policy. */
export const resources = sqliteTable(
  'resource',
  {
    name: text().primaryKey(),
    type: text().$type<ResourceType>().notNull(),
    staticName: text().notNull(),
    jurisdictions: text({ mode: 'json' }).$type<readonly string[]>().notNull(),
    createdAt: integer().notNull(),
    createdBy: text().notNull(),
    /** The present contents; a replacement changes only this column. */
    revision: text().notNull(),
    templateFormat: text().$type<TemplateFormat>(),
    format: text(),
  },
  table => [
    index('resource_static_name').on(table.staticName),
    index('resource_created').on(table.createdAt, table.name),
  ],
)

/** Contents of resources, including earlier ones; the files are in R2 under these locators. */
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
    /** Raised with every change, so a change that was decided on older members is refused. */
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

/** Contents of data and range tables with rows to look up (data-tables/), by the revision of the file. */
export const tableContents = sqliteTable(
  'table_contents',
  {
    /** The number in rows, in place of the revision. Rows of this table are never removed, so no number is used again. */
    number: integer().primaryKey(),
    revision: text().notNull(),
    layout: text({ mode: 'json' }).$type<TableLayout>().notNull(),
    /** Types of the keys, in look-up order: they decide which form of a value is compared. */
    keyTypes: text({ mode: 'json' }).$type<readonly ColumnType[]>().notNull(),
    rowCount: integer().notNull(),
    /**
     * `loading`: rows arrive and are not read; `loaded`; `dropped`: the rows are being removed, or are gone. A revision becomes current in
     * the batch that makes its contents `loaded`.
     */
    state: text().$type<'loading' | 'loaded' | 'dropped'>().notNull(),
    /** Real time, not the tenant's clock. */
    startedAt: integer().notNull(),
  },
  table => [index('table_contents_revision').on(table.revision, table.state)],
)

/** By key and start: one index finds a record, its neighbours and the differences of two tables. */
export const tableRows = sqliteTable(
  'table_row',
  {
    contents: integer().notNull(),
    /** Canonical texts of the keys, joined by U+001F. */
    key: text().notNull(),
    /** In a range table, a sortable decimal (data-tables/values.ts); else empty. */
    start: text().notNull(),
    /** Null: without bound. */
    end: text(),
    line: integer().notNull(),
    /** The cells' texts, a JSON list in the order of the file. */
    cells: text().notNull(),
  },
  table => [primaryKey({ columns: [table.contents, table.key, table.start] })],
)

/** The table contents that rating of a recorded transaction read. In the policy's shard. */
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

/** Items of secrets, in the home shard. Replaced items are deleted. */
export const secrets = sqliteTable('secret', {
  resourceName: text().primaryKey(),
  /** `SecretItems` as JSON, sealed (platform/sealed) for the tenant and the name. */
  items: text().notNull(),
})
