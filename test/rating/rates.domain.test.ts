import { expect, it } from 'vitest'
import { type CurrencyCode, decimal } from '../../src/kernel/money.ts'
import { type Instant, months, type TimeZone } from '../../src/kernel/time.ts'
import { scaleRate } from '../../src/rating/rates.ts'

const EUR = 'EUR' as CurrencyCode
const START = Date.UTC(2027, 0, 1) as Instant

it('an exact amount for a run too short to measure in months is kept, with a month rate of 0', () => {
  const short = months(START, (START + 100) as Instant, 'UTC' as TimeZone)
  expect(short.toFixed()).toBe('0')
  expect(scaleRate({ exact: decimal('33.335') }, short, EUR)).toEqual({
    month: '0',
    amount: { minor: 3_334, currency: 'EUR' },
  })
  expect(scaleRate({ exact: decimal(10), yearly: decimal(120) }, short, EUR)).toMatchObject({ month: '10' })
  expect(scaleRate({ yearly: decimal(1_200) }, short, EUR)).toMatchObject({
    month: '100',
    amount: { minor: 0 },
  })
})

it('a year costs its yearly rate, rounded once, and not twelve times the displayed month rate', () => {
  // 1.015 ÷ 12 is shown as 0.0845833, and twelve times that is less than 1.015.
  expect(scaleRate({ yearly: decimal('1.015') }, decimal(12), EUR)).toEqual({
    month: '0.0845833',
    amount: { minor: 102, currency: 'EUR' },
  })
  expect(scaleRate({ yearly: decimal(20) }, decimal(12), EUR)).toMatchObject({ month: '1.6666667' })
})

it('an added amount is charged once, for any number of months', () => {
  const amount = { minor: 3_500, currency: 'EUR' }
  expect(scaleRate({ monthly: decimal(10), added: decimal(5) }, decimal(3), EUR)).toEqual({
    month: '10',
    amount,
  })
  expect(scaleRate({ yearly: decimal(120), added: decimal(5) }, decimal(3), EUR)).toEqual({
    month: '10',
    amount,
  })
})
