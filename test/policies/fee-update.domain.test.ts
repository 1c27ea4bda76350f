// Fees added by hand are charged exactly as sent (brief 3.3). A year from March 1, 2030 in UTC.
import { expect, it } from 'vitest'
import { feesOf, lineOf } from '../../src/policy/fold/line.ts'
import { boundQuote } from '../../src/policy/records/aggregate.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'

const feeOf = (amount: string, from = '2030-03-01', to = '2031-03-01') => ({
  feeName: 'mooring',
  amount,
  startTimestamp: utc(from),
  endTimestamp: utc(to),
})

it.each([
  ['0', /must be above 0/],
  ['-1', /must be above 0/],
  ['12.345', /more than the 2 decimal places/],
])('rejects a fee with the amount %s', async (amount, problem) => {
  const boat = await BoatInUtc.issued()
  await expect(boat.changeFees({ newFees: [feeOf(amount)] })).rejects.toThrow(problem)
})

it('rejects a fee without a length, or from before the start of the policy', async () => {
  const boat = await BoatInUtc.issued()
  const refused = async (from: string, to: string, problem: RegExp) =>
    await expect(boat.changeFees({ newFees: [feeOf('1', from, to)] })).rejects.toThrow(problem)
  await refused('2030-06-01', '2030-06-01', /must be after startTimestamp/)
  await refused('2030-02-28', '2030-06-01', /must not be before the contract's start/)
})

it('a fee update takes effect at the start of its earliest fee, and its fees do not count before it', async () => {
  const boat = await BoatInUtc.issued({ fees: { reminder: 24 } })
  await boat.changeFees({ newFees: [feeOf('10', '2030-04-01'), feeOf('20'), feeOf('30', '2030-05-01')] })
  const { aggregate } = boat
  const line = lineOf(aggregate, boundQuote(aggregate))
  expect(line.at(-1)!.modification).toMatchObject({ kind: 'feeUpdate', effectiveAt: utc('2030-03-01') })
  const minor = (steps: typeof line) =>
    feesOf(aggregate, boundQuote(aggregate), steps).map(one => one.amount.minor)
  expect(minor(line)).toEqual([2_400, 1_000, 2_000, 3_000])
  expect(minor(line.slice(0, -1))).toEqual([2_400])
})
