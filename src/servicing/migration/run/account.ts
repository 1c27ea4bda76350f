// Reads, converts and prepares one account for recording. Writes nothing.

import { isRefused } from '../../../kernel/errors.ts'
import { locatorSupply, type Uuid } from '../../../kernel/locators.ts'
import { readDateTime } from '../../../kernel/time.ts'
import { letOthersRun, runInTurns } from '../../../kernel/turns.ts'
import type { RequestContext } from '../../../platform/context.ts'
import { takeLocators } from '../../../platform/tenancy/sequence.ts'
import { constraintErrors } from '../../../policyholders/change.ts'
import { controlTotalsIn } from '../contract-request.ts'
import { accountValues, conversionOf, digitsNeeded, findItemProblems } from '../convert/account.ts'
import type { ConvertContext } from '../convert/converted.ts'
import { type Failing, readFailingItems } from '../failing.ts'
import { BODY } from '../files.ts'
import { type ItemFailure, LISTED_KINDS, type StoredProblem } from '../item.ts'
import { itemFailure, namedItems, type ReadAccount, readAccount, type SentAccount } from '../request.ts'
import type { MigrationAccount } from '../store.ts'
import { type ConfiguredRunContext, readEarlierResults, readKnown } from './earlier-results.ts'
import { type Outcome, type PreparedAccount, prepareOutcome } from './prepared.ts'

/** The number of elements and runs in a turn (convert/account.ts): some hundredths of a second. */
const MOST_WORK_IN_A_TURN = 200

/** Prepares an account. Throws only on system errors; problems of the account are in the result. */
export async function prepareAccount(
  run: ConfiguredRunContext,
  context: RequestContext,
  account: MigrationAccount,
): Promise<PreparedAccount> {
  const sent = (await run.sources.read(account)) as SentAccount
  return prepareOutcome(run, context, account, await outcomeOf(run, context, account, sent))
}

async function outcomeOf(
  run: ConfiguredRunContext,
  context: RequestContext,
  account: MigrationAccount,
  sent: SentAccount,
): Promise<Outcome> {
  const { migration, configuration, configVersion, shard } = run
  const { accountLocator, originalId } = account
  const isFull = migration.type === 'fullMigration'
  const known = isFull && account.source === BODY ? undefined : await readKnown(run, account)
  const before = known?.done.size ?? 0
  const refusedOutcome = (error: string): Outcome => ({
    converted: undefined,
    before,
    earlier: undefined,
    failures: [itemFailure('account', originalId, [error])],
  })
  const claimedBy = run.claimedBy.get(originalId)
  if (isFull && claimedBy !== undefined && claimedBy !== accountLocator)
    return refusedOutcome(
      `'id' must be unique among the accounts that were migrated: '${originalId}' is account ${claimedBy}. Send further items to POST …/migrations/accounts/${claimedBy}.`,
    )
  const isNew = isFull && !known?.done.has(`account ${originalId}`)
  const { request, failures } = readAccount(sent, originalId, isNew, known)
  const isAccountWrong = failures.some(({ kind }) => kind === 'account')
  // Its items are still checked, but their totals mean nothing.
  const checked = isAccountWrong ? { ...request, accounting: undefined } : request
  const earlier = known && !isNew ? await readEarlierResults(run, known, checked, sent) : undefined
  try {
    const digits = digitsNeeded(checked, earlier?.existing.invoices)
    const disallowed = await disallowedOf(run, accountLocator, checked.accountData)
    const supply = locatorSupply(shard, await takeLocators(context, shard, digits))
    const conversion: ConvertContext = {
      configuration: configuration.configuration,
      configVersion,
      now: context.now,
      supply,
      shard,
      accountLocator,
      accountId: originalId,
      callerLocator: migration.createdBy as Uuid,
      ...(earlier && { existing: earlier.existing }),
      failed: failures,
      disallowed,
    }
    const steps = conversionOf(checked, conversion)
    const converted = await runInTurns(steps, MOST_WORK_IN_A_TURN, letOthersRun)
    const warnings = [...doubtfulTimes(sent, originalId), ...converted.warnings]
    const outcome = failWholeAccount(sent, known?.done, account, checked, {
      converted: { ...converted, warnings },
      failures: [...failures, ...converted.failures],
      before,
      earlier,
    })
    if (failures.length === 0) return outcome
    const failing = readFailingItems(sent, originalId, isNew, request, failures)
    const further = findItemProblems(failing.request, conversion)
    return {
      ...outcome,
      failures: outcome.failures.map(failure => addFurtherProblems(failure, further, failing)),
    }
  } catch (problem) {
    if (!isRefused(problem)) throw problem
    return refusedOutcome(problem.message)
  }
}

/** Adds further problems to the failure of an item with a wrong shape, or of an item linked to it. */
function addFurtherProblems(
  failure: ItemFailure,
  further: readonly ItemFailure[],
  failing: Pick<Failing, 'sure'>,
): ItemFailure {
  const { kind, originalId, problems } = failure
  const own = further.find(one => one.kind === kind && one.originalId === originalId)
  const more = (own?.problems ?? [])
    .map(problem => ({ ...problem, errors: failing.sure(kind, originalId, problem) }))
    .filter(({ errors }) => errors.length > 0)
  const isAt = (one: StoredProblem) => (other: StoredProblem) =>
    other.elementType === one.elementType && other.locator === one.locator
  return {
    ...failure,
    problems: [
      ...problems.map(one => ({ ...one, errors: [...one.errors, ...(more.find(isAt(one))?.errors ?? [])] })),
      ...more.filter(one => !problems.some(isAt(one))),
    ],
  }
}

/** Returns problems that constraint tables find. No round trip if no constrained field has a value. */
async function disallowedOf(
  { configuration: { configuration }, begunAt, readTables }: ConfiguredRunContext,
  locator: Uuid,
  data: ReadAccount['accountData'],
): Promise<readonly string[]> {
  if (!data) return []
  const { values } = accountValues(configuration, data, begunAt)
  const { policyholderFields: fields, timeZone, resources } = configuration
  const dictionary = { fields, timeZone, ...(resources && { resources }) }
  const policyholder = { locator, completed: true, entity: { locator, values, subEntities: [] } }
  const errors = await constraintErrors(policyholder, { sent: [] }, dictionary, begunAt, readTables)
  return errors.map(({ message }) => message)
}

/** Fails the whole account if it fails itself, or if anything fails and it has control totals. */
function failWholeAccount(
  sent: SentAccount,
  done: ReadonlySet<string> | undefined,
  { originalId }: MigrationAccount,
  request: ReadAccount,
  outcome: Outcome,
): Outcome {
  const { failures } = outcome
  const isAccountWrong = failures.some(({ kind }) => kind === 'account')
  if (failures.length === 0 || !(isAccountWrong || controlTotalsIn(request).length > 0)) return outcome
  const failed = new Set(failures.map(failure => `${failure.kind} ${failure.originalId}`))
  const blocked = [`blocked by ${isAccountWrong ? originalId : failures[0]!.originalId}`]
  const waiting = LISTED_KINDS.flatMap(kind =>
    namedItems(sent, kind)
      .filter(({ id }) => !failed.has(`${kind} ${id}`) && !done?.has(`${kind} ${id}`))
      .map(({ id }) => itemFailure(kind, id, blocked)),
  )
  const account = failed.has(`account ${originalId}`) ? [] : [itemFailure('account', originalId, blocked)]
  return { ...outcome, converted: undefined, failures: [...account, ...failures, ...waiting] }
}

// Warnings about times that may not be what was meant.
const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?$/i
const IS_TIME = /(?:Time|^createdAt)$/

/** Smaller numbers are more likely seconds, or a day such as 20260131. */
const LEAST_PLAUSIBLE_MS = 10_000_000_000

/** Values of the other system, whose times have no meaning for Bindery. */
const SKIPPED_PROPERTIES: ReadonlySet<string> = new Set([
  'data',
  'staticData',
  'auxData',
  'coverageTerms',
  'preferences',
])

type Doubt = 'zone' | 'milliseconds'
type DoubtfulTime = { readonly doubt: Doubt; readonly name: string; readonly text: string }

const SENTENCES: Readonly<Record<Doubt, (name: string, text: string, others: string) => string>> = {
  zone: (name, text, others) =>
    `${name} '${text}' has no time zone and is read as UTC${others}. Write an offset, as in 2026-01-31T00:00:00-05:00.`,
  milliseconds: (name, text, others) =>
    `${name} '${text}' is read as milliseconds since 1970, which is ${new Date(Number(text)).toISOString()}${others}. If you meant another time, send it in ISO 8601, as in 2026-01-31T00:00:00-05:00.`,
}

/** Returns one warning of each kind for an item. It names the first such time. */
export function doubtfulTimes(sent: SentAccount, originalId: string): StoredProblem[] {
  const items = LISTED_KINDS.flatMap(kind => namedItems(sent, kind).map(one => ({ kind, ...one })))
  const account = { kind: 'account' as const, id: originalId, item: sent.accountData }
  return [account, ...items].flatMap(({ kind, id, item }) => {
    const found: DoubtfulTime[] = []
    collectDoubtfulTimes(item, found)
    const errors = (['zone', 'milliseconds'] as const).flatMap(doubt => {
      const [first, ...more] = found.filter(one => one.doubt === doubt)
      const others = more.length > 0 ? `, and so are ${more.length} more of its times` : ''
      return first ? [SENTENCES[doubt](first.name, first.text, others)] : []
    })
    return errors.length > 0 ? itemFailure(kind, id, errors).problems : []
  })
}

function collectDoubtfulTimes(part: unknown, found: DoubtfulTime[]): void {
  if (typeof part !== 'object' || part === null) return
  for (const [name, inner] of Object.entries(part)) {
    if (typeof inner === 'string' || typeof inner === 'number') {
      const text = String(inner).trim()
      const doubt = IS_TIME.test(name) ? doubtOf(text) : undefined
      if (doubt) found.push({ doubt, name, text })
    } else if (!SKIPPED_PROPERTIES.has(name)) collectDoubtfulTimes(inner, found)
  }
}

function doubtOf(text: string): Doubt | undefined {
  // An invalid time is reported as an error.
  if (readDateTime(text.replace(' ', 'T')) === undefined) return undefined
  if (WITHOUT_ZONE.test(text)) return 'zone'
  return Math.abs(Number(text)) < LEAST_PLAUSIBLE_MS ? 'milliseconds' : undefined
}
