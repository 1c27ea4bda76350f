// Payments of a policy as known at an earlier time. The policy costs 100.00 a month from March 1, 2030 in UTC.
import { expect, test } from 'vitest'
import { policyAsKnownAt } from '../../src/policy/projection/as-known.ts'
import { BoatInUtc } from '../support/boat-in-utc.ts'
import { expectSameJournalAsKnown } from '../support/journal-checks.ts'
import '../../src/transactions/kinds.ts'

test('a surplus was credit until its payment was reversed, even if the invoice was written off later', async () => {
  const boat = await BoatInUtc.issued()
  const surplus = await boat.pay(boat.invoices[0]!, { amount: '150.00' })
  const paidAt = boat.now
  await boat.advance('2030-03-03')
  await boat.reverse(surplus)
  await boat.advance('2030-03-05')
  boat.writeOff(boat.invoices[0]!)
  const known = policyAsKnownAt(boat.aggregate, paidAt)!
  expect(known.payments.get(surplus)).toMatchObject({ credited: { minor: 5_000 } })
  expectSameJournalAsKnown(boat.aggregate, [paidAt, boat.now])
})
