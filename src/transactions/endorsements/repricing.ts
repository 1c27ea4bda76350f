// The parts of a policy that an endorsement rates again (brief 2.5), and the exposures that it touches. A run that continues
// without being rated costs its share of the old price up to the old end of the policy, and its month rates beyond.

import Big from 'big.js'
import { invalidRequest } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { type Decimal, money, RATE_PLACES, toDecimal } from '../../kernel/money.ts'
import { months, type Span, type TimeZone } from '../../kernel/time.ts'
import type { Piece } from '../../policy/fold/pieces.ts'
import type { PerilPrice, PerilRun, RatedAmount, Tax } from '../../policy/records/aggregate.ts'
import {
  type Endorsement,
  type EndorsementChanges,
  namedExposures,
} from '../../policy/records/transactions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'

/** Which continuing runs are rated again (brief 2.5). */
export type Repricing = 'never' | 'changed' | 'all'

/** Returns the repricing of the endorsement type. For a type with `input` the request must state it. */
export function repricingOf(
  product: ProductDefinition,
  name: string,
  changes: EndorsementChanges,
): Repricing {
  const type = product.endorsements.find(one => one.name === name)
  if (!type)
    throw invalidRequest(
      `The policy's configuration no longer has an endorsement '${name}'; discard this one and create a different one.`,
    )
  switch (type.reprice) {
    case 'all':
      return 'all'
    case 'always':
      return 'changed'
    case 'input':
      if (changes.reprice === undefined)
        throw invalidRequest(`Endorsement '${name}' needs reprice: send true or false.`)
      return changes.reprice ? 'changed' : 'never'
    default:
      return 'never'
  }
}

/**
 * Returns the exposures that the changes name. Undefined means the whole policy: its other exposures are rated again, end at
 * another time, or have planned invoices that move.
 */
export function touchesOf(
  { kind, name, changes, endAt }: Pick<Endorsement, 'kind' | 'name' | 'changes' | 'endAt'>,
  product: ProductDefinition,
): readonly Uuid[] | undefined {
  if (kind === 'renewal' || endAt !== undefined || changes.newPaymentScheduleName !== undefined)
    return undefined
  const repricing = repricingOf(product, name, changes)
  if (repricing === 'all' || (repricing === 'changed' && changesPolicy(changes))) return undefined
  return namedExposures(changes) as Uuid[]
}

const changesPolicy = (changes: EndorsementChanges): boolean =>
  Object.keys(changes.fieldValues ?? {}).length > 0 ||
  [changes.addFieldGroups, changes.updateFieldGroups, changes.removeFieldGroups].some(list => list?.length)

/**
 * Returns the old price with the amounts of one piece of it. The rates do not change, and a tax keeps the rate of the whole run:
 * that of its share would repeat the rounding of the share.
 */
export const proratePrice = (
  run: PerilRun,
  piece: Piece | undefined,
  timeZone: TimeZone,
): PerilPrice | undefined => {
  const { price } = run
  return (
    price &&
    piece?.amounts && {
      premium: { ...price.premium, amount: piece.amounts.premium },
      technicalPremium:
        price.technicalPremium && piece.amounts.technicalPremium
          ? { ...price.technicalPremium, amount: piece.amounts.technicalPremium }
          : undefined,
      taxes: price.taxes.map((tax, at) => ({
        ...tax,
        month: taxRate(tax, run, timeZone),
        amount: piece.amounts!.taxes[at]!,
      })),
      commissions: price.commissions.map((one, at) => ({ ...one, amount: piece.amounts!.commissions[at]! })),
    }
  )
}

/**
 * Returns the run's price for a stretch after it: month rates times months (brief 3.1). Taxes grow with the months too (brief 3.2),
 * at the month rate of the run that was rated, so that several extensions do not add up the rounding of each.
 */
export function extendPrice(run: PerilRun, more: Span, timeZone: TimeZone): PerilPrice | undefined {
  if (!run.price) return undefined
  const { premium, technicalPremium, taxes, commissions } = run.price
  const added = months(more.start, more.end, timeZone)
  return {
    premium: rateOverMonths(premium, added),
    technicalPremium: technicalPremium && rateOverMonths(technicalPremium, added),
    taxes: taxes.map(tax => ({
      ...tax,
      ...rateOverMonths({ month: taxRate(tax, run, timeZone), amount: tax.amount }, added),
    })),
    commissions: commissions.map(one => ({ ...one, ...rateOverMonths(one, added) })),
  }
}

/** Returns the month rate of a tax of the run, as decimal text with 7 places. Taxes are rated as amounts, so it may have to be derived. */
function taxRate({ month, amount }: Tax, { start, end }: PerilRun, timeZone: TimeZone): string {
  if (month !== undefined) return month
  const count = months(start, end, timeZone)
  return count.eq(0) ? '0' : toDecimal(amount).div(count).toFixed(RATE_PLACES, Big.roundHalfUp)
}

const rateOverMonths = ({ month, amount }: RatedAmount, count: Decimal): RatedAmount => ({
  month,
  amount: money(new Big(month).times(count), amount.currency),
})
