// One batch: what became of some accounts, with their states. It is written whole or not at all.
import { sql } from 'drizzle-orm'
import { putAuxData } from '../../../extension/auxdata/store.ts'
import { commit, type Guard } from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { configurationVersions } from '../../../product/tables.ts'
import {
  beginQuery,
  claimGuard,
  claimQuery,
  claimsQuery,
  forgetFailuresQuery,
  type MigrationAccount,
  outcomesQuery,
  processedGuard,
  putBackQuery,
} from '../store.ts'
import type { ConfiguredRunContext, RunContext } from './context.ts'
import { type PreparedAccount, TableRows } from './prepared.ts'

/** Accounts that the same batch begins, and those that were begun and are not worked on after all. */
export type Besides = {
  readonly next: readonly MigrationAccount[]
  readonly left: readonly MigrationAccount[]
}

/** Records the accounts. Throws `GuardTripped` where what one of them rests on has changed. */
export async function record(
  run: ConfiguredRunContext,
  context: RequestContext,
  accounts: readonly PreparedAccount[],
  { next, left }: Besides,
): Promise<void> {
  const { database, migration, configuration, configVersion, shard, home } = run
  const { locator } = migration
  const { now: at } = context
  const claims = accounts.filter(({ isMade }) => isMade).map(({ account }) => account)
  const claimsHere = home === database ? claims : []
  if (claims.length > claimsHere.length) await claimElsewhere(run, claims)
  const rows = new TableRows()
  for (const one of accounts) rows.join(one.rows)
  const auxData = accounts.flatMap(one => one.auxData)
  const places = accounts.map(({ account }) => account)
  await commit(context, database, {
    shard,
    guards: [
      processedGuard(locator, places),
      configurationGuard(configVersion, configuration.hash),
      ...(claimsHere.length > 0 ? [claimGuard(claimsHere)] : []),
      ...accounts.flatMap(({ guards }) => guards),
    ],
    facts: [
      ...(claimsHere.length > 0 ? [claimQuery(database, claimsHere)] : []),
      // Before the rows, which have those that are told now.
      forgetFailuresQuery(
        database,
        locator,
        places.map(({ accountLocator }) => accountLocator),
      ),
      ...rows.queries(database),
      ...(auxData.length > 0 ? putAuxData(database, auxData, at) : []),
      ...accounts.flatMap(({ facts }) => facts),
      outcomesQuery(
        database,
        locator,
        accounts.map(({ outcome }) => outcome),
        at,
      ),
      ...(next.length > 0 ? [beginQuery(database, locator, ordinalsOf(next), at)] : []),
      ...(left.length > 0 ? [putBackQuery(database, locator, ordinalsOf(left))] : []),
    ],
    events: [],
    timers: accounts.flatMap(({ timers }) => timers),
    answer: { status: 200, text: '' },
    subject: locator,
  })
}

export const ordinalsOf = (accounts: readonly MigrationAccount[]): number[] =>
  accounts.map(({ ordinal }) => ordinal)

/** Ids that lie in another database: they are the accounts' before anything of these is written, also after a crash. */
async function claimElsewhere({ home }: RunContext, claims: readonly MigrationAccount[]): Promise<void> {
  const [, found] = await home.batch([
    claimQuery(home, claims),
    claimsQuery(
      home,
      claims.map(({ originalId }) => originalId),
    ),
  ])
  const owners = new Map(found.map(({ originalId, accountLocator }) => [originalId, accountLocator]))
  const taken = claims.find(one => owners.get(one.originalId) !== one.accountLocator)
  if (taken) throw new Error(`The account '${taken.originalId}' is being migrated twice at the same time.`)
}

/** The version still stands for the configuration that the accounts were converted by. */
const configurationGuard = (version: number, hash: string): Guard => ({
  name: 'guard_configuration_hash',
  holds: sql`(select ${configurationVersions.hash} from ${configurationVersions} where ${configurationVersions.version} = ${version}) = ${hash}`,
})
