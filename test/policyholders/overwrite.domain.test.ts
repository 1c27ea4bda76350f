import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/locators.ts'
import {
  assertKnown,
  assertSize,
  replacementsOf,
  scrubber,
  termsAfter,
} from '../../src/servicing/policyholders/overwrite.ts'
import { BERLIN, field, NOW } from '../product/fields/definitions.ts'

const dictionary = {
  fields: [field('last_name', 'string', { searchable: true }), field('city', 'string', { searchable: true })],
  timeZone: BERLIN,
}

describe('An overwriting value', () => {
  it('is a text for a field, or removes the field when it is empty', () => {
    expect(replacementsOf({ last_name: 'ERASED', city: '' })).toEqual({ last_name: ['ERASED'], city: [] })
  })

  it('is rejected when it cannot be stored, is missing, or is too large', () => {
    const refused = (overwrites: Record<string, string>) => {
      try {
        replacementsOf(overwrites)
      } catch (problem) {
        return (problem as Refusal).code
      }
      throw new Error('It was not refused.')
    }
    expect(refused({})).toBe('invalidRequest')
    expect(refused({ last_name: 'a\0' })).toBe('policyholderValidation')
    expect(refused({ ['x'.repeat(300)]: 'a' })).toBe('policyholderValidation')
    const long = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`f${at}`, 'x'.repeat(20_000)]))
    expect(refused(long)).toBe('tooLarge')
    expect(() => assertSize(1_000_001)).toThrow(Refusal)
  })

  it('must be for a field of the dictionary or of some version', () => {
    const known = (name: string) => () =>
      assertKnown({ [name]: ['x'] }, dictionary, [{ field: 'fax', value: '1' }])
    known('last_name')()
    known('fax')()
    expect(known('shoe_size')).toThrow(/'shoe_size' is unknown/)
  })

  it('replaces the search terms of fields that had a value', () => {
    const holder = {
      locator: newUuid(0),
      version: 1,
      completed: true,
      accountLocator: newUuid(0),
      entity: { locator: newUuid(0), values: { last_name: ['Lovelace'] }, subEntities: [] },
      createdAt: NOW,
      updatedAt: NOW,
    }
    expect(termsAfter(holder, { last_name: ['Nobody'], city: ['Nowhere'] }, dictionary)).toEqual([
      { field: 'last_name', term: 'nobody' },
    ])
    expect(termsAfter(holder, { last_name: [] }, dictionary)).toEqual([])
  })
})

describe('Printed texts', () => {
  const clean = scrubber(
    [
      { field: 'first_name', value: 'Ann' },
      { field: 'full_name', value: 'Ann Li' },
      { field: 'last_name', value: 'Li' },
      { field: 'children', value: '2' },
      { field: 'blank', value: ' ' },
      { field: 'motto', value: 'C++ (100%)' },
    ],
    { first_name: ['A.'], full_name: ['N.N.'], last_name: [], children: ['x'], blank: ['?'], motto: ['m'] },
  )

  it('lose overwritten values as whole words, also in upper or lower case', () => {
    expect(clean('Ann drives.')).toBe('A. drives.')
    expect(clean('ANN and ann, (Ann)')).toBe('A. and A., (A.)')
    expect(clean('Ann Li asks')).toBe('N.N. asks')
    expect(clean('Ms Li.')).toBe('Ms .')
    expect(clean('they say C++ (100%)!')).toBe('they say m!')
  })

  it('keep words that only look similar', () => {
    for (const text of ['Annex', 'Lima', 'JoAnn', 'Änn', 'Anne\u0301', '12 claims in 2026', 'a b'])
      expect(clean(text)).toBe(text)
    expect(clean('2 claims')).toBe('x claims')
  })

  it('have the longest value replaced first, in linear time', () => {
    expect(clean('Ann Li '.repeat(20_000))).toBe('N.N. '.repeat(20_000))
  })
})
