// Rows of configuration versions and of their deploys and repairs.
import { desc, eq, sql } from 'drizzle-orm'
import { type Database, putRows, type Query, statement } from '../platform/database.ts'
import { configurationVersions, deployments } from './tables.ts'

export type VersionRow = typeof configurationVersions.$inferSelect

const LATEST_VERSION = statement(build =>
  build.select().from(configurationVersions).orderBy(desc(configurationVersions.version)).limit(1),
)
const VERSION = statement(build =>
  build
    .select()
    .from(configurationVersions)
    .where(eq(configurationVersions.version, sql.placeholder('version'))),
)

/** The version, or the latest for undefined; to be read in a batch with other queries. */
export const versionQuery = (database: Database, version: number | undefined) =>
  version === undefined ? database.bind(LATEST_VERSION, {}) : database.bind(VERSION, { version })

export const allVersionsQuery = (database: Database) => database.build.select().from(configurationVersions)

/** Deploys and repairs in the order in which they were committed; of all versions, or of one. */
export const deploymentsQuery = (database: Database, version?: number) =>
  database.build
    .select()
    .from(deployments)
    .where(version === undefined ? undefined : eq(deployments.version, version))
    .orderBy(sql`rowid`)

/** Adds versions that are missing; leaves those that are there as they are. */
export const addVersionsQuery = (database: Database, rows: readonly VersionRow[]): Query[] =>
  rows.map(row =>
    database.build
      .insert(configurationVersions)
      .values(row)
      .onConflictDoNothing({ target: configurationVersions.version }),
  )

export const putVersions = (database: Database, rows: readonly VersionRow[]): Query[] =>
  putRows(database, configurationVersions, rows)
