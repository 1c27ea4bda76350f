import { type Money, toNumber } from '../../kernel/money.ts'
import { textIfAny } from '../projection/parts.ts'
import type { Policy } from '../records/aggregate.ts'
import type { ListedState, PolicySummaryResponse } from './contract.ts'

/** What a list shows of a policy; `premium` once it is priced. */
export type PolicySummary = Policy & { readonly state: ListedState; readonly premium: Money | undefined }

export const policySummaryResponse = (summary: PolicySummary): PolicySummaryResponse => ({
  locator: String(summary.locator),
  policyholderLocator: summary.policyholderLocator,
  productName: summary.productName,
  state: summary.state,
  configVersion: summary.configVersion,
  createdTimestamp: String(summary.createdAt),
  updatedTimestamp: String(summary.updatedAt),
  issuedTimestamp: textIfAny(summary.issuedAt),
  originalContractStartTimestamp: String(summary.originalStart),
  originalContractEndTimestamp: String(summary.originalEnd),
  effectiveContractEndTimestamp: String(summary.effectiveEnd),
  grossPremium: summary.premium && toNumber(summary.premium),
  grossPremiumCurrency: summary.currency,
})
