// A transaction's price change: as recorded, or by a plan that is not recorded.
import { isIssued, withIssued } from '../../policy/fold/line.ts'
import { policyView } from '../../policy/projection/policy.ts'
import { boundQuote, type Modification, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { Carried } from '../../policy/transitions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import { policyPriceChangeResponse } from '../../rating/price.ts'

/** As recorded where the transaction was carried out, else as it would be now. */
export async function priceChangeOf(
  { aggregate, product }: Loaded,
  { modificationLocator }: { readonly modificationLocator?: Modification['locator'] },
  carryOut: () => Promise<Carried>,
): Promise<PolicyPriceChangeResponse> {
  const recorded = modificationLocator && aggregate.modifications.get(modificationLocator)
  return recorded
    ? recordedPriceChange(aggregate, recorded, product)
    : plannedPriceChange(aggregate, await carryOut(), product)
}

/** The price change of a recorded modification, against what was issued before it. */
export function recordedPriceChange(
  aggregate: PolicyAggregate,
  modification: Modification,
  product: ProductDefinition,
): PolicyPriceChangeResponse {
  const quote = boundQuote(aggregate)
  const earlier = (one: Modification): boolean => isIssued(one) && one.number < modification.number
  const upTo = (one: Modification): boolean => earlier(one) || one.locator === modification.locator
  return policyPriceChangeResponse(
    policyView(aggregate, quote, product, earlier),
    policyView(aggregate, quote, product, upTo),
  )
}
/** The price change of a plan that is not recorded. */
export const plannedPriceChange = (
  before: PolicyAggregate,
  { aggregate, modification }: Carried,
  product: ProductDefinition,
): PolicyPriceChangeResponse =>
  policyPriceChangeResponse(
    policyView(before, boundQuote(before), product, isIssued),
    policyView(aggregate, boundQuote(aggregate), product, withIssued(modification.locator)),
  )
