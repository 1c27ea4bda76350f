// The response of an endorsement or renewal repeats all requested changes, for any request and any number of updates (contract 1,
// Endorsements and Renewals).
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { Refusal } from '../../src/kernel/errors.ts'
import type { EndorsementLocator, Uuid } from '../../src/kernel/locators.ts'
import {
  ExposureCreateRequest,
  FieldGroupCreateRequest,
  FieldGroupUpdateRequest,
  PerilCreateRequest,
  PerilUpdateRequest,
} from '../../src/policy/contract/requests.ts'
import type { Endorsement } from '../../src/policy/records/transactions.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import {
  EndorsementCreateRequest,
  EndorsementExposureUpdateRequest,
  EndorsementResponse,
} from '../../src/transactions/endorsements/contract.ts'
import { mergeChanges, withAdditionLocators } from '../../src/transactions/endorsements/joined-changes.ts'
import { transactionResponse } from '../../src/transactions/endorsements/projection.ts'
import { RenewalResponse } from '../../src/transactions/renewals/contract.ts'
import { issuedPolicy } from '../support/record-kinds/motor-policies.ts'
import { size } from '../support/sizes.ts'

const SEED = 20261122

let loaded: Loaded
beforeAll(async () => {
  loaded = await issuedPolicy()
})

let made = 0
const names = { uuid: () => `given-${++made}` as Uuid }

const parsed = (request: object) => EndorsementCreateRequest.parse({ endorsementName: 'x', ...request })

/** The response of an application with these changes. */
function answerOf(changes: Endorsement['changes'], kind: Endorsement['kind'] = 'endorsement') {
  const { policy } = loaded.aggregate
  const record: Endorsement = {
    kind,
    locator: 100000001 as EndorsementLocator,
    name: 'x',
    state: 'application',
    startAt: policy.originalStart,
    endAt: policy.originalEnd,
    changes,
    createdAt: policy.createdAt,
    updatedAt: policy.createdAt,
  }
  const answer = transactionResponse(loaded.aggregate, record, loaded.product)
  return (kind === 'renewal' ? RenewalResponse : EndorsementResponse).parse(answer)
}

const name = fc.stringMatching(/^[a-z]{1,6}$/)
const fieldValues = fc.dictionary(name, fc.array(name, { minLength: 1, maxLength: 2 }), { maxKeys: 3 })
const locator = fc.uuid()
const some = <T>(one: fc.Arbitrary<T>) => fc.array(one, { maxLength: 3, size: 'max' })
const amount = fc.integer({ min: 0, max: 99_999 }).map(cents => cents / 100)
const indemnity = fc.oneof(fc.constant('unlimited'), amount.map(String))
const amounts = {
  deductible: amount,
  lumpSumPayment: amount,
  indemnityInAggregate: indemnity,
  indemnityPerEvent: indemnity,
  indemnityPerItem: indemnity,
}
const newGroup = fc.record({ fieldName: name, fieldValues })
const groups = {
  addFieldGroups: some(newGroup),
  updateFieldGroups: some(fc.record({ fieldGroupLocator: locator, fieldName: name, fieldValues })),
  removeFieldGroups: some(locator),
}
const newPeril = fc.record(
  { name, locator, fieldValues, fieldGroups: some(newGroup), ...amounts },
  { requiredKeys: ['name', 'fieldValues', 'fieldGroups'] },
)
const flag = fc.boolean()
const updatedPeril = fc.record(
  {
    perilLocator: locator,
    fieldValues,
    ...groups,
    ...amounts,
    removeDeductible: flag,
    removeIndemnityInAggregate: flag,
    removeIndemnityPerEvent: flag,
    removeIndemnityPerItem: flag,
    removeLumpSumPayment: flag,
  },
  { requiredKeys: ['perilLocator', 'fieldValues', ...(Object.keys(groups) as (keyof typeof groups)[])] },
)
const newExposure = fc.record({
  exposureName: name,
  perils: some(newPeril),
  fieldValues,
  fieldGroups: some(newGroup),
})
const updatedExposure = fc.record({
  exposureLocator: locator,
  fieldValues,
  ...groups,
  addPerils: some(newPeril),
  updatePerils: some(updatedPeril),
  endPerils: some(locator),
})
const changes = fc.record({
  fieldValues,
  ...groups,
  addExposures: some(newExposure),
  updateExposures: some(updatedExposure),
  endExposures: some(locator),
  newPaymentScheduleName: name,
})

describe('The response repeats the requested changes', () => {
  it.each(['endorsement', 'renewal'] as const)('of any %s, including those of a second update', kind => {
    fc.assert(
      fc.property(changes, changes, (request, more) => {
        const first = withAdditionLocators(parsed(request), names)
        expect(answerOf(first, kind)).toMatchObject(request)
        const both = answerOf(mergeChanges(first, parsed(more), names), kind)
        expect(both).toMatchObject({
          fieldValues: { ...request.fieldValues, ...more.fieldValues },
          addFieldGroups: [...request.addFieldGroups, ...more.addFieldGroups],
          updateFieldGroups: [...request.updateFieldGroups, ...more.updateFieldGroups],
          removeFieldGroups: [...request.removeFieldGroups, ...more.removeFieldGroups],
          addExposures: [...request.addExposures, ...more.addExposures],
          updateExposures: [...request.updateExposures, ...more.updateExposures],
          endExposures: [...request.endExposures, ...more.endExposures],
          newPaymentScheduleName: more.newPaymentScheduleName,
        })
      }),
      { seed: SEED, numRuns: size(70, 200) },
    )
  })

  it('with every property that the contract has for the request', () => {
    const { addFieldGroups, updateFieldGroups, addExposures, updateExposures } = EndorsementResponse.shape
    const exposure = updateExposures.element.shape
    const keys = (shape: object): string[] => Object.keys(shape).sort()
    const echoes: [echo: object, request: z.ZodObject][] = [
      [addFieldGroups.element.shape, FieldGroupCreateRequest],
      [updateFieldGroups.element.shape, FieldGroupUpdateRequest],
      [addExposures.element.shape, ExposureCreateRequest],
      [addExposures.element.shape.perils.element.shape, PerilCreateRequest],
      [exposure, EndorsementExposureUpdateRequest],
      [exposure.addPerils.element.shape, PerilCreateRequest],
      [exposure.updatePerils.element.shape, PerilUpdateRequest],
    ]
    for (const [echo, request] of echoes)
      expect(keys(echo)).toEqual(expect.arrayContaining(keys(request.shape)))
    expect(keys(RenewalResponse.shape.addExposures.element.shape)).toEqual(keys(addExposures.element.shape))
  })
})

describe('An update of an application', () => {
  const vehicle = {
    exposureName: 'vehicle',
    fieldGroups: [{ fieldName: 'drivers', fieldValues: { name: ['Ann'] } }],
    perils: [{ name: 'liability', locator: 'mine' }, { name: 'glass' }],
  }
  const begun = () =>
    withAdditionLocators(
      parsed({
        addFieldGroups: [{ fieldName: 'drivers', fieldValues: { name: ['Bob'] } }],
        addExposures: [vehicle, { exposureName: 'trailer' }],
        updateExposures: [{ exposureLocator: 'e', addPerils: [{ name: 'theft' }], endPerils: ['p', 'p'] }],
        endExposures: ['x', 'x', 'y'],
      }),
      names,
    )
  const updated = (before: Endorsement['changes'], update: object) =>
    mergeChanges(before, parsed(update), names)

  it('adds each ended exposure, peril or group once, in one request or in several', () => {
    const first = begun()
    expect(answerOf(first)).toMatchObject({
      endExposures: ['x', 'y'],
      updateExposures: [{ endPerils: ['p'] }],
    })
    const second = updated(first, {
      endExposures: ['y', 'z'],
      updateExposures: [{ exposureLocator: 'e', endPerils: ['p', 'q'], removeFieldGroups: ['g'] }],
      removeFieldGroups: ['h'],
    })
    const third = updated(second, {
      updateExposures: [{ exposureLocator: 'e', removeFieldGroups: ['g'] }],
      removeFieldGroups: ['h'],
    })
    const { endExposures, removeFieldGroups, updateExposures } = answerOf(third)
    expect({ endExposures, removeFieldGroups }).toEqual({
      endExposures: ['x', 'y', 'z'],
      removeFieldGroups: ['h'],
    })
    expect(updateExposures).toHaveLength(1)
    expect(updateExposures[0]).toMatchObject({ endPerils: ['p', 'q'], removeFieldGroups: ['g'] })
  })

  it('takes back an addition by ending the locator that the response shows for it', () => {
    const first = begun()
    const shown = answerOf(first)
    const [car, trailer] = shown.addExposures
    const back = answerOf(
      updated(first, {
        endExposures: [trailer!.locator],
        removeFieldGroups: [shown.addFieldGroups[0]!.locator],
        updateExposures: [
          { exposureLocator: 'e', endPerils: [shown.updateExposures[0]!.addPerils[0]!.locator] },
          {
            exposureLocator: car!.locator,
            fieldValues: { colour: 'red' },
            endPerils: ['mine'],
            removeFieldGroups: [car!.fieldGroups[0]!.locator],
            addPerils: [{ name: 'fire' }],
          },
        ],
      }),
    )
    expect(back).toMatchObject({ addFieldGroups: [], removeFieldGroups: [], endExposures: ['x', 'y'] })
    expect(back.updateExposures).toMatchObject([{ exposureLocator: 'e', addPerils: [], endPerils: ['p'] }])
    expect(back.addExposures).toMatchObject([
      {
        exposureName: 'vehicle',
        locator: car!.locator,
        fieldValues: { colour: ['red'] },
        fieldGroups: [],
        perils: [{ name: 'glass' }, { name: 'fire' }],
      },
    ])
    const nothing = updated(first, { endExposures: [car!.locator, trailer!.locator] })
    expect(answerOf(nothing)).toMatchObject({ addExposures: [], endExposures: ['x', 'y'] })
  })

  it('changes the values of an added group, and the last value of an amount counts', () => {
    const first = begun()
    const shown = answerOf(first)
    const { locator: group } = shown.addFieldGroups[0]!
    const drivers = { fieldGroupLocator: group, fieldName: 'drivers', fieldValues: { age: 30 } }
    const changed = answerOf(updated(first, { updateFieldGroups: [drivers] }))
    expect(changed.updateFieldGroups).toEqual([])
    expect(changed.addFieldGroups).toMatchObject([{ fieldValues: { name: ['Bob'], age: ['30'] } }])
    const peril = (said: object) => ({ updateExposures: [{ exposureLocator: 'e', updatePerils: [said] }] })
    const without = updated(begun(), peril({ perilLocator: 'p', removeDeductible: true, lumpSumPayment: 5 }))
    const { updateExposures } = answerOf(updated(without, peril({ perilLocator: 'p', deductible: 500 })))
    expect(updateExposures[0]!.updatePerils).toHaveLength(1)
    expect(updateExposures[0]!.updatePerils[0]).toMatchObject({ deductible: 500, lumpSumPayment: 5 })
    expect(updateExposures[0]!.updatePerils[0]!.removeDeductible).toBeUndefined()
  })

  it('rejects other changes of an addition and says what to do', () => {
    const first = begun()
    const shown = answerOf(first)
    const { locator } = shown.addExposures[0]!
    const refused = (update: object): string => {
      try {
        updated(first, { updateExposures: [update] })
      } catch (problem) {
        if (problem instanceof Refusal) return `${problem.code}: ${problem.message}`
      }
      return 'nothing is refused'
    }
    const updatePerils = [{ perilLocator: 'mine', deductible: 5 }]
    expect(refused({ exposureLocator: locator, updatePerils })).toMatch(
      /^invalidRequest: .*add them again with the new values/,
    )
    expect(refused({ exposureLocator: locator, endPerils: ['p'] })).toMatch(/endPerils contains 'p'/)
    expect(refused({ exposureLocator: locator, removeFieldGroups: ['g'] })).toMatch(
      /removeFieldGroups contains/,
    )
    const theft = shown.updateExposures[0]!.addPerils[0]!.locator
    expect(refused({ exposureLocator: 'e', updatePerils: [{ perilLocator: theft, deductible: 5 }] })).toMatch(
      /^invalidRequest: Peril .*Remove it with endPerils/,
    )
  })
})
