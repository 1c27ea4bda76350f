import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/platform/errors.ts'
import {
  assertSearchable,
  folded,
  MOST_SEARCH_TERMS,
  searchOf,
  searchTerms,
} from '../../src/policyholders/search.ts'
import { BERLIN, field } from '../platform/fields/definitions.ts'

const dictionary = {
  fields: [
    field('last_name', 'string', { searchable: true, repeatable: true }),
    field('date_of_birth', 'date', { searchable: true }),
    field('secret', 'string'),
  ],
  timeZone: BERLIN,
}

describe('folding', () => {
  it('takes case and ways of writing for the same', () => {
    for (const [one, other] of [
      ['Müller', 'MU\u0308LLER'],
      ['Weiß', 'WEISS'],
      ['ΟΔΟΣ', 'οδος'],
      ['Ｓｍｉｔｈ', 'smith'],
      ['ΐ', 'Ϊ\u0301'],
    ] as const)
      expect(folded(one)).toBe(folded(other))
    expect(folded('Müller')).not.toBe(folded('Muller'))
  })

  it('keeps beginnings: a folded prefix begins the folded text', () => {
    for (const text of ['ΟΔΟΣΑ', 'Straßenbau', 'İstanbul'])
      for (let length = 1; length <= text.length; length += 1)
        expect(folded(text).startsWith(folded(text.slice(0, length)).normalize('NFC'))).toBe(true)
  })
})

describe('search terms', () => {
  it('are those of searchable fields, each once, dates as days too', () => {
    const values = {
      last_name: ['Smith', 'SMITH', "O'Brien"],
      date_of_birth: ['329868000000'],
      secret: ['x'],
    }
    expect(searchTerms(dictionary, values)).toEqual([
      { field: 'last_name', term: 'smith' },
      { field: 'last_name', term: "o'brien" },
      { field: 'date_of_birth', term: '329868000000' },
      { field: 'date_of_birth', term: '1980-06-15' },
    ])
  })

  it('of long texts are shortened to more than any search can have', () => {
    const [term] = searchTerms(dictionary, { last_name: ['😀'.repeat(5_000)] })
    expect(Array.from(term!.term)).toHaveLength(1_024)
    expect(term!.term.isWellFormed()).toBe(true)
  })

  it('are bounded in number', () => {
    const names = Array.from({ length: MOST_SEARCH_TERMS + 1 }, (_, at) => `name ${at}`)
    expect(searchTerms(dictionary, { last_name: names.slice(1) })).toHaveLength(MOST_SEARCH_TERMS)
    expect(() => searchTerms(dictionary, { last_name: names })).toThrow(Refusal)
  })
})

describe('a search', () => {
  const query = { pageSize: 100, searchField: 'last_name' }

  it('is for a value or a prefix, folded', () => {
    expect(searchOf({ pageSize: 100 })).toBeUndefined()
    expect(searchOf({ ...query, searchValue: 'SMITH' })).toEqual({
      field: 'last_name',
      term: 'smith',
      match: 'equal',
    })
    expect(searchOf({ ...query, searchPrefix: 'Smi' })).toMatchObject({ term: 'smi', match: 'prefix' })
  })

  it('in a field that is not searchable is refused with those that are', () => {
    assertSearchable('last_name', dictionary)
    for (const name of ['secret', 'unknown', 'constructor'])
      expect(() => assertSearchable(name, dictionary)).toThrow(/these fields are: last_name, date_of_birth/)
    expect(() => assertSearchable('secret', { ...dictionary, fields: [] })).toThrow(/no field is/)
  })
})
