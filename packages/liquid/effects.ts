import type { Decimal } from '../../src/kernel/money.ts'

/**
 * A premium as a template recorded it, in major units. Each kind holds what its last call gave; `exact` is for the
 * segment and not scaled by its months. `last` is the kind set last: yearly and monthly exclude each other, exact
 * and yearly may stand together (brief 3.1). `added` is what `add_premium` added up, for the segment and not scaled
 * either (brief 5.4); what a rendering gives has it only beside a rate, to be added to what the rate comes to.
 */
export type RecordedPremium = {
  yearly?: Decimal
  monthly?: Decimal
  exact?: Decimal
  added?: Decimal
  last?: 'yearly' | 'monthly' | 'exact'
}

/** What the filters with effects recorded, in the order of their calls. Amounts are exact decimals in major units. */
export type RatingEffects = {
  premium: RecordedPremium
  technicalPremium: RecordedPremium
  /** One line for each call; exactly one of the amounts is set. */
  commissions: { recipient: string; yearly?: Decimal; monthly?: Decimal; exact?: Decimal }[]
  /** `set_peril_tax` replaces it, `add_tax` adds to it. */
  tax?: { amount: Decimal; description?: string }
  fees: { name: string; amount: Decimal; description?: string }[]
  /** The last call wins; undefined when there was none. */
  decision?: 'accept' | 'reject' | 'none'
  notes: string[]
  /** The static document to use in place of what is rendered; null: no document is to be made. */
  staticDocument?: string | null
}

/** The effects with what was added taken into the exact premium, where one was set or nothing else was. */
export function settledEffects(effects: RatingEffects): RatingEffects {
  const { added, ...set } = effects.premium
  const isBesideRate = set.exact === undefined && (set.yearly ?? set.monthly) !== undefined
  if (added === undefined || isBesideRate) return effects
  return { ...effects, premium: { ...set, exact: set.exact?.plus(added) ?? added } }
}

export function noEffects(): RatingEffects {
  return { premium: {}, technicalPremium: {}, commissions: [], fees: [], notes: [] }
}
