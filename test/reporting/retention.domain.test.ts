// The outcomes of terms: a policy may end before an issued renewal begins, and by one of several cancellations.
import '../../src/transactions/kinds.ts'
import { expect, it } from 'vitest'
import { EARLIEST, LATEST, type TimeZone } from '../../src/kernel/time.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import { retention } from '../../src/reporting/kinds/business.ts'
import { EndorsementCreateRequest } from '../../src/transactions/endorsements/contract.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { RenewalCreateRequest } from '../../src/transactions/renewals/contract.ts'
import { BoatInUtc } from '../support/boat-in-utc.ts'
import { month } from '../support/boat-product.ts'
import { ClockedPolicy } from '../support/clocked-policy.ts'
import { BOOK_CONFIGURATION, Boat } from '../support/twelve-boats.ts'

type Reported = { readonly loaded: Loaded }

/** Returns, for each term: outcome, whether it was renewed or cancelled, premium, and premium of renewed terms. */
const termsOf = (policy: Reported) =>
  linesOf(policy).map(({ own, cells }) => [own!.outcome, cells[3], cells[4], cells[7], cells[8]])

/** Returns, for each term: outcome and agreed end. */
const endsOf = (boat: Boat) => linesOf(boat).map(({ own, cells }) => [own!.outcome, cells[1]])

const outcomesOf = (policy: Reported) => linesOf(policy).map(({ own }) => own!.outcome)

function linesOf({ loaded: { aggregate } }: Reported) {
  const policy = { policy: aggregate.policy, records: aggregate, journal: [], segments: new Map() }
  const parameters = {
    from: EARLIEST,
    to: LATEST,
    at: month(24),
    by: ['outcome'],
    products: [],
    earning: 'product' as const,
    sums: [],
    columns: [],
  }
  const timeZone = 'Europe/Berlin' as TimeZone
  return [
    ...retention.lines(policy, parameters, {
      configuration: BOOK_CONFIGURATION,
      timeZone,
      knownAt: LATEST,
    }),
  ]
}

const renewed = async () => (await Boat.made({ months: 6 })).renew(month(5), month(12))

it('a renewed term does not count as renewed if the policy ended before the renewal began', async () => {
  const boat = await renewed()
  await boat.cancel(month(5), month(5))
  expect(termsOf(boat)).toEqual([['cancelled', 0, 1, 50_000, 0]])
  expect(termsOf(await (await renewed()).withdraw(month(5)))).toEqual([['withdrawn', 0, 1, 0, 0]])
  await boat.reinstate(month(5, 10))
  expect(termsOf(boat)).toEqual([
    ['renewed', 1, 0, 60_000, 60_000],
    ['expired', 0, 0, 60_000, 0],
  ])
})

it('cancelling in a renewed term counts that term as cancelled and the earlier one as renewed', async () => {
  for (const [from, premium] of [
    [month(6), 0],
    [month(8), 20_000],
  ] as const) {
    const boat = await renewed()
    expect(termsOf(await boat.cancel(month(5), from))).toEqual([
      ['renewed', 1, 0, 60_000, 60_000],
      ['cancelled', 0, 1, premium, 0],
    ])
  }
})

it('an endorsement of a cancelled policy leaves the agreed end of the term', async () => {
  const boat = await Boat.made()
  await boat.cancel(month(7), month(8))
  await boat.endorse(month(7), month(6), 2_400)
  expect(endsOf(boat)).toEqual([['cancelled', month(12)]])
  expect(endsOf(await boat.reinstate(month(7)))).toEqual([['expired', month(12)]])
})

it('a policy whose second cancellation is reinstated counts as cancelled by the first', async () => {
  const boat = await Boat.made()
  await boat.cancel(month(5), month(8))
  await boat.cancel(month(5), month(6))
  await boat.reinstate(month(5))
  expect(termsOf(boat)).toEqual([['cancelled', 0, 1, 80_000, 0]])
})

it('a policy that ends by the cancellation for non-payment counts as lapsed', async () => {
  const boat = await Boat.made()
  await boat.cancel(month(5), month(5), 'lapse')
  expect(termsOf(boat)).toEqual([['lapsed', 0, 0, 50_000, 0]])
})

it('a term is cancelled by a cancellation that a reinstatement of an earlier part leaves in place', async () => {
  const boat = await BoatInUtc.issued()
  const first = await boat.cancel('2030-12-01')
  const second = await boat.cancel('2030-07-01')
  await boat.reinstateOutOfOrder(first)
  await boat.cancel('2031-01-01')
  await boat.reinstateOutOfOrder(second)
  expect(outcomesOf(boat)).toEqual(['cancelled'])
})

it('shows the premium of each term when a transaction changes several terms', async () => {
  const cancelled = await renewed()
  await cancelled.cancel(month(3), month(3))
  await cancelled.reinstate(month(3), month(7))
  expect(termsOf(cancelled)).toEqual([
    ['renewed', 1, 0, 30_000, 30_000],
    ['expired', 0, 0, 50_000, 0],
  ])
  const endorsed = await renewed()
  await endorsed.endorse(month(5), month(5), 2_400)
  expect(termsOf(endorsed)).toEqual([
    ['renewed', 1, 0, 70_000, 70_000],
    ['expired', 0, 0, 120_000, 0],
  ])
})

it('a policy that lapsed the legacy way and was renewed from there did not lapse in the new term', async () => {
  const policy = await ClockedPolicy.issued('home', 'monthly')
  await policy.advance('2027-06-01')
  expect(outcomesOf(policy)).toEqual(['lapsed'])
  const request = RenewalCreateRequest.parse({
    renewalEndTimestamp: policy.day('2028-06-01'),
    state: 'issued',
  })
  const { planned } = await decideEndorsement(policy.loaded, { action: 'renew', request }, policy.attempt)
  await policy.record(planned)
  expect(outcomesOf(policy)).toEqual(['renewed', 'expired'])
})

it('a term has the data of issued transactions, not of those that were only accepted', async () => {
  const policy = await ClockedPolicy.issued('home', 'full_pay')
  const inspected = () => linesOf(policy).map(({ data }) => data?.values.inspection_requested)
  for (const [state, expected] of [
    ['accepted', 'no'],
    ['issued', 'yes'],
  ] as const) {
    const request = EndorsementCreateRequest.parse({
      endorsementName: 'generic',
      reprice: false,
      startTimestamp: policy.loaded.aggregate.policy.originalStart,
      state,
      conflictHandling: 'invalidate',
      fieldValues: { inspection_requested: 'yes' },
    })
    const change = await decideEndorsement(policy.loaded, { action: 'create', request }, policy.attempt)
    await policy.record(change.planned)
    expect(inspected()).toEqual([[expected]])
  }
})
