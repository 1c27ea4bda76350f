// Small records of answers.
import { type Money, plus, toNumber } from '../../kernel/money.ts'
import type { PolicyFeeSummaryResponse } from '../contract/fees.ts'
import type {
  AutomatedUnderwritingResultResponse,
  FeeResponse,
  TaxGroupResponse,
} from '../contract/prices.ts'
import { type FeeInForce, feesOf } from '../fold/fees.ts'
import { type PolicyAggregate, selectedQuoteIfAny } from '../records/aggregate.ts'
import type { UnderwritingResult } from '../records/transactions.ts'

/** A number of an answer that is text there, if there is one. */
export const textIfAny = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : String(value)

export const feeResponse = ({ fee, amount, reversed }: FeeInForce): FeeResponse => ({
  locator: fee.locator,
  name: fee.name,
  description: fee.description,
  startTimestamp: String(fee.start),
  endTimestamp: String(fee.end),
  amount: toNumber(amount),
  amountCurrency: amount.currency,
  reversed,
})

export const underwritingResponse = (result: UnderwritingResult): AutomatedUnderwritingResultResponse => ({
  decisionTimestamp: String(result.at),
  decision: result.decision,
  notes: [...result.notes],
})

export const named = <T extends object>(name: T, amount: Money) => ({
  ...name,
  amount: toNumber(amount),
  amountCurrency: amount.currency,
})

/** Taxes summed by name. */
export function taxGroupResponses(taxes: readonly { name: string; amount: Money }[]): TaxGroupResponse[] {
  const sums = new Map<string, Money>()
  for (const { name, amount } of taxes) {
    const earlier = sums.get(name)
    sums.set(name, earlier ? plus(earlier, amount) : amount)
  }
  return [...sums].map(([name, amount]) => named({ name }, amount))
}

/** All fees of the policy, the reversed ones too. */
export function feeSummary(aggregate: PolicyAggregate): PolicyFeeSummaryResponse {
  const quote = selectedQuoteIfAny(aggregate)
  return { fees: quote ? feesOf(aggregate, quote).map(feeResponse) : [] }
}
