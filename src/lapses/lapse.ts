// A legacy lapse: the policy off risk, without a cancellation record (brief 1.7). Pure.
import { cancelled, type EffectContext } from '../cancellations/effect.ts'
import { add, type Instant } from '../platform/time.ts'
import { type PolicyAggregate, withRecords } from '../policies/aggregate.ts'
import { withoutConflicts } from '../policies/conflicts.ts'
import { chain, type Planned } from '../policies/planned.ts'
import { billLapse } from './billing.ts'
import { lapseEvent } from './events.ts'
import type { GracePeriod, Lapse } from './records.ts'

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
  const lapsed = { ...aggregate, lapses: withRecords(aggregate.lapses, [lapse]) }
  return chain(
    cleared,
    { aggregate: lapsed, events: [lapseEvent(lapsed, lapse, grace.invoiceLocator)] },
    billLapse(lapsed, modification, context),
  )
}
