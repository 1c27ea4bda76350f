// The outcomes of terms: a policy may end before an issued renewal begins.
import { expect, it } from 'vitest'
import { LATEST, type TimeZone } from '../../src/kernel/time.ts'
import { retention } from '../../src/reporting/kinds/business.ts'
import { month } from '../support/boat-product.ts'
import { BOOK_CONFIGURATION, Boat } from '../support/twelve-boats.ts'

/** Returns, for each term: outcome, whether it was renewed or cancelled, premium, and premium of renewed terms. */
function termsOf({ loaded: { aggregate } }: Boat) {
  const policy = { policy: aggregate.policy, records: aggregate, journal: [], segments: new Map() }
  const parameters = {
    from: month(0),
    to: month(24),
    at: month(24),
    by: ['outcome'],
    products: [],
    earning: 'product' as const,
    sums: [],
    columns: [],
  }
  const timeZone = 'Europe/Berlin' as TimeZone
  const lines = retention.lines(policy, parameters, {
    configuration: BOOK_CONFIGURATION,
    timeZone,
    knownAt: LATEST,
  })
  return [...lines].map(({ own, cells }) => [own!.outcome, cells[3], cells[4], cells[7], cells[8]])
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
