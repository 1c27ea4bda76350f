// Times that a plugin may omit.
import { describe, expect, it } from 'vitest'
import { PostPaymentReversalResult, PreGraceResult } from '../../src/extension/plugins/contract.ts'
import { readAnswer } from '../../src/extension/plugins/translation.ts'

describe('a time that a plugin may omit', () => {
  it.each([undefined, null, ''])('is omitted by %j', nothing => {
    const answer = { gracePeriodEndTimestamp: nothing, cancelEffectiveTimestamp: nothing }
    expect(PreGraceResult.parse(answer)).toEqual({})
    expect(PostPaymentReversalResult.parse(answer)).toEqual({})
  })

  it.each([' ', 'soon', '2035-01-01', true, Number.NaN, 1e21])('is rejected as %j', wrong => {
    expect(PreGraceResult.safeParse({ gracePeriodEndTimestamp: wrong }).success).toBe(false)
  })

  it('is rejected as a Date with the way to make it a number', () => {
    const answer = JSON.parse(JSON.stringify({ gracePeriodEndTimestamp: new Date(0) })) as unknown
    expect(() => readAnswer('getPreGraceResult', PreGraceResult, answer, 'main/grace.js')).toThrow(
      "Plugin getPreGraceResult (main/grace.js) returned an invalid answer: 'gracePeriodEndTimestamp' must be a time in milliseconds, as a whole number or its digits, not a date; return its getTime().",
    )
  })
})
