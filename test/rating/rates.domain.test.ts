import { expect, it } from 'vitest'
import { type CurrencyCode, decimal } from '../../src/kernel/money.ts'
import { type Instant, months, type TimeZone } from '../../src/kernel/time.ts'
import { scaled } from '../../src/rating/rates.ts'

const EUR = 'EUR' as CurrencyCode
const START = Date.UTC(2027, 0, 1) as Instant

it('an exact amount for a run too short to come to any months is that amount, without a month rate', () => {
  const short = months(START, (START + 100) as Instant, 'UTC' as TimeZone)
  expect(short.toFixed()).toBe('0')
  expect(scaled({ exact: decimal('33.335') }, short, EUR)).toEqual({
    month: '0',
    amount: { minor: 3_334, currency: 'EUR' },
  })
  expect(scaled({ exact: decimal(10), yearly: decimal(120) }, short, EUR)).toMatchObject({ month: '10' })
  expect(scaled({ yearly: decimal(1_200) }, short, EUR)).toMatchObject({ month: '100', amount: { minor: 0 } })
})
