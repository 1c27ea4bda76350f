// Rows as the wire shows them.

import type { Instant } from '../../kernel/time.ts'
import type * as contract from './contract.ts'
import type { ItemKind, ListedKind, MappingNode, StoredProblem } from './item.ts'
import type { AccountCounts, FailureRow, MappingRow, Migration, MigrationAccount } from './store.ts'

const dateTime = (at: number): string => new Date(at).toISOString()

/** `realNow`: the rate is one of real time, whatever the tenant's clock says. */
export function migrationResponse(
  migration: Migration,
  counts: AccountCounts,
  realNow: Instant,
): contract.MigrationResponse {
  const { locator, state, type, totalAccounts, validateOnly, createdAt, updatedAt } = migration
  return {
    locator,
    migrationState: state,
    migrationType: type,
    processedAccounts: counts.completed,
    totalAccounts,
    validateOnly,
    accounts: { ...counts },
    ...progressOf(migration, counts, realNow),
    createdAt: dateTime(createdAt),
    updatedAt: dateTime(updatedAt),
  }
}

export const doneOf = ({ completed, failed, error }: AccountCounts): number => completed + failed + error

function progressOf(
  { state, runningSince, doneBefore }: Migration,
  counts: AccountCounts,
  realNow: Instant,
): { accountsPerSecond?: number; secondsLeft?: number } {
  if (state !== 'processing' || runningSince === null) return {}
  const seconds = Math.max(realNow - runningSince, 1) / 1000
  const perSecond = Math.max(doneOf(counts) - doneBefore, 0) / seconds
  if (perSecond === 0) return { accountsPerSecond: 0 }
  const left = counts.pending + counts.processing
  return { accountsPerSecond: Math.round(perSecond * 100) / 100, secondsLeft: Math.ceil(left / perSecond) }
}

export const accountResponse = (account: MigrationAccount): contract.AccountMigrationResponse => ({
  accountLocator: account.accountLocator,
  accountOriginalId: account.originalId,
  accountMigrationState: account.state,
  totalItems: account.totalItems,
  processedItems: account.processedItems,
  errorItems: account.errorItems,
  lastUpdated: dateTime(account.updatedAt),
  ...(account.warnings.length > 0 && { warnings: account.warnings.map(shownProblem) }),
})

const shownProblem = ({ elementType, locator, errors }: StoredProblem) => ({
  elementType,
  locator,
  errors: [...errors],
})

type Failure = {
  readonly kind: ItemKind
  readonly originalId: string
  readonly problems: readonly StoredProblem[]
}

export function failuresResponse(
  { accountLocator, originalId }: Pick<MigrationAccount, 'accountLocator' | 'originalId'>,
  failures: readonly (Failure | FailureRow)[],
): contract.MigrationFailuresResponse {
  const ofAccount = failures.find(({ kind }) => kind === 'account')
  const of = (kind: ListedKind): Record<string, contract.ErrorDetailsResponse> =>
    Object.fromEntries(failures.filter(one => one.kind === kind).map(one => [one.originalId, detailsOf(one)]))
  return {
    accountLocator,
    accountOriginalId: originalId,
    ...(ofAccount && { accountError: detailsOf(ofAccount) }),
    policies: of('policies'),
    invoices: of('invoices'),
    payments: of('payments'),
    disbursements: of('disbursements'),
  }
}

const detailsOf = ({ originalId, problems }: Failure | FailureRow): contract.ErrorDetailsResponse => ({
  originalId,
  errors: { success: false, validationItems: problems.map(shownProblem) },
})

/** What a tree's maps are keyed by. */
export type MappingKey = 'locator' | 'originalId'

export function mappingsResponse(
  { accountLocator, migrationLocator, originalId }: MigrationAccount,
  rows: readonly MappingRow[],
  by: MappingKey,
): contract.AccountMigrationIdMappingsResponse {
  const of = (kind: ListedKind): Record<string, contract.MappingObject> => {
    const ofKind = rows.filter(row => row.kind === kind)
    return Object.fromEntries(ofKind.map(row => [row[by], mappingObject(row, dateTime(row.migratedAt), by)]))
  }
  return {
    accountLocator,
    migrationLocator,
    originalAccountId: originalId,
    policies: of('policies'),
    invoices: of('invoices'),
    payments: of('payments'),
    disbursements: of('disbursements'),
  }
}

const mappingObject = (
  { originalId, locator, children = [] }: MappingNode,
  migratedAt: string,
  by: MappingKey,
): contract.MappingObject => ({
  originalId,
  locator,
  migratedAt,
  childrenMappings: keyed(children, migratedAt, by),
})

/** Ids that several parts of one have, as an item and an element may, tell them apart by their place: `1`, `1[1]`. */
function keyed(
  children: readonly MappingNode[],
  migratedAt: string,
  by: MappingKey,
): Record<string, contract.MappingObject> {
  const seen = new Map<string, number>()
  return Object.fromEntries(
    children.map(child => {
      const key = child[by]
      const count = seen.get(key) ?? 0
      seen.set(key, count + 1)
      return [count === 0 ? key : `${key}[${count}]`, mappingObject(child, migratedAt, by)]
    }),
  )
}
