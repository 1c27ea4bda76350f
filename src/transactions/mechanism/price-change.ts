// The price change of a transaction, stored or computed, and the operation that asks for it.

import { isIssued, withIssued } from '../../policy/fold/line.ts'
import { policyView } from '../../policy/projection/policy.ts'
import { boundQuote, type Modification, type PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { Carried } from '../../policy/transitions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import { policyPriceChangeResponse } from '../../rating/price.ts'
import type { Attempt } from '../../rating/rate.ts'
import { allKinds, type ChangeOf, type ChangeResponse, defineKind, json, type PlannedChange } from './kind.ts'

/** The stored change where the transaction is recorded; otherwise the change as it would be now. */
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

/** The price change of a recorded modification, compared with what was issued before it. */
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
export const plannedPriceChange = (
  before: PolicyAggregate,
  { aggregate, modification }: Carried,
  product: ProductDefinition,
): PolicyPriceChangeResponse =>
  policyPriceChangeResponse(
    policyView(before, boundQuote(before), product, isIssued),
    policyView(aggregate, boundQuote(aggregate), product, withIssued(modification.locator)),
  )

declare module './kind.ts' {
  interface PolicyOperations {
    change: { of: PlannedChange }
  }
}

function changeOf({ kind }: PlannedChange): ChangeOf<PlannedChange> {
  const found = allKinds().find(one => one.changes?.[kind])
  if (!found) throw new Error(`No kind of operation works out the change '${kind}'.`)
  return found.changes![kind] as unknown as ChangeOf<PlannedChange>
}

/** The stored price change, or the present one; stores nothing. */
export const decideChange = (loaded: Loaded, of: PlannedChange, attempt: Attempt): Promise<ChangeResponse> =>
  changeOf(of).decide(loaded, of, attempt)

export const changeKind = defineKind<'change'>({
  name: 'change',
  isReadOnly: () => true,
  fill: async (operation, loaded, autofill) => ({
    ...operation,
    of: (await changeOf(operation.of).fill?.(operation.of, loaded, autofill)) ?? operation.of,
  }),
  decide: async (loaded, { of }, { attempt }) => ({ answer: json(await decideChange(loaded, of, attempt)) }),
})
