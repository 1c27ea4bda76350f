// Times that a plugin may leave out.
import { describe, expect, it } from 'vitest'
import { PostPaymentReversalResult, PreGraceResult } from '../../src/extension/plugins/contract.ts'

describe('a time that a plugin may leave out', () => {
  it.each([undefined, null, ''])('is left out by %j', nothing => {
    const answer = { gracePeriodEndTimestamp: nothing, cancelEffectiveTimestamp: nothing }
    expect(PreGraceResult.parse(answer)).toEqual({})
    expect(PostPaymentReversalResult.parse(answer)).toEqual({})
  })

  it.each([' ', 'soon', '2035-01-01', true, Number.NaN, 1e21])(
    'is not left out by %j, which is no time',
    wrong => {
      expect(PreGraceResult.safeParse({ gracePeriodEndTimestamp: wrong }).success).toBe(false)
    },
  )
})
