// Reversing a payment whose surplus has already paid other invoices (brief 4.5: a reversal of a payment is always allowed). The
// policy costs 100.00 a month from March 1, 2030 in UTC.
import { expect, test } from 'vitest'
import { fromMinor } from '../../../src/kernel/money.ts'
import { paymentState } from '../../../src/policy/records/invoice.ts'
import { BoatInUtc } from '../../support/boat-in-utc.ts'
import '../../../src/transactions/kinds.ts'

const openAmounts = ({ billed }: BoatInUtc): number[] => billed.map(([, , open]) => open)

/** Each payment: source, amount, and whether it was reversed. */
const payments = ({ aggregate }: BoatInUtc): [string, number, boolean][] =>
  [...aggregate.payments.values()].map(one => [
    one.source,
    one.amount.minor,
    paymentState(one) === 'reversed',
  ])

test('a surplus that paid the next invoices is taken back from them', async () => {
  const boat = await BoatInUtc.issued()
  const surplus = await boat.pay(boat.invoices[0]!, { amount: '300.00' })
  await boat.advance('2030-05-01')
  expect([openAmounts(boat), boat.loaded.credit.minor]).toEqual([[0, 0, 0], 0])
  const known = boat.events.length
  await boat.reverse(surplus)
  expect([openAmounts(boat), boat.loaded.credit.minor]).toEqual([[10_000, 10_000, 10_000], 0])
  expect(boat.events.slice(known).map(one => one.type)).toEqual([
    'payment.reverse',
    'payment.reverse',
    'payment.reverse',
  ])
})

test('the latest payment from credit goes first, and what it leaves over remains credit', async () => {
  const boat = await BoatInUtc.issued()
  const first = await boat.pay(boat.invoices[0]!, { amount: '160.00' })
  await boat.advance('2030-04-01')
  await boat.pay(boat.invoices[1]!, { amount: '140.00' })
  await boat.advance('2030-05-01')
  expect([openAmounts(boat), boat.loaded.credit.minor]).toEqual([[0, 0, 0], 0])
  await boat.reverse(first)
  expect(payments(boat)).toEqual([
    ['received', 16_000, true],
    ['credit', 6_000, false],
    ['received', 14_000, false],
    ['credit', 10_000, true],
  ])
  expect([openAmounts(boat), boat.loaded.credit.minor]).toEqual([[10_000, 0, 10_000], 4_000])
})

test('credit that another policy used is not taken from the policy’s own invoices', async () => {
  const boat = await BoatInUtc.issued()
  const surplus = await boat.pay(boat.invoices[0]!, { amount: '300.00' })
  await boat.advance('2030-04-01')
  boat.loaded = { ...boat.loaded, credit: fromMinor(0, boat.loaded.credit.currency) }
  await expect(boat.reverse(surplus)).rejects.toMatchObject({
    code: 'wrongState',
    message: expect.stringContaining('but only 0.00 EUR is left. First reverse payments of other policies'),
  })
  expect(openAmounts(boat)).toEqual([0, 0])
})
