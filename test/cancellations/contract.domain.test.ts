import { expect, test } from 'vitest'
import {
  CancellationCreateRequest,
  CancellationResponse,
  CancellationUpdateRequest,
} from '../../src/transactions/cancellations/contract.ts'

test('a cancellation needs only a time and a name, and is created as a draft', () => {
  expect(
    CancellationCreateRequest.parse({ effectiveTimestamp: '1630274400000', name: 'nonPayment' }),
  ).toEqual({
    effectiveTimestamp: 1630274400000,
    name: 'nonPayment',
    issue: false,
  })
})

test('a cancellation without a time and a name is rejected with a message for each', () => {
  const { error } = CancellationCreateRequest.safeParse({ conflictHandling: 'ignore' })
  expect(error!.issues.map(issue => issue.message)).toEqual([
    "'effectiveTimestamp' is missing; it must be a time in milliseconds since 1970-01-01T00:00Z, as an integer or its digits.",
    "'name' is missing; it must be text.",
    "'conflictHandling' must be one of 'block', 'invalidate'.",
  ])
})

test('an update of a draft leaves out fields that are missing or null', () => {
  expect(CancellationUpdateRequest.parse({ name: null, cancellationCategory: 'insured' })).toEqual({
    cancellationCategory: 'insured',
  })
})

test('a draft is returned without price, invoice and reinstatements', () => {
  const draft = {
    locator: '100000128',
    name: 'nonPayment',
    state: 'draft',
    effectiveTimestamp: '1630274400000',
    conflictHandling: 'block',
    createdTimestamp: '1630000000000',
    updatedTimestamp: '1630000000000',
    documents: [],
  }
  expect(CancellationResponse.parse(draft)).toEqual(draft)
})
