// What a transaction would change, worked out by the same plan that carries it out, and stored nowhere.

import { ownBills } from '../billing/plugin-bills.ts'
import { Refusal } from '../kernel/errors.ts'
import type { CancellationLocator, EndorsementLocator, Uuid } from '../kernel/locators.ts'
import { type Instant, later } from '../kernel/time.ts'
import type { AutomatedUnderwritingResultResponse } from '../policy/contract/prices.ts'
import { underwritingResponse } from '../policy/projection/parts.ts'
import type { Loaded } from '../policy/surroundings.ts'
import { assertPolicyAllows } from '../policy/transitions.ts'
import type { Attempt } from '../rating/attempt.ts'
import type { CancellationValueResponse, PolicyPriceChangeResponse } from '../rating/contract-change.ts'
import { cancellationOf } from './cancellations/cancellation-of.ts'
import { type Carried, cancelled } from './cancellations/effect.ts'
import { orderOf, planCancelled } from './cancellations/plans.ts'
import { cancellationValue, plannedPriceChange, recordedPriceChange } from './cancellations/projection.ts'
import type { EndorsementCreateRequest } from './endorsements/contract.ts'
import { carriedOut, previewed } from './endorsements/decision.ts'
import { endorsementOf } from './endorsements/endorsement-of.ts'
import { prorated } from './prorating.ts'
import { reinstated } from './reinstatements/effect.ts'
import { orderOf as reinstatementOrder } from './reinstatements/plans.ts'
import { reinstatementOf } from './reinstatements/reinstatement-of.ts'
import type { RenewalCreateRequest } from './renewals/contract.ts'

export type PlannedChange =
  /** Of an endorsement or a renewal; its price, or what underwriting says. */
  | { kind: 'endorsement'; endorsement: EndorsementLocator; asked: 'price' | 'underwriting' }
  | { kind: 'cancellation'; cancellation: CancellationLocator }
  | { kind: 'reinstatement'; reinstatement: Uuid }
  /** A renewal that is only asked about. */
  | { kind: 'renewal'; request: RenewalCreateRequest }
  /** An endorsement that is only asked about. */
  | { kind: 'newEndorsement'; request: EndorsementCreateRequest }
  /** A legacy cancellation at that time; now, unless told. */
  | { kind: 'value'; coverageEndAt?: Instant }

/** The change of the price: as recorded where it was carried out, else as it would be now. */
export async function decideChange(
  loaded: Loaded,
  of: PlannedChange,
  attempt: Attempt,
): Promise<PolicyPriceChangeResponse | CancellationValueResponse | AutomatedUnderwritingResultResponse> {
  const { aggregate, product } = loaded
  const planned = (carried: Carried): PolicyPriceChangeResponse =>
    plannedPriceChange(aggregate, carried, product)
  switch (of.kind) {
    case 'endorsement': {
      const endorsement = endorsementOf(aggregate, of.endorsement)
      const { modificationLocator, underwriting, state } = endorsement
      const recorded = modificationLocator && aggregate.modifications.get(modificationLocator)
      const isPrice = of.asked === 'price'
      if (recorded)
        return isPrice
          ? recordedPriceChange(aggregate, recorded, product)
          : underwritingResponse(underwriting!)
      if (state === 'discarded')
        throw new Refusal(
          'wrongState',
          `The ${endorsement.kind} ${endorsement.locator} is discarded and was never priced.`,
        )
      const carried = await carriedOut(aggregate, endorsement, loaded, attempt)
      return isPrice ? planned(carried) : underwritingResponse(carried.underwriting)
    }
    case 'renewal':
      return planned(await previewed(loaded, { action: 'renew', request: of.request }, attempt))
    case 'newEndorsement':
      return planned(await previewed(loaded, { action: 'create', request: of.request }, attempt))
    case 'cancellation': {
      const cancellation = cancellationOf(aggregate, of.cancellation)
      const recorded =
        cancellation.modificationLocator && aggregate.modifications.get(cancellation.modificationLocator)
      if (recorded) return recordedPriceChange(aggregate, recorded, product)
      return planned(
        await prorated(loaded, attempt, { digits: 1 }, context =>
          cancelled(aggregate, orderOf(cancellation), context),
        ),
      )
    }
    case 'reinstatement': {
      const reinstatement = reinstatementOf(aggregate, of.reinstatement)
      const { modificationLocator } = reinstatement
      const recorded = modificationLocator && aggregate.modifications.get(modificationLocator)
      if (recorded) return recordedPriceChange(aggregate, recorded, product)
      return planned(
        await prorated(loaded, attempt, { digits: 1 }, context =>
          reinstated(aggregate, reinstatementOrder(aggregate, reinstatement), context),
        ),
      )
    }
    case 'value': {
      assertPolicyAllows(aggregate, 'cancel')
      const effectiveAt = of.coverageEndAt ?? attempt.now
      const order = {
        kind: 'cancellation' as const,
        name: 'modification.policy.cancel',
        effectiveAt: later(effectiveAt, aggregate.policy.originalStart),
        proration: product.legacyCancellationProration,
        mayBeEmpty: true,
      }
      const billing = { digits: 2, ownBills: ownBills('cancellation', loaded, attempt) }
      const carried = await prorated(loaded, attempt, billing, context =>
        planCancelled(aggregate, context, order),
      )
      return cancellationValue(aggregate, carried, product)
    }
  }
}
