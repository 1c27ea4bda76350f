// What is to be recorded of an account: rows as they travel, and what else its batch has to do. So accounts are worked on one
// after the other, each by itself, and recorded together.

import type { Guard, NewTimer } from '../../../platform/commit.ts'
import type { RequestContext } from '../../../platform/context.ts'
import type { Query } from '../../../platform/database.ts'
import { creditGuard } from '../../../policy/store/credit.ts'
import { disbursements } from '../../../policy/tables/billing.ts'
import { termRows } from '../../../policyholders/store.ts'
import { policyholders, policyholderTerms } from '../../../policyholders/tables.ts'
import { searchTerms } from '../../../policyholders/values.ts'
import type { AuxRow, Converted } from '../convert/converted.ts'
import type { ItemFailure, ItemMapping } from '../item.ts'
import { type AccountOutcome, failureRows, type MigrationAccount, mappingRows } from '../store.ts'
import { migrationFailures, migrationMappings } from '../tables.ts'
import { changedRows, type Earlier, earlierGuards } from './earlier.ts'
import type { ConfiguredGround } from './ground.ts'
import { addPolicies, courseOfPolicies } from './loading.ts'
import { TableRows } from './table-rows.ts'

/** What became of an account, before it is recorded. */
export type Outcome = {
  readonly converted: Converted | undefined
  readonly failures: readonly ItemFailure[]
  /** Items that were migrated by earlier attempts. */
  readonly before: number
  /** Of an account that exists: what its disbursements, payments and bills rest on. */
  readonly earlier: Earlier | undefined
}

export type PreparedAccount = {
  readonly account: MigrationAccount
  readonly outcome: AccountOutcome
  /** Whether it becomes a policyholder, whose id nobody else may have. */
  readonly isMade: boolean
  readonly rows: TableRows
  readonly auxData: readonly AuxRow[]
  readonly guards: readonly Guard[]
  readonly facts: readonly Query[]
  readonly timers: readonly NewTimer[]
}

const MOST_WARNINGS = 100

export function preparedOf(
  ground: ConfiguredGround,
  { now: at }: RequestContext,
  account: MigrationAccount,
  { converted, failures, before, earlier }: Outcome,
): PreparedAccount {
  const { database, migration, configuration } = ground
  const { accountLocator, totalItems } = account
  const kept = migration.validateOnly ? undefined : converted
  const became = converted ? mappingsOf(converted, account) : []
  const processed = became.length + before
  const course = kept && courseOfPolicies(database, configuration.configuration, kept.policies, at)
  const changed = kept && earlier && changedRows(ground, earlier, kept, at)
  const rows = new TableRows()
  if (kept) addRecords(rows, ground, at, account, kept)
  rows.add(migrationMappings, mappingRows(account, kept ? became : [], at))
  rows.add(migrationFailures, failureRows(account, failures))
  return {
    account,
    outcome: {
      ordinal: account.ordinal,
      state: failures.length === 0 ? 'completed' : 'failed',
      processedItems: processed,
      errorItems: totalItems - processed,
      warnings: (converted?.warnings ?? []).slice(0, MOST_WARNINGS),
    },
    isMade: kept?.account !== undefined,
    rows,
    auxData: kept?.auxData ?? [],
    guards:
      kept && earlier
        ? [creditGuard(accountLocator, earlier.existing.credit), ...earlierGuards(accountLocator, earlier)]
        : [],
    facts: [...(course?.facts ?? []), ...(changed?.facts ?? [])],
    timers: [...(course?.timers ?? []), ...(changed?.timers ?? [])],
  }
}

function addRecords(
  rows: TableRows,
  { configuration: { configuration } }: ConfiguredGround,
  at: RequestContext['now'],
  { accountLocator }: MigrationAccount,
  { account, policies, disbursements: paidOut }: Converted,
): void {
  if (account) {
    const { policyholderFields: fields, timeZone } = configuration
    rows.add(policyholders, [account])
    rows.add(policyholderTerms, termRows(account, searchTerms({ fields, timeZone }, account.entity.values)))
  }
  addPolicies(rows, configuration, policies)
  rows.add(
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
  )
}

/** What the items became; the account first, where it was made. */
function mappingsOf(
  { account, mappings }: Converted,
  { originalId, accountLocator }: MigrationAccount,
): ItemMapping[] {
  const items = mappings.filter(({ kind }) => kind !== 'account')
  return account ? [{ kind: 'account', originalId, locator: accountLocator }, ...items] : items
}
