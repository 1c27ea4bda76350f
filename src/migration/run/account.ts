// One account: read, converted, and recorded in one batch with its state and what its items became.

import { sql } from 'drizzle-orm'
import { putAuxData } from '../../auxdata/store.ts'
import { disbursements } from '../../billing/disbursements/tables.ts'
import { creditGuard, creditQuery, readCredit } from '../../billing/payments/store.ts'
import { configurationVersions } from '../../configuration/tables.ts'
import { commit, type Guard } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { putRows, type Query } from '../../platform/database.ts'
import { Refusal } from '../../platform/errors.ts'
import { locatorSupply, type Uuid } from '../../platform/locators.ts'
import type { Money } from '../../platform/money.ts'
import { takeLocators } from '../../platform/sequence.ts'
import { searchTerms } from '../../policyholders/search.ts'
import { insertQueries } from '../../policyholders/store.ts'
import { convertAccount, digitsNeeded } from '../convert/account.ts'
import type { Converted } from '../convert/converted.ts'
import { type ItemFailure, type ItemMapping, LISTED_KINDS } from '../item.ts'
import {
  type AccountReading,
  itemFailure,
  itemId,
  itemsOf,
  type ReadAccount,
  readAccount,
} from '../request.ts'
import {
  accountGuard,
  beginQuery,
  changeAccountQuery,
  claimGuard,
  claimQuery,
  claimsQuery,
  failureRows,
  type MigrationAccount,
  mappingRows,
  mappingsOfQuery,
} from '../store.ts'
import { type ConfiguredGround, contextOf, type Ground } from './ground.ts'
import { courseOfPolicies, policyRows } from './loading.ts'

/** What became of an account, before it is recorded. */
type Outcome = {
  readonly converted: Converted | undefined
  readonly failures: readonly ItemFailure[]
  /** Items that were migrated by earlier attempts. */
  readonly before: number
  /** Of an account that exists: what its disbursements and bills rest on. */
  readonly credit: Money | undefined
}

/**
 * Migrates the account; `next` is begun in the same batch. What it is `claimed` by: the account that its id was migrated as
 * before, if it was. Throws what is no fault of its data.
 */
export async function migrateAccount(
  ground: ConfiguredGround,
  account: MigrationAccount,
  value: unknown,
  next: MigrationAccount | undefined,
  claimedBy: string | undefined,
): Promise<void> {
  const context = contextOf(ground)
  const outcome = await outcomeOf(ground, context, account, value, claimedBy)
  const isMade = outcome.converted?.account !== undefined && !ground.migration.validateOnly
  if (isMade && ground.home !== ground.database) await claimElsewhere(ground, account)
  await recorded(ground, context, account, outcome, next)
}

/** The account's id lies in another database: it is the account's before anything of it is written, also after a crash. */
async function claimElsewhere(
  { home }: Ground,
  { originalId, accountLocator }: MigrationAccount,
): Promise<void> {
  const [, claims] = await home.batch([
    claimQuery(home, originalId, accountLocator),
    claimsQuery(home, [originalId]),
  ])
  if (claims[0]?.accountLocator !== accountLocator)
    throw new Error(`The account '${originalId}' is being migrated twice at the same time.`)
}

async function outcomeOf(
  ground: ConfiguredGround,
  context: RequestContext,
  account: MigrationAccount,
  value: unknown,
  claimedBy: string | undefined,
): Promise<Outcome> {
  const { migration, configuration, configVersion, shard } = ground
  const { accountLocator, originalId } = account
  const isFull = migration.type === 'fullMigration'
  const known = isFull && account.source === 'body' ? undefined : await knownOf(ground, account)
  const before = known?.done.size ?? 0
  const refused = (errors: readonly string[]): Outcome => ({
    converted: undefined,
    failures: [itemFailure('account', originalId, errors)],
    before,
    credit: undefined,
  })
  if (isFull && claimedBy !== undefined && claimedBy !== accountLocator)
    return refused([
      `'id' must be unique among the accounts that were migrated: '${originalId}' is account ${claimedBy}. Send further items to POST …/migrations/accounts/${claimedBy}.`,
    ])
  const isNew = isFull && !known?.done.has(`account ${originalId}`)
  const read = readAccount(value as Record<string, unknown>, originalId, isNew)
  const { request, failures } = known ? withoutTaken(read, known.taken) : read
  const isAccountWrong = failures.some(({ kind }) => kind === 'account')
  // What is wrong with its items is told too; what they add up to says nothing then.
  const checked = isAccountWrong ? { ...request, accounting: undefined } : request
  const left = known ? withoutDone(checked, known.done) : checked
  try {
    const supply = locatorSupply(shard, await takeLocators(context, shard, digitsNeeded(left)))
    const converted = convertAccount(left, {
      configuration: configuration.configuration,
      configVersion,
      now: context.now,
      supply,
      shard,
      accountLocator,
      callerLocator: ground.migration.createdBy as Uuid,
      ...(!isNew && known && { existing: { credit: known.credit } }),
    })
    return wholeIfBalanced(value as Record<string, unknown>, known?.done, account, checked, {
      converted,
      failures: [...failures, ...converted.failures],
      before,
      credit: isNew ? undefined : known?.credit,
    })
  } catch (problem) {
    if (!(problem instanceof Refusal) || problem.status >= 500) throw problem
    return refused([problem.message])
  }
}

/**
 * Of an account that fails itself nothing is kept. Control totals are of the whole account: it is migrated as a whole then, or
 * not at all. What would have been kept waits for what failed.
 */
function wholeIfBalanced(
  value: Readonly<Record<string, unknown>>,
  done: ReadonlySet<string> | undefined,
  { originalId }: MigrationAccount,
  { accounting }: ReadAccount,
  outcome: Outcome,
): Outcome {
  const { failures } = outcome
  const hasTotals = Object.keys(accounting?.originalAccountBalances ?? {}).length > 0
  const isWhole = hasTotals || failures.some(({ kind }) => kind === 'account')
  if (!isWhole || failures.length === 0) return outcome
  const failed = new Set(failures.map(one => `${one.kind} ${one.originalId}`))
  const by = failures.some(({ kind }) => kind === 'account') ? originalId : failures[0]!.originalId
  const waiting = LISTED_KINDS.flatMap(kind =>
    itemsOf(value, kind)
      .map((item, index) => itemId(kind, item, index))
      .filter(id => !failed.has(`${kind} ${id}`) && !done?.has(`${kind} ${id}`))
      .map(id => itemFailure(kind, id, [`blocked by ${by}`])),
  )
  const account = failed.has(`account ${originalId}`)
    ? []
    : [itemFailure('account', originalId, [`blocked by ${by}`])]
  return { ...outcome, converted: undefined, failures: [...account, ...failures, ...waiting] }
}

/** Of an account of which something was migrated before: items of this migration, of others, and its credit. */
async function knownOf(
  { database, configuration }: ConfiguredGround,
  { accountLocator, migrationLocator }: MigrationAccount,
): Promise<{ done: ReadonlySet<string>; taken: ReadonlySet<string>; credit: Money }> {
  const [mappings, credits] = await database.batch([
    mappingsOfQuery(database, accountLocator),
    creditQuery(database, accountLocator),
  ])
  const keys = (rows: typeof mappings) => new Set(rows.map(({ kind, originalId }) => `${kind} ${originalId}`))
  return {
    done: keys(mappings.filter(row => row.migrationLocator === migrationLocator)),
    taken: keys(mappings.filter(row => row.migrationLocator !== migrationLocator)),
    credit: readCredit(credits, configuration.configuration.currency),
  }
}

/** Ids of an account are its items' for good: another migration cannot use them again. */
function withoutTaken({ request, failures }: AccountReading, taken: ReadonlySet<string>): AccountReading {
  const again = LISTED_KINDS.flatMap(kind =>
    request[kind]
      .filter(({ id }) => taken.has(`${kind} ${id}`))
      .map(({ id }) =>
        itemFailure(kind, id, [
          `'id' must be unique within the account: '${id}' was migrated by an earlier migration.`,
        ]),
      ),
  )
  return { request: withoutDone(request, taken), failures: [...failures, ...again] }
}

const withoutDone = (request: ReadAccount, done: ReadonlySet<string>): ReadAccount => ({
  ...request,
  ...Object.fromEntries(
    LISTED_KINDS.map(kind => [kind, request[kind].filter(({ id }) => !done.has(`${kind} ${id}`))]),
  ),
})

/** One batch: the records, what each item became, what failed, and the account's state. */
async function recorded(
  ground: ConfiguredGround,
  context: RequestContext,
  account: MigrationAccount,
  { converted, failures, before, credit }: Outcome,
  next: MigrationAccount | undefined,
): Promise<void> {
  const { database, migration, configuration, configVersion, shard, home } = ground
  const { now: at } = context
  const { originalId, accountLocator } = account
  const kept = migration.validateOnly ? undefined : converted
  const mappings = kept ? mappingsOf(kept, account) : []
  const processed = migration.validateOnly ? account.totalItems - failures.length : mappings.length + before
  const course = kept && courseOfPolicies(database, configuration.configuration, kept.policies, at)
  await commit(context, database, {
    shard,
    guards: [
      accountGuard(account, 'processing'),
      configurationGuard(configVersion, configuration.hash),
      ...(kept?.account && home === database ? [claimGuard(originalId, accountLocator)] : []),
      ...(kept && credit ? [creditGuard(accountLocator, credit)] : []),
    ],
    facts: [
      ...(kept ? recordsOf(ground, context, account, kept) : []),
      ...(course?.facts ?? []),
      ...mappingRows(database, account, mappings, at),
      ...failureRows(database, account, failures),
      changeAccountQuery(database, account, {
        state: failures.length === 0 ? 'completed' : 'failed',
        processedItems: Math.max(0, processed),
        errorItems: Math.min(failures.length, account.totalItems),
        warnings: (converted?.warnings ?? []).slice(0, MOST_WARNINGS),
        updatedAt: at,
      }),
      ...(next ? [beginQuery(database, next, at)] : []),
    ],
    events: [],
    timers: course?.timers ?? [],
    answer: { status: 200, text: '' },
    subject: accountLocator,
  })
}

const MOST_WARNINGS = 100

function recordsOf(
  { database, configuration, home }: ConfiguredGround,
  { now: at }: RequestContext,
  { originalId, accountLocator }: MigrationAccount,
  { account, policies, auxData, disbursements: paidOut }: Converted,
): Query[] {
  const { policyholderFields, timeZone } = configuration.configuration
  const dictionary = { fields: policyholderFields, timeZone }
  return [
    ...(account ? insertQueries(database, account, searchTerms(dictionary, account.entity.values)) : []),
    ...(account && home === database ? [claimQuery(database, originalId, accountLocator)] : []),
    ...policyRows(database, configuration.configuration, policies),
    ...(auxData.length > 0 ? putAuxData(database, auxData, at) : []),
    ...putRows(
      database,
      disbursements,
      paidOut.map(one => ({
        locator: one.locator,
        policyholderLocator: accountLocator,
        type: one.type,
        amount: one.amount.minor,
        currency: one.amount.currency,
        data: one.data,
        disbursedAt: one.at,
        createdAt: at,
      })),
    ),
  ]
}

/** What the items became; the account first, where it was made. */
function mappingsOf(
  { account, mappings }: Converted,
  { originalId, accountLocator }: MigrationAccount,
): ItemMapping[] {
  const items = mappings.filter(({ kind }) => kind !== 'account')
  return account ? [{ kind: 'account', originalId, locator: accountLocator }, ...items] : items
}

/** The version still stands for the configuration that the account was converted by. */
const configurationGuard = (version: number, hash: string): Guard => ({
  name: 'guard_configuration_hash',
  holds: sql`(select ${configurationVersions.hash} from ${configurationVersions} where ${configurationVersions.version} = ${version}) = ${hash}`,
})
