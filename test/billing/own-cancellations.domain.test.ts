// A cancellation whose bills a plugin plans (brief 4.2, 4.3). The plugin gets what is taken back and what is kept as separate
// charges. The term is a year from March 1, 2030 in UTC; the plugin pairs charges that cancel out.
import { describe, expect, it } from 'vitest'
import type { InstallmentsInput } from '../../src/extension/plugins/contract.ts'
import { chargesOf, planOf } from '../../src/policy/bills/amounts-due.ts'
import { billedItemsOf } from '../../src/policy/projection/billed-items.ts'
import { type Modification, putRecords } from '../../src/policy/records/aggregate.ts'
import { BoatInUtc, type BoatTerms } from '../support/boat-in-utc.ts'
import {
  expectBillsMatchPrice,
  expectChargesBilledOnce,
  expectItemsSumToCharges,
} from '../support/money-checks.ts'
import { ownBillsFiles } from '../support/own-bills.ts'
import { pairingBills } from '../support/pairing-bills.ts'
import '../../src/transactions/kinds.ts'

type Given = { input?: InstallmentsInput }

async function planning(terms: BoatTerms = {}): Promise<{ boat: BoatInUtc; given: Given }> {
  const { 'scripts/main/installments.js': script, 'products/boat/policy/policy.json': policy } =
    ownBillsFiles('exports.createInstallments = () => ({})')
  const given: Given = {}
  const boat = await BoatInUtc.issued({
    ...terms,
    files: { 'scripts/main/installments.js': script!, 'products/boat/policy/policy.json': policy! },
    plugins: now => ({
      createInstallments: (input: InstallmentsInput) => {
        given.input = input
        return pairingBills(input, now)
      },
    }),
  })
  return { boat, given }
}

/** March to August are invoiced, and September to February are planned. */
async function inAugust(terms: BoatTerms = {}): Promise<{ boat: BoatInUtc; given: Given }> {
  const started = await planning(terms)
  await started.boat.advance('2030-08-15')
  expect([started.boat.billed.length, started.boat.planned.length]).toEqual([6, 6])
  return started
}

function addsUp({ loaded }: BoatInUtc): void {
  expectItemsSumToCharges(loaded)
  expectBillsMatchPrice(loaded)
  expectChargesBilledOnce(loaded)
}

const day = (timestamp: string): string => new Date(Number(timestamp)).toISOString().slice(0, 10)

const shown = ({ input }: Given) =>
  input!.charges.map(one => [
    one.feeName ?? one.type,
    one.isNew,
    one.amount,
    day(one.coverageStartTimestamp),
    day(one.coverageEndTimestamp),
  ])

/** The invoices after the first six, in minor units. */
const madeSince = (boat: BoatInUtc) => boat.billed.slice(6).map(([type, minor]) => [type, minor])

const hundreds = (count: number): string[] => Array.from({ length: count }, () => '100.00')

describe('A cancellation that a plugin bills', () => {
  it('passes the plugin each charge taken back in full and each part kept, with their spans', async () => {
    const { boat, given } = await inAugust({ isTaxed: true, fees: { mooring: 60 } })
    await boat.cancel('2030-10-15')
    expect(shown(given)).toEqual([
      ['premium', true, '-1200.00', '2030-03-01', '2031-03-01'],
      ['tax', true, '-120.00', '2030-03-01', '2031-03-01'],
      ['premium', true, '745.16', '2030-03-01', '2030-10-15'],
      ['tax', true, '74.52', '2030-03-01', '2030-10-15'],
      ['mooring', true, '-60.00', '2030-03-01', '2031-03-01'],
      ['mooring', true, '37.26', '2030-03-01', '2030-10-15'],
      ['premium', false, '600.00', '2030-09-01', '2031-03-01'],
      ['tax', false, '60.00', '2030-09-01', '2031-03-01'],
      ['mooring', false, '30.00', '2030-09-01', '2031-03-01'],
    ])
    const { charges } = given.input!
    // A reversal has the characteristics and tax of the rest that it reverses; the kept part has others.
    for (const [reversal, rest, kept] of [
      [0, 6, 2],
      [1, 7, 3],
    ] as const) {
      expect(charges[reversal]!.perilCharacteristicsLocator).toBe(charges[rest]!.perilCharacteristicsLocator)
      expect(charges[reversal]!.perilCharacteristicsLocator).not.toBe(
        charges[kept]!.perilCharacteristicsLocator,
      )
      expect(charges[reversal]!.taxLocator).toBe(charges[rest]!.taxLocator)
    }
    expect(new Set(charges.map(one => one.chargeId)).size).toBe(9)
    // 100.00 a month with 10.00 of tax and 5.00 of fee. October to the 15th has 45.16, 4.52 and 2.26. Nothing is paid out.
    expect(boat.planned).toEqual([
      ['2030-09-01', 11_500],
      ['2030-10-01', 5_194],
    ])
    expect(madeSince(boat)).toEqual([['cancellation', 0]])
    addsUp(boat)
  })

  it('gives back immediately what was billed for the time after it', async () => {
    const { boat } = await inAugust()
    await boat.cancel('2030-06-16')
    // 3.5 months are in force and six were billed, so no bill after the cancellation is left.
    expect([boat.planned, madeSince(boat)]).toEqual([[], [['cancellation', -25_000]]])
    addsUp(boat)
  })

  it('reinstated without a gap bills again what it took back, on the original dates', async () => {
    const { boat } = await inAugust({ isTaxed: true, fees: { mooring: 60 } })
    await boat.reinstate(await boat.cancel('2030-10-15'))
    expect(boat.amounts).toEqual(Array.from({ length: 6 }, () => '115.00'))
    addsUp(boat)
  })

  it('reinstated with a gap bills nothing for the gap, and can be cancelled and reinstated again', async () => {
    const { boat } = await inAugust()
    await boat.reinstate(await boat.cancel('2030-10-01'), '2030-11-01')
    expect(boat.amounts).toEqual(hundreds(5))
    addsUp(boat)
    const within = await boat.cancel('2030-12-16')
    // 15 of the 31 days of December.
    expect(boat.planned).toEqual([
      ['2030-09-01', 10_000],
      ['2030-11-01', 10_000],
      ['2030-12-01', 4_839],
    ])
    addsUp(boat)
    await boat.reinstate(within)
    expect(boat.amounts).toEqual(hundreds(5))
    addsUp(boat)
  })

  it('before the gap of an earlier reinstatement takes back the cover on both sides of the gap', async () => {
    const { boat, given } = await inAugust()
    await boat.reinstate(await boat.cancel('2030-10-01'), '2030-11-01')
    const earlier = await boat.cancel('2030-09-16')
    expect(shown(given).filter(([, isNew]) => isNew)).toEqual([
      ['premium', true, '-700.00', '2030-03-01', '2030-10-01'],
      ['premium', true, '-400.00', '2030-11-01', '2031-03-01'],
      ['premium', true, '650.00', '2030-03-01', '2030-09-16'],
    ])
    expect(boat.amounts).toEqual(['50.00'])
    addsUp(boat)
    await boat.reinstate(earlier)
    expect(boat.planned.reduce((sum, [, minor]) => sum + minor, 0)).toBe(50_000)
    addsUp(boat)
  })

  it('that was reinstated allows an endorsement, a new schedule, a renewal and another cancellation', async () => {
    const { boat } = await inAugust({ isTaxed: true, fees: { mooring: 60 } })
    await boat.reinstate(await boat.cancel('2030-10-15'))
    await boat.endorse('2030-12-01', '2400')
    addsUp(boat)
    await boat.reschedule('quarterly')
    addsUp(boat)
    await boat.renew('2032-03-01')
    addsUp(boat)
    const cancellation = await boat.cancel('2030-11-01')
    addsUp(boat)
    await boat.reinstate(cancellation, '2030-12-15')
    await boat.advance('2031-01-15')
    addsUp(boat)
  })

  it('before an endorsement takes back both parts of the split cover, each with its own characteristics', async () => {
    const { boat, given } = await inAugust()
    await boat.endorse('2030-09-01', '2400')
    await boat.cancel('2030-06-16')
    expect(shown(given).filter(([, isNew]) => isNew)).toEqual([
      ['premium', true, '-600.00', '2030-03-01', '2030-09-01'],
      ['premium', true, '350.00', '2030-03-01', '2030-06-16'],
      ['premium', true, '-1200.00', '2030-09-01', '2031-03-01'],
    ])
    expect(boat.planned).toEqual([])
    addsUp(boat)
  })

  it('by withdrawal takes back everything', async () => {
    const { boat, given } = await inAugust({ fees: { mooring: 60 } })
    await boat.withdraw()
    expect(shown(given).filter(([, isNew]) => isNew)).toEqual([
      ['premium', true, '-1200.00', '2030-03-01', '2031-03-01'],
      ['mooring', true, '-60.00', '2030-03-01', '2031-03-01'],
    ])
    expect([boat.planned, madeSince(boat)]).toEqual([[], [['cancellation', -63_000]]])
    addsUp(boat)
  })

  it('of an earlier release keeps its single net charge, and its invoice does not change', async () => {
    const { boat } = await inAugust()
    await boat.cancel('2030-06-16')
    const cancellation = [...boat.aggregate.modifications.values()].at(-1)!
    const amountsIn = (by: Modification) =>
      planOf(boat.aggregate, by).map(one =>
        billedItemsOf(boat.aggregate)(one).map(({ amount }) => amount.minor),
      )
    expect(amountsIn(cancellation)).toEqual([[-120_000, 35_000, 60_000]])
    const net = chargesOf(boat.aggregate, cancellation, false)
    expect(net.map(one => one.amount.minor)).toEqual([-85_000])
    const [plan] = planOf(boat.aggregate, cancellation)
    const rest = Object.entries(plan!.items!).filter(([id]) => !id.includes(cancellation.locator))
    const items = Object.fromEntries([[net[0]!.id, net[0]!.amount.minor], ...rest])
    boat.loaded = {
      ...boat.loaded,
      aggregate: {
        ...boat.aggregate,
        installments: putRecords(boat.aggregate.installments, [{ ...plan!, items }]),
      },
    }
    expect(amountsIn(cancellation)).toEqual([[-85_000, 60_000]])
    expect(madeSince(boat)).toEqual([['cancellation', -25_000]])
    addsUp(boat)
  })
})
