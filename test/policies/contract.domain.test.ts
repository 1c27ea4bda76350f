import { describe, expect, test } from 'vitest'
import {
  ExposureCreateRequest,
  PerilCreateRequest,
  PerilUpdateRequest,
  PolicyCreateRequest,
  PolicyQuery,
  PolicyUpdateRequest,
} from '../../src/policy/contract/requests.ts'

const messages = (wire: unknown): string[] =>
  PolicyUpdateRequest.safeParse(wire).error?.issues.map(issue => issue.message) ?? []

test('creating a policy requires only policyholderLocator and productName', () => {
  expect(PolicyCreateRequest.parse({ policyholderLocator: 'p', productName: 'motor' })).toEqual({
    policyholderLocator: 'p',
    productName: 'motor',
    exposures: [],
    fieldValues: {},
    fieldGroups: [],
    finalize: true,
  })
})

test('null for an unused property means that it is missing, and unknown properties are ignored', () => {
  const wire = {
    policyholderLocator: 'p',
    productName: 'motor',
    policyStartTimestamp: null,
    policyEndTimestamp: null,
    exposures: null,
    fieldValues: null,
    fieldGroups: null,
    finalize: null,
    paymentScheduleName: null,
    premiumReportName: null,
    configVersion: null,
    policyLocator: '100000064',
  }
  expect(PolicyCreateRequest.parse(wire)).toEqual(
    PolicyCreateRequest.parse({ policyholderLocator: 'p', productName: 'motor' }),
  )
})

test('field values of every level are kept as sent', () => {
  const exposure = ExposureCreateRequest.parse({
    exposureName: 'vehicle',
    fieldValues: { make: 'Volvo', year: 2019 },
    fieldGroups: [{ fieldName: 'drivers', fieldValues: { name: ['Ann'], age: 30 } }],
    perils: [{ name: 'collision', fieldValues: { zone: 4 } }],
  })
  expect(exposure.fieldValues).toEqual({ make: 'Volvo', year: 2019 })
  expect(exposure.fieldGroups[0]!.fieldValues).toEqual({ name: ['Ann'], age: 30 })
  expect(exposure.perils[0]!.fieldValues).toEqual({ zone: 4 })
})

test('amounts of a peril become exact text, from numbers and from text', () => {
  expect(
    PerilCreateRequest.parse({
      name: 'collision',
      deductible: 250.1,
      lumpSumPayment: '1000.00',
      indemnityPerEvent: 100000,
      indemnityPerItem: 'unlimited',
    }),
  ).toMatchObject({
    deductible: '250.1',
    lumpSumPayment: '1000',
    indemnityPerEvent: '100000',
    indemnityPerItem: 'unlimited',
  })
})

test('an update of a peril without lists and maps changes none of them', () => {
  expect(PerilUpdateRequest.parse({ perilLocator: 'l', removeDeductible: true })).toEqual({
    perilLocator: 'l',
    fieldValues: {},
    addFieldGroups: [],
    updateFieldGroups: [],
    removeFieldGroups: [],
    removeDeductible: true,
  })
})

test('summarizeQuotes is read from the query and is false by default', () => {
  expect(PolicyQuery.parse({ summarizeQuotes: 'true' })).toEqual({ summarizeQuotes: true })
  expect(PolicyQuery.parse({})).toEqual({ summarizeQuotes: false })
})

describe('The contract span of an update', () => {
  test('can be given under either name', () => {
    const update = PolicyUpdateRequest.parse({ effectiveContractStartTimestamp: 1, policyEndTimestamp: '2' })
    expect(update.policyStartTimestamp).toBe(1)
    expect(update.policyEndTimestamp).toBe(2)
    expect(update).not.toHaveProperty('effectiveContractStartTimestamp')
  })

  test('can be given under both names when they are equal', () => {
    expect(messages({ policyStartTimestamp: 1, effectiveContractStartTimestamp: '1' })).toEqual([])
  })

  test('is rejected when they differ, with a message for the start and one for the end', () => {
    expect(
      messages({
        policyStartTimestamp: 1,
        effectiveContractStartTimestamp: 2,
        policyEndTimestamp: 3,
        effectiveContractEndTimestamp: 4,
      }),
    ).toEqual([
      "'effectiveContractStartTimestamp' must equal policyStartTimestamp; send only one of the two.",
      "'effectiveContractEndTimestamp' must equal policyEndTimestamp; send only one of the two.",
    ])
  })
})
