import { expect, test } from 'vitest'
import {
  CancellationValueQuery,
  PolicyCancellationIssueRequest,
} from '../../../src/policy/contract/requests.ts'

test('a cancellation in one step requires its time and ignores other properties', () => {
  const wire = { coverageEndTimestamp: 1630274400000, cancellationName: 'x', cancellationComments: 'y' }
  expect(PolicyCancellationIssueRequest.parse(wire)).toEqual({ coverageEndTimestamp: 1630274400000 })
  expect(PolicyCancellationIssueRequest.safeParse({}).success).toBe(false)
})

test('coverageEndTimestamp of a cancellation value is optional', () => {
  expect(CancellationValueQuery.parse({})).toEqual({})
  expect(CancellationValueQuery.parse({ coverageEndTimestamp: '5' })).toEqual({ coverageEndTimestamp: 5 })
})
