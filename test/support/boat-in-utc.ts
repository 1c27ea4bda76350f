// A boat policy in UTC, for one year from March 1, 2030, recorded as the policy's object records it. For amounts that are billed,
// given back and paid (brief 4.5). February has 28 days.

import { decideInvoicing, decideNextInvoice } from '../../src/billing/billing.ts'
import { payOutLimit } from '../../src/billing/payments.ts'
import type { CancellationLocator, Uuid } from '../../src/kernel/locators.ts'
import { dayStart, type Instant } from '../../src/kernel/time.ts'
import type { NewEvent } from '../../src/platform/events/outbox.ts'
import { futureInstallments, restDue, totalDueOf } from '../../src/policy/bills/amounts-due.ts'
import { FeeUpdateRequest } from '../../src/policy/contract/billing.ts'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import { billedItemsOf } from '../../src/policy/projection/billed-items.ts'
import { type PolicyAggregate, putRecords } from '../../src/policy/records/aggregate.ts'
import { type Invoice, invoiceStatus } from '../../src/policy/records/invoice.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import type { Planned } from '../../src/policy/transitions.ts'
import type { Attempt } from '../../src/rating/rate.ts'
import { decideCancellation } from '../../src/transactions/cancellations/decision.ts'
import { EndorsementCreateRequest } from '../../src/transactions/endorsements/contract.ts'
import { decideEndorsement } from '../../src/transactions/endorsements/kind.ts'
import { planFeeUpdate } from '../../src/transactions/fees/fee-update.ts'
import { decideCreation, decideIssue } from '../../src/transactions/new-business/decision.ts'
import { withCredit } from '../../src/transactions/payments/credit.ts'
import { decidePayment, RefusedPayOut } from '../../src/transactions/payments/kind.ts'
import { decideReinstatement } from '../../src/transactions/reinstatements/decision.ts'
import { RenewalCreateRequest } from '../../src/transactions/renewals/contract.ts'
import { decideScheduleChange } from '../../src/transactions/schedule/schedule-change.ts'
import { reinstatementOf } from '../policies/list-aggregates.ts'
import { boatContext } from './boat-context.ts'
import type { PluginFunctions } from './plugin-function.ts'
import { attemptAt } from './policy-story.ts'
import { totalDue } from './total-due.ts'
import '../../src/transactions/kinds.ts'

const HOUR_MS = 3_600_000

/** Midnight of a day, e.g. `2030-10-15`, in UTC. */
export const utc = (date: string): Instant => dayStart(date, 'UTC' as never)!

const dayOf = (at: Instant): string => new Date(at).toISOString().slice(0, 10)

export type BoatTerms = {
  readonly schedule?: string
  readonly yearly?: string
  readonly isTaxed?: boolean
  /** Standard fees by name. `reminder` is flat, `mooring` proratable. */
  readonly fees?: Readonly<Record<string, number>>
  readonly start?: string
  readonly end?: string
  /** Files that replace or add to those of the configuration. */
  readonly files?: Readonly<Record<string, string>>
  /** Returns the plugins at a time. */
  readonly plugins?: (now: Instant) => PluginFunctions
}

export class BoatInUtc {
  loaded: Loaded
  now: Instant
  readonly events: NewEvent[] = []
  readonly #plugins: (now: Instant) => PluginFunctions

  private constructor(loaded: Loaded, now: Instant, plugins: (now: Instant) => PluginFunctions) {
    this.loaded = loaded
    this.now = now
    this.#plugins = plugins
  }

  /** Returns a policy that is issued nine hours after it begins. */
  static async issued({
    schedule = 'monthly',
    yearly = '1200',
    isTaxed = false,
    fees = {},
    start = '2030-03-01',
    end = '2031-03-01',
    files = {},
    plugins = () => ({}),
  }: BoatTerms = {}): Promise<BoatInUtc> {
    const now = (utc(start) + 9 * HOUR_MS) as Instant
    const added = Object.entries(fees).map(([name, amount]) => `{{ ${amount} | add_fee: "${name}" }}`)
    const ground = boatContext(
      'EUR',
      now,
      {
        'config.json': JSON.stringify({ timezone: 'UTC', currency: 'EUR' }),
        ...(added.length > 0 && { 'products/boat/policy/policy.calculations.liquid': added.join('') }),
        ...files,
      },
      isTaxed,
    )
    const request = PolicyCreateRequest.parse({
      productName: 'boat',
      policyholderLocator: ground.policyholder.locator,
      policyStartTimestamp: utc(start),
      policyEndTimestamp: utc(end),
      paymentScheduleName: schedule,
      exposures: [{ exposureName: 'hull', fieldValues: { yearly }, perils: [{ name: 'sinking' }] }],
    })
    const created = await decideCreation(request, ground, attemptAt(now, plugins(now)))
    const boat = new BoatInUtc({ ...ground, aggregate: created.aggregate }, now, plugins)
    await boat.record(await decideIssue(boat.loaded, boat.attempt))
    return boat
  }

  get attempt(): Attempt {
    return attemptAt(this.now, this.#plugins(this.now))
  }

  get aggregate(): PolicyAggregate {
    return this.loaded.aggregate
  }

  async record(plan: Planned | undefined): Promise<void> {
    if (!plan) return
    const { planned, credit } = await withCredit(this.aggregate, this.loaded, plan, this.attempt)
    this.loaded = { ...this.loaded, aggregate: planned.aggregate, credit }
    this.events.push(...planned.events)
  }

  /** Advances to one hour after midnight of the day, and creates the invoices that are due by then. */
  async advance(date: string): Promise<void> {
    const target = (utc(date) + HOUR_MS) as Instant
    for (;;) {
      const next = futureInstallments(this.aggregate)[0]
      if (!next || next.issueAt > target) break
      this.now = Math.max(this.now, next.issueAt) as Instant
      await this.record(await decideInvoicing(this.loaded, this.attempt))
    }
    this.now = target
  }

  /** Creates the invoices of the next `count` planned installments, before their time. */
  async makeNext(count: number): Promise<void> {
    for (let made = 0; made < count; made += 1)
      await this.record((await decideNextInvoice(this.loaded, this.attempt)).planned)
  }

  async cancel(date: string): Promise<CancellationLocator> {
    const request = {
      effectiveTimestamp: utc(date),
      name: 'sold',
      conflictHandling: 'invalidate' as const,
      cancellationCategory: undefined,
      issue: true,
    }
    const { planned, cancellation } = await decideCancellation(
      this.loaded,
      { action: 'create', request },
      this.attempt,
    )
    await this.record(planned)
    return cancellation!
  }

  async withdraw(): Promise<void> {
    await this.record((await decideCancellation(this.loaded, { action: 'withdraw' }, this.attempt)).planned)
  }

  /**
   * Creates, accepts and (unless `issue` is false) issues a reinstatement, from the cancellation's time or from the given day.
   */
  async reinstate(cancellation: CancellationLocator, date?: string, issue = true): Promise<Uuid> {
    const reinstatement = await this.draftReinstatement(cancellation, date, issue)
    if (!issue) await this.onReinstatement('accept', reinstatement)
    return reinstatement
  }

  async draftReinstatement(cancellation: CancellationLocator, date?: string, issue = false): Promise<Uuid> {
    const request = {
      effectiveTimestamp: date === undefined ? undefined : utc(date),
      reinstatementDeadlineTimestamp: undefined,
      issue,
    }
    const operation = { action: 'create' as const, cancellation, request }
    const { planned, reinstatement } = await decideReinstatement(this.loaded, operation, this.attempt)
    await this.record(planned)
    return reinstatement
  }

  /** Reinstates a cancellation although later ones are in force, as release 0.1.0 did. Stored policies may have such a history. */
  async reinstateOutOfOrder(cancellation: CancellationLocator): Promise<void> {
    const standIns = [...this.aggregate.cancellations.keys()]
      .filter(one => one !== cancellation)
      .map(one => reinstatementOf({ cancellationLocator: one }))
    const { reinstatements } = this.aggregate
    this.#keepReinstatements(putRecords(reinstatements, standIns))
    await this.reinstate(cancellation)
    const kept = [...this.aggregate.reinstatements].filter(([, one]) => !standIns.includes(one))
    this.#keepReinstatements(new Map(kept))
  }

  #keepReinstatements(reinstatements: PolicyAggregate['reinstatements']): void {
    this.loaded = { ...this.loaded, aggregate: { ...this.aggregate, reinstatements } }
  }

  async onReinstatement(action: 'accept' | 'issue' | 'invalidate', reinstatement: Uuid): Promise<void> {
    await this.record(
      (await decideReinstatement(this.loaded, { action, reinstatement }, this.attempt)).planned,
    )
  }

  /** Endorses the policy: from that day, a year of the boat costs `yearly`. Without `yearly`, nothing changes. */
  async endorse(date: string, yearly?: string, more: object = {}): Promise<void> {
    const [exposureLocator] = this.aggregate.exposures.keys()
    const request = EndorsementCreateRequest.parse({
      endorsementName: 'change',
      startTimestamp: utc(date),
      state: 'issued',
      ...(yearly && { updateExposures: [{ exposureLocator, fieldValues: { yearly } }] }),
      ...more,
    })
    await this.record(
      (await decideEndorsement(this.loaded, { action: 'create', request }, this.attempt)).planned,
    )
  }

  async renew(end: string, more: object = {}): Promise<void> {
    const request = RenewalCreateRequest.parse({ renewalEndTimestamp: utc(end), state: 'issued', ...more })
    await this.record(
      (await decideEndorsement(this.loaded, { action: 'renew', request }, this.attempt)).planned,
    )
  }

  async reschedule(name: string): Promise<void> {
    await this.record(await decideScheduleChange(this.loaded, name, this.attempt))
  }

  async changeFees(request: object): Promise<void> {
    const { product } = this.loaded
    const context = { product, ...this.attempt }
    await this.record(planFeeUpdate(this.aggregate, FeeUpdateRequest.parse(request), context))
  }

  /** Pays the invoice. If the payment is refused, what the refusal carries out is recorded before the error is thrown. */
  async pay({ locator: invoice }: Invoice, more: object = {}): Promise<Uuid> {
    const request = { fieldValues: {}, amount: undefined, source: undefined, ...more }
    try {
      const paid = await decidePayment(this.loaded, { action: 'pay', invoice, request }, this.attempt)
      await this.record(paid.planned)
      return paid.payment
    } catch (problem) {
      if (problem instanceof RefusedPayOut) await this.record(problem.planned)
      throw problem
    }
  }

  async reverse(payment: Uuid): Promise<void> {
    await this.record(
      (await decidePayment(this.loaded, { action: 'reverse', payment }, this.attempt)).planned,
    )
  }

  /** Changes only the records: no operation writes off an invoice that asks for money. */
  writeOff({ locator }: Invoice): void {
    const invoice = this.aggregate.invoices.get(locator)!
    const statuses = [...invoice.statuses, { at: this.now, status: 'writtenOff' as const }]
    const invoices = new Map(this.aggregate.invoices).set(locator, { ...invoice, statuses })
    this.loaded = { ...this.loaded, aggregate: { ...this.aggregate, invoices } }
  }

  get invoices(): Invoice[] {
    return [...this.aggregate.invoices.values()]
  }

  /** Each invoice: type, total, open amount, status. */
  get billed(): [type: string, minor: number, open: number, status: string][] {
    return this.invoices.map(one => {
      const status = invoiceStatus(one)
      const open = status === 'unfulfilled' ? restDue(this.aggregate, one).minor : 0
      return [one.type, totalDueOf(this.aggregate, one).minor, open, status]
    })
  }

  /** The planned installments: due date and amount. */
  get planned(): [due: string, minor: number][] {
    const itemsOf = billedItemsOf(this.aggregate)
    const { currency } = this.aggregate.policy
    return futureInstallments(this.aggregate).map(one => [
      dayOf(one.dueAt),
      totalDue(itemsOf(one), currency).minor,
    ])
  }

  /** Amounts of the planned installments, in major units. */
  get amounts(): string[] {
    return this.planned.map(([, minor]) => (minor / 100).toFixed(2))
  }

  get limit(): number {
    return payOutLimit(this.aggregate).minor
  }
}
