// The log of deploys and repairs, including rejected ones: a row for each, written in the batch that it describes.
import { and, desc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { newUuid, type Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import { commit } from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { type Database, type Query, statement } from '../../../platform/database.ts'
import { HOME_SHARD, homeDatabase } from '../../../platform/tenancy.ts'
import type { Finding } from '../../../product/configuration.ts'
import { type DeploymentStep, type DeploymentSummary, deploymentLogs } from '../../../product/tables.ts'
import { checkedStep, countsOf, receivedStep } from './steps.ts'

/** Rejected attempts that are kept for each tenant. There is a limit because a pipeline may send the same mistake forever. */
export const MOST_REFUSED = 100

/** The most findings of an entry, and the most characters of them as JSON. */
const MOST_FINDINGS = 1_000
const MOST_CHARACTERS = 100_000

type Attempt = {
  readonly kind: 'deploy' | 'repair'
  /** Method and path of the request. */
  readonly route: string
  /** Undefined if the attempt was rejected. */
  readonly version?: number
  readonly repaired?: number
  readonly hash?: string
  readonly formerHash?: string
  readonly findings: readonly Finding[]
  readonly steps: readonly DeploymentStep[]
}

/** Returns none for a tenant whose database waits for the table. */
export function logQueries(
  database: Database,
  { tenant, caller, requestId, now }: RequestContext,
  { kind, version, findings, steps, ...attempt }: Attempt,
): Query[] {
  if (!tenant.keepsDeploymentLog) return []
  const { errors, warnings } = countsOf(findings)
  const summary: DeploymentSummary = {
    ...attempt,
    username: caller.username,
    accountLocator: caller.accountLocator,
    requestId,
    errors,
    warnings,
  }
  return [
    database.build.insert(deploymentLogs).values({
      locator: newUuid(HOME_SHARD),
      createdAt: now,
      kind,
      version: version ?? null,
      summary,
      steps,
      findings: firstFindings(findings),
    }),
  ]
}

/** Writes the row without the request's idempotency key, so that a repeat is checked again. */
export async function logRefusal(
  context: RequestContext,
  { findings, bytes, ...attempt }: Omit<Attempt, 'version' | 'steps'> & { readonly bytes: number },
): Promise<void> {
  if (!context.tenant.keepsDeploymentLog) return
  const database = homeDatabase(context)
  const steps = [receivedStep(bytes), checkedStep(findings)]
  await commit({ ...context, idempotency: undefined }, database, {
    shard: HOME_SHARD,
    guards: [],
    facts: [...logQueries(database, context, { ...attempt, findings, steps }), forgetOldRefusals(database)],
    subject: 'deployment log',
  })
}

const forgetOldRefusals = (database: Database): Query =>
  database.build.delete(deploymentLogs).where(
    sql`${deploymentLogs.locator} in (
      select locator from deployment_log where version is null
      order by created_at desc, locator desc limit -1 offset ${MOST_REFUSED})`,
  )

function firstFindings(findings: readonly Finding[]): Finding[] {
  let room = MOST_CHARACTERS
  const kept: Finding[] = []
  for (const { integration: _, ...finding } of findings.slice(0, MOST_FINDINGS)) {
    room -= JSON.stringify(finding).length
    if (room < 0) break
    kept.push(finding)
  }
  return kept
}

const LISTED = {
  locator: deploymentLogs.locator,
  createdAt: deploymentLogs.createdAt,
  kind: deploymentLogs.kind,
  version: deploymentLogs.version,
  summary: deploymentLogs.summary,
}

/** Newest first. */
export const logQuery = (
  database: Database,
  { version, isRefused }: { readonly version: number | undefined; readonly isRefused: boolean },
  before: { readonly createdAt: Instant; readonly locator: Uuid } | undefined,
  most: number,
) =>
  database.build
    .select(LISTED)
    .from(deploymentLogs)
    .where(
      and(
        ofVersion(version, isRefused),
        before &&
          sql`(${deploymentLogs.createdAt}, ${deploymentLogs.locator}) < (${before.createdAt}, ${before.locator})`,
      ),
    )
    .orderBy(desc(deploymentLogs.createdAt), desc(deploymentLogs.locator))
    .limit(most)

function ofVersion(version: number | undefined, isRefused: boolean): SQL | undefined {
  if (isRefused) return isNull(deploymentLogs.version)
  return version === undefined ? undefined : eq(deploymentLogs.version, version)
}

const ENTRY = statement(build =>
  build
    .select()
    .from(deploymentLogs)
    .where(eq(deploymentLogs.locator, sql.placeholder('locator'))),
)

/** Selects an entry, with the steps and findings that `logQuery` leaves out. */
export const entryQuery = (database: Database, locator: string) => database.bind(ENTRY, { locator })
