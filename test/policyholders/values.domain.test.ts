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

describe('Policyholder values', () => {
  it('are stored as text, and dates as milliseconds', () => {
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

  it('are never required, because that only applies to screens', () => {
    expect(errors({})).toEqual([])
  })

  it('must be of a known field and of its type, even in a draft', () => {
    const wire = { shoe_size: '43', date_of_birth: 'long ago', email: 'none', gender: { is: 'male' } }
    const all = ['gender: 3', 'date_of_birth: 3', 'email: 3', 'shoe_size: 2']
    expect(errors(wire, draft)).toEqual(all)
    expect(errors(wire, completed)).toEqual(all)
  })

  it('must satisfy the rules of their field once completed, including stored ones', () => {
    expect(errors({ gender: 'm' }, draft)).toEqual([])
    expect(errors({ gender: 'm' }, completed)).toEqual(['gender: 4'])
    expect(errors({}, completed, { gender: ['m'] })).toEqual(['gender: 4'])
  })

  it('are limited in length even in a draft', () => {
    expect(errors({ policyholder_firstname: 'x'.repeat(20_001) }, draft)).toEqual([
      'policyholder_firstname: 4',
    ])
  })

  it('of fields that no longer exist do not block other updates', () => {
    expect(errors({ email: 'a@example.com' }, completed, { fax: ['123'] })).toEqual([])
    expect(errors({ fax: '456' }, completed, { fax: ['123'] })).toEqual(['fax: 2'])
  })

  it('can have any names when the configuration declares no fields, up to 1,000', () => {
    expect(changePolicyholderValues([], {}, { any: 'thing', n: 5 }, completed)).toEqual({
      values: { any: ['thing'], n: ['5'] },
      errors: [],
    })
    const current = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`f${i}`, ['x']]))
    expect(changePolicyholderValues([], current, { one: 'more' }, completed).errors).toMatchObject([
      { code: 4, ontologyUri: 'values' },
    ])
  })

  it('have errors in the format of the contract', () => {
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
