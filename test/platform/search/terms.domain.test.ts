import { describe, expect, it } from 'vitest'
import { assertSearchable, foldText, searchOf, termsOf } from '../../../src/product/fields/values.ts'
import { BERLIN, field } from '../../product/fields/definitions.ts'

describe('folded', () => {
  it('ignores case and ways of writing the same letter', () => {
    for (const [one, other] of [
      ['Müller', 'MU\u0308LLER'],
      ['Weiß', 'WEISS'],
      ['ΟΔΟΣ', 'οδος'],
      ['Ｓｍｉｔｈ', 'smith'],
      ['ΐ', 'Ϊ\u0301'],
    ] as const)
      expect(foldText(one)).toBe(foldText(other))
    expect(foldText('Müller')).not.toBe(foldText('Muller'))
  })

  it('preserves prefixes: the folded prefix begins the folded text', () => {
    for (const text of ['ΟΔΟΣΑ', 'Straßenbau', 'İstanbul'])
      for (let length = 1; length <= text.length; length += 1)
        expect(foldText(text).startsWith(foldText(text.slice(0, length)).normalize('NFC'))).toBe(true)
  })
})

describe('The search terms of a field', () => {
  const name = field('last_name', 'string', { searchable: true, repeatable: true })

  it('are its values, each once', () => {
    expect(termsOf(name, ['Smith', 'SMITH', "O'Brien"], BERLIN)).toEqual([
      { field: 'last_name', term: 'smith' },
      { field: 'last_name', term: "o'brien" },
    ])
  })

  it('have one blank between words and none around them, however the value is spaced', () => {
    const values = ['  de  la\tCruz ', 'de\u00a0la\u2003Cruz', 'de la Cruz']
    expect(termsOf(name, values, BERLIN)).toEqual([{ field: 'last_name', term: 'de la cruz' }])
  })

  it('of type date are the milliseconds and the day', () => {
    const born = field('date_of_birth', 'date', { searchable: true })
    expect(termsOf(born, ['329868000000'], BERLIN).map(({ term }) => term)).toEqual([
      '329868000000',
      '1980-06-15',
    ])
  })

  it('of long texts are the first 2,700 characters', () => {
    const [term] = termsOf(name, ['😀'.repeat(5_000)], BERLIN)
    expect(Array.from(term!.term)).toHaveLength(2_700)
    expect(term!.term.isWellFormed()).toBe(true)
  })
})

describe('A search', () => {
  it('is for a value or a prefix, both folded', () => {
    expect(searchOf({})).toBeUndefined()
    expect(searchOf({ searchField: 'last_name', searchValue: 'SMITH' })).toEqual({
      field: 'last_name',
      term: 'smith',
      match: 'equal',
    })
    expect(searchOf({ searchField: 'last_name', searchPrefix: 'Smi' })).toMatchObject({
      term: 'smi',
      match: 'prefix',
    })
  })

  it('ignores how words are spaced, except for a blank at the end of a prefix', () => {
    const term = (search: object) => searchOf({ searchField: 'last_name', ...search })?.term
    expect(term({ searchValue: ' de \u00a0la  Cruz\n' })).toBe('de la cruz')
    expect(term({ searchPrefix: '\tde  la' })).toBe('de la')
    expect(term({ searchPrefix: 'de  ' })).toBe('de ')
  })

  it('is rejected on a field that is not searchable, with a list of those that are', () => {
    assertSearchable('last_name', ['last_name'])
    for (const name of ['secret', 'unknown', 'constructor'])
      expect(() => assertSearchable(name, ['last_name', 'date_of_birth'])).toThrow(
        /these fields are: last_name, date_of_birth/,
      )
    expect(() => assertSearchable('secret', [])).toThrow(/no field is/)
  })
})
