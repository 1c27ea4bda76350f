// Invoices and planned invoices together itemise what is in force: premium, each tax, fees, holdbacks, and the commission of each
// recipient, in currencies with 0, 2 and 3 minor digits. Commissions belong to no total, so no other property would miss them.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Refusal } from '../../src/kernel/errors.ts'
import { type CurrencyCode, money, toText } from '../../src/kernel/money.ts'
import { futureInstallments, installmentOf, standingInvoices } from '../../src/policy/bills/amounts-due.ts'
import type { Charge } from '../../src/policy/bills/charge.ts'
import { isIssued } from '../../src/policy/fold/line.ts'
import { billedItemsOf } from '../../src/policy/projection/billed-items.ts'
import { policyView } from '../../src/policy/projection/policy.ts'
import { boundQuote } from '../../src/policy/records/aggregate.ts'
import { invoiceStatus } from '../../src/policy/records/invoice.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { BoatInUtc, utc } from '../support/boat-in-utc.ts'
import { SCHEDULES } from '../support/boat-product.ts'
import { inState } from '../support/policy-story.ts'
import { size } from '../support/sizes.ts'

const SEED = 20261201

const POLICY = 'products/boat/policy'

const filesIn = (currency: string): Record<string, string> => ({
  'config.json': JSON.stringify({ timezone: 'UTC', currency }),
  [`${POLICY}/exposures/hull/perils/sinking.premium.liquid`]: `{% assign yearly = data.exposure_characteristics.field_values.yearly %}
{{ yearly | set_year_premium }}{{ yearly | times: 0.07 | add_year_commission: "broker" }}{{ 3.333 | add_commission: "agency" }}`,
  [`${POLICY}/taxes/taxes.json`]: JSON.stringify({ taxes: ['levy', 'duty'].map(name => ({ name })) }),
  [`${POLICY}/taxes/duty.premium.liquid`]:
    '{{ data.peril_characteristics.premium | times: 0.0033 | set_peril_tax }}',
  [`${POLICY}/cancellations.json`]: JSON.stringify({
    cancellationTypes: [{ name: 'sold', title: 'Sold', holdback: { percent: '12.5' } }],
  }),
})

type Step = { kind: keyof typeof STEPS; at: number; yearly: string; schedule: string }

const dayAfterStart = (days: number): string =>
  new Date(utc('2030-03-01') + days * 86_400_000).toISOString().slice(0, 10)

const STEPS = {
  endorse: (boat: BoatInUtc, { at, yearly }: Step) => boat.endorse(dayAfterStart(at), yearly),
  cancel: (boat: BoatInUtc, { at }: Step) => boat.cancel(dayAfterStart(at)),
  reinstate: async (boat: BoatInUtc) => {
    const last = inState(boat.aggregate.cancellations, 'issued').at(-1)
    if (last) await boat.reinstate(last.locator)
  },
  renew: (boat: BoatInUtc, { at }: Step) => boat.renew(dayAfterStart(400 + 2 * at)),
  reschedule: (boat: BoatInUtc, { schedule }: Step) => boat.reschedule(schedule),
  makeNext: (boat: BoatInUtc) => boat.makeNext(1),
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(...(Object.keys(STEPS) as Step['kind'][])),
  at: fc.integer({ min: 0, max: 364 }),
  yearly: fc
    .oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 9_999_999 }))
    .map(thousandths => (thousandths / 1_000).toFixed(3)),
  schedule: fc.constantFrom(...Object.keys(SCHEDULES)),
})

const stepOf = (kind: Step['kind'], more: Partial<Step> = {}): Step => ({
  kind,
  at: 190,
  yearly: '0.000',
  schedule: 'weekly',
  ...more,
})

/** The first bill of a reinstatement totaled zero and was hidden with a commission. */
const FOUND_BEFORE: [string, Step, Step[]][] = [
  [
    'KWD',
    stepOf('endorse', { yearly: '0.001', schedule: 'monthly' }),
    ['endorse', 'reschedule', 'cancel', 'makeNext', 'reinstate'].map(kind => stepOf(kind as Step['kind'])),
  ],
]

function nameOf(charge: Charge): string {
  if (charge.type === 'commission') return `commission ${charge.commissionRecipient}`
  return charge.type === 'tax' ? `tax ${charge.taxName}` : charge.type
}

/** The sums of all items that are billed or planned, by type and name. Without sums of zero. */
function itemised({ aggregate }: BoatInUtc): Map<string, number> {
  const itemsOf = billedItemsOf(aggregate)
  const bills = [
    // The items of an invoice that was carried forward are on the next one.
    ...standingInvoices(aggregate)
      .filter(invoice => invoiceStatus(invoice) !== 'carriedForward')
      .map(invoice => installmentOf(aggregate, invoice)),
    ...futureInstallments(aggregate),
  ]
  const sums = new Map<string, number>()
  for (const { charge, amount } of bills.flatMap(itemsOf))
    sums.set(nameOf(charge), (sums.get(nameOf(charge)) ?? 0) + amount.minor)
  return sums
}

/** The same of what is in force. */
function inForce({ aggregate, loaded: { product } }: BoatInUtc, currency: CurrencyCode): Map<string, number> {
  const price = policyPriceResponse(policyView(aggregate, boundQuote(aggregate), product, isIssued))
  const minor = (amount: number): number => money(amount, currency).minor
  return new Map([
    ['premium', minor(price.grossPremium)],
    ['fee', minor(price.grossFees)],
    ['holdback', price.holdbacks.reduce((sum, { amount }) => sum + minor(amount), 0)],
    ...price.taxGroups.map(({ name, amount }) => [`tax ${name}`, minor(amount)] as const),
    ...price.commissions.map(({ recipient, amount }) => [`commission ${recipient}`, minor(amount)] as const),
  ])
}

const comparable = (sums: Map<string, number>, currency: CurrencyCode): string[] =>
  [...sums]
    .filter(([, minor]) => minor !== 0)
    .map(([name, minor]) => `${name} ${toText({ minor, currency })}`)
    .sort()

it(
  `invoices and planned invoices itemise what is in force, by name (seed ${SEED})`,
  async () => {
    const seen = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('KWD', 'EUR', 'JPY'),
        step,
        fc.array(step, { minLength: 3, maxLength: 12 }),
        async (code, { schedule, yearly }, steps) => {
          const currency = code as CurrencyCode
          const fees = { reminder: 7.777, mooring: 25.25 }
          const files = filesIn(code)
          const boat = await BoatInUtc.issued({ schedule, yearly, fees, isTaxed: true, files })
          for (const one of steps) {
            const before = boat.aggregate
            try {
              await STEPS[one.kind](boat, one)
            } catch (problem) {
              if (!(problem instanceof Refusal)) throw problem
            }
            if (boat.aggregate !== before) seen.set(one.kind, (seen.get(one.kind) ?? 0) + 1)
            expect(comparable(itemised(boat), currency)).toEqual(
              comparable(inForce(boat, currency), currency),
            )
          }
        },
      ),
      { seed: SEED, numRuns: size(60, 4_000), examples: FOUND_BEFORE },
    )
    for (const kind of Object.keys(STEPS)) expect([kind, seen.get(kind) ?? 0]).not.toEqual([kind, 0])
  },
  size(150_000, 3_000_000),
)
