// What a transaction takes back (brief 4.5): planned bills shrink, refunds settle open invoices, and a policy never pays out more
// than it received. The term is a year from March 1, 2030 in UTC.
import { describe, expect, it } from 'vitest'
import { decideInvoicing } from '../../src/billing/billing.ts'
import type { CancellationLocator } from '../../src/kernel/locators.ts'
import {
  billedCharges,
  futureInstallments,
  openInstallments,
  planOf,
  restsToSpread,
} from '../../src/policy/bills/amounts-due.ts'
import { totalsDue } from '../../src/policy/bills/items.ts'
import { billedItemsOf } from '../../src/policy/projection/billed-items.ts'
import type { PlannedInstallment } from '../../src/policy/records/invoice.ts'
import { cancellationResponse } from '../../src/transactions/cancellations/projection.ts'
import { RefusedPayOut } from '../../src/transactions/payments/kind.ts'
import { reinstatementResponse } from '../../src/transactions/reinstatements/projection.ts'
import { BoatInUtc, type BoatTerms, utc } from '../support/boat-in-utc.ts'
import {
  expectBillsMatchPrice,
  expectChargesBilledOnce,
  expectItemsSumToCharges,
} from '../support/money-checks.ts'
import '../../src/transactions/kinds.ts'

const cancellationOf = ({ loaded }: BoatInUtc, locator: CancellationLocator) =>
  cancellationResponse(loaded.aggregate, loaded.aggregate.cancellations.get(locator)!, loaded.product)

function addsUp({ loaded }: BoatInUtc): void {
  expectItemsSumToCharges(loaded)
  expectBillsMatchPrice(loaded)
}

const hundreds = (count: number): string[] => Array.from({ length: count }, () => '100.00')

describe('Cancelling a monthly policy as of Oct 15 in March', () => {
  it('bills up to a smaller October bill, and creates no refund', async () => {
    const boat = await BoatInUtc.issued()
    const cancellation = await boat.cancel('2030-10-15')
    expect(boat.billed).toEqual([['newBusiness', 10_000, 10_000, 'unfulfilled']])
    expect(boat.amounts).toEqual([...hundreds(6), '45.16'])
    expect(boat.planned.at(-1)![0]).toBe('2030-10-01')
    expect(cancellationOf(boat, cancellation).invoiceLocator).toBeUndefined()
    addsUp(boat)
    await boat.advance('2031-03-01')
    expect(boat.billed.map(([type, minor]) => [type, minor])).toEqual([
      ['newBusiness', 10_000],
      ...hundreds(6).map(() => ['installment', 10_000]),
      ['installment', 4_516],
    ])
    expect(cancellationOf(boat, cancellation).invoiceLocator).toBeUndefined()
  })

  it('leaves October with the remaining premium, tax and proratable fee', async () => {
    const boat = await BoatInUtc.issued({ isTaxed: true, fees: { mooring: 60 } })
    await boat.cancel('2030-10-15')
    expect(boat.amounts.at(-1)).toBe((45.16 + 4.52 + 2.26).toFixed(2))
    addsUp(boat)
  })

  it('adds to October the parts of a flat fee that the later bills would have billed', async () => {
    const boat = await BoatInUtc.issued({ fees: { reminder: 24 } })
    await boat.cancel('2030-10-15')
    expect(boat.amounts).toEqual([...Array.from({ length: 6 }, () => '102.00'), '55.16'])
    addsUp(boat)
  })

  it('keeps the earlier bills to the cent, for a premium of 1,000.00', async () => {
    const boat = await BoatInUtc.issued({ yearly: '1000' })
    await boat.cancel('2030-10-15')
    // 620.97 is in force; March to September billed 83.33 each.
    expect(boat.amounts).toEqual([...Array.from({ length: 6 }, () => '83.33'), '37.66'])
    addsUp(boat)
  })
})

describe('A cancellation', () => {
  it('between two bills keeps the earlier bills, and adds the cents of rounding to the last one', async () => {
    const boat = await BoatInUtc.issued({ yearly: '1000', fees: { reminder: 24 } })
    await boat.cancel('2030-10-01')
    expect(boat.planned.at(-1)).toEqual(['2030-09-01', 8_333 + 200 + 1_000 + 2])
    addsUp(boat)
  })

  it('gives back immediately what existing bills charged for the time after it', async () => {
    const boat = await BoatInUtc.issued()
    await boat.makeNext(3)
    const cancellation = await boat.cancel('2030-04-16')
    expect(boat.planned).toEqual([])
    expect(boat.billed.at(-1)!.slice(0, 2)).toEqual(['cancellation', -25_000])
    expect(cancellationOf(boat, cancellation).invoiceLocator).toBe(boat.invoices.at(-1)!.locator)
    addsUp(boat)
  })

  it('in a later term refunds with an invoice for the time up to the end of that term', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    await boat.renew('2032-03-01')
    await boat.cancel('2031-09-01')
    expect(boat.invoices.at(-1)).toMatchObject({ start: utc('2031-09-01'), end: utc('2032-03-01') })
    await boat.cancel('2030-09-01')
    expect(boat.invoices.at(-1)).toMatchObject({ start: utc('2030-09-01'), end: utc('2031-09-01') })
    addsUp(boat)
  })

  it('after two reinstatements, the earlier part last, refunds for the time up to the end of the term', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    await boat.renew('2032-03-01')
    const first = await boat.cancel('2031-10-01')
    const second = await boat.cancel('2031-06-01')
    await boat.reinstateOutOfOrder(first)
    await boat.reinstate(second)
    await boat.cancel('2031-12-01')
    expect(boat.invoices.at(-1)).toMatchObject({ start: utc('2031-12-01'), end: utc('2032-03-01') })
    addsUp(boat)
  })

  it('gives back immediately a fee that was billed separately, while planned bills shrink for the premium', async () => {
    const boat = await BoatInUtc.issued()
    await boat.changeFees({
      newFees: [
        {
          feeName: 'mooring',
          amount: '120.00',
          startTimestamp: String(boat.aggregate.policy.originalStart),
          endTimestamp: String(boat.aggregate.policy.originalEnd),
        },
      ],
    })
    await boat.cancel('2030-10-15')
    expect(boat.billed.map(([type, minor]) => [type, minor])).toEqual([
      ['newBusiness', 10_000],
      ['other', 12_000],
      ['cancellation', 7_452 - 12_000],
    ])
    expect(boat.amounts).toEqual([...hundreds(6), '45.16'])
    addsUp(boat)
  })

  it('of a fortnightly plan leaves no planned bill of zero or less', async () => {
    for (const date of ['2030-04-02', '2030-06-08', '2030-10-15', '2031-02-25']) {
      const boat = await BoatInUtc.issued({ schedule: 'fortnightly' })
      await boat.cancel(date)
      for (const [, minor] of boat.planned) expect(minor).toBeGreaterThan(0)
      addsUp(boat)
    }
  })

  it('keeps a difference that an endorsement left on the last bill of a fortnightly plan', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'fortnightly' })
    await boat.endorse('2030-04-26', '2400')
    // 183.33 is in force until then, and four bills ask for 46.03 each, so the last bill of the year has 0.79 less.
    expect(boat.amounts.slice(0, 4)).toEqual(['46.03', '46.03', '46.03', '91.59'])
    await boat.cancel('2030-09-01')
    expect(boat.billed).toEqual([['newBusiness', 4_603, 4_603, 'unfulfilled']])
    expect(boat.amounts).toEqual([
      ...Array.from({ length: 3 }, () => '46.03'),
      ...Array.from({ length: 9 }, () => '91.59'),
      '13.61',
    ])
    addsUp(boat)
  })

  it.each([
    // The bill of the last day has premium, but no tax.
    {
      terms: { schedule: 'weekly', yearly: '702', isTaxed: true },
      endorsed: ['2030-03-29'],
      at: '2030-07-19',
    },
    // The second endorsement, which is effective before the first, created a piece that ends long before the last bill.
    {
      terms: { schedule: 'fortnightly', yearly: '1899' },
      endorsed: ['2030-10-15', '2030-05-10', '2030-08-02'],
      at: '2030-11-09',
    },
  ])('gives nothing back immediately after endorsements from $endorsed', async ({ terms, endorsed, at }) => {
    const boat = await BoatInUtc.issued(terms)
    for (const [index, date] of endorsed.entries()) await boat.endorse(date, ['1031', '1810', '1399'][index]!)
    await boat.cancel(at)
    expect(boat.billed.map(([type]) => type)).not.toContain('cancellation')
    addsUp(boat)
  })

  it('by an endorsement that ends the policy earlier keeps such a difference on the bills too', async () => {
    const features = { 'property.endorsement.policy.end.enabled': true }
    const boat = await BoatInUtc.issued({
      schedule: 'fortnightly',
      files: { 'config.json': JSON.stringify({ timezone: 'UTC', currency: 'EUR', features }) },
    })
    await boat.endorse('2030-04-26', '2400')
    await boat.endorse('2030-08-20', undefined, { newPolicyEndTimestamp: utc('2030-09-01') })
    expect(boat.billed).toEqual([['newBusiness', 4_603, 4_603, 'unfulfilled']])
    addsUp(boat)
  })

  it('gives that difference back immediately in a plan of an earlier release', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'fortnightly' })
    await boat.endorse('2030-04-26', '2400')
    await boat.cancel('2030-09-01')
    const last = futureInstallments(boat.aggregate).at(-1)!
    const plan = planOf(boat.aggregate, boat.aggregate.modifications.get(last.modificationLocator)!)
    const atOnce = { ...last, number: 1, replans: { bill: 'atOnce' as const, open: [] } }
    const charges = billedCharges(boat.aggregate, boat.aggregate.modifications.get(last.modificationLocator)!)
    const billedBy = (keepsDifferences?: true) => {
      const { keepsDifferences: _, ...replans } = last.replans!
      const planned = {
        ...last,
        number: 2,
        replans: { ...replans, ...(keepsDifferences && { keepsDifferences }) },
      }
      return totalsDue([atOnce, planned], charges, boat.aggregate.policy.currency).map(one => one.minor)
    }
    expect(plan).toHaveLength(1)
    expect(billedBy()).toEqual([-79, 1_440])
    expect(billedBy(true)).toEqual([0, 1_361])
  })

  it('at the start of a renewed term gives back immediately what was billed for it, including fees', async () => {
    const boat = await BoatInUtc.issued({ fees: { reminder: 24 } })
    await boat.renew('2032-03-01')
    expect(boat.billed.at(-1)!.slice(0, 2)).toEqual(['renewal', 10_200])
    const plan = boat.planned.slice(0, 11)
    await boat.cancel('2031-03-01')
    expect(boat.billed.at(-1)!.slice(0, 2)).toEqual(['cancellation', -10_200])
    expect(boat.planned).toEqual(plan)
    addsUp(boat)
  })

  it('to an earlier date shortens what the first cancellation left', async () => {
    const boat = await BoatInUtc.issued()
    await boat.cancel('2030-10-15')
    await boat.cancel('2030-06-16')
    expect(boat.amounts).toEqual([...hundreds(2), '50.00'])
    addsUp(boat)
  })

  it('that withdraws the policy leaves no planned bills, and offsets the first invoice with its refund', async () => {
    const boat = await BoatInUtc.issued()
    await boat.withdraw()
    expect(boat.planned).toEqual([])
    expect(boat.billed).toEqual([
      ['newBusiness', 10_000, 0, 'paid'],
      ['cancellation', -10_000, 0, 'paid'],
    ])
  })
})

describe('An endorsement', () => {
  it('from 1,200.00 to 600.00 as of Jul 15 changes each planned bill by its share', async () => {
    const boat = await BoatInUtc.issued()
    await boat.endorse('2030-07-15', '600')
    expect(boat.amounts).toEqual([...hundreds(3), '72.40', ...Array.from({ length: 7 }, () => '49.68')])
    const total = boat.planned.reduce((sum, [, minor]) => sum + minor, 10_000)
    expect(total).toBe(82_016)
    expect(boat.billed).toHaveLength(1)
    addsUp(boat)
  })

  it('reverses the former charge on each bill by the bill’s amount, and the rest on the bill where it begins', async () => {
    const boat = await BoatInUtc.issued()
    await boat.endorse('2030-07-15', '600')
    const [july, august] = futureInstallments(boat.aggregate).slice(3)
    const itemsOn = (one: PlannedInstallment) =>
      billedItemsOf(boat.aggregate)(one).map(({ charge, amount }) => [
        charge.reverses === undefined,
        charge.keptUntil === undefined,
        amount.minor,
      ])
    // All of the 1,200.00 is taken back and 445.16 charged again. Seven bills after July gave back 100.00 each, and July the rest.
    expect(itemsOn(july!)).toEqual([
      [false, false, -50_000],
      [true, false, 44_516],
      [true, true, 2_724],
      [true, true, 10_000],
    ])
    expect(itemsOn(august!)).toEqual([
      [false, false, -10_000],
      [true, true, 4_968],
      [true, true, 10_000],
    ])
  })

  it('at the start of a bill changes the eight planned bills and none of the four existing ones', async () => {
    const boat = await BoatInUtc.issued({ start: '2030-01-01', end: '2031-01-01' })
    await boat.makeNext(3)
    const made = boat.billed
    await boat.endorse('2030-05-01', '600')
    expect(boat.amounts).toEqual(Array.from({ length: 8 }, () => '50.00'))
    expect(boat.billed).toEqual(made)
    addsUp(boat)
  })

  // 229.03 is in force until May 10, and 400.00 is billed to June 30. The new charge, 483.93 or 1,935.71, is spread over 22 of the
  // 31 days of May and nine months.
  it.each([
    ['600', -17_097 + 3_537 + 4_984, '49.84'],
    ['2400', -17_097 + 14_148 + 19_936, '199.36'],
  ])('to %s a year within billed time bills that time immediately: %i', async (yearly, atOnce, monthly) => {
    const boat = await BoatInUtc.issued()
    await boat.makeNext(3)
    await boat.endorse('2030-05-10', yearly)
    expect(boat.billed.at(-1)!.slice(0, 2)).toEqual(['endorsement', atOnce])
    expect(boat.planned).toHaveLength(8)
    expect(boat.amounts.slice(0, 7)).toEqual(Array.from({ length: 7 }, () => monthly))
    addsUp(boat)
  })

  it('without a change creates no invoice and keeps the plan', async () => {
    const boat = await BoatInUtc.issued()
    const plan = futureInstallments(boat.aggregate)
    await boat.endorse('2030-07-15')
    expect(futureInstallments(boat.aggregate)).toEqual(plan)
    expect(boat.billed).toHaveLength(1)
    expect(boat.amounts).toEqual(hundreds(11))
  })

  it('leaves the bill that contains it what is in force before it, and loses no cents of 1,000.00', async () => {
    const boat = await BoatInUtc.issued({ yearly: '1000' })
    await boat.endorse('2030-07-15', '600')
    // 370.97 is in force before it, and 333.32 is billed by then. July has the rest and 27.24.
    expect(boat.amounts).toEqual([
      ...Array.from({ length: 3 }, () => '83.33'),
      (37.65 + 27.24).toFixed(2),
      ...Array.from({ length: 7 }, () => '49.68'),
    ])
    addsUp(boat)
  })
})

describe('Reversing a fee', () => {
  it('removes it from planned bills, and gives back only what was billed of it', async () => {
    const boat = await BoatInUtc.issued({ fees: { reminder: 24 } })
    await boat.makeNext(1)
    const [fee] = boat.aggregate.fees.keys()
    await boat.changeFees({ reverseFees: [fee] })
    expect(boat.amounts).toEqual(hundreds(10))
    expect(boat.billed.at(-1)!.slice(0, 2)).toEqual(['other', -400])
    addsUp(boat)
  })

  it('of the second term does not change the bills of the first', async () => {
    const boat = await BoatInUtc.issued({ fees: { reminder: 24 } })
    await boat.renew('2032-03-01')
    const first = futureInstallments(boat.aggregate).slice(0, 11)
    const fee = [...boat.aggregate.fees.keys()].at(-1)
    await boat.changeFees({ reverseFees: [fee] })
    expect(futureInstallments(boat.aggregate).slice(0, 11)).toEqual(first)
    expect(boat.amounts).toEqual([...Array.from({ length: 11 }, () => '102.00'), ...hundreds(11)])
    addsUp(boat)
  })

  it('while adding another removes it from planned bills, and bills the new fee immediately', async () => {
    const boat = await BoatInUtc.issued({ fees: { reminder: 24 } })
    const [fee] = boat.aggregate.fees.keys()
    const { originalStart, originalEnd } = boat.aggregate.policy
    const mooring = {
      feeName: 'mooring',
      amount: '120.00',
      startTimestamp: String(originalStart),
      endTimestamp: String(originalEnd),
    }
    await boat.changeFees({ reverseFees: [fee], newFees: [mooring] })
    expect(boat.amounts).toEqual(hundreds(11))
    expect(boat.billed.at(-1)!.slice(0, 2)).toEqual(['other', 12_000 - 200])
    addsUp(boat)
  })
})

describe('A refund', () => {
  it.each([
    [false, 120_000, 60_000],
    [true, 132_000, 66_000],
  ])('of an unpaid year settles half of its invoice (taxed: %s)', async (isTaxed, whole, half) => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront', isTaxed })
    await boat.cancel('2030-09-01')
    expect(boat.billed).toEqual([
      ['newBusiness', whole, half, 'unfulfilled'],
      ['cancellation', -half, 0, 'paid'],
    ])
    expect(boat.limit).toBe(0)
    const [first, refund] = boat.invoices
    const [out, into] = [...boat.aggregate.payments.values()]
    expect(out).toMatchObject({
      source: 'offset',
      invoiceLocator: refund!.locator,
      offsetInvoiceLocator: first!.locator,
    })
    expect(into).toMatchObject({
      source: 'offset',
      invoiceLocator: first!.locator,
      offsetInvoiceLocator: refund!.locator,
    })
    expect([out!.amount.minor, into!.amount.minor]).toEqual([-half, half])
    const sources = boat.events.filter(one => one.type === 'payment.pay').map(one => one.data.source)
    expect(sources).toEqual(['offset', 'offset'])
    await expect(boat.reverse(into!.locator)).rejects.toMatchObject({ code: 'wrongState' })
  })

  it('can be paid out up to what was paid in, and its rest is written off', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    const payment = await boat.pay(boat.invoices[0]!)
    await boat.cancel('2030-09-01')
    await boat.reverse(payment)
    // The invoice is open again, and the refund settles half of it.
    expect(boat.billed.map(one => one[2])).toEqual([60_000, 0])
    await boat.pay(boat.invoices[0]!, { amount: '100.00' })
    expect(boat.limit).toBe(10_000)
    await boat.withdraw()
    // 500.00 of the invoice remains. The refund of 600.00 settles it, and 100.00 of the refund is left.
    expect(boat.billed.at(-1)).toEqual(['cancellation', -60_000, -10_000, 'unfulfilled'])
    await expect(boat.pay(boat.invoices.at(-1)!, { amount: '-100.01' })).rejects.toMatchObject({
      code: 'invalidRequest',
    })
    await boat.pay(boat.invoices.at(-1)!)
    expect([boat.limit, boat.billed.at(-1)![3]]).toEqual([0, 'paid'])
  })

  it('is written off and its payment rejected when nothing was paid in', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    boat.writeOff(boat.invoices[0]!)
    await boat.cancel('2030-09-01')
    const refund = boat.invoices.at(-1)!
    await expect(boat.pay(refund, { source: 'credit' })).rejects.toBeInstanceOf(RefusedPayOut)
    expect(boat.billed.at(-1)).toEqual(['cancellation', -60_000, 0, 'writtenOff'])
    expect(boat.loaded.credit.minor).toBe(0)
  })

  it('of a written-off invoice that was paid in part pays out that part only', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    await boat.pay(boat.invoices[0]!, { amount: '500.00' })
    boat.writeOff(boat.invoices[0]!)
    await boat.withdraw()
    expect(boat.billed.at(-1)).toEqual(['cancellation', -120_000, -120_000, 'unfulfilled'])
    const refund = boat.invoices.at(-1)!
    await expect(boat.pay(refund, { amount: '-500.01' })).rejects.toMatchObject({ code: 'wrongState' })
    const payment = await boat.pay(refund)
    expect(boat.aggregate.payments.get(payment)!.amount.minor).toBe(-50_000)
    expect(boat.billed.at(-1)).toEqual(['cancellation', -120_000, 0, 'writtenOff'])
    await boat.reverse(payment)
    expect(boat.billed.at(-1)).toEqual(['cancellation', -120_000, -120_000, 'unfulfilled'])
    expect(boat.limit).toBe(50_000)
  })

  it('paid out before its payment bounced leaves a limit of 0, not a negative one', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    const payment = await boat.pay(boat.invoices[0]!)
    await boat.cancel('2030-09-01')
    await boat.pay(boat.invoices.at(-1)!)
    expect(boat.limit).toBe(60_000)
    await boat.reverse(payment)
    expect(boat.limit).toBe(0)
  })

  it('can be paid out in parts to the last permitted cent, and its rest remains owed', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    await boat.pay(boat.invoices[0]!, { amount: '500.00' })
    boat.writeOff(boat.invoices[0]!)
    await boat.withdraw()
    const payOut = async (amount: string) => {
      await boat.pay(boat.invoices.at(-1)!, { amount })
      return [boat.limit, ...boat.billed.at(-1)!.slice(2)]
    }
    expect(await payOut('-200.00')).toEqual([30_000, -100_000, 'unfulfilled'])
    expect(await payOut('-300.00')).toEqual([0, -70_000, 'unfulfilled'])
  })
})

describe('A reinstatement', () => {
  const amountOf = ({ loaded }: BoatInUtc, locator: string) =>
    reinstatementResponse(
      loaded.aggregate,
      loaded.aggregate.reinstatements.get(locator as never)!,
      loaded.product,
    )

  it.each<BoatTerms>([
    {},
    { fees: { reminder: 24 } },
    { fees: { mooring: 60 }, isTaxed: true, yearly: '1000' },
  ])(
    'at the time of the cancellation restores the plan and its dates, and creates no invoice (%j)',
    async terms => {
      const boat = await BoatInUtc.issued(terms)
      const plan = boat.planned
      const reinstatement = await boat.reinstate(await boat.cancel('2030-10-15'))
      expect(boat.planned).toEqual(plan)
      expect(boat.billed).toHaveLength(1)
      const answer = amountOf(boat, reinstatement)
      expect(answer.reinstatementPaymentAmount).toBe(0)
      expect(answer.invoiceLocator).toBeUndefined()
      addsUp(boat)
      expectChargesBilledOnce(boat.loaded)
      await boat.advance('2031-03-01')
      expect(boat.billed.every(([type]) => type === 'newBusiness' || type === 'installment')).toBe(true)
      expect(amountOf(boat, reinstatement).invoiceLocator).toBeUndefined()
      addsUp(boat)
    },
  )

  it('bills immediately what a bill created since the cancellation lacks', async () => {
    const boat = await BoatInUtc.issued()
    const cancellation = await boat.cancel('2030-10-15')
    await boat.advance('2030-09-25')
    expect(boat.billed.at(-1)!.slice(0, 2)).toEqual(['installment', 4_516])
    const reinstatement = await boat.reinstate(cancellation)
    expect(boat.amounts).toEqual(hundreds(4))
    expect(boat.planned[0]![0]).toBe('2030-11-01')
    expect(boat.billed.at(-1)!.slice(0, 2)).toEqual(['reinstatement', 5_484])
    expect(amountOf(boat, reinstatement).reinstatementPaymentAmount).toBe(54.84)
    addsUp(boat)
  })

  it('bills immediately what is already due, and creates separate bills for installments to be issued now', async () => {
    const boat = await BoatInUtc.issued()
    const cancellation = await boat.cancel('2030-10-15')
    await boat.advance('2030-12-24')
    await boat.reinstate(cancellation)
    // October lacks 54.84, and November and December were due. January's bill is created ten days ahead.
    expect(boat.billed.slice(-2).map(([type, minor]) => [type, minor])).toEqual([
      ['reinstatement', 25_484],
      ['installment', 10_000],
    ])
    expect(boat.planned).toEqual([['2031-02-01', 10_000]])
    addsUp(boat)
  })

  it('first settles a refund that was not paid out, once the reinstatement is issued', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'upfront' })
    await boat.pay(boat.invoices[0]!)
    const cancellation = await boat.cancel('2030-09-01')
    const reinstatement = await boat.reinstate(cancellation, undefined, false)
    expect(boat.billed.slice(1)).toEqual([
      ['cancellation', -60_000, -60_000, 'unfulfilled'],
      ['reinstatement', 60_000, 60_000, 'unfulfilled'],
    ])
    expect(amountOf(boat, reinstatement).reinstatementPaymentAmount).toBe(600)
    await boat.onReinstatement('issue', reinstatement)
    expect(boat.billed.slice(1).map(one => one[3])).toEqual(['paid', 'paid'])
    expect(boat.limit).toBe(120_000)
    addsUp(boat)
  })

  it('with a gap restores the bills after the gap, without the share of the gap', async () => {
    const boat = await BoatInUtc.issued()
    const cancellation = await boat.cancel('2030-10-15')
    await boat.reinstate(cancellation, '2030-12-01')
    // Of the 454.84 cancelled, 3 of 4.5 months come back.
    expect(boat.amounts).toEqual([...hundreds(6), '45.16', '101.08', '101.08', '101.07'])
    expect(boat.billed).toHaveLength(1)
    addsUp(boat)
  })

  it('with a gap deducts the holdback from the first bill that returns, not immediately', async () => {
    const cancellationTypes = [{ name: 'sold', title: 'Sold', holdback: { percent: 10 } }]
    const files = { 'products/boat/policy/cancellations.json': JSON.stringify({ cancellationTypes }) }
    const boat = await BoatInUtc.issued({ files })
    await boat.pay(boat.invoices[0]!)
    const cancellation = await boat.cancel('2030-10-15')
    // 45.48 of the 454.84 is held back.
    expect(boat.amounts).toEqual([...hundreds(6), '90.64'])
    await boat.reinstate(cancellation, '2030-12-01')
    expect(boat.amounts).toEqual([...hundreds(6), '90.64', '55.60', '101.08', '101.07'])
    expect(boat.billed).toHaveLength(1)
    addsUp(boat)
  })

  it('with a gap makes no invoice of zero when exactly the holdback comes back before the first bill', async () => {
    const cancellationTypes = [{ name: 'sold', title: 'Sold', holdback: { amount: 49.79 } }]
    const files = { 'products/boat/policy/cancellations.json': JSON.stringify({ cancellationTypes }) }
    const boat = await BoatInUtc.issued({ files })
    // The invoice of June exists.
    await boat.advance('2030-05-25')
    const cancellation = await boat.cancel('2030-06-01')
    const billed = boat.billed
    // 8.46 of the 9 months come back: 49.79 for the rest of June, and 99.58 for each of the others.
    await boat.reinstate(cancellation, '2030-06-16')
    expect(boat.billed).toEqual(billed)
    expect(boat.amounts).toEqual(Array(8).fill('99.58'))
    expect(boat.planned[0]![0]).toBe('2030-07-01')
    addsUp(boat)
  })

  it('with a gap returns a bill of zero when it gives back the whole holdback', async () => {
    const cancellationTypes = [{ name: 'sold', title: 'Sold', holdback: { percent: 50 } }]
    const files = { 'products/boat/policy/cancellations.json': JSON.stringify({ cancellationTypes }) }
    const boat = await BoatInUtc.issued({ schedule: 'quarterly', files })
    await boat.advance('2030-08-25')
    // 300.00 of the 600.00 is held back. The invoice of September is offset by the refund of that quarter.
    const cancellation = await boat.cancel('2030-09-01')
    const billed = boat.billed
    expect(boat.planned).toEqual([])
    await boat.reinstate(cancellation, '2030-12-01')
    expect(boat.billed).toEqual(billed)
    expect(boat.planned).toEqual([['2030-12-01', 0]])
    addsUp(boat)
  })

  describe('with a gap, when less comes back than was held back,', () => {
    const cancellationTypes = [{ name: 'sold', title: 'Sold', holdback: { percent: 90 } }]
    const files = { 'products/boat/policy/cancellations.json': JSON.stringify({ cancellationTypes }) }

    /** 409.36 of the 454.84 is held back and billed in October. 303.23 comes back, which is 106.13 less than was held back. */
    async function cancelled(): Promise<[BoatInUtc, CancellationLocator]> {
      const boat = await BoatInUtc.issued({ files })
      await boat.pay(boat.invoices[0]!)
      const cancellation = await boat.cancel('2030-10-15')
      expect(boat.amounts).toEqual([...hundreds(6), '454.52'])
      return [boat, cancellation]
    }

    it('deducts the rest from the last planned bill', async () => {
      const [boat, cancellation] = await cancelled()
      await boat.reinstate(cancellation, '2030-12-01')
      expect(boat.amounts).toEqual([...hundreds(6), '348.39'])
      expect(boat.planned.at(-1)![0]).toBe('2030-10-01')
      expect(boat.billed).toHaveLength(1)
      addsUp(boat)
      await boat.advance('2031-03-01')
      expect(boat.billed.at(-1)!.slice(0, 2)).toEqual(['installment', 34_839])
      addsUp(boat)
    })

    it.each(['weekly', 'fortnightly', 'quarterly'])(
      'leaves no negative bill after a change of the payment schedule: %s',
      async schedule => {
        const [boat, cancellation] = await cancelled()
        await boat.reschedule(schedule)
        await boat.reinstate(cancellation, '2030-12-01')
        expect(boat.billed.every(([, minor]) => minor > 0)).toBe(true)
        expect(boat.planned.every(([, minor]) => minor > 0)).toBe(true)
        addsUp(boat)
        await boat.advance('2031-03-01')
        addsUp(boat)
      },
    )

    it('gives back immediately what no planned bill can bear', async () => {
      const [boat, cancellation] = await cancelled()
      await boat.advance('2030-10-01')
      await boat.reinstate(cancellation, '2030-12-01')
      expect(boat.planned).toEqual([])
      expect(boat.billed.at(-1)!.slice(0, 2)).toEqual(['reinstatement', -10_613])
      addsUp(boat)
    })

    it('restores the bills when it is invalidated before issue', async () => {
      const [boat, cancellation] = await cancelled()
      const plan = boat.planned
      const reinstatement = await boat.reinstate(cancellation, '2030-12-01', false)
      expect(boat.amounts).toEqual([...hundreds(6), '348.39'])
      await boat.onReinstatement('invalidate', reinstatement)
      expect(boat.planned).toEqual(plan)
      addsUp(boat)
    })
  })

  it('with a gap after a schedule change spreads what comes back by the months of its bills', async () => {
    for (const schedule of ['upfront', 'weekly']) {
      const boat = await BoatInUtc.issued()
      const cancellation = await boat.cancel('2030-10-15')
      await boat.reschedule(schedule)
      const kept = boat.planned.length
      await boat.reinstate(cancellation, '2030-12-01')
      // 303.23, although the three months differ in length.
      expect(boat.planned.slice(kept).map(one => one[1])).toEqual([10_108, 10_108, 10_107])
      addsUp(boat)
    }
  })

  it('with a gap bills equal months although the next term is billed fortnightly: 800.00 in eight', async () => {
    const boat = await BoatInUtc.issued({ start: '2035-03-01', end: '2036-03-01' })
    await boat.renew('2037-03-01', { newPaymentScheduleName: 'fortnightly' })
    const cancellation = await boat.cancel('2035-06-01')
    await boat.reinstate(cancellation, '2035-07-01')
    expect(boat.amounts.slice(0, 12)).toEqual([...hundreds(10), '46.03', '46.03'])
    addsUp(boat)
  })

  it('followed by a cancellation for the same time leaves the bills that the first cancellation left', async () => {
    const boat = await BoatInUtc.issued()
    for (const date of ['2030-10-15', '2030-10-01']) {
      const plan = boat.planned
      const cancellation = await boat.cancel(date)
      const after = boat.planned
      for (let again = 0; again < 2; again += 1) {
        await boat.reinstate(again === 0 ? cancellation : await boat.cancel(date))
        expect(boat.planned).toEqual(plan)
        const second = await boat.cancel(date)
        expect(boat.planned).toEqual(after)
        expect(boat.billed).toHaveLength(1)
        addsUp(boat)
        await boat.reinstate(second)
      }
    }
    const cancellation = await boat.cancel('2030-10-15')
    await boat.reinstate(cancellation, '2030-12-01')
    await boat.cancel('2030-12-01')
    expect(boat.amounts).toEqual([...hundreds(6), '45.16'])
    expect(boat.billed).toHaveLength(1)
    addsUp(boat)
  })

  it('with a gap, then endorsed from before it, bills each bill’s own time and nothing for the gap', async () => {
    const boat = await BoatInUtc.issued()
    await boat.reinstate(await boat.cancel('2030-10-15'), '2030-12-16')
    await boat.endorse('2030-09-01', '2400')
    // 492.86 for two months and 13 of 28 days, by the days of December.
    expect(boat.planned.slice(5)).toEqual([
      ['2030-09-01', 20_000],
      ['2030-10-01', 9_032],
      ['2030-12-01', 10_110],
      ['2031-01-01', 19_588],
      ['2031-02-01', 19_588],
    ])
    expect(boat.billed).toHaveLength(1)
    addsUp(boat)
    await boat.advance('2031-03-01')
    addsUp(boat)
  })

  it('with a gap, then endorsed with another schedule, bills nothing for the gap and refunds nothing', async () => {
    for (const [schedule, plan] of [
      [
        'monthly',
        [
          ['2030-09-01', 20_064],
          ['2030-10-01', 9_060],
          ['2030-12-16', 10_091],
          ['2031-01-01', 19_551],
          ['2031-02-01', 19_552],
        ],
      ],
      [
        'quarterly',
        [
          ['2030-09-01', 29_124],
          ['2030-12-16', 49_194],
        ],
      ],
    ] as const) {
      const boat = await BoatInUtc.issued()
      await boat.reinstate(await boat.cancel('2030-10-15'), '2030-12-16')
      await boat.endorse('2030-09-01', '2400', { newPaymentScheduleName: schedule })
      expect(boat.planned.slice(5)).toEqual(plan)
      expect(boat.billed).toHaveLength(1)
      addsUp(boat)
    }
  })

  it('with a gap, then cancelled in the time that came back, keeps the bills before the gap', async () => {
    const boat = await BoatInUtc.issued()
    await boat.reinstate(await boat.cancel('2030-10-15'), '2030-12-01')
    await boat.cancel('2031-01-16')
    // 303.23 is for three months, of which one month and 15 of 31 days remain: 149.98.
    expect(boat.amounts).toEqual([...hundreds(6), '45.16', '101.08', '48.90'])
    expect(boat.billed).toHaveLength(1)
    addsUp(boat)
  })

  it('followed by an endorsement at the same time keeps the bill before it', async () => {
    const boat = await BoatInUtc.issued()
    await boat.reinstate(await boat.cancel('2030-10-15'))
    await boat.endorse('2030-10-15', '2400')
    // 45.16 for the days before, and 900.00 for four and a half months.
    expect(boat.amounts).toEqual([...hundreds(6), '153.67', '197.87', '197.87', '197.87', '197.88'])
    expect(boat.billed).toHaveLength(1)
    addsUp(boat)
  })

  it('of two cancellations, one after the other, restores each bill on its date', async () => {
    const boat = await BoatInUtc.issued()
    const plan = boat.planned
    const first = await boat.cancel('2030-10-15')
    const second = await boat.cancel('2030-08-15')
    await boat.reinstate(second)
    expect(boat.planned.slice(4)).toEqual([...plan.slice(4, 6), ['2030-10-01', 4_516]])
    await boat.reinstate(first)
    expect(boat.planned).toEqual(plan)
    expect(boat.billed).toHaveLength(1)
    addsUp(boat)
    await boat.advance('2031-03-01')
    addsUp(boat)
  })

  it('restores all cover from the time of the cancellation when two earlier reinstatements had restored it', async () => {
    const boat = await BoatInUtc.issued()
    const first = await boat.cancel('2030-10-15')
    const second = await boat.cancel('2030-08-15')
    await boat.reinstateOutOfOrder(first)
    await boat.reinstate(second)
    const plan = boat.planned
    await boat.reinstate(await boat.cancel('2030-09-01'))
    expect([...boat.aggregate.modifications.values()].at(-1)).toMatchObject({
      effectiveAt: utc('2030-09-01'),
    })
    expect(boat.planned).toEqual(plan)
    expect(boat.billed).toHaveLength(1)
    addsUp(boat)
  })

  it('restores the plan each time when a policy is cancelled and reinstated twice', async () => {
    const boat = await BoatInUtc.issued({ fees: { reminder: 24, mooring: 60 }, yearly: '1000' })
    const plan = boat.planned
    for (const date of ['2030-10-15', '2030-07-20']) {
      await boat.reinstate(await boat.cancel(date))
      expect(boat.planned).toEqual(plan)
    }
    addsUp(boat)
  })
})

describe('Changing the payment schedule', () => {
  const quarters = [['2030-06-01', 30_000] as const]
  const billedAtOnce = [
    ['newBusiness', 10_000],
    ['installment', 20_000],
  ]
  const billedBy = (boat: BoatInUtc) => boat.billed.map(([type, minor]) => [type, minor])

  it('of a policy that ends early bills each quarter for what is in force in it', async () => {
    const boat = await BoatInUtc.issued()
    await boat.cancel('2030-10-15')
    await boat.reschedule('quarterly')
    expect(billedBy(boat)).toEqual(billedAtOnce)
    expect(boat.planned).toEqual([...quarters, ['2030-09-01', 10_000 + 4_516]])
    addsUp(boat)
  })

  it('of a policy that becomes cheaper later bills each quarter for what is in force in it', async () => {
    const boat = await BoatInUtc.issued()
    await boat.endorse('2030-07-15', '600')
    await boat.reschedule('quarterly')
    expect(billedBy(boat)).toEqual(billedAtOnce)
    const third = 10_000 + 7_240 + 4_968
    expect(boat.amounts).toEqual([third, 3 * 4_968, 3 * 4_968].map(minor => (minor / 100).toFixed(2)))
    addsUp(boat)
  })

  it('repeatedly keeps at most one rest of a charge for each bill', async () => {
    const boat = await BoatInUtc.issued()
    await boat.endorse('2030-07-15', '600')
    const before = boat.planned.reduce((sum, one) => sum + one[1], 0)
    for (const schedule of ['weekly', 'monthly', 'fortnightly', 'monthly', 'weekly', 'monthly'])
      await boat.reschedule(schedule)
    const bills = openInstallments(boat.aggregate)
    const perCharge = Map.groupBy(restsToSpread(boat.aggregate, bills), one => one.id)
    for (const rests of perCharge.values()) expect(rests.length).toBeLessThanOrEqual(bills.length)
    const made = boat.billed.slice(1).reduce((sum, one) => sum + one[1], 0)
    expect(made + boat.planned.reduce((sum, one) => sum + one[1], 0)).toBe(before)
    addsUp(boat)
  })

  it('with an endorsement before an existing one still bills each month for what is in force in it', async () => {
    const boat = await BoatInUtc.issued({ schedule: 'quarterly' })
    await boat.endorse('2030-09-01', '1800')
    await boat.endorse('2030-06-01', undefined, { newPaymentScheduleName: 'monthly' })
    expect(boat.amounts).toEqual([...hundreds(3), ...Array.from({ length: 6 }, () => '150.00')])
    addsUp(boat)
  })

  it('gives back immediately what a bill of the next term overcharges, and bills nothing early', async () => {
    const boat = await BoatInUtc.issued()
    await boat.renew('2032-03-01')
    await boat.endorse('2030-07-01', '600', { newPaymentScheduleName: 'monthly' })
    expect(billedBy(boat)).toEqual([
      ['newBusiness', 10_000],
      ['renewal', 10_000],
      ['endorsement', -5_000],
    ])
    const fifties = Array.from({ length: 8 + 11 }, () => '50.00')
    expect(boat.amounts).toEqual([...hundreds(3), ...fifties])
    addsUp(boat)
  })
})

it('bills held back by an accepted change are due at the end of the day on which they are created', async () => {
  const boat = await BoatInUtc.issued()
  await boat.endorse('2030-03-15', '1400', { state: 'accepted', newPaymentScheduleName: 'upfront' })
  await boat.advance('2030-06-10')
  await boat.endorse('2030-03-15', '1300', { conflictHandling: 'invalidate' })
  await boat.record(await decideInvoicing(boat.loaded, boat.attempt))
  const made = boat.invoices.filter(one => one.createdAt === boat.now)
  expect(made.length).toBeGreaterThan(2)
  expect(made.map(one => one.dueAt).sort()[0]).toBe(utc('2030-06-11') - 1)
  addsUp(boat)
})
