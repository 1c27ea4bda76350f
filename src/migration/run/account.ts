// One account: read, converted, and made ready to be recorded. Nothing of it is written here.
import { creditQuery, readCredit } from '../../billing/payments/store.ts'
import type { RequestContext } from '../../platform/context.ts'
import { Refusal } from '../../platform/errors.ts'
import { locatorSupply, type Uuid } from '../../platform/locators.ts'
import type { Money } from '../../platform/money.ts'
import { takeLocators } from '../../platform/sequence.ts'
import { convertAccount, digitsNeeded } from '../convert/account.ts'
import { LISTED_KINDS } from '../item.ts'
import {
  type AccountReading,
  itemFailure,
  itemId,
  itemsOf,
  type ReadAccount,
  readAccount,
} from '../request.ts'
import { type MigrationAccount, mappingsOfQuery } from '../store.ts'
import type { ConfiguredGround } from './ground.ts'
import { type Outcome, type PreparedAccount, preparedOf } from './prepared.ts'

/**
 * The account as it is to be recorded. What it is `claimed` by: the account that its id was migrated as before, if it was.
 * Throws what is no fault of its data.
 */
export async function preparedAccount(
  ground: ConfiguredGround,
  context: RequestContext,
  account: MigrationAccount,
  value: unknown,
  claimedBy: string | undefined,
): Promise<PreparedAccount> {
  const outcome = await outcomeOf(ground, context, account, value, claimedBy)
  return preparedOf(ground, context, account, outcome)
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
