// A legacy lapse: the policy off risk, without a cancellation record (brief 1.7). Pure.
import { add, type Instant } from '../../kernel/time.ts'
import { isIssued } from '../../policy/fold/line.ts'
import { type Modification, type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import type { GracePeriod, Lapse, ModificationKind } from '../../policy/records/transactions.ts'
import { chain, type Planned } from '../../policy/transitions.ts'
import type { EffectContext } from '../../rating/rate.ts'
import { cancelled } from '../cancellations/effect.ts'
import { withoutConflicts } from '../mechanism/kind.ts'
import { billLapse } from './billing.ts'
import { lapseEvent } from './events.ts'

/**
 * Takes the policy off risk from then on, whatever is quoted or accepted, and settles what is outstanding (billing.ts).
 * It can be reinstated for the product's days from the lapse on. Takes two digits.
 */
export function planLapse(
  before: PolicyAggregate,
  grace: GracePeriod,
  effectiveAt: Instant,
  context: EffectContext,
): Planned {
  const { product, now, supply } = context
  const cleared = withoutConflicts(before, '', 'invalidate', now)
  const { aggregate, modification } = cancelled(
    cleared.aggregate,
    {
      kind: 'lapse',
      name: 'modification.policy.lapse',
      effectiveAt,
      proration: product.legacyCancellationProration,
    },
    context,
  )
  const lapse: Lapse = {
    locator: supply.uuid(),
    gracePeriodLocator: grace.locator,
    modificationLocator: modification.locator,
    lapsedAt: effectiveAt,
    reinstatementPeriodEndAt: add(
      effectiveAt,
      product.lapse.reinstatementPeriodDays ?? 0,
      'day',
      before.policy.timeZone,
    ),
    createdAt: now,
  }
  const lapsed = { ...aggregate, lapses: putRecords(aggregate.lapses, [lapse]) }
  return chain(
    cleared,
    { aggregate: lapsed, events: [lapseEvent(lapsed, lapse, grace.invoiceLocator)] },
    billLapse(lapsed, modification, context),
  )
}

/** Modifications that end cover, bring it back or add to it. */
const OF_COVER: ReadonlySet<ModificationKind> = new Set([
  'lapse',
  'cancellation',
  'withdrawal',
  'reinstatement',
  'renewal',
])

/** The lapse that the policy is in: nothing that was issued since has moved its end. */
export function lapseInForce(aggregate: PolicyAggregate): Lapse | undefined {
  const last = [...aggregate.modifications.values()]
    .filter(one => isIssued(one) && OF_COVER.has(one.kind))
    .reduce<Modification | undefined>((a, b) => (a && a.number > b.number ? a : b), undefined)
  return [...aggregate.lapses.values()].find(one => one.modificationLocator === last?.locator)
}
