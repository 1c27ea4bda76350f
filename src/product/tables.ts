import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { TenantRoles } from './roles.ts'

/** Which compiled configuration a version stands for today; a repair changes the hash. */
export const configurationVersions = sqliteTable('configuration_version', {
  version: integer().primaryKey(),
  /** SHA-256 of the archive, hex; names the archive and the compiled configuration in R2. */
  hash: text().notNull(),
  timeZone: text().notNull(),
  currency: text().notNull(),
  /** Which integration rates each product that names one, by product; null: none does. */
  externalRaters: text({ mode: 'json' }).$type<Record<string, string>>(),
  /** What it says of permissions; null: what the account types say. */
  roles: text({ mode: 'json' }).$type<TenantRoles>(),
})

/** Every successful deploy and repair. */
export const deployments = sqliteTable(
  'deployment',
  {
    locator: text().primaryKey(),
    version: integer().notNull(),
    hash: text().notNull(),
    kind: text({ enum: ['deploy', 'repair'] }).notNull(),
    deployedAt: integer().notNull(),
    deployedBy: text().notNull(),
  },
  table => [index('deployment_at').on(table.deployedAt)],
)
