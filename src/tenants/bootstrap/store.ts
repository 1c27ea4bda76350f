import { asc, eq } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { putRows } from '../../platform/database/rows.ts'
import type { Database, Query } from '../../platform/database.ts'
import type { Bootstrap, ResourceType } from '../../product/resources.ts'

/** For the commit of the tenant's first configuration. */
export const bootstrapRows = (database: Database, items: readonly BootstrapItem[]): Query[] =>
  putRows(database, bootstrapItems, items)

/** Returns the items in the order in which they are created; none if the first configuration had none. Takes one round trip. */
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

/** In the home shard. Written once, with the first configuration. */
export const bootstrapItems = sqliteTable('resource_bootstrap', {
  ordinal: integer().primaryKey(),
  kind: text().$type<BootstrapItem['kind']>().notNull(),
  name: text().notNull(),
  type: text().$type<ResourceType>(),
  status: text().$type<BootstrapStatus>().notNull(),
  message: text(),
  attempts: integer().notNull(),
})

// `bootstrap/resources` of an archive: the resources that a new tenant starts with (resources brief 2).
/** Its payload names the archive. */
export const BOOTSTRAP_TIMER = 'resource.bootstrap'

export const BOOTSTRAP_STATUSES = ['queued', 'created', 'failed'] as const
export type BootstrapStatus = (typeof BOOTSTRAP_STATUSES)[number]

/** Resources come before groups. */
export type BootstrapItem = {
  readonly ordinal: number
  readonly kind: 'resource' | 'group'
  readonly name: string
  /** Null for a group. */
  readonly type: ResourceType | null
  readonly status: BootstrapStatus
  /** Why it failed. */
  readonly message: string | null
  /** Started attempts. */
  readonly attempts: number
}

/** Lists the resources, then the groups, in the order of the archive. They wait to be created. */
export const queuedItems = ({ resources, groups }: Bootstrap): BootstrapItem[] =>
  [
    ...resources.map(({ name, type }) => ({ kind: 'resource' as const, name, type })),
    ...groups.map(({ name }) => ({ kind: 'group' as const, name, type: null })),
  ].map((item, ordinal) => ({ ...item, ordinal, status: 'queued' as const, message: null, attempts: 0 }))
