// A book of twelve policies whose figures can be worked out in the head (docs/reports.md): a year of cover costs 1,200.00 and 10%
// tax, so a month costs 100.00 and 10.00. The year is 2030.
import '../../src/transactions/kinds.ts'
import { decideInvoicing } from '../../src/billing/billing.ts'
import type { Uuid } from '../../src/kernel/locators.ts'
import { fromMinor, zero } from '../../src/kernel/money.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { FeeUpdateRequest } from '../../src/policy/contract/billing.ts'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import { disbursementRow, journalOfChange, openingsOf } from '../../src/policy/journal/history.ts'
import type { JournalRow, StoredJournalRow } from '../../src/policy/journal/rows.ts'
import { isOutstanding } from '../../src/policy/records/invoice.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import type { Planned } from '../../src/policy/transitions.ts'
import { decideCancellation } from '../../src/transactions/cancellations/decision.ts'
import { EndorsementCreateRequest } from '../../src/transactions/endorsements/contract.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { planFeeUpdate } from '../../src/transactions/fees/fee-update.ts'
import { decideCreation, decideIssue } from '../../src/transactions/new-business/decision.ts'
import { withCredit } from '../../src/transactions/payments/credit.ts'
import { decidePayment } from '../../src/transactions/payments/kind.ts'
import { decideReinstatement } from '../../src/transactions/reinstatements/decision.ts'
import { RenewalCreateRequest } from '../../src/transactions/renewals/contract.ts'
import { boatContext } from './boat-context.ts'
import { month } from './boat-product.ts'
import { attemptAt, inState } from './policy-story.ts'

const policyFolder = 'products/boat/policy'

/** The cancellation type `early` holds back 40.00. */
const FILES = {
  [`${policyFolder}/cancellations.json`]: JSON.stringify({
    cancellationTypes: [
      { name: 'sold', title: 'Sold', documents: [] },
      { name: 'early', title: 'Early', documents: [], holdback: { amount: 40 } },
    ],
  }),
}

const GROUND = boatContext('EUR', month(0), FILES)

export const BOOK_CONFIGURATION = GROUND.configuration.configuration

/** A policy over time. Its journal is what each step posts. */
export class Boat {
  loaded: Loaded
  readonly posted: JournalRow[] = []

  private constructor(loaded: Loaded, credit = zero(GROUND.currency)) {
    this.loaded = { ...loaded, credit }
  }

  /** Issued at the start of 2030, unless `isIssued` is false. */
  static async made({
    yearly = 1_200,
    months = 12,
    schedule = 'upfront',
    credit = 0,
    isIssued = true,
    now = month(0),
  } = {}): Promise<Boat> {
    const ground = { ...GROUND, credit: fromMinor(credit, GROUND.currency) }
    const request = PolicyCreateRequest.parse({
      productName: 'boat',
      policyholderLocator: GROUND.policyholder.locator,
      policyStartTimestamp: month(0),
      policyEndTimestamp: month(months),
      paymentScheduleName: schedule,
      finalize: isIssued,
      exposures: [
        { exposureName: 'hull', fieldValues: { yearly: String(yearly) }, perils: [{ name: 'sinking' }] },
      ],
    })
    const created = await decideCreation(request, ground, attemptAt(now))
    const boat = new Boat({ ...ground, aggregate: created.aggregate }, ground.credit)
    boat.posted.push(...journalOfChange(undefined, created.aggregate, now))
    if (isIssued) await boat.record(now, loaded => decideIssue(loaded, attemptAt(now)))
    return boat
  }

  /** Records a decision and the invoices that are due, as the policy's object does. */
  async record(
    now: Instant,
    decide: (loaded: Loaded) => Promise<Planned | undefined> | Planned | undefined,
  ): Promise<this> {
    const planned = await decide(this.loaded)
    if (planned) await this.#keep(planned, now)
    const invoiced = await decideInvoicing(this.loaded, attemptAt(now))
    if (invoiced) await this.#keep(invoiced, now)
    return this
  }

  async #keep(plan: Planned, now: Instant): Promise<void> {
    const before = this.loaded.aggregate
    const { planned, credit } = await withCredit(before, this.loaded, plan, attemptAt(now))
    this.loaded = { ...this.loaded, aggregate: planned.aggregate, credit }
    this.posted.push(...journalOfChange(before, planned.aggregate, now))
  }

  /** Creates the invoices that are due. */
  bill = (now: Instant): Promise<this> => this.record(now, () => undefined)

  pay = (now: Instant, amount?: string): Promise<this> =>
    this.record(now, async loaded => {
      const invoice = [...loaded.aggregate.invoices.values()].find(isOutstanding)!
      const request = { fieldValues: {}, amount }
      return (
        await decidePayment(loaded, { action: 'pay', invoice: invoice.locator, request }, attemptAt(now))
      ).planned
    })

  reverse = (now: Instant): Promise<this> =>
    this.record(now, async loaded => {
      const payment = [...loaded.aggregate.payments.values()].at(-1)!.locator
      return (await decidePayment(loaded, { action: 'reverse', payment }, attemptAt(now))).planned
    })

  endorse = (now: Instant, from: Instant, yearly: number): Promise<this> =>
    this.record(now, async loaded => {
      const request = EndorsementCreateRequest.parse({
        endorsementName: 'change',
        startTimestamp: from,
        state: 'issued',
        updateExposures: [
          {
            exposureLocator: [...loaded.aggregate.exposures.keys()][0],
            fieldValues: { yearly: String(yearly) },
          },
        ],
      })
      return (await decideEndorsement(loaded, { action: 'create', request }, attemptAt(now))).planned
    })

  cancel = (now: Instant, from: Instant, name = 'sold'): Promise<this> =>
    this.record(now, async loaded => {
      const request = {
        effectiveTimestamp: from,
        name,
        conflictHandling: 'block' as const,
        cancellationCategory: undefined,
        issue: true,
      }
      return (await decideCancellation(loaded, { action: 'create', request }, attemptAt(now))).planned
    })

  withdraw = (now: Instant): Promise<this> =>
    this.record(
      now,
      async loaded => (await decideCancellation(loaded, { action: 'withdraw' }, attemptAt(now))).planned,
    )

  reinstate = (now: Instant, from?: Instant): Promise<this> =>
    this.record(now, async loaded => {
      const { locator } = inState(loaded.aggregate.cancellations, 'issued').at(-1)!
      const request = {
        effectiveTimestamp: from,
        reinstatementDeadlineTimestamp: undefined,
        issue: true,
      }
      const operation = { action: 'create' as const, cancellation: locator, request }
      return (await decideReinstatement(loaded, operation, attemptAt(now))).planned
    })

  renew = (now: Instant, to: Instant): Promise<this> =>
    this.record(now, async loaded => {
      const request = RenewalCreateRequest.parse({ renewalEndTimestamp: to, state: 'issued' })
      return (await decideEndorsement(loaded, { action: 'renew', request }, attemptAt(now))).planned
    })

  addFee = (now: Instant, amount: string): Promise<this> =>
    this.record(now, loaded => {
      const fee = { feeName: 'reminder', amount, startTimestamp: now, endTimestamp: month(12) }
      const request = FeeUpdateRequest.parse({ newFees: [fee] })
      return planFeeUpdate(loaded.aggregate, request, { product: loaded.product, ...attemptAt(now) })
    })
}

export type BookedBoat = {
  readonly loaded: Loaded
  readonly rows: readonly StoredJournalRow[]
}

const stored = (rows: readonly JournalRow[]): StoredJournalRow[] =>
  rows.map((row, id) => ({ ...row, id: id + 1, closedUntil: 0 as Instant }))

/** The book in the order of docs/reports.md, and what was paid out of the policyholder's credit. */
export async function twelveBoats(): Promise<{
  boats: BookedBoat[]
  disbursements: StoredJournalRow[]
}> {
  const one = await Boat.made()
  await one.pay(month(0, 15))
  const two = await Boat.made({ schedule: 'monthly' })
  await two.pay(month(0, 15))
  await two.bill(month(1))
  const three = await Boat.made()
  await three.endorse(month(5), month(6), 1_800)
  const four = await Boat.made()
  await four.endorse(month(2), month(9), 2_400)
  await four.endorse(month(3), month(6), 1_800)
  const five = await Boat.made()
  await five.pay(month(0, 15))
  await five.cancel(month(7), month(8))
  await five.pay(month(8))
  const six = await Boat.made()
  await six.cancel(month(1), month(0))
  const seven = await Boat.made()
  await seven.cancel(month(7), month(8), 'early')
  const eight = await Boat.made()
  await eight.withdraw(month(1))
  const nine = await Boat.made()
  await nine.cancel(month(4), month(4))
  await nine.reinstate(month(4, 10))
  const ten = await Boat.made({ months: 6 })
  await ten.renew(month(5), month(12))
  const eleven = await Boat.made()
  await eleven.addFee(month(2), '50.00')
  await eleven.pay(month(2, 15), '1400.00')
  await eleven.reverse(month(3))
  await eleven.pay(month(3, 15), '1400.00')
  const twelve = await Boat.made({ isIssued: false })
  const boats = [one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve]
  const { locator } = GROUND.policyholder
  return {
    boats: boats.map(({ loaded, posted }) => ({ loaded, rows: stored(posted) })),
    disbursements: stored([
      disbursementRow(
        locator,
        '5b9a3f61-0000-4000-8000-000000000000' as Uuid,
        fromMinor(3_000, GROUND.currency),
        month(4),
      ),
    ]),
  }
}

const asMigrated = ({ loaded }: Boat, at: Instant): BookedBoat => ({
  loaded,
  rows: stored(openingsOf(loaded.aggregate, at)),
})

/** The first boat, as if migrated from another system in February. */
export async function migratedBoat(): Promise<BookedBoat> {
  const boat = await Boat.made()
  await boat.pay(month(0, 15))
  return asMigrated(boat, month(1))
}

/** The seventh boat, as if migrated from another system in October. */
export async function migratedBoatThatKept40(): Promise<BookedBoat> {
  const boat = await Boat.made()
  await boat.cancel(month(7), month(8), 'early')
  return asMigrated(boat, month(9))
}
