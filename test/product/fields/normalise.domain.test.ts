import { describe, expect, it } from 'vitest'
import { normaliseFieldData, normaliseFieldValues } from '../../../src/product/fields/values.ts'
import { BERLIN, field } from './definitions.ts'

const DEFINITIONS = [
  field('from', 'date'),
  field('amount', 'number'),
  field('photo', 'media'),
  field('drivers', 'group', { repeatable: true, fields: [field('born', 'date')] }),
]

describe('normalized field values', () => {
  it('have dates as milliseconds of the start of the day in the time zone of the tenant', () => {
    expect(normaliseFieldValues(DEFINITIONS, { from: ['2020-01-01'] }, BERLIN)).toEqual({
      from: ['1577833200000'],
    })
    expect(normaliseFieldValues(DEFINITIONS, { from: ['0012'] }, BERLIN)).toEqual({ from: ['12'] })
  })

  it('have numbers as written, media locators in lower case and no empty entries', () => {
    expect(
      normaliseFieldValues(
        DEFINITIONS,
        { amount: ['012.50'], photo: ['3F2504E0-4F89-41D3-9A0C-0305E82C3301'], note: [] },
        BERLIN,
      ),
    ).toEqual({ amount: ['012.50'], photo: ['3f2504e0-4f89-41d3-9a0c-0305e82c3301'] })
  })

  it('keep values that do not fit their field or have none', () => {
    const values = { from: ['soon'], unknown: ['2020-01-01'] }
    expect(normaliseFieldValues(DEFINITIONS, values, BERLIN)).toEqual(values)
  })

  it('include the values of groups', () => {
    const data = {
      values: { drivers: ['d1'] },
      groups: [{ locator: 'd1', fieldName: 'drivers', values: { born: ['1980-06-15'] } }],
    }
    expect(normaliseFieldData(DEFINITIONS, data, BERLIN).groups[0]?.values).toEqual({
      born: ['329868000000'],
    })
  })
})
