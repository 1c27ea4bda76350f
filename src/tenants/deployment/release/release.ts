// One deploy or repair, from a compiled archive to the committed version. Guards hold what an attempt has read; when another
// request was faster, the next attempt reads again.
import type { SQL } from 'drizzle-orm'
import { integrationNamesQuery } from '../../../extension/integrations/store.ts'
import { Refusal } from '../../../kernel/errors.ts'
import { GuardTripped, retryOnConflict } from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { HOME_SHARD, shardDatabase } from '../../../platform/tenancy.ts'
import {
  ConfigurationUnreadable,
  loadConfiguration,
  type VersionRow,
  versionQuery,
} from '../../../product/cache.ts'
import type { Configuration, Finding } from '../../../product/configuration.ts'
import { tenantRoles } from '../../../product/roles.ts'
import { type IncompatibleChange, incompatibleChanges } from './compatibility.ts'
import * as store from './store.ts'
import { type Released, releaseWriter, type Upload } from './writer.ts'

/** How many simultaneous deploys to one tenant all succeed. */
const ATTEMPTS = 20

/** The state that a release rests on. */
type Present = {
  latest: VersionRow | undefined
  /** The requested version. */
  asked: VersionRow | undefined
  accounts: store.PresentAccount[]
  /** Names of the tenant's external raters. */
  connected: string[]
}

const NOTHING: Present = { latest: undefined, asked: undefined, accounts: [], connected: [] }

const SAME_ACCOUNTS: store.AccountPlan = { write: [], remove: [], revokesTokens: false, findings: [] }

/**
 * Deploys the archive as the next version. `isNew`: the tenant's databases were claimed for this deploy and are empty.
 */
export function deployVersion(context: RequestContext, upload: Upload, isNew: boolean): Promise<Released> {
  const write = releaseWriter(context, upload)
  return untilCommitted(async isFirst => {
    const present = isNew && isFirst ? NOTHING : await readPresent(context, upload)
    const before = await configurationOf(context, present.latest)
    const { inUse } = await changesOf(context, before, upload)
    const version = (present.latest?.version ?? 0) + 1
    return write({
      kind: 'deploy',
      version,
      guards: [{ name: 'guard_configuration_version', holds: store.latestVersionIs(version - 1) }],
      findings: [
        ...inUse.map(change => finding('WARNING', change, 'Policies made with earlier versions keep those.')),
        ...(version === 1 ? [] : lateBootstrap(upload)),
      ],
      bootstrap: version === 1 ? upload.configuration.bootstrap : undefined,
      connected: present.connected,
      accounts: accountsOf(context, upload, present, before),
    })
  })
}

/**
 * Replaces the archive of the version; 400 when there is no such version. Refuses a change that would make the version's
 * policies unreadable. Test users follow the latest version.
 */
export function repairVersion(context: RequestContext, upload: Upload, version: number): Promise<Released> {
  const write = releaseWriter(context, upload)
  return untilCommitted(async () => {
    const present = await readPresent(context, upload, version)
    if (!present.asked)
      throw new Refusal(
        'unknownConfigVersion',
        `There is no configuration version ${version}; GET /deployments/versions lists them.`,
      )
    const before = await configurationOf(context, present.asked)
    const { scopes, inUse } = await changesOf(context, before, upload, version)
    const advice = `Policies of version ${version} need it: put it back, or deploy a new version.`
    if (inUse.length > 0) return { refused: inUse.map(change => finding('ERROR', change, advice)) }
    const holds: SQL[] = [store.versionHasHash(version, present.asked.hash)]
    if (scopes.length > 0) holds.push(store.noPolicyOf(scopes, version))
    return write({
      kind: 'repair',
      version,
      guards: holds.map(holds => ({ name: 'guard_configuration_hash', holds })),
      findings: lateBootstrap(upload),
      connected: present.connected,
      accounts:
        present.latest?.version === version ? accountsOf(context, upload, present, before) : SAME_ACCOUNTS,
    })
  })
}

/** A new tenant's resources are created with its first configuration only. */
const lateBootstrap = ({ configuration }: Upload): Finding[] =>
  configuration.bootstrap === undefined
    ? []
    : [
        {
          severity: 'WARNING',
          path: 'bootstrap/',
          code: 'ignoredFolder',
          message:
            "Resources to start a tenant with are made with the tenant's first configuration only. Upload them as resources.",
        },
      ]

const untilCommitted = (attempt: (isFirst: boolean) => Promise<Released>): Promise<Released> =>
  retryOnConflict('The configuration', attempt, {
    attempts: ATTEMPTS,
    isConflict: problem => problem instanceof GuardTripped || isNewNameTaken(problem),
  })

/** An account of the same name was made after the accounts were read. */
const isNewNameTaken = (problem: unknown): boolean =>
  problem instanceof Error &&
  `${problem.message} ${String(problem.cause ?? '')}`.includes('UNIQUE constraint failed: account.username')

async function readPresent(
  { env, tenant, calls }: RequestContext,
  { configuration }: Upload,
  version?: number,
): Promise<Present> {
  const database = shardDatabase(env, tenant, HOME_SHARD, calls)
  const usernames = configuration.testUsers.map(({ username }) => username)
  const [[latest], [asked], accounts, raters] = await database.batch([
    versionQuery(database, undefined),
    versionQuery(database, version),
    store.archiveAccountsQuery(database, usernames),
    integrationNamesQuery(database, 'external_rater'),
  ])
  return { latest, asked, accounts, connected: raters.map(({ name }) => name) }
}

/** Undefined for no version, and for one that cannot be read any more, which a deploy or repair replaces. */
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

/** The incompatible changes, and those of them that affect policies of the version (of any, when undefined). */
async function changesOf(
  { env, tenant, calls }: RequestContext,
  before: Configuration | undefined,
  { configuration }: Upload,
  version?: number,
): Promise<{ scopes: store.Scope[]; inUse: IncompatibleChange[] }> {
  const changes = before ? incompatibleChanges(before, configuration) : []
  const scopes = [...new Set(changes.map(scopeOf))]
  if (scopes.length === 0) return { scopes, inUse: [] }
  const used = await Promise.all(
    tenant.shards.map(async (_, shard) => {
      const database = shardDatabase(env, tenant, shard, calls)
      const [names] = await database.batch([store.usedScopesQuery(database, scopes, version)])
      return names.map(({ name }) => name)
    }),
  )
  const names = new Set(used.flat())
  return { scopes, inUse: changes.filter(change => names.has(scopeOf(change))) }
}

const scopeOf = ({ product }: IncompatibleChange): store.Scope => product ?? null

const finding = (
  severity: Finding['severity'],
  { path, code, message }: IncompatibleChange,
  advice: string,
): Finding => ({ severity, path, code, message: `${message} ${advice}` })

/**
 * Only test tenants have the archive's users (resources brief 10.3). A token carries the roles of the time when it was issued,
 * so other roles end the tokens.
 */
function accountsOf(
  { tenant }: RequestContext,
  { configuration }: Upload,
  { accounts, latest }: Present,
  before: Configuration | undefined,
): store.AccountPlan {
  const isTest = tenant.type === 'test'
  const plan = isTest
    ? store.planAccounts(configuration.testUsers, accounts, before?.testUsers ?? [])
    : SAME_ACCOUNTS
  const roles = tenantRoles(configuration, isTest)
  const areOthers = latest !== undefined && JSON.stringify(latest.roles) !== JSON.stringify(roles)
  return { ...plan, revokesTokens: plan.revokesTokens || areOthers }
}
