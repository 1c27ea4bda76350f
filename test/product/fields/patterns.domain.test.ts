import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  loadPatternEngine,
  matchesPattern,
  patternProblem,
  patternSteps,
} from '../../../src/product/fields/patterns.ts'

await loadPatternEngine()

describe('patterns', () => {
  it('are rejected with the reason when the engine cannot read them', () => {
    expect(patternProblem('[A-Z]+')).toBeUndefined()
    expect(patternProblem('(a')).toContain('missing closing )')
    expect(patternProblem('(a)\\1')).toContain('invalid escape')
  })

  it('match only the whole text', () => {
    expect(matchesPattern('a|ab', 'ab')).toBe(true)
    expect(matchesPattern('^a$', 'a')).toBe(true)
    expect(matchesPattern('a', 'ba')).toBe(false)
  })

  it('accept escapes of JavaScript', () => {
    expect(matchesPattern('\\u00e4+', 'ää')).toBe(true)
    expect(matchesPattern('\\d{2}\\/\\d{2}', '01/02')).toBe(true)
  })

  it('still match when more patterns are used than the cache holds', () => {
    for (let i = 0; i < 600; i++) expect(matchesPattern(`x{${i}}`, 'x'.repeat(i))).toBe(true)
    expect(matchesPattern('x{1}', 'x')).toBe(true)
    expect(patternSteps('x', 'xxx')).toBeGreaterThan(3)
  })
})

describe('look-around', () => {
  const fits = (pattern: string, texts: readonly string[]) =>
    texts.filter(text => matchesPattern(pattern, text))

  it('is supported at the beginning and after a fixed number of characters', () => {
    const ssn = '^(?!000|666)[0-8][0-9]{2}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}$'
    expect(
      fits(ssn, ['123-45-6789', '000-45-6789', '666-45-6789', '123-00-6789', '123-45-0000', '923-45-6789']),
    ).toEqual(['123-45-6789'])
    const password = '^(?=.*[A-Z])(?=.*\\d)(?!.*\\s).{8,}$'
    expect(fits(password, ['Abcdefg1', 'abcdefg1', 'Abcdefgh', 'Abc defg1', 'Abc1'])).toEqual(['Abcdefg1'])
    expect(fits('((?!00)\\d{2})(?:-(?=[a-c]).)', ['01-a', '00-a', '01-d', '01-'])).toEqual(['01-a'])
    expect(fits('(?i)(?!xx)\\w{2}', ['ab', 'XX', 'xX'])).toEqual(['ab'])
    expect(fits('\\p{L}{2}(?=ü).', ['äöü', '😀ü', 'äöx'])).toEqual(['äöü'])
    expect(fits('.(?=b).', ['😀b', 'ab', 'aa'])).toEqual(['😀b', 'ab'])
  })

  it('is supported at the end', () => {
    expect(fits('^(?! )[A-Za-z ]+(?<! )$', ['Ada L', ' Ada', 'Ada '])).toEqual(['Ada L'])
    expect(fits('\\d+(?<=[02468])', ['12', '13'])).toEqual(['12'])
  })

  it.each([
    ['a+(?!b)c', 'length varies'],
    ['a|(?=b)c', 'in an alternative'],
    ['(?:(?=a).)+', 'repeated, has alternatives or has flags'],
    ['(?:a|(?=b).)', 'repeated, has alternatives or has flags'],
    ['(?=(?!a)b)b', 'repeated or nested'],
    ['(?<=a)b', 'is not at the end'],
    ['a(?=\\bb).', 'contains an anchor'],
    ['a(?i)(?=b).', 'flags are combined with'],
    ['(?=a', 'missing closing )'],
    ['(?=[a-).', 'missing'],
  ])('is rejected when its place is not the same in every text: %s', (pattern, reason) => {
    expect(patternProblem(pattern)).toContain(reason)
  })
})

it('a pattern with look-around matches the same texts as in JavaScript', () => {
  const pieces = ['a', 'b', '[ab]', '.', '(?!a)', '(?=b)', '(?!ab)', '(?:ab)', '(?:a|b)', '(b)', 'a{2}']
  const pattern = fc.array(fc.constantFrom(...pieces), { maxLength: 6 }).map(list => list.join(''))
  const end = fc.constantFrom('', '$', 'a*', '[ab]+(?<!a)', '(?<=b)$')
  fc.assert(
    fc.property(
      pattern,
      end,
      fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 }),
      (head, tail, text) => {
        const source = `^${head}${tail}`
        expect(matchesPattern(source, text), source).toBe(new RegExp(`^(?:${source})$`).test(text))
      },
    ),
    { numRuns: 2_000 },
  )
})
