import { describe, expect, it } from 'vitest'
import {
  changeFields,
  changesOfStretch,
  type FieldData,
  groupsOverTime,
  NO_FIELD_DATA,
} from '../../../src/product/fields/groups.ts'

/** Returns a source of the locators g1, g2, … */
const locators = () => {
  let last = 0
  return () => `g${++last}`
}

const unasked = () => {
  throw new Error('No locator is needed here.')
}

const DRIVERS: FieldData = {
  values: { use: ['private'], drivers: ['d1', 'd2'] },
  groups: [
    { locator: 'd1', fieldName: 'drivers', values: { name: ['Ada'], age: ['41'] } },
    { locator: 'd2', fieldName: 'drivers', values: { name: ['Bob'] } },
  ],
}

describe('field groups', () => {
  it('are added after the existing groups of their field', () => {
    const { data, reported } = changeFields(
      DRIVERS,
      { addFieldGroups: [{ fieldName: 'drivers', fieldValues: { name: 'Cy', age: 30, note: null } }] },
      locators(),
    )
    expect(reported.hasErrors).toBe(false)
    expect(data.values.drivers).toEqual(['d1', 'd2', 'g1'])
    expect(data.groups.at(-1)).toEqual({
      locator: 'g1',
      fieldName: 'drivers',
      values: { name: ['Cy'], age: ['30'] },
    })
  })

  it('are created together with the values of a record', () => {
    const { data } = changeFields(
      NO_FIELD_DATA,
      {
        fieldValues: { use: 'private', drivers: null },
        addFieldGroups: [{ fieldName: 'drivers' }, { fieldName: 'trailers', fieldValues: { weight: 750 } }],
      },
      locators(),
    )
    expect(data).toEqual({
      values: { use: ['private'], drivers: ['g1'], trailers: ['g2'] },
      groups: [
        { locator: 'g1', fieldName: 'drivers', values: {} },
        { locator: 'g2', fieldName: 'trailers', values: { weight: ['750'] } },
      ],
    })
  })

  it('keep their locator, and the values that an update does not name', () => {
    const { data, reported } = changeFields(
      DRIVERS,
      { updateFieldGroups: [{ fieldGroupLocator: 'd1', fieldName: 'drivers', fieldValues: { age: 42 } }] },
      unasked,
    )
    expect(reported.hasErrors).toBe(false)
    expect(data.values).toEqual(DRIVERS.values)
    expect(data.groups[0]).toEqual({
      locator: 'd1',
      fieldName: 'drivers',
      values: { name: ['Ada'], age: ['42'] },
    })
  })

  it('are removed even when the same request updates them', () => {
    const { data, reported } = changeFields(
      DRIVERS,
      {
        updateFieldGroups: [{ fieldGroupLocator: 'd1', fieldName: 'drivers', fieldValues: { age: 42 } }],
        removeFieldGroups: ['d1'],
      },
      unasked,
    )
    expect(reported.hasErrors).toBe(false)
    expect(data.values.drivers).toEqual(['d2'])
    expect(data.groups.map(group => group.locator)).toEqual(['d2'])
  })

  it('remove the entry of their field together with the last group', () => {
    const { data } = changeFields(DRIVERS, { removeFieldGroups: ['d1', 'd2'] }, unasked)
    expect(data).toEqual({ values: { use: ['private'] }, groups: [] })
  })

  it('are removed when the field is sent without them, and all of them when it is null', () => {
    expect(changeFields(DRIVERS, { fieldValues: { drivers: ['d2'] } }, unasked).data.groups).toEqual([
      DRIVERS.groups[1],
    ])
    expect(changeFields(DRIVERS, { fieldValues: { drivers: null } }, unasked).data).toEqual({
      values: { use: ['private'] },
      groups: [],
    })
  })

  it('stay unchanged when a client sends back the values that it read', () => {
    expect(changeFields(DRIVERS, { fieldValues: DRIVERS.values }, unasked).data).toEqual(DRIVERS)
  })

  it('are each reported by name when they are unknown', () => {
    const { data, reported } = changeFields(
      DRIVERS,
      {
        updateFieldGroups: [
          { fieldGroupLocator: 'd9', fieldName: 'drivers' },
          { fieldGroupLocator: 'd1', fieldName: 'trailers' },
        ],
        removeFieldGroups: ['d8'],
      },
      unasked,
    )
    expect(data).toEqual(DRIVERS)
    expect(reported.errors.map(error => [error.fieldName, error.code])).toEqual([
      ['drivers', 'INVALID_VALUE'],
      ['trailers', 'INVALID_VALUE'],
      ['removeFieldGroups', 'INVALID_VALUE'],
    ])
    expect(reported.errors[0]?.message).toContain("'d9'")
    expect(reported.errors[2]?.message).toContain("'d8'")
  })

  it('report values that cannot be read with the locator and the index of the group', () => {
    const { reported } = changeFields(
      DRIVERS,
      { addFieldGroups: [{ fieldName: 'drivers', fieldValues: { name: { first: 'Cy' } } }] },
      locators(),
    )
    expect(reported).toMatchObject({
      hasErrors: true,
      errors: [],
      fieldGroupErrors: [
        {
          fieldName: 'drivers',
          locator: 'g1',
          index: 2,
          errors: [{ fieldName: 'name', code: 'INVALID_TYPE' }],
        },
      ],
    })
  })

  it('are limited to 1,000 in a field', () => {
    const addFieldGroups = Array.from({ length: 1_001 }, () => ({ fieldName: 'drivers' }))
    const { data, reported } = changeFields(NO_FIELD_DATA, { addFieldGroups }, locators())
    expect(data.groups).toHaveLength(1_000)
    expect(reported.errors.map(error => error.code)).toEqual(['INVALID_VALUE'])
  })

  it('cannot be added under the name __proto__', () => {
    const { data, reported } = changeFields(
      NO_FIELD_DATA,
      { addFieldGroups: [{ fieldName: '__proto__', fieldValues: { a: 'x' } }] },
      locators(),
    )
    expect(data).toEqual(NO_FIELD_DATA)
    expect(reported.errors.map(error => error.code)).toEqual(['INVALID_FIELD'])
  })
})

describe('changes to several stretches of time', () => {
  const ADA: FieldData = {
    values: { drivers: ['d1'] },
    groups: [{ locator: 'd1', fieldName: 'drivers', values: { name: ['Ada'] } }],
  }
  const changes = {
    fieldValues: { use: 'private', drivers: ['d1', 'd2'] },
    updateFieldGroups: [
      { fieldGroupLocator: 'd1', fieldName: 'drivers', fieldValues: { age: '42' } },
      { fieldGroupLocator: 'd2', fieldName: 'drivers', fieldValues: { age: '43' } },
    ],
    removeFieldGroups: ['d2'],
  }

  it('omit the groups that a stretch lacks and another one has', () => {
    expect(changesOfStretch(changes, ADA, groupsOverTime([DRIVERS, ADA]))).toEqual({
      fieldValues: { use: 'private', drivers: ['d1'] },
      updateFieldGroups: [changes.updateFieldGroups[0]],
      removeFieldGroups: [],
    })
    expect(
      changesOfStretch({ fieldValues: { drivers: 'd2' } }, ADA, groupsOverTime([DRIVERS, ADA])).fieldValues,
    ).toEqual({
      drivers: [],
    })
    expect(
      changesOfStretch({ fieldValues: { drivers: null } }, ADA, groupsOverTime([DRIVERS, ADA])).fieldValues,
    ).toEqual({
      drivers: null,
    })
  })

  it('stay complete when the stretch has the groups, or no stretch has them', () => {
    expect(changesOfStretch(changes, DRIVERS, groupsOverTime([DRIVERS, ADA]))).toBe(changes)
    expect(changesOfStretch(changes, ADA, groupsOverTime([ADA]))).toBe(changes)
  })

  it('keep an update that names the group for another field', () => {
    const wrong = { updateFieldGroups: [{ fieldGroupLocator: 'd2', fieldName: 'pets' }] }
    expect(changesOfStretch(wrong, ADA, groupsOverTime([DRIVERS, ADA])).updateFieldGroups).toEqual(
      wrong.updateFieldGroups,
    )
  })
})
