import { describe, expect, it } from 'vitest'
import { RaterReply, SegmentRateReply } from '../../src/rating/contract-external.ts'
import { processorClock } from '../support/scaling.ts'

const yearly = (wire: unknown): string | undefined => {
  const read = SegmentRateReply.safeParse({ yearlyPremium: wire })
  return read.success ? read.data.premium.yearly?.toFixed() : undefined
}

describe('An amount from an external rater', () => {
  it.each([
    [370, '370'],
    ['370.00', '370'],
    [' +1.5 ', '1.5'],
    ['-0.0000001', '-0.0000001'],
    ['1e3', '1000'],
    ['1.00000000', '1'],
    [0, '0'],
    [379.1 * 1.19, '451.129'],
    [1 / 3, '0.3333333'],
    [-9999999999999, '-9999999999999'],
  ])('%j is accepted', (wire, text) => expect(yearly(wire)).toBe(text))

  it.each([
    ['1.00000001'],
    ['NaN'],
    ['Infinity'],
    [Number.POSITIVE_INFINITY],
    [1e13],
    ['1,000.00'],
    ['0x10'],
    ['12 EUR'],
    [''],
    [true],
    [{}],
    [[1]],
    ['1e9999'],
    ['9'.repeat(500)],
  ])('%j is rejected', wire => expect(yearly(wire)).toBeUndefined())

  it('that is very long is rejected in linear time', () => {
    const taken = processorClock()
    expect(yearly(`${'1'.repeat(40_000)}x`)).toBeUndefined()
    expect(taken()).toBeLessThan(1_000)
  })
})

describe('The rate of a segment', () => {
  const premium = (rate: object) => {
    const { data } = SegmentRateReply.safeParse(rate)
    return (
      data &&
      Object.fromEntries(Object.entries(data.premium).flatMap(([k, v]) => (v ? [[k, v.toFixed()]] : [])))
    )
  }

  it('has an exact, yearly or monthly premium, and the yearly one takes precedence over the monthly', () => {
    expect(premium({ exactPremium: 1, yearlyPremium: 2 })).toEqual({ exact: '1', yearly: '2' })
    expect(premium({ premium: 1, monthPremium: 2 })).toEqual({ exact: '1', monthly: '2' })
    expect(premium({ monthPremium: 2 })).toEqual({ monthly: '2' })
    expect(premium({ yearlyPremium: 1, monthPremium: 2 })).toEqual({ yearly: '1' })
    expect(premium({ exactPremium: 1, premium: 2 })).toEqual({ exact: '1' })
    expect(premium({ yearlyPremium: null, premium: 0 })).toEqual({ exact: '0' })
    expect(premium({ yearlyTechnicalPremium: 1 })).toBeUndefined()
  })

  it('can have commissions, each with an amount for the segment or the year', () => {
    const commissions = [
      { recipient: 'a', amount: 1 },
      { recipient: 'b', exactAmount: '2', yearlyAmount: 3 },
    ]
    const { commissions: read } = SegmentRateReply.parse({ premium: 1, commissions })
    expect(read.map(one => [one.recipient, one.exact?.toFixed(), one.yearly?.toFixed()])).toEqual([
      ['a', '1', undefined],
      ['b', '2', '3'],
    ])
    expect(SegmentRateReply.safeParse({ premium: 1, commissions: [{ recipient: 'a' }] }).success).toBe(false)
  })
})

it('an empty exceptionMessage is ignored, and a long one is cut to 2,000 characters', () => {
  const said = (exceptionMessage: unknown) => RaterReply.parse({ exceptionMessage }).exceptionMessage
  expect([said(''), said('  '), said(null), said(undefined)]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  expect([said(' no '), said(7)]).toEqual(['no', '7'])
  expect(said('x'.repeat(5_000))).toHaveLength(2_000)
})
