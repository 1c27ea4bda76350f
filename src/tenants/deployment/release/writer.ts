// Writes a release: files to R2 first, then everything else in one batch, so that no version exists without its archive.
import { commitAudited } from '../../../access/audit/store.ts'
import { hashPassword } from '../../../access/passwords.ts'
import {
  type AnswerBySubject,
  commit,
  type Guard,
  type JsonAnswer,
  jsonAnswer,
  type NewTimer,
} from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { HOME_SHARD, shardDatabase, type Tenant, tenantNow } from '../../../platform/tenancy.ts'
import { allVersionsQuery, putConfiguration, putVersions } from '../../../product/cache.ts'
import type { Configuration, Finding } from '../../../product/configuration.ts'
import { formatLog } from '../../../product/log.ts'
import type { Bootstrap } from '../../../product/resources.ts'
import { tenantRoles } from '../../../product/roles.ts'
import { BOOTSTRAP_TIMER, bootstrapRows, queuedItems } from '../../bootstrap/store.ts'
import { revokeTokens } from '../../service.ts'
import { type AccountPlan, accountQueries, releaseQueries, type WantedAccount } from './store.ts'

/** An archive that compiled. */
export type Upload = {
  readonly zip: Uint8Array<ArrayBuffer>
  /** SHA-256 of the zip, hex. */
  readonly hash: string
  readonly configuration: Configuration
  /** Warnings. */
  readonly findings: readonly Finding[]
}

/** The common part of the contract's deploy responses. */
export type DeployResult = {
  success: boolean
  hostname: string
  tenantName: string
  tenantLocator?: string
  logfile: string
}

/** The answer of the commit, or why nothing was committed: policies rely on what would be gone. */
export type Released = JsonAnswer | AnswerBySubject | { refused: Finding[] }

type Release = {
  kind: 'deploy' | 'repair'
  version: number
  guards: readonly Guard[]
  /** More warnings. */
  findings: readonly Finding[]
  /** Names of the tenant's external raters. */
  connected: readonly string[]
  accounts: AccountPlan
  /** A new tenant's resources. */
  bootstrap?: Bootstrap | undefined
}

/** The answer of a successful deploy or repair. */
export const deployedResult = (
  { hostName, name, locator }: Tenant,
  version: number,
  findings: readonly Finding[],
): DeployResult => ({
  success: true,
  hostname: hostName,
  tenantName: name,
  tenantLocator: locator,
  logfile: formatLog(findings, { version, hostname: hostName }),
})

/** The marker of stored answers that are too long to keep. */
const versionSubject = (version: number): string => `configuration ${version}`

export const versionOfSubject = (subject: string): number =>
  Number(subject.slice(subject.lastIndexOf(' ') + 1))

/** Writes a release. Called again for another attempt, it does not send files or hash passwords twice. */
export function releaseWriter(
  context: RequestContext,
  upload: Upload,
): (release: Release) => Promise<JsonAnswer | AnswerBySubject> {
  const { env, tenant, calls, caller, now } = context
  const { hash, configuration } = upload
  const hashes = new Map<string, string>()
  let files: Promise<void> | undefined

  return async ({ kind, version, guards, findings, connected, accounts, bootstrap }) => {
    const written: (WantedAccount & { passwordHash: string })[] = []
    for (const account of accounts.write) {
      const { username, password } = account.user
      const passwordHash =
        account.passwordHash ?? hashes.get(username) ?? (await hashPassword(password, env.PASSWORD_PEPPER))
      hashes.set(username, passwordHash)
      written.push({ ...account, passwordHash })
    }
    files ??= putConfiguration(env, tenant, upload, calls)
    await files
    const database = shardDatabase(env, tenant, HOME_SHARD, calls)
    const { timeZone, currency } = configuration
    const found = upload.findings.filter(
      ({ integration }) => integration === undefined || !connected.includes(integration),
    )
    const result = deployedResult(tenant, version, [...found, ...findings, ...accounts.findings])
    const answer = await commitAudited(context, database, {
      guards,
      facts: [
        ...releaseQueries(
          database,
          {
            version,
            hash,
            timeZone,
            currency,
            externalRaters: externalRatersOf(configuration),
            roles: tenantRoles(configuration, tenant.type === 'test'),
          },
          { kind, at: now, by: caller.username },
        ),
        ...accountQueries(database, written, accounts.remove, now),
        ...(bootstrap ? bootstrapRows(database, queuedItems(bootstrap)) : []),
      ],
      timers: bootstrap ? [bootstrapTimer(context, hash)] : [],
      answer: jsonAnswer(result),
      subject: versionSubject(version),
      audit: { action: `configuration.${kind}`, subject: `version ${version}`, details: { hash } },
    })
    // Not before the commit: a sign-in in between would issue a token with the account's former rights.
    if (accounts.revokesTokens) await revokeTokens(env, tenant, calls)
    await copyVersions(context)
    return answer
  }
}

/** Creates the new tenant's resources on behalf of the account that deployed. */
const bootstrapTimer = ({ tenant, caller }: RequestContext, hash: string): NewTimer => ({
  dueAt: tenantNow(tenant),
  kind: BOOTSTRAP_TIMER,
  subject: 'bootstrap',
  payload: { hash, accountLocator: caller.accountLocator, username: caller.username },
})

function externalRatersOf({ products }: Configuration): Record<string, string> | null {
  const named = Object.values(products).flatMap(({ name, externalRater }) =>
    externalRater === undefined ? [] : [[name, externalRater] as const],
  )
  return named.length === 0 ? null : Object.fromEntries(named)
}

/**
 * Policies of every shard read their version in their own batch. All versions are copied, so that the next release repairs a
 * copy that failed.
 */
async function copyVersions(context: RequestContext): Promise<void> {
  const { env, tenant, calls } = context
  if (tenant.shards.length === 1) return
  const home = shardDatabase(env, tenant, HOME_SHARD, calls)
  const [versions] = await home.batch([allVersionsQuery(home)])
  for (let shard = HOME_SHARD + 1; shard < tenant.shards.length; shard += 1) {
    const database = shardDatabase(env, tenant, shard, calls)
    await commit({ ...context, idempotency: undefined }, database, {
      shard,
      facts: putVersions(database, versions),
      subject: 'configuration versions',
    })
  }
}
