import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Finding } from './configuration.ts'
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

export const DEPLOYMENT_STEPS = [
  'received',
  'checked',
  'compiled',
  'compared',
  'accounts',
  'tokensEnded',
  'bootstrap',
  'activated',
] as const

export type DeploymentStep = {
  readonly step: (typeof DEPLOYMENT_STEPS)[number]
  readonly counts: Readonly<Record<string, number>>
}

/** What lists show of an attempt. */
export type DeploymentSummary = {
  /** Method and path of the request. */
  readonly route: string
  readonly username: string
  readonly accountLocator: string
  readonly requestId: string
  /** Of a repair that was refused: the version that it was of. */
  readonly repaired?: number
  /** Names of archives in R2; of one that was refused there is none. */
  readonly hash?: string
  readonly formerHash?: string
  readonly errors: number
  readonly warnings: number
}

/** Every deploy and repair, and the newest of those that were refused (tenants/deployment/log). */
export const deploymentLogs = sqliteTable(
  'deployment_log',
  {
    locator: text().primaryKey(),
    createdAt: integer().notNull(),
    kind: text({ enum: ['deploy', 'repair'] }).notNull(),
    /** Null: it was refused. */
    version: integer(),
    summary: text({ mode: 'json' }).$type<DeploymentSummary>().notNull(),
    steps: text({ mode: 'json' }).$type<readonly DeploymentStep[]>().notNull(),
    /** The first ones. */
    findings: text({ mode: 'json' }).$type<readonly Finding[]>().notNull(),
  },
  table => [
    index('deployment_log_created').on(table.createdAt, table.locator),
    index('deployment_log_version').on(table.version, table.createdAt, table.locator),
  ],
)
