// Corrections of a failed account: each item takes the place of the failed one, and the account is tried again.

import { notFound, Refusal } from '../../kernel/errors.ts'
import { newUuid, readUuid } from '../../kernel/locators.ts'
import { isBySubject, type JsonAnswer, retryOnConflict, storedAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import type { RecordPlace } from '../../platform/tenancy.ts'
import type { MigrationFailuresResponse } from './contract.ts'
import { AccountMigrationData, type PatchAccountMigrationRequest, toldTotals } from './contract-request.ts'
import { BODY, deleteSource, Sources, storeSource } from './files.ts'
import { type ItemFailure, LISTED_KINDS, type ListedKind } from './item.ts'
import { failuresResponse } from './projection.ts'
import { itemFailure, itemId, itemsOf, type MigratedItems, misshapen, ownId, parsed } from './request.ts'
import {
  assertKept,
  commitChange,
  migrationPlace,
  readMigration,
  runningQuery,
  wakeLater,
} from './service.ts'
import {
  accountGuard,
  accountQuery,
  changeAccountQuery,
  type MigrationAccount,
  mappingsOfQuery,
} from './store.ts'
import { assertAccountAllows, assertMigrationAllows } from './tables.ts'

type Value = Readonly<Record<string, unknown>>

/** Answers the failures that are known at once, of which nothing is queued; empty maps: the account is tried again. */
export async function patchAccount(
  context: RequestContext,
  text: string,
  patch: PatchAccountMigrationRequest,
): Promise<JsonText> {
  const place = migrationPlace(context, text)
  const earlier = await storedAnswer(context, place.database)
  if (earlier && !isBySubject(earlier)) return jsonText(earlier)
  const answer = await retryOnConflict('The migration', () => patched(context, place, patch))
  wakeLater(context, place.locator)
  return jsonText(answer)
}

async function patched(
  context: RequestContext,
  place: RecordPlace,
  patch: PatchAccountMigrationRequest,
): Promise<JsonAnswer> {
  const { database, locator, shard } = place
  const accountLocator = readUuid(patch.accountLocator)
  if (!accountLocator) throw notFound('account of the migration', patch.accountLocator)
  const { migration, counts } = await readMigration(place)
  const [accounts, mappings] = await database.batch([
    accountQuery(database, locator, accountLocator),
    mappingsOfQuery(database, accountLocator),
  ])
  const account = accounts[0] as MigrationAccount | undefined
  if (!account) throw notFound('account of the migration', patch.accountLocator)
  const keys = (rows: typeof mappings) => new Set(rows.map(({ kind, originalId }) => `${kind} ${originalId}`))
  const done = keys(mappings.filter(row => row.migrationLocator === locator))
  if (account.state === 'completed') assertNamesNothing(patch, done)
  assertMigrationAllows(locator, migration.state, 'patch')
  assertAccountAllows(accountLocator, account.state, 'patch')
  assertKept(migration, context.now)
  const taken = keys(mappings.filter(row => row.migrationLocator !== locator))
  const value = (await new Sources(context, locator).read(account)) as Value
  const isFull = migration.type === 'fullMigration'
  assertPatchable(value, patch, { done, taken }, isFull)
  const wrong = [
    ...misshapenAccount(account, patch),
    ...LISTED_KINDS.flatMap(kind => misshapen(kind, patch[kind])),
  ]
  if (wrong.length === 0) wrong.push(...misnamed(value, patch))
  if (wrong.length > 0) return answered(failuresResponse(account, wrong))

  const source = newUuid(shard)
  const corrected = merged(value, patch)
  const stored = await storeSource(context, locator, source, corrected)
  // Of several of one id one is left.
  const items = LISTED_KINDS.reduce((sum, kind) => sum + itemsOf(corrected, kind).length, 0)
  const originalId = patch.accountData === undefined ? account.originalId : accountId(patch)
  const answer = answered(failuresResponse({ ...account, originalId }, []))
  try {
    await commitChange(context, place, migration, 'patch', {
      facts: [
        changeAccountQuery(database, account, {
          ...stored,
          originalId,
          totalItems: items + (isFull ? 1 : 0),
          state: 'pending',
          errorItems: 0,
          tries: 0,
          updatedAt: context.now,
        }),
        ...(migration.state === 'processing' ? [] : [runningQuery(context, database, locator, counts)]),
      ],
      guards: [accountGuard(account, 'failed')],
      data: { accountLocator },
      answer,
    })
  } catch (problem) {
    context.later(discardUnlessUsed(context, place, { accountLocator, source }))
    throw problem
  }
  if (account.source !== BODY) context.later(deleteSource(context, locator, account.source))
  return answer
}

/** An outcome that is not known may be that it is recorded after all. */
async function discardUnlessUsed(
  context: RequestContext,
  { database, locator }: RecordPlace,
  { accountLocator, source }: Pick<MigrationAccount, 'accountLocator' | 'source'>,
): Promise<void> {
  const [accounts] = await database.batch([accountQuery(database, locator, accountLocator)])
  if (accounts[0]?.source !== source) await deleteSource(context, locator, source)
}

const answered = (response: MigrationFailuresResponse): JsonAnswer => ({
  status: 200,
  text: JSON.stringify(response),
})

const notPatched = (problems: readonly string[]): Refusal =>
  new Refusal(
    'wrongState',
    `Nothing was patched: ${problems.join('; ')}. Name failed items by their original ids, as failures/list has them.`,
  )

/** Refuses (409) whatever a patch of a completed account names, each by its id: nothing of it failed. */
function assertNamesNothing(patch: PatchAccountMigrationRequest, done: ReadonlySet<string>): void {
  const problems = LISTED_KINDS.flatMap(kind =>
    Object.keys(patch[kind]).map(id =>
      done.has(`${kind} ${id}`) ? `${kind} '${id}' is completed` : `${kind} '${id}' is not in the migration`,
    ),
  )
  if (patch.accountData !== undefined) problems.unshift('the account is completed')
  if (problems.length > 0) throw notPatched(problems)
}

/** Refuses (409) what names no failed item, each by its id. */
function assertPatchable(
  value: Value,
  patch: PatchAccountMigrationRequest,
  { done, taken }: MigratedItems,
  isFull: boolean,
): void {
  const problems: string[] = []
  if (patch.accountData !== undefined && !isFull)
    problems.push('the account exists, and is not altered by a migration')
  if (patch.accountData !== undefined && done.has(`account ${accountId(value)}`))
    problems.push('the account is completed')
  if (toldTotals(patch).length > 0 && done.size > 0)
    problems.push('control totals are of a whole account, and items of this one are completed')
  for (const kind of LISTED_KINDS) {
    const known = new Set(itemsOf(value, kind).map((item, index) => itemId(kind, item, index)))
    for (const id of Object.keys(patch[kind])) {
      if (!known.has(id)) problems.push(`${kind} '${id}' is not in the migration`)
      else if (done.has(`${kind} ${id}`)) problems.push(`${kind} '${id}' is completed`)
      else if (taken.has(`${kind} ${id}`))
        problems.push(`${kind} '${id}' was migrated by another migration: send what it is now by another id`)
    }
  }
  if (problems.length > 0) throw notPatched(problems)
}

const accountId = ({ accountData }: Value): string => ownId(accountData) ?? ''

function misshapenAccount(
  { originalId }: MigrationAccount,
  { accountData }: PatchAccountMigrationRequest,
): ItemFailure[] {
  if (accountData === undefined) return []
  const problems: string[] = []
  parsed(AccountMigrationData, accountData, problems, 'accountData')
  return problems.length > 0 ? [itemFailure('account', originalId, problems)] : []
}

/** Problems of ids: an item keeps its id, since others may refer to it; one without an id gets one that no other item has. */
function misnamed(value: Value, patch: PatchAccountMigrationRequest): ItemFailure[] {
  return LISTED_KINDS.flatMap(kind => {
    const own = itemsOf(value, kind).map(ownId)
    const given = Object.entries(patch[kind]).map(([id, item]) => ({ id, to: ownId(item)! }))
    return given.flatMap(({ id, to }) => {
      if (to === id) return []
      const isTaken = own.includes(to) || given.some(one => one.id !== id && one.to === to)
      if (own.includes(id))
        return [itemFailure(kind, id, [`'id' is '${to}', and must be the '${id}' that it is named by.`])]
      return isTaken ? [itemFailure(kind, id, [`'id' is '${to}', which another item has.`])] : []
    })
  })
}

function merged(value: Value, patch: PatchAccountMigrationRequest): Value {
  const itemsAfter = (kind: ListedKind): readonly unknown[] => {
    const placed = new Set<string>()
    return itemsOf(value, kind).flatMap((item, index) => {
      const id = itemId(kind, item, index)
      const corrected = patch[kind][id]
      if (corrected === undefined) return [item]
      // Of several of one id, one takes the place of all.
      if (placed.has(id)) return []
      placed.add(id)
      return [corrected]
    })
  }
  return {
    ...value,
    ...(patch.accountData !== undefined && { accountData: patch.accountData }),
    ...(patch.defaultCreatedBy !== undefined && { defaultCreatedBy: patch.defaultCreatedBy }),
    ...(patch.accounting && { accounting: patch.accounting }),
    ...Object.fromEntries(LISTED_KINDS.map(kind => [kind, itemsAfter(kind)])),
  }
}
