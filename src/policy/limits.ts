// The limits of a whole policy (docs/design.md, section 4): its records, the text of its field values, and the total that it charges.
import { Refusal } from '../kernel/errors.ts'
import type { Uuid } from '../kernel/locators.ts'
import { memoByObject } from '../kernel/maps.ts'
import { LARGEST_MINOR, type Money } from '../kernel/money.ts'
import { acceptedQuote, type PerilPrice, type PolicyAggregate } from './records/aggregate.ts'
import { changedRecords, NeedsWholePolicy, NOTHING_UNREAD, type Unread } from './surroundings.ts'

/** The most records of one policy. */
export const POLICY_LIMITS = {
  exposures: 2_000,
  perils: 10_000,
  quotes: 50,
  fees: 2_000,
  modifications: 200,
  payments: 5_000,
} as const

/**
 * Throws 413 if the policy exceeds its limits. Counts all its quotes and the exposures and perils that were not read, but no
 * invalidated modifications.
 */
export function assertWithinLimits(
  { exposures, perils, quotes, fees, modifications }: PolicyAggregate,
  unread: Unread = NOTHING_UNREAD,
): void {
  const counted = [...modifications.values()].filter(
    one => one.quoteLocator === undefined && one.invalidatedAt === undefined,
  )
  const exceededLimitText = (count: number, records: keyof typeof POLICY_LIMITS): string | undefined =>
    count > POLICY_LIMITS[records] ? `${count} ${records}; the limit is ${POLICY_LIMITS[records]}` : undefined
  const problem =
    exceededLimitText(exposures.size + unread.exposures, 'exposures') ??
    exceededLimitText(perils.size + unread.perils, 'perils') ??
    exceededLimitText(quotes.size, 'quotes') ??
    exceededLimitText(fees.size, 'fees') ??
    exceededLimitText(counted.length, 'modifications')
  if (problem)
    throw new Refusal(
      'policyLimit',
      `The policy with all its quotes would have ${problem}. Discard quotes, or split the policy into several.`,
    )
}

/**
 * Maximum number of characters in the JSON of all field values, including those of quotes, of replaced records, and of the changes
 * that applications request. A whole policy is read, shown, exported and documented in one piece.
 */
const MOST_CHARACTERS = 16_000_000

/**
 * Characters that an endorsement may add to a policy that is read in part, without counting the rest of it. After many transactions
 * the allowance falls with the square of their number, so all additions total at most 20,000,000 characters, no matter how many
 * transactions were quoted and invalidated. Invalidated transactions do not count towards the limit of transactions, but the
 * records that they made stay.
 */
const MOST_ADDED_IN_PART = 100_000
const MANY_TRANSACTIONS = 100

const mostAddedInPart = ({ modifications }: PolicyAggregate): number =>
  MOST_ADDED_IN_PART * Math.min(1, (MANY_TRANSACTIONS / modifications.size) ** 2)

/** Throws 413 if the change makes the policy larger than the limit. */
export function assertContentFits(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  unread: Unread | undefined,
): void {
  const added = charactersOf(after, before) - (before ? charactersOf(before, after) : 0)
  if (added <= 0) return
  if (unread && added > mostAddedInPart(after)) throw new NeedsWholePolicy()
  const characters = charactersOf(after)
  if (characters > MOST_CHARACTERS)
    throw new Refusal(
      'policyLimit',
      `The field values of the policy, including those of its quotes, pending transactions and history, would have ${characters} characters; the limit is ${MOST_CHARACTERS}. Send shorter values, or split the policy into several.`,
    )
}

/** Counts the characters of the records that `other` does not share. */
function charactersOf(aggregate: PolicyAggregate, other?: PolicyAggregate): number {
  let characters = 0
  for (const name of ['segments', 'exposureRuns', 'perilRuns'] as const)
    for (const { data } of changedRecords<unknown, { data: object }>(aggregate[name], other?.[name]))
      characters += charactersIn(data)
  for (const { changes } of changedRecords(aggregate.endorsements, other?.endorsements))
    characters += charactersIn(changes)
  return characters
}

const charactersIn = memoByObject((content: object) => JSON.stringify(content).length)

/**
 * Throws 422 if the policy's accepted transactions charge more than can be summed exactly, unless they already did before. So every
 * later sum over the policy is exact. Of records that were not read, only the premium changes count. If the total is very large,
 * throws `NeedsWholePolicy` to have the rest read.
 */
export function assertChargesAddUp(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  unread: Unread | undefined,
): void {
  if (before && SUMMED.every(name => before[name] === after[name])) return
  const charged = chargedMinor(after)
  if (unread && charged > LARGEST_MINOR) throw new NeedsWholePolicy()
  if (charged <= Number.MAX_SAFE_INTEGER || (before && charged <= chargedMinor(before))) return
  throw new Refusal(
    'amountOutOfRange',
    `The charges of all transactions of policy ${after.policy.locator} would total ${charged} minor units of ${after.policy.currency}, which is too large to be exact.`,
  )
}

/** The summed records. A transaction keeps the map of records that it does not change, so equal maps have equal sums. */
const SUMMED = ['quotes', 'modifications', 'perilRuns', 'fees'] as const

/** Returns the total that is charged or the total that is given back, whichever is larger. No sum of a part of it is larger. */
function chargedMinor(aggregate: PolicyAggregate): number {
  const { modifications, perilRuns, fees } = aggregate
  const quote = acceptedQuote(aggregate)?.locator
  const counted = [...modifications.values()].filter(
    ({ acceptedAt, issuedAt, invalidatedAt, quoteLocator }) =>
      !invalidatedAt && (acceptedAt || issuedAt || (quote && quoteLocator === quote)),
  )
  const makers = new Set(counted.map(one => one.locator))
  const isMadeByAny = ({ madeBy }: { madeBy: Uuid }): boolean => makers.has(madeBy)
  const prices = [...perilRuns.values()].filter(isMadeByAny).map(one => one.price)
  const changes = counted.map(one => one.premiumChange)
  const premiums = prices.map(price => price?.premium.amount)
  const others = [
    ...prices.flatMap(besidePremium),
    ...[...fees.values()].filter(isMadeByAny).map(one => one.amount),
  ]
  return Math.max(
    ...[1, -1].map(sign => Math.max(total(changes, sign), total(premiums, sign)) + total(others, sign)),
  )
}

const besidePremium = (price: PerilPrice | undefined): (Money | undefined)[] =>
  price
    ? [price.technicalPremium?.amount, ...[...price.taxes, ...price.commissions].map(one => one.amount)]
    : []

const total = (amounts: readonly (Money | undefined)[], sign: number): number =>
  amounts.reduce((sum, amount) => sum + Math.max(0, sign * (amount?.minor ?? 0)), 0)
