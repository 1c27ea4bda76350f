import { expect, test } from 'vitest'
import {
  RenewalActionRequest,
  RenewalCreateRequest,
  RenewalIssueRequest,
  RenewalResponse,
} from '../../src/transactions/renewals/contract.ts'

const NOTHING = {
  fieldValues: {},
  addFieldGroups: [],
  updateFieldGroups: [],
  removeFieldGroups: [],
  addExposures: [],
  updateExposures: [],
  endExposures: [],
}

test('creating a renewal requires only its end', () => {
  expect(RenewalCreateRequest.parse({ renewalEndTimestamp: '5' })).toEqual({
    renewalEndTimestamp: 5,
    ...NOTHING,
  })
  const { error } = RenewalCreateRequest.safeParse({})
  expect(error!.issues.map(issue => issue.path)).toEqual([['renewalEndTimestamp']])
})

test('a renewal is updated by the property renewalUpdate', () => {
  expect(RenewalActionRequest.parse({ renewalUpdate: { renewalEndTimestamp: 6 } })).toEqual({
    action: 'update',
    update: { renewalEndTimestamp: 6, ...NOTHING },
  })
  const { error } = RenewalActionRequest.safeParse({ action: 'accept', renewalUpdate: {} })
  expect(error!.issues[0]!.message).toBe(
    "'renewalUpdate' is permitted only with the action update; send accept in a separate request.",
  )
})

test('the legacy request has its changes in policyUpdateRequest, which is optional', () => {
  for (const policyUpdateRequest of [undefined, null, {}])
    expect(RenewalIssueRequest.parse({ renewalEndTimestamp: 5, policyUpdateRequest })).toEqual({
      renewalEndTimestamp: 5,
      ...NOTHING,
    })
  expect(
    RenewalIssueRequest.parse({ renewalEndTimestamp: 5, policyUpdateRequest: { endExposures: ['a'] } }),
  ).toEqual({ renewalEndTimestamp: 5, ...NOTHING, endExposures: ['a'] })
})

test('the response repeats the changes of the request', () => {
  const renewal = {
    locator: '100000256',
    policyholderLocator: 'h',
    policyLocator: '100000064',
    productLocator: 'motor',
    state: 'application',
    createdTimestamp: '1',
    updatedTimestamp: '1',
    renewalStartTimestamp: '2',
    renewalEndTimestamp: '3',
    documents: [],
    ...NOTHING,
    endExposures: ['x'],
    newPaymentScheduleName: 'monthly',
  }
  expect(RenewalResponse.parse(renewal)).toEqual(renewal)
})
