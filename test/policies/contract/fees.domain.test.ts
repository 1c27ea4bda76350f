import { expect, test } from 'vitest'
import { FeeCreateRequest, FeeUpdateRequest } from '../../../src/policy/contract/billing.ts'

test('a fee update can have only new fees, or only reversals', () => {
  const fee = { feeName: 'inspection', amount: '25.10', startTimestamp: 1, endTimestamp: '2' }
  expect(FeeUpdateRequest.parse({ newFees: [fee] })).toEqual({
    newFees: [{ feeName: 'inspection', amount: '25.1', startTimestamp: 1, endTimestamp: 2 }],
    reverseFees: [],
  })
  expect(FeeUpdateRequest.parse({ reverseFees: ['l'], newFees: null })).toEqual({
    newFees: [],
    reverseFees: ['l'],
  })
})

test('rejects a fee without a name, an amount or a span', () => {
  const { error } = FeeCreateRequest.safeParse({})
  expect(error!.issues.map(issue => issue.path[0])).toEqual([
    'feeName',
    'amount',
    'startTimestamp',
    'endTimestamp',
  ])
})
