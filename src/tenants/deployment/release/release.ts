// One deploy or repair, from a compiled archive to the committed version. Guards check what an attempt has read. When another
// request was faster, the next attempt reads again.
import type { SQL } from 'drizzle-orm'
import { commitAudited } from '../../../access/audit/store.ts'
import { hashPassword } from '../../../access/passwords.ts'
import { loadDifference } from '../../../bundles/load.ts'
import { integrationNamesQuery } from '../../../extension/integrations/store.ts'
import { Refusal } from '../../../kernel/errors.ts'
import {
  type AnswerBySubject,
  type Guard,
  GuardTripped,
  type JsonAnswer,
  jsonAnswer,
  type NewTimer,
  retryOnConflict,
} from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { homeDatabase, shardDatabase, type Tenant, tenantNow } from '../../../platform/tenancy.ts'
import {
  ConfigurationUnreadable,
  loadConfiguration,
  putConfiguration,
  type VersionRow,
  versionQuery,
} from '../../../product/cache.ts'
import type { Configuration, Finding } from '../../../product/configuration.ts'
import type { Change } from '../../../product/difference/change.ts'
import { formatLog } from '../../../product/log.ts'
import type { Bootstrap } from '../../../product/resources.ts'
import { tenantRoles } from '../../../product/roles.ts'
import { BOOTSTRAP_TIMER, bootstrapRows, queuedItems } from '../../bootstrap/store.ts'
import { revokeTokens } from '../../service.ts'
import { stepsOf } from '../log/steps.ts'
import { logQueries } from '../log/store.ts'
import { type IncompatibleChange, incompatibleChanges } from './compatibility.ts'
import { archiveWarnings, deployFindings, repairFindings, repairProblems, type Upload } from './findings.ts'
import { copyVersions, withVersionElsewhere } from './shards.ts'
import * as store from './store.ts'

/** This many simultaneous deploys to one tenant all succeed. */
const ATTEMPTS = 20

type CurrentState = {
  latest: VersionRow | undefined
  /** The requested version. */
  asked: VersionRow | undefined
  accounts: store.PresentAccount[]
  /** Names of the tenant's external raters. */
  connected: string[]
}

const NO_STATE: CurrentState = { latest: undefined, asked: undefined, accounts: [], connected: [] }

const NO_ACCOUNT_CHANGES: store.AccountPlan = { write: [], remove: [], revokesTokens: false, findings: [] }

/** `isNew`: the databases were claimed for this deploy and are empty. */
export function deployVersion(
  context: RequestContext,
  upload: Upload,
  { route, isNew }: { readonly route: string; readonly isNew: boolean },
): Promise<Released> {
  const write = releaseWriter(context, upload, route)
  return retryUntilCommitted(async isFirst => {
    const present = isNew && isFirst ? NO_STATE : await readCurrentState(context, upload)
    const before = await configurationOf(context, present.latest)
    const { inUse } = await changesOf(context, before, upload)
    const version = nextVersion(present)
    return write({
      kind: 'deploy',
      version,
      guards: [{ name: 'guard_configuration_version', holds: store.latestVersionIs(version - 1) }],
      former: present.latest?.hash,
      incompatible: inUse.length,
      findings: deployFindings(upload, version, inUse),
      bootstrap: version === 1 ? upload.configuration.bootstrap : undefined,
      connected: present.connected,
      accounts: accountsOf(context, upload, present, before),
    })
  })
}

/**
 * Replaces the archive of the version. Throws 400 when there is no such version. Rejects a change that would make the version's
 * policies unreadable. Test users follow the latest version, so only its repair changes them.
 */
export function repairVersion(
  context: RequestContext,
  upload: Upload,
  { route, version }: { readonly route: string; readonly version: number },
): Promise<Released> {
  const write = releaseWriter(context, upload, route)
  return retryUntilCommitted(async () => {
    const present = await readCurrentState(context, upload, version)
    if (!present.asked) throw unknownVersion(version)
    const before = await configurationOf(context, present.asked)
    const { scopes, inUse, binding } = await changesOf(context, before, upload, version)
    if (inUse.length > 0) return { refused: repairProblems(context.tenant, version, inUse) }
    const guard = (holds: SQL): Guard => ({ name: 'guard_configuration_hash', holds })
    return write({
      kind: 'repair',
      version,
      guards: [guard(store.versionHasHash(version, present.asked.hash))],
      guardsOfEach: scopes.length > 0 ? [guard(store.noPolicyOf(scopes, version))] : [],
      former: present.asked.hash,
      incompatible: 0,
      findings: repairFindings(upload, binding),
      connected: present.connected,
      accounts:
        present.latest?.version === version
          ? accountsOf(context, upload, present, before)
          : NO_ACCOUNT_CHANGES,
    })
  })
}

/**
 * Returns the findings that `deployVersion`, or with a version `repairVersion`, would report for the archive. They include errors
 * if it would reject the archive. Nothing is written. Throws 400 when there is no such version.
 */
export async function previewFindings(
  context: RequestContext,
  upload: Upload,
  version?: number,
): Promise<Finding[]> {
  const present = await readCurrentState(context, upload, version)
  if (version !== undefined && !present.asked) throw unknownVersion(version)
  const isRepair = version !== undefined
  const before = await configurationOf(context, isRepair ? present.asked : present.latest)
  const { inUse, binding } = await changesOf(context, before, upload, version)
  if (isRepair && inUse.length > 0) return repairProblems(context.tenant, version, inUse)
  const accounts =
    !isRepair || present.latest?.version === version
      ? accountsOf(context, upload, present, before)
      : NO_ACCOUNT_CHANGES
  return [
    ...archiveWarnings(upload, present.connected),
    ...(isRepair
      ? repairFindings(upload, binding)
      : deployFindings(upload, nextVersion(present), inUse, context.tenant)),
    ...accounts.findings,
  ]
}

const nextVersion = ({ latest }: CurrentState): number => (latest?.version ?? 0) + 1

/** Builds the error (400) for a version that the tenant does not have. */
export const unknownVersion = (version: number): Refusal =>
  new Refusal(
    'unknownConfigVersion',
    `There is no configuration version ${version}; GET /deployments/versions lists them.`,
  )

const retryUntilCommitted = (attempt: (isFirst: boolean) => Promise<Released>): Promise<Released> =>
  retryOnConflict('The configuration', attempt, {
    attempts: ATTEMPTS,
    isConflict: problem => problem instanceof GuardTripped || isNewNameTaken(problem),
  })

/** Whether an account with the name was added after the accounts were read. */
const isNewNameTaken = (problem: unknown): boolean =>
  problem instanceof Error &&
  `${problem.message} ${String(problem.cause ?? '')}`.includes('UNIQUE constraint failed: account.username')

async function readCurrentState(
  context: RequestContext,
  { configuration }: Upload,
  version?: number,
): Promise<CurrentState> {
  const database = homeDatabase(context)
  const usernames = configuration.testUsers.map(({ username }) => username)
  const [[latest], [asked], accounts, raters] = await database.batch([
    versionQuery(database, undefined),
    versionQuery(database, version),
    store.archiveAccountsQuery(database, usernames),
    integrationNamesQuery(database, 'external_rater'),
  ])
  return { latest, asked, accounts, connected: raters.map(({ name }) => name) }
}

/** Returns undefined also for an unreadable version, which a deploy or repair replaces. */
async function configurationOf(
  { env, tenant, calls }: RequestContext,
  row: VersionRow | undefined,
): Promise<Configuration | undefined> {
  if (!row) return undefined
  try {
    return (await loadConfiguration(env, tenant, row.hash, calls)).configuration
  } catch (problem) {
    if (problem instanceof ConfigurationUnreadable) return undefined
    throw problem
  }
}

type UsedChanges = {
  /** The scopes of changes that policies cannot follow, whether there are policies or not. */
  scopes: store.Scope[]
  inUse: IncompatibleChange[]
  /**
   * Changes that policies must follow when they are next changed. Only for a repair, since a deploy leaves them on their version.
   */
  binding: Change[]
}

/** Finds the changes. `inUse` and `binding` are changes that affect policies of the version, or of any version if none is given. */
async function changesOf(
  { env, tenant, calls }: RequestContext,
  before: Configuration | undefined,
  { configuration }: Upload,
  version?: number,
): Promise<UsedChanges> {
  const changes = before ? incompatibleChanges(before, configuration) : []
  const scopes = [...new Set(changes.map(scopeOf))]
  const bound =
    before && version !== undefined ? (await loadDifference()).bindingChanges(before, configuration) : []
  const asked = [...new Set([...scopes, ...bound.map(scopeOf)])]
  if (asked.length === 0) return { scopes, inUse: [], binding: [] }
  const used = await Promise.all(
    tenant.shards.map(async (_, shard) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const [names] = await database.batch([store.usedScopesQuery(database, asked, version)])
      return names.map(({ name }) => name)
    }),
  )
  const names = new Set(used.flat())
  const isUsed = (change: { product?: string | undefined }): boolean => names.has(scopeOf(change))
  return { scopes, inUse: changes.filter(isUsed), binding: bound.filter(isUsed) }
}

const scopeOf = ({ product }: { product?: string | undefined }): store.Scope => product ?? null

/**
 * Plans the accounts. Only test tenants have the archive's users (resources brief 10.3). A token contains the roles of the time
 * when it was issued, so changed roles end the tokens.
 */
function accountsOf(
  { tenant }: RequestContext,
  { configuration }: Upload,
  { accounts, latest }: CurrentState,
  before: Configuration | undefined,
): store.AccountPlan {
  const isTest = tenant.type === 'test'
  const plan = isTest
    ? store.planAccounts(configuration.testUsers, accounts, before?.testUsers ?? [])
    : NO_ACCOUNT_CHANGES
  const roles = tenantRoles(configuration, isTest)
  const rolesChanged = latest !== undefined && JSON.stringify(latest.roles) !== JSON.stringify(roles)
  return { ...plan, revokesTokens: plan.revokesTokens || rolesChanged }
}

// Files go to R2 first, then everything else in one batch, so no version exists without its archive.

export type DeployResult = {
  success: boolean
  hostname: string
  tenantName: string
  tenantLocator?: string
  logfile: string
}

/** `refused`: nothing was committed, since policies need parts that the archive lacks. */
export type Released = JsonAnswer | AnswerBySubject | { refused: Finding[] }

type Release = {
  kind: 'deploy' | 'repair'
  version: number
  guards: readonly Guard[]
  /** Guards in each database of the tenant. */
  guardsOfEach?: readonly Guard[]
  /** The hash of the archive that it replaces. */
  former: string | undefined
  /** The number of changes that policies in force cannot follow. */
  incompatible: number
  findings: readonly Finding[]
  /** Names of the tenant's external raters. */
  connected: readonly string[]
  accounts: store.AccountPlan
  bootstrap?: Bootstrap | undefined
}

/** Builds the response of a committed deploy or repair. The findings are lines of its `logfile`. */
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

/** Stored in place of a response that is too long to keep. */
const versionSubject = (version: number): string => `configuration ${version}`

/** Returns the version that `versionSubject` was given. */
export const versionOfSubject = (subject: string): number =>
  Number(subject.slice(subject.lastIndexOf(' ') + 1))

/**
 * Returns a function that commits a release. Calling it again sends no files and hashes no passwords again. Users of the archive
 * who share a password share its hash: a hash takes a fifth of a second, and the archive, which the tenant keeps too, already
 * reveals the shared password.
 */
function releaseWriter(
  context: RequestContext,
  upload: Upload,
  route: string,
): (release: Release) => Promise<JsonAnswer | AnswerBySubject> {
  const { env, tenant, calls, caller, now } = context
  const { hash, configuration } = upload
  const hashByPassword = new Map<string, string>()
  let files: Promise<void> | undefined

  return async release => {
    const {
      kind,
      version,
      guards,
      guardsOfEach = [],
      findings,
      connected,
      accounts,
      bootstrap,
      former,
    } = release
    const hashedAccounts: (store.WantedAccount & { passwordHash: string })[] = []
    for (const account of accounts.write) {
      const { password } = account.user
      let passwordHash = account.passwordHash ?? hashByPassword.get(password)
      if (passwordHash === undefined) {
        passwordHash = await hashPassword(password, env.PASSWORD_PEPPER)
        hashByPassword.set(password, passwordHash)
      }
      hashedAccounts.push({ ...account, passwordHash })
    }
    files ??= putConfiguration(env, tenant, upload, calls)
    await files
    const database = homeDatabase(context)
    const items = bootstrap && queuedItems(bootstrap)
    const { timeZone, currency } = configuration
    const externalRaters = externalRatersOf(configuration)
    const roles = tenantRoles(configuration, tenant.type === 'test')
    const row = { version, hash, timeZone, currency, externalRaters, roles }
    const found = [...archiveWarnings(upload, connected), ...findings, ...accounts.findings]
    const result = deployedResult(tenant, version, found)
    const commitHome = () =>
      commitAudited(context, database, {
        guards: [...guards, ...guardsOfEach],
        facts: [
          ...store.releaseQueries(database, row, { kind, at: now, by: caller.username }),
          ...store.accountQueries(database, hashedAccounts, accounts.remove, now),
          ...(items ? bootstrapRows(database, items) : []),
          ...logQueries(database, context, {
            kind,
            route,
            version,
            hash,
            findings: found,
            steps: stepsOf(upload, release, found, items?.length),
            ...(former !== undefined && { formerHash: former }),
          }),
        ],
        timers: bootstrap ? [bootstrapTimer(context, hash)] : [],
        answer: jsonAnswer(result),
        subject: versionSubject(version),
        audit: { action: `configuration.${kind}`, subject: `version ${version}`, details: { hash } },
      })
    const answer =
      guardsOfEach.length > 0
        ? await withVersionElsewhere(context, row, guardsOfEach, commitHome)
        : await commitHome()
    // After the commit, since a sign-in before it would issue a token with the former rights.
    if (accounts.revokesTokens) await revokeTokens(env, tenant, calls)
    await copyVersions(context)
    return answer
  }
}

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
