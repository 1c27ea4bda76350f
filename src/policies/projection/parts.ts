// Small records of answers.
import { type Money, sum, toNumber } from '../../platform/money.ts'
import type { AutomatedUnderwritingResultResponse, FeeResponse } from '../../rating/contract.ts'
import type { Fee, PolicyAggregate, UnderwritingResult } from '../aggregate.ts'

/** A number of an answer that is text there, if there is one. */
export const textIfAny = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : String(value)

/** What the fees that are not reversed come to. */
export const feesInForce = (fees: readonly Fee[], aggregate: PolicyAggregate): Money =>
  sum(
    fees.filter(fee => !fee.reversed).map(fee => fee.amount),
    aggregate.policy.currency,
  )

export const feeResponse = (fee: Fee): FeeResponse => ({
  locator: fee.locator,
  name: fee.name,
  description: fee.description,
  startTimestamp: String(fee.start),
  endTimestamp: String(fee.end),
  amount: toNumber(fee.amount),
  amountCurrency: fee.amount.currency,
  reversed: fee.reversed,
})

export const underwritingResponse = (result: UnderwritingResult): AutomatedUnderwritingResultResponse => ({
  decisionTimestamp: String(result.at),
  decision: result.decision,
  notes: [...result.notes],
})
