// Corrections of a failed account. Each item replaces the failed one, and the account is tried again.

import { notFound, type Refusal, wrongState } from '../../kernel/errors.ts'
import { newUuid, readUuid } from '../../kernel/locators.ts'
import {
  isBySubject,
  type JsonAnswer,
  jsonAnswer,
  retryOnConflict,
  unlessRepeated,
} from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import { type JsonText, jsonText } from '../../platform/http/route.ts'
import type { RecordPlace } from '../../platform/tenancy.ts'
import {
  AccountMigrationData,
  controlTotalsIn,
  type PatchAccountMigrationRequest,
} from './contract-request.ts'
import { BODY, deleteSource, Sources, storeSource } from './files.ts'
import { type ItemFailure, LISTED_KINDS, type ListedKind } from './item.ts'
import { failuresResponse, migrationPlace, readMigration } from './reading.ts'
import {
  itemFailure,
  itemsOf,
  type MigratedItems,
  migratedItems,
  namedItems,
  ownId,
  parseWith,
  type SentAccount,
  shapeFailures,
} from './request.ts'
import { assertFilesKept, commitChange, runningQuery, wakeLater } from './service.ts'
import {
  accountQuery,
  accountsGuard,
  changeAccountQuery,
  type MigrationAccount,
  mappingsOfQuery,
} from './store.ts'
import { assertAccountAllows, assertMigrationAllows } from './tables.ts'

/** Corrects an account. Returns failures found immediately, and then queues nothing. Empty maps mean that it is queued. */
export async function patchAccount(
  context: RequestContext,
  text: string,
  patch: PatchAccountMigrationRequest,
): Promise<JsonText> {
  const place = migrationPlace(context, text)
  const attempt = async () => {
    const answer = await retryOnConflict('The migration', () => applyPatch(context, place, patch))
    wakeLater(context, place.locator)
    return answer
  }
  const answer = await unlessRepeated(context, place.database, attempt, earlier =>
    isBySubject(earlier) ? attempt() : earlier,
  )
  return jsonText(answer)
}

async function applyPatch(
  context: RequestContext,
  place: RecordPlace,
  patch: PatchAccountMigrationRequest,
): Promise<JsonAnswer> {
  const { database, locator, shard } = place
  const accountLocator = readUuid(patch.accountLocator)
  if (!accountLocator) throw notFound('account of the migration', patch.accountLocator)
  const { migration, counts } = await readMigration(place)
  const [accounts, mappings] = await database.batch([
    accountQuery(place, accountLocator),
    mappingsOfQuery(database, accountLocator),
  ])
  const account = accounts[0] as MigrationAccount | undefined
  if (!account) throw notFound('account of the migration', patch.accountLocator)
  const migrated = migratedItems(mappings, locator)
  if (account.state === 'completed') assertNamesNothing(patch, migrated.done)
  assertMigrationAllows(locator, migration.state, 'patch')
  assertAccountAllows(accountLocator, account.state, 'patch')
  assertFilesKept(migration, context.now)
  const value = (await new Sources(context, locator).read(account)) as SentAccount
  const isFull = migration.type === 'fullMigration'
  assertPatchable(value, patch, migrated, isFull)
  const failures = [
    ...accountShapeFailures(account, patch),
    ...LISTED_KINDS.flatMap(kind => shapeFailures(kind, patch[kind])),
  ]
  if (failures.length === 0) failures.push(...idFailures(value, patch))
  if (failures.length > 0) return jsonAnswer(failuresResponse(account, failures))

  const source = newUuid(shard)
  const corrected = mergePatch(value, patch)
  const stored = await storeSource(context, locator, source, corrected)
  // Counted after merging, which removes repeated ids.
  const items = LISTED_KINDS.reduce((sum, kind) => sum + itemsOf(corrected, kind).length, 0)
  const originalId = patch.accountData === undefined ? account.originalId : accountId(patch)
  const answer = jsonAnswer(failuresResponse({ ...account, originalId }, []))
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
        ...(migration.state === 'processing' ? [] : [runningQuery(context, place, counts)]),
      ],
      guards: [accountsGuard(locator, [account], 'failed')],
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

/** Deletes a source that the account does not use. After an unknown outcome the commit may have happened, so this looks first. */
async function discardUnlessUsed(
  context: RequestContext,
  place: RecordPlace,
  { accountLocator, source }: Pick<MigrationAccount, 'accountLocator' | 'source'>,
): Promise<void> {
  const [accounts] = await place.database.batch([accountQuery(place, accountLocator)])
  if (accounts[0]?.source !== source) await deleteSource(context, place.locator, source)
}

const patchRefusal = (problems: readonly string[]): Refusal =>
  wrongState(
    `Nothing was patched: ${problems.join('; ')}. Name failed items by their original ids, as listed by failures/list.`,
  )

/** Rejects with 409 every item in a patch of a completed account, by id, because none of its items failed. */
function assertNamesNothing(patch: PatchAccountMigrationRequest, done: ReadonlySet<string>): void {
  const stateText = (key: string): string => (done.has(key) ? 'is completed' : 'is not in the migration')
  const problems = [
    ...(patch.accountData === undefined ? [] : ['the account is completed']),
    ...LISTED_KINDS.flatMap(kind =>
      Object.keys(patch[kind]).map(id => `${kind} '${id}' ${stateText(`${kind} ${id}`)}`),
    ),
  ]
  if (problems.length > 0) throw patchRefusal(problems)
}

/** Rejects with 409 items that did not fail, by id. */
function assertPatchable(
  value: SentAccount,
  patch: PatchAccountMigrationRequest,
  { done, taken }: MigratedItems,
  isFull: boolean,
): void {
  const problems: string[] = []
  if (patch.accountData !== undefined && !isFull)
    problems.push('the account already exists, and a migration does not change it')
  if (patch.accountData !== undefined && done.has(`account ${accountId(value)}`))
    problems.push('the account is completed')
  if (controlTotalsIn(patch).length > 0 && done.size > 0)
    problems.push('control totals are for a whole account, and items of this one are completed')
  for (const kind of LISTED_KINDS) {
    const known = new Set(namedItems(value, kind).map(({ id }) => id))
    for (const id of Object.keys(patch[kind])) {
      if (!known.has(id)) problems.push(`${kind} '${id}' is not in the migration`)
      else if (done.has(`${kind} ${id}`)) problems.push(`${kind} '${id}' is completed`)
      else if (taken.has(`${kind} ${id}`))
        problems.push(`${kind} '${id}' was migrated by another migration: send the item with another id`)
    }
  }
  if (problems.length > 0) throw patchRefusal(problems)
}

const accountId = ({ accountData }: SentAccount): string => ownId(accountData) ?? ''

function accountShapeFailures(
  { originalId }: MigrationAccount,
  { accountData }: PatchAccountMigrationRequest,
): ItemFailure[] {
  if (accountData === undefined) return []
  const problems: string[] = []
  parseWith(AccountMigrationData, accountData, problems, 'accountData')
  return problems.length > 0 ? [itemFailure('account', originalId, problems)] : []
}

/** Checks ids. An item keeps its id, since others may refer to it. An item without an id needs one that no other item has. */
function idFailures(value: SentAccount, patch: PatchAccountMigrationRequest): ItemFailure[] {
  return LISTED_KINDS.flatMap(kind => {
    const own = itemsOf(value, kind).map(ownId)
    const given = Object.entries(patch[kind]).map(([id, item]) => ({ id, to: ownId(item)! }))
    return given.flatMap(({ id, to }) => {
      const isTaken = own.includes(to) || given.some(one => one.id !== id && one.to === to)
      const rule = own.includes(id)
        ? `but must be the '${id}' by which the patch names it.`
        : 'which another item already has.'
      return to === id || !(own.includes(id) || isTaken)
        ? []
        : [itemFailure(kind, id, [`'id' is '${to}', ${rule}`])]
    })
  })
}

function mergePatch(value: SentAccount, patch: PatchAccountMigrationRequest): SentAccount {
  const itemsAfter = (kind: ListedKind): readonly unknown[] => {
    const placed = new Set<string>()
    return namedItems(value, kind).flatMap(({ id, item }) => {
      const corrected = patch[kind][id]
      if (corrected === undefined) return [item]
      // One correction replaces all items with that id.
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
