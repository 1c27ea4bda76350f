// The total that a policy charges. It is limited when it is written, so that every later sum over it is exact and can be read.
import { Refusal } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { LARGEST_MINOR, type Money } from '../../kernel/money.ts'
import { acceptedQuote, type PerilPrice, type PolicyAggregate } from '../records/aggregate.ts'
import { NeedsWholePolicy, type Unread } from '../surroundings.ts'

/**
 * Throws 422 if the policy's accepted transactions charge more than can be summed exactly, unless they already did before. Of
 * records that were not read, only the premium changes count. If the total is very large, throws `NeedsWholePolicy` to have the
 * rest read.
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
