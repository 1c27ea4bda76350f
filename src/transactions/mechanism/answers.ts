// The answers of operations: a record as it is after the plan is recorded.
import type { JsonAnswer } from '../../platform/commit.ts'
import { policyResponse } from '../../policy/projection/policy.ts'
import type { Response } from './kind.ts'

export const json = (value: unknown): JsonAnswer => ({ status: 200, text: JSON.stringify(value) })

/** The answer of an operation that returns nothing. */
export const EMPTY: JsonAnswer = { status: 200, text: '' }

/** For operations that answer nothing. */
export const showNothing: Response = () => undefined

export const showPolicy =
  ({ summarizeQuotes = false }: { summarizeQuotes?: boolean } = {}): Response =>
  ({ aggregate, product }) =>
    policyResponse(aggregate, product, { summarizeQuotes })
