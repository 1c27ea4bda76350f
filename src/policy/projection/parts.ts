// Small records of answers.
import { toNumber } from '../../kernel/money.ts'
import type { AutomatedUnderwritingResultResponse, FeeResponse } from '../contract/prices.ts'
import type { FeeInForce } from '../fold/fees.ts'
import type { UnderwritingResult } from '../records/aggregate.ts'

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
