import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { MOST_SEARCH_TERMS, searchableNames, searchTerms } from '../../src/policyholders/values.ts'
import { BERLIN, field } from '../product/fields/definitions.ts'

const dictionary = {
  fields: [
    field('last_name', 'string', { searchable: true, repeatable: true }),
    field('date_of_birth', 'date', { searchable: true }),
    field('secret', 'string'),
  ],
  timeZone: BERLIN,
}

describe('The search terms of a policyholder', () => {
  it('come from searchable fields', () => {
    expect(searchableNames(dictionary)).toEqual(['last_name', 'date_of_birth'])
    const values = { last_name: ['Smith', "O'Brien"], date_of_birth: ['329868000000'], secret: ['x'] }
    expect(searchTerms(dictionary, values)).toEqual([
      { field: 'last_name', term: 'smith' },
      { field: 'last_name', term: "o'brien" },
      { field: 'date_of_birth', term: '329868000000' },
      { field: 'date_of_birth', term: '1980-06-15' },
    ])
  })

  it('are limited in number', () => {
    const names = Array.from({ length: MOST_SEARCH_TERMS + 1 }, (_, at) => `name ${at}`)
    expect(searchTerms(dictionary, { last_name: names.slice(1) })).toHaveLength(MOST_SEARCH_TERMS)
    expect(() => searchTerms(dictionary, { last_name: names })).toThrow(Refusal)
  })
})
