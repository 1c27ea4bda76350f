import { describe, expect, it } from 'vitest'
import {
  loadPatternEngine,
  matchesPattern,
  patternProblem,
  patternSteps,
} from '../../../src/product/fields/value-checks.ts'

await loadPatternEngine()

describe('patterns', () => {
  it('are refused when the engine cannot read them, with the reason', () => {
    expect(patternProblem('[A-Z]+')).toBeUndefined()
    expect(patternProblem('(a')).toContain('missing closing )')
    expect(patternProblem('(?=a)b')).toContain('not RE2 syntax')
    expect(patternProblem('(a)\\1')).toContain('not RE2 syntax')
  })

  it('are refused when they grow too large', () => {
    expect(patternProblem('(a{1,50}){1,19}')).toBeUndefined()
    expect(patternProblem('((a{1,30}){1,30}b){1}c{500}')).toContain('simplify')
  })

  it('match the whole text and nothing less', () => {
    expect(matchesPattern('a|ab', 'ab')).toBe(true)
    expect(matchesPattern('^a$', 'a')).toBe(true)
    expect(matchesPattern('a', 'ba')).toBe(false)
  })

  it('read escapes that scripts write', () => {
    expect(matchesPattern('\\u00e4+', 'ää')).toBe(true)
    expect(matchesPattern('\\d{2}\\/\\d{2}', '01/02')).toBe(true)
  })

  it('stay right when more are used than the cache holds', () => {
    for (let i = 0; i < 600; i++) expect(matchesPattern(`x{${i}}`, 'x'.repeat(i))).toBe(true)
    expect(matchesPattern('x{1}', 'x')).toBe(true)
    expect(patternSteps('x', 'xxx')).toBeGreaterThan(3)
  })
})
