// Times that a plugin may omit.
import { describe, expect, it } from 'vitest'
import { PostPaymentReversalResult, PreGraceResult } from '../../src/extension/plugins/contract.ts'

describe('a time that a plugin may omit', () => {
  it.each([undefined, null, ''])('is omitted by %j', nothing => {
    const answer = { gracePeriodEndTimestamp: nothing, cancelEffectiveTimestamp: nothing }
    expect(PreGraceResult.parse(answer)).toEqual({})
    expect(PostPaymentReversalResult.parse(answer)).toEqual({})
  })

  it.each([' ', 'soon', '2035-01-01', true, Number.NaN, 1e21])('is rejected as %j', wrong => {
    expect(PreGraceResult.safeParse({ gracePeriodEndTimestamp: wrong }).success).toBe(false)
  })
})
