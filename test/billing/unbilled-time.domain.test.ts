// Time that cost nothing has no bill. When it begins to cost something it is billed like new time, each period on its own date
// (brief 4.2, 4.5). A boat's year from March 1, 2035 in UTC.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { totalDueOf } from '../../src/policy/bills/amounts-due.ts'
import { BoatInUtc, type BoatTerms, utc } from '../support/boat-in-utc.ts'
import {
  expectBillsMatchPrice,
  expectChargesBilledOnce,
  expectItemsSumToCharges,
} from '../support/money-checks.ts'
import { size } from '../support/sizes.ts'
import '../../src/transactions/kinds.ts'

const boatOf = (terms: BoatTerms = {}): Promise<BoatInUtc> =>
  BoatInUtc.issued({ start: '2035-03-01', end: '2036-03-01', ...terms })

const billed = (boat: BoatInUtc) => boat.billed.map(([type, minor]) => [type, minor])

const each = (minor: number, ...days: string[]) => days.map(day => [day, minor])

function addsUp({ loaded }: BoatInUtc): void {
  expectItemsSumToCharges(loaded)
  expectBillsMatchPrice(loaded)
  expectChargesBilledOnce(loaded)
}

const SPRING = ['2035-04-01', '2035-05-01', '2035-06-01']
const WINTER = ['2035-10-01', '2035-11-01', '2035-12-01', '2036-01-01', '2036-02-01']

describe('Free time that an endorsement gives a price', () => {
  it('is billed monthly, each month on its own date', async () => {
    const boat = await boatOf()
    await boat.endorse('2035-07-01', '0')
    expect(boat.planned).toEqual(each(10_000, ...SPRING))
    await boat.endorse('2035-10-01', '1200')
    expect(billed(boat)).toEqual([['newBusiness', 10_000]])
    expect(boat.planned).toEqual(each(10_000, ...SPRING, ...WINTER))
    addsUp(boat)
  })

  it('is billed monthly too when the policy was free from its start, and in its renewed term', async () => {
    const boat = await boatOf({ yearly: '0', isTaxed: true })
    await boat.renew('2037-03-01')
    expect(boat.billed.map(([type, minor, , status]) => [type, minor, status])).toEqual([
      ['newBusiness', 0, 'zeroDue'],
      ['renewal', 0, 'zeroDue'],
    ])
    await boat.endorse('2035-10-01', '1200')
    expect(boat.invoices).toHaveLength(2)
    expect(boat.planned).toHaveLength(17)
    expect(boat.planned.slice(0, 5)).toEqual(each(11_000, ...WINTER))
    expect(boat.planned.at(-1)).toEqual(['2037-02-01', 11_000])
    addsUp(boat)
  })

  it('is billed quarterly, beginning with the rest of the quarter from October 15', async () => {
    const boat = await boatOf({ schedule: 'quarterly' })
    await boat.endorse('2035-07-01', '0')
    await boat.endorse('2035-10-15', '1200')
    // February 2036 has 29 days. 451.72 is in force: four months and 15 of 29 days. The rest of the quarter weighs 17/31 of a
    // month plus one month.
    expect(boat.planned).toEqual([
      ['2035-06-01', 10_000],
      ['2035-10-15', 15_378],
      ['2035-12-01', 29_794],
    ])
    addsUp(boat)
  })

  it('is billed immediately for a period that has begun: the rest of the quarter, or of the term', async () => {
    const boat = await boatOf({ schedule: 'quarterly' })
    await boat.endorse('2035-07-01', '0')
    await boat.advance('2035-09-20')
    await boat.endorse('2035-10-15', '1200')
    expect(billed(boat).slice(-1)).toEqual([['endorsement', 15_378]])
    expect(boat.planned).toEqual([['2035-12-01', 29_794]])
    addsUp(boat)
    const upfront = await boatOf({ yearly: '0', schedule: 'upfront' })
    await upfront.renew('2037-03-01')
    await upfront.endorse('2035-10-01', '1200')
    expect(billed(upfront).slice(-1)).toEqual([['endorsement', 50_000]])
    expect(upfront.planned).toEqual([['2036-03-01', 120_000]])
    addsUp(upfront)
  })

  it('is billed by one installment when the price is small', async () => {
    const boat = await boatOf({ yearly: '0' })
    await boat.endorse('2035-10-01', '12')
    expect(boat.planned).toEqual([['2035-10-01', 500]])
    addsUp(boat)
  })

  it('is billed between existing planned bills, which change by their own share', async () => {
    const boat = await boatOf()
    await boat.endorse('2035-07-01', '0')
    await boat.endorse('2035-10-01', '1200')
    await boat.endorse('2035-08-15', '600')
    // 76.67 is in force until October: a month and 16 of 30 days, spread over 17 of the 31 days of August and over September.
    expect(boat.planned).toEqual([
      ...each(10_000, ...SPRING),
      ['2035-08-15', 2_715],
      ['2035-09-01', 4_952],
      ...each(5_000, ...WINTER),
    ])
    expect(boat.invoices).toHaveLength(1)
    addsUp(boat)
  })

  it('is billed immediately for the time that has passed', async () => {
    const boat = await boatOf()
    await boat.endorse('2035-07-01', '0')
    await boat.advance('2035-09-15')
    await boat.endorse('2035-08-01', '1200')
    expect(billed(boat).slice(-1)).toEqual([['endorsement', 20_000]])
    expect(boat.planned).toEqual(each(10_000, ...WINTER))
    addsUp(boat)
  })

  it('is given back from its planned bills by a cancellation, and billed again by the reinstatement', async () => {
    const boat = await boatOf({ yearly: '0' })
    await boat.endorse('2035-10-01', '1200')
    const cancellation = await boat.cancel('2035-12-16')
    expect(boat.planned).toEqual([...each(10_000, ...WINTER.slice(0, 2)), ['2035-12-01', 4_839]])
    await boat.reinstate(cancellation)
    expect(boat.planned).toEqual(each(10_000, ...WINTER))
    addsUp(boat)
  })
})

describe('Time that was billed', () => {
  it('and partly given back is not free time: an increase is billed immediately', async () => {
    const boat = await boatOf({ schedule: 'upfront' })
    await boat.endorse('2035-10-01', '2400')
    expect(billed(boat)).toEqual([
      ['newBusiness', 120_000],
      ['endorsement', 50_000],
    ])
    expect(boat.planned).toEqual([])
    addsUp(boat)
  })

  it('is corrected immediately even when its whole charge was given back', async () => {
    const boat = await boatOf({ schedule: 'upfront' })
    await boat.endorse('2035-10-01', '0')
    await boat.endorse('2035-12-01', '1200')
    expect(billed(boat)).toEqual([
      ['newBusiness', 120_000],
      ['endorsement', -50_000],
      ['endorsement', 30_000],
    ])
    addsUp(boat)
  })
})

const DAYS = Array.from({ length: 24 }, (_, at) => {
  const month = String((at >> 1) + 1).padStart(2, '0')
  return `${at < 4 ? 2036 : 2035}-${month}-${at % 2 === 0 ? '01' : '16'}`
}).sort()

type Move = {
  readonly day: string
  readonly what: number
  readonly yearly: string
  readonly schedule: string
}

const move: fc.Arbitrary<Move> = fc.record({
  day: fc.constantFrom(...DAYS),
  what: fc.nat(9),
  yearly: fc.constantFrom('0', '0', '12', '600', '1199.99'),
  schedule: fc.constantFrom('monthly', 'quarterly', 'upfront', 'fortnightly'),
})

/** Makes a change, mostly of the price. Changes that are rejected in the present state have no effect. */
async function make(boat: BoatInUtc, { day, what, yearly, schedule }: Move): Promise<void> {
  const [cancellation] = [...boat.aggregate.cancellations.values()].filter(one => one.state === 'issued')
  try {
    if (what === 9) await boat.cancel(day)
    else if (what === 8 && cancellation) await boat.reinstate(cancellation.locator)
    else if (what === 7) await boat.renew('2037-03-01')
    else if (what === 6) await boat.endorse(day, yearly, { newPaymentScheduleName: schedule })
    else if (what === 5) await boat.reschedule(schedule)
    else if (what === 4) await boat.advance(day)
    else await boat.endorse(day, yearly)
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem
  }
}

it(
  'all bills add up to the price and no invoice changes, for any order of free time and changes',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('0', '1200'),
        fc.constantFrom('monthly', 'quarterly', 'upfront', 'fortnightly'),
        fc.array(move, { minLength: 2, maxLength: 8 }),
        async (yearly, schedule, moves) => {
          const boat = await boatOf({ yearly, schedule, isTaxed: true })
          const asked = new Map<string, number>()
          for (const one of moves) {
            if (one.what === 4 && utc(one.day) < boat.now) continue
            await make(boat, one)
            addsUp(boat)
            for (const invoice of boat.invoices) {
              const { minor } = totalDueOf(boat.aggregate, invoice)
              expect(minor).toBe(asked.get(invoice.locator) ?? minor)
              asked.set(invoice.locator, minor)
            }
            const planned = boat.planned.map(([, minor]) => minor)
            if (planned.some(minor => minor > 0)) expect(planned.filter(minor => minor < 0)).toEqual([])
          }
        },
      ),
      { seed: 20261130, numRuns: size(25, 1_500) },
    )
  },
  size(60_000, 1_800_000),
)
