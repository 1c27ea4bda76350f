import { expect, test } from 'vitest'
import {
  CancellationValueQuery,
  PolicyCancellationIssueRequest,
} from '../../../src/policy/contract/requests.ts'

test('the cancellation in one step needs its time, and ignores what else clients send', () => {
  const wire = { coverageEndTimestamp: 1630274400000, cancellationName: 'x', cancellationComments: 'y' }
  expect(PolicyCancellationIssueRequest.parse(wire)).toEqual({ coverageEndTimestamp: 1630274400000 })
  expect(PolicyCancellationIssueRequest.safeParse({}).success).toBe(false)
})

test('what a cancellation would give back is asked for a time, or for now', () => {
  expect(CancellationValueQuery.parse({})).toEqual({})
  expect(CancellationValueQuery.parse({ coverageEndTimestamp: '5' })).toEqual({ coverageEndTimestamp: 5 })
})
