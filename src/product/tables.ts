import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Finding } from './configuration.ts'
import type { TenantRoles } from './roles.ts'

/** The compiled configuration of each version today. A repair changes the hash. */
export const configurationVersions = sqliteTable('configuration_version', {
  version: integer().primaryKey(),
  /** SHA-256 of the archive, in hexadecimal; names the archive and the compiled configuration in R2. */
  hash: text().notNull(),
  timeZone: text().notNull(),
  currency: text().notNull(),
  /** The integration that rates each product that names one, by product; null if no product names one. */
  externalRaters: text({ mode: 'json' }).$type<Record<string, string>>(),
  /** The permissions that it defines; null if those of the account types apply. */
  roles: text({ mode: 'json' }).$type<TenantRoles>(),
})

/** Every successful deployment and repair. */
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

/** The part of an attempt that lists show. */
export type DeploymentSummary = {
  /** The method and path of the request. */
  readonly route: string
  readonly username: string
  readonly accountLocator: string
  readonly requestId: string
  /** For a rejected repair: the version that it would have repaired. */
  readonly repaired?: number
  /** Names of archives in R2; a rejected one is not stored. */
  readonly hash?: string
  readonly formerHash?: string
  readonly errors: number
  readonly warnings: number
}

/** Every deployment and repair, and the newest rejected attempts (tenants/deployment/log). */
export const deploymentLogs = sqliteTable(
  'deployment_log',
  {
    locator: text().primaryKey(),
    createdAt: integer().notNull(),
    kind: text({ enum: ['deploy', 'repair'] }).notNull(),
    /** Null if the attempt was rejected. */
    version: integer(),
    summary: text({ mode: 'json' }).$type<DeploymentSummary>().notNull(),
    steps: text({ mode: 'json' }).$type<readonly DeploymentStep[]>().notNull(),
    /** Only the first ones. */
    findings: text({ mode: 'json' }).$type<readonly Finding[]>().notNull(),
  },
  table => [
    index('deployment_log_created').on(table.createdAt, table.locator),
    index('deployment_log_version').on(table.version, table.createdAt, table.locator),
  ],
)
