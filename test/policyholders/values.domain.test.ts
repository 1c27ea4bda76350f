import { describe, expect, it } from 'vitest'
import { changePolicyholderValues } from '../../src/policyholders/values.ts'
import { BERLIN, field, NOW } from '../product/fields/definitions.ts'

const DICTIONARY = [
  field('policyholder_firstname', 'string', { optional: false, maximumCount: 10 }),
  field('date_of_birth', 'date'),
  field('gender', 'select', { values: ['male', 'female', 'other'] }),
  field('email', 'email'),
]
const draft = { completed: false, timeZone: BERLIN, now: NOW }
const completed = { ...draft, completed: true }

const errors = (wire: unknown, context = completed, current = {}) =>
  changePolicyholderValues(DICTIONARY, current, wire, context).errors.map(
    ({ ontologyUri, code }) => `${ontologyUri}: ${code}`,
  )

describe('policyholder values', () => {
  it('are stored as text, dates as milliseconds', () => {
    expect(
      changePolicyholderValues(
        DICTIONARY,
        { gender: ['male'] },
        { policyholder_firstname: 'Ada', date_of_birth: '1980-06-15', gender: null },
        completed,
      ),
    ).toEqual({
      values: { policyholder_firstname: ['Ada'], date_of_birth: ['329868000000'] },
      errors: [],
    })
  })

  it('are never required: that binds screens only', () => {
    expect(errors({})).toEqual([])
  })

  it('are of a known name and of the type, draft or completed', () => {
    const wire = { shoe_size: '43', date_of_birth: 'long ago', email: 'none', gender: { is: 'male' } }
    const all = ['gender: 3', 'date_of_birth: 3', 'email: 3', 'shoe_size: 2']
    expect(errors(wire, draft)).toEqual(all)
    expect(errors(wire, completed)).toEqual(all)
  })

  it('are held to their rules when completed, also those stored before', () => {
    expect(errors({ gender: 'm' }, draft)).toEqual([])
    expect(errors({ gender: 'm' }, completed)).toEqual(['gender: 4'])
    expect(errors({}, completed, { gender: ['m'] })).toEqual(['gender: 4'])
  })

  it('hold to the limits of reading even in a draft', () => {
    expect(errors({ policyholder_firstname: 'x'.repeat(20_001) }, draft)).toEqual([
      'policyholder_firstname: 4',
    ])
  })

  it('that an earlier configuration knew do not block other updates', () => {
    expect(errors({ email: 'a@example.com' }, completed, { fax: ['123'] })).toEqual([])
    expect(errors({ fax: '456' }, completed, { fax: ['123'] })).toEqual(['fax: 2'])
  })

  it('are anything where the configuration declares no fields, up to 1,000', () => {
    expect(changePolicyholderValues([], {}, { any: 'thing', n: 5 }, completed)).toEqual({
      values: { any: ['thing'], n: ['5'] },
      errors: [],
    })
    const current = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`f${i}`, ['x']]))
    expect(changePolicyholderValues([], current, { one: 'more' }, completed).errors).toMatchObject([
      { code: 4, ontologyUri: 'values' },
    ])
  })

  it('report problems as the contract shapes them', () => {
    expect(changePolicyholderValues(DICTIONARY, {}, { gender: 'm' }, completed).errors).toEqual([
      {
        code: 4,
        validatorUri: 'validator.value',
        ontologyUri: 'gender',
        message: "Field 'gender' must be exactly one of 'male', 'female', 'other'.",
      },
    ])
  })
})
