import { type PolicyAggregate, selectedQuote } from '../aggregate.ts'
import type { PolicyFeeSummaryResponse } from '../contract/fees.ts'
import { feesOf } from '../fold/fees.ts'
import { feeResponse } from './parts.ts'

/** All fees of the policy, the reversed ones too. */
export const feeSummary = (aggregate: PolicyAggregate): PolicyFeeSummaryResponse => ({
  fees: feesOf(aggregate, selectedQuote(aggregate)).map(feeResponse),
})
