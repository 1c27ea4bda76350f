import { expect, test } from 'vitest'
import {
  ReinstatementCreateRequest,
  ReinstatementResponse,
  ReinstatementUpdateRequest,
} from '../../src/transactions/reinstatements/contract.ts'

test('an empty request creates a draft with the default times', () => {
  expect(ReinstatementCreateRequest.parse({})).toEqual({ issue: false })
  expect(ReinstatementCreateRequest.parse({ effectiveTimestamp: null, issue: null })).toEqual({
    issue: false,
  })
})

test('a reinstatement can be issued immediately, with its own effective time and deadline', () => {
  expect(
    ReinstatementCreateRequest.parse({
      effectiveTimestamp: 1,
      reinstatementDeadlineTimestamp: '2',
      issue: 'true',
    }),
  ).toEqual({ effectiveTimestamp: 1, reinstatementDeadlineTimestamp: 2, issue: true })
})

test('an update cannot issue a reinstatement', () => {
  expect(ReinstatementUpdateRequest.parse({ effectiveTimestamp: 1, issue: true })).toEqual({
    effectiveTimestamp: 1,
  })
})

test('a draft is returned without price, payment amount and invoice', () => {
  const draft = {
    locator: '0b6a3f0e-5a0c-4b0e-8f0e-000000000000',
    cancellationLocator: '100000128',
    state: 'draft',
    createdTimestamp: '1630000000000',
    updatedTimestamp: '1630000000000',
    effectiveTimestamp: '1630274400000',
    documents: [],
  }
  expect(ReinstatementResponse.parse(draft)).toEqual(draft)
})
