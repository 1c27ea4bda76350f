import { describe, expect, it } from 'vitest'
import { type CurrencyCode, money } from '../../src/kernel/money.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { shrinkFee } from '../../src/servicing/migration/convert/transaction/fees.ts'

const euros = (amount: string) => money(amount, 'EUR' as CurrencyCode)
const part = (start: number, end: number, amount: string) => ({
  start: start as Instant,
  end: end as Instant,
  amount: euros(amount),
})

describe('a fee that is given back in part', () => {
  it('by the end of cover keeps its rest until then, as after a live cancellation', () => {
    expect(shrinkFee([part(0, 100, '12.50')], euros('7.50'), 40 as Instant, true)).toEqual({
      parts: [part(0, 40, '5.00')],
      removed: [part(40, 100, '7.50')],
    })
  })

  it('by a change keeps its span, and is reversed once nothing is left', () => {
    expect(shrinkFee([part(0, 100, '12.50')], euros('7.50'), 40 as Instant, false)).toEqual({
      parts: [part(0, 100, '5.00')],
      removed: [part(0, 100, '7.50')],
    })
    expect(shrinkFee([part(0, 100, '12.50')], euros('12.50'), 40 as Instant, false).parts).toEqual([])
  })

  it('is reduced from its last part first', () => {
    expect(
      shrinkFee([part(0, 40, '5.00'), part(60, 100, '4.00')], euros('6.00'), 20 as Instant, true),
    ).toEqual({
      parts: [part(0, 20, '3.00')],
      removed: [part(20, 40, '2.00'), part(60, 100, '4.00')],
    })
  })

  it('by nothing is still cut at the end of cover, unless its amount is negative', () => {
    expect(shrinkFee([part(0, 100, '12.50')], euros('0'), 40 as Instant, true)).toEqual({
      parts: [part(0, 40, '12.50')],
      removed: [part(40, 100, '0')],
    })
    expect(shrinkFee([part(50, 100, '-3.00')], euros('0'), 40 as Instant, true)).toEqual({
      parts: [part(50, 100, '-3.00')],
      removed: [],
    })
  })

  it('that is negative is reduced in the same way', () => {
    expect(shrinkFee([part(0, 100, '-12.50')], euros('-7.50'), 40 as Instant, true)).toEqual({
      parts: [part(0, 40, '-5.00')],
      removed: [part(40, 100, '-7.50')],
    })
    const both = [part(0, 40, '-5.00'), part(60, 100, '4.00')]
    expect(shrinkFee(both, euros('-5.00'), 50 as Instant, false)).toEqual({
      parts: [part(60, 100, '4.00')],
      removed: [part(0, 40, '-5.00')],
    })
  })
})
