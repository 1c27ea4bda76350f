import type { PolicyFeeSummaryResponse } from '../contract/fees.ts'
import { feesOf } from '../fold/fees.ts'
import { type PolicyAggregate, selectedQuoteIfAny } from '../records/aggregate.ts'
import { feeResponse } from './parts.ts'

/** All fees of the policy, the reversed ones too. */
export function feeSummary(aggregate: PolicyAggregate): PolicyFeeSummaryResponse {
  const quote = selectedQuoteIfAny(aggregate)
  return { fees: quote ? feesOf(aggregate, quote).map(feeResponse) : [] }
}
