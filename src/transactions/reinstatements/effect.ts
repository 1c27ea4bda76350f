// The effect of a reinstatement (brief 1.6, 2.2): the cover that its cancellation removed comes back from a time on. From the
// time of the cancellation, exactly everything comes back; from a later time, amounts are in proportion to the months left.
import { wrongState } from '../../kernel/errors.ts'
import { minus } from '../../kernel/money.ts'
import { type Instant, later } from '../../kernel/time.ts'
import { feesOf, isReversedByHand, standingEndings } from '../../policy/fold/line.ts'
import { premiumChangeOf } from '../../policy/fold/pieces.ts'
import { measureOf, type Prorated, portion, withSplits } from '../../policy/fold/shares.ts'
import {
  boundQuote,
  type Fee,
  type FeePart,
  type Modification,
  type Policy,
  type PolicyAggregate,
  type PolicySegment,
  putRecords,
} from '../../policy/records/aggregate.ts'
import type { Cancellation } from '../../policy/records/transactions.ts'
import { type AppliedTransaction, newModification } from '../../policy/transitions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { EffectContext } from '../../rating/rate.ts'
import { isFlat } from '../cancellations/effect.ts'

export type ReinstatementOrder = {
  cancellation: Modification
  effectiveAt: Instant
  transactionLocator?: string
}

/**
 * Rejects with 409 a cancellation after which cover was ended again, from an earlier time: cover must not come back while that
 * later cancellation or lapse is in force. Reinstatements therefore follow the reverse order of the cancellations.
 */
export function assertEndsCover(
  before: PolicyAggregate,
  { locator, modificationLocator }: Cancellation,
): void {
  const { number } = before.modifications.get(modificationLocator!)!
  const last = standingEndings(before).at(-1)
  if (!last || last.number <= number) return
  const what = last.kind === 'lapse' ? 'the lapse' : `cancellation ${last.transactionLocator}`
  throw wrongState(
    `Cover does not end by cancellation ${locator} but by ${what}, which came later and takes effect at ${last.effectiveAt}; reinstate that first.`,
  )
}

/** Returns the policy with the end that the issued reinstatement gives it, or with a later end that it has by then. */
export const policyOnReturn = ({ policy }: PolicyAggregate, { policyEnd }: Modification): Policy => ({
  ...policy,
  effectiveEnd: later(policyEnd, policy.effectiveEnd),
})

/** Returns the policy with its coverage back, not issued yet. Takes one digit locator. Rejects with 409 if nothing comes back. */
export function applyReinstatement(
  before: PolicyAggregate,
  { cancellation, effectiveAt, transactionLocator }: ReinstatementOrder,
  { product, now, supply, prorated }: EffectContext,
): AppliedTransaction {
  const quote = boundQuote(before)
  const segments = [...before.segments.values()]
  const lost = segments.filter(segment => segment.replacedBy === cancellation.locator)
  const locator = supply.uuid()
  const pieces = lost.flatMap((segment): PolicySegment[] => {
    const kept = segments.find(
      one => one.madeBy === cancellation.locator && one.predecessor === segment.locator,
    )
    const start = later(kept?.end ?? segment.start, effectiveAt)
    if (start >= segment.end) return []
    return [
      {
        ...segment,
        locator: supply.uuid(),
        madeBy: locator,
        replacedBy: undefined,
        createdAt: now,
        updatedAt: now,
        start,
        predecessor: segment.locator,
      },
    ]
  })
  // The lost segments may come from two reinstatements, the later part first.
  const back = pieces.sort((a, b) => a.start - b.start)
  const [first] = back
  if (!first)
    throw wrongState(`The cancellation removed nothing at or after ${effectiveAt}; choose an earlier time.`)
  const modification = newModification(
    before,
    {
      locator,
      kind: 'reinstatement',
      name: 'modification.policy.reinstate',
      effectiveAt: first.start,
      policyEnd: back.map(segment => segment.end).reduce(later),
      acceptedAt: now,
      transactionLocator,
      undoes: cancellation.locator,
    },
    { now, supply },
  )
  const after: PolicyAggregate = {
    ...withSplits(before, prorated, locator),
    modifications: putRecords(before.modifications, [modification]),
    segments: putRecords(before.segments, back),
    fees: putRecords(before.fees, restoredFees(before, cancellation, modification, product, prorated)),
  }
  const premiumChange = premiumChangeOf(after, quote, modification)
  const priced = { ...modification, premiumChange }
  return {
    aggregate: { ...after, modifications: putRecords(after.modifications, [priced]) },
    modification: priced,
  }
}

/**
 * Restores the fees that the cancellation took. A flat fee comes back whole. A fee that is prorated comes back whole at the
 * cancellation's time; later, it comes back in proportion, or without the part that a plugin assigned to the time before. Fees
 * reversed by hand since then stay reversed.
 */
function restoredFees(
  before: PolicyAggregate,
  cancellation: Modification,
  { locator, effectiveAt }: Modification,
  product: ProductDefinition,
  prorated: Prorated | undefined,
): Fee[] {
  const measure = measureOf('monthly', before.policy.timeZone)
  return feesOf(before, boundQuote(before)).flatMap(({ fee, parts }) => {
    if (isReversedByHand(before, fee)) return []
    const { removed = [] } = fee.changes.find(change => change.by === cancellation.locator) ?? {}
    const tailOf = ({ start, end, amount }: FeePart): FeePart[] => {
      if (end <= effectiveAt) return []
      const from = later(effectiveAt, start)
      if (from === start) return [{ start, end, amount }]
      const lost = prorated?.fees.get(fee.locator)
      const share = lost ? minus(amount, lost) : portion(amount, measure(from, end), measure(start, end))
      return [{ start: from, end, amount: share }]
    }
    const back = isFlat(product, fee) ? removed : removed.flatMap(tailOf)
    if (back.length === 0) return []
    const all = [...parts, ...back].sort((a, b) => a.start - b.start)
    return [{ ...fee, changes: [...fee.changes, { by: locator, parts: all, removed: [] }] }]
  })
}
