import { describe, expect, test } from 'vitest'
import {
  EndorsementActionRequest,
  EndorsementCreateRequest,
  EndorsementResponse,
  EndorsementUpdateRequest,
} from '../../src/transactions/endorsements/contract.ts'

const NOTHING = {
  fieldValues: {},
  addFieldGroups: [],
  updateFieldGroups: [],
  removeFieldGroups: [],
  addExposures: [],
  updateExposures: [],
  endExposures: [],
}

test('an endorsement needs only its name', () => {
  expect(EndorsementCreateRequest.parse({ endorsementName: 'generic' })).toEqual({
    endorsementName: 'generic',
    ...NOTHING,
  })
})

test('an endorsement can be created in any state up to issued, and not in another', () => {
  expect(EndorsementCreateRequest.parse({ endorsementName: 'generic', state: 'issued' }).state).toBe('issued')
  const { error } = EndorsementCreateRequest.safeParse({ endorsementName: 'generic', state: 'discarded' })
  expect(error!.issues.map(issue => issue.message)).toEqual([
    "'state' must be one of 'application', 'quoted', 'accepted', 'issued'.",
  ])
})

test('an update of an exposure can add, update and end perils', () => {
  const { updateExposures } = EndorsementUpdateRequest.parse({
    updateExposures: [
      {
        exposureLocator: 'e',
        fieldValues: { year: 2020 },
        addPerils: [{ name: 'glass' }],
        updatePerils: [{ perilLocator: 'p', deductible: 250 }],
        endPerils: ['q'],
      },
    ],
  })
  expect(updateExposures[0]).toMatchObject({
    fieldValues: { year: 2020 },
    addPerils: [{ name: 'glass' }],
    updatePerils: [{ perilLocator: 'p', deductible: '250' }],
    endPerils: ['q'],
  })
})

test('reprice is false when sent as false, and undefined when sent as null', () => {
  expect(EndorsementUpdateRequest.parse({ reprice: 'false' }).reprice).toBe(false)
  expect(EndorsementUpdateRequest.parse({ reprice: null }).reprice).toBeUndefined()
})

test('the response repeats the changes of the request', () => {
  const fieldGroup = { fieldName: 'drivers', fieldValues: { name: ['Ann'] } }
  const endorsement = {
    locator: '100000192',
    policyholderLocator: 'h',
    policyLocator: '100000064',
    productLocator: 'motor',
    endorsementName: 'generic',
    state: 'application',
    createdTimestamp: '1',
    updatedTimestamp: '1',
    startTimestamp: '2',
    documents: [],
    reprice: false,
    fieldValues: { make: ['Volvo'] },
    addFieldGroups: [fieldGroup],
    updateFieldGroups: [{ fieldGroupLocator: 'g', ...fieldGroup }],
    removeFieldGroups: ['f'],
    addExposures: [{ exposureName: 'vehicle', perils: [], fieldValues: {}, fieldGroups: [fieldGroup] }],
    updateExposures: [
      {
        exposureLocator: 'e',
        fieldValues: {},
        addFieldGroups: [],
        updateFieldGroups: [],
        removeFieldGroups: [],
        addPerils: [{ name: 'glass', fieldValues: {}, fieldGroups: [], deductible: 250.5 }],
        updatePerils: [],
        endPerils: ['q'],
      },
    ],
    endExposures: ['x'],
  }
  expect(EndorsementResponse.parse(endorsement)).toEqual(endorsement)
})

describe('An action on an endorsement', () => {
  const messages = (wire: unknown): string[] =>
    EndorsementActionRequest.safeParse(wire).error?.issues.map(issue => issue.message) ?? []

  test('needs no changes', () => {
    expect(EndorsementActionRequest.parse({ action: 'quote', endorsementUpdate: null })).toEqual({
      action: 'quote',
    })
    expect(EndorsementActionRequest.parse({ action: 'issue', conflictHandling: 'invalidate' })).toEqual({
      action: 'issue',
      conflictHandling: 'invalidate',
    })
  })

  test('is an update when it is left out or empty and there are changes', () => {
    const update = { ...NOTHING, startTimestamp: 5 }
    for (const action of [undefined, null, '', 'update'])
      expect(EndorsementActionRequest.parse({ action, endorsementUpdate: { startTimestamp: 5 } })).toEqual({
        action: 'update',
        update,
      })
  })

  test('is rejected when its changes are missing, or come with an action other than update', () => {
    expect(messages({})).toEqual(['The request must have an action, or changes in endorsementUpdate.'])
    expect(messages({ action: 'update' })).toEqual([
      "'endorsementUpdate' must contain the changes if the action is update.",
    ])
    expect(messages({ action: 'quote', endorsementUpdate: {} })).toEqual([
      "'endorsementUpdate' is permitted only with the action update; send quote in a separate request.",
    ])
  })
})
