// Small records of answers.
import { toNumber } from '../../platform/money.ts'
import type { AutomatedUnderwritingResultResponse, FeeResponse } from '../../rating/contract.ts'
import type { UnderwritingResult } from '../aggregate.ts'
import type { FeeInForce } from '../fold/fees.ts'

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
