// A policy of an example with its own clock. Its timers fire as the clock advances, and run the decisions without a service.
import { decideInvoicing, INVOICE_TIMER } from '../../src/billing/billing.ts'
import type { Uuid } from '../../src/kernel/locators.ts'
import { dayStart, type Instant } from '../../src/kernel/time.ts'
import type { NewTimer } from '../../src/platform/commit.ts'
import type { NewEvent } from '../../src/platform/events/outbox.ts'
import { totalDueOf } from '../../src/policy/bills/amounts-due.ts'
import { PolicyCreateRequest } from '../../src/policy/contract/requests.ts'
import { journalOfChange } from '../../src/policy/journal/history.ts'
import type { JournalRow } from '../../src/policy/journal/rows.ts'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import { type Invoice, invoiceStatus } from '../../src/policy/records/invoice.ts'
import type { GracePeriod } from '../../src/policy/records/transactions.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import type { Planned } from '../../src/policy/transitions.ts'
import type { ProductDefinition } from '../../src/product/configuration.ts'
import type { Attempt } from '../../src/rating/rate.ts'
import {
  GRACE_END_TIMER,
  PAST_DUE_TIMER,
  pastDueTimers,
  REINSTATEMENT_PERIOD_TIMER,
} from '../../src/transactions/lapses/grace-periods.ts'
import { decideLapse, type LapseOperation } from '../../src/transactions/lapses/kind.ts'
import { decideCreation, decideIssue } from '../../src/transactions/new-business/decision.ts'
import { withCredit } from '../../src/transactions/payments/credit.ts'
import { decidePayment } from '../../src/transactions/payments/kind.ts'
import { decideUpgrade } from '../../src/transactions/upgrade/decision.ts'
import { type Example, newPolicyContextOf, workedPolicies } from './configurations.ts'
import type { PluginFunctions } from './plugin-function.ts'
import { attemptAt } from './policy-story.ts'
import '../../src/transactions/kinds.ts'

const HOUR_MS = 3_600_000

export class ClockedPolicy {
  loaded: Loaded
  now: Instant
  readonly events: NewEvent[] = []
  /** Journal rows that its changes posted. */
  readonly posted: JournalRow[] = []
  #timers: NewTimer[] = []

  readonly #functions: PluginFunctions

  private constructor(loaded: Loaded, now: Instant, functions: PluginFunctions) {
    this.loaded = loaded
    this.now = now
    this.#functions = functions
  }

  /** The example's plain one-year policy, issued nine hours after its start. */
  static async issued(
    example: Example,
    paymentScheduleName: string,
    product: Partial<ProductDefinition> = {},
    functions: PluginFunctions = {},
  ): Promise<ClockedPolicy> {
    const policy = await ClockedPolicy.finalized(example, paymentScheduleName, product, functions)
    await policy.issue()
    return policy
  }

  /**
   * The accepted policy, invoiced if its product invoices on acceptance. `product` changes the product's configuration, and
   * `functions` are its plugins.
   */
  static async finalized(
    example: Example,
    paymentScheduleName: string,
    product: Partial<ProductDefinition> = {},
    functions: PluginFunctions = {},
  ): Promise<ClockedPolicy> {
    const { policy, policyholder } = workedPolicies(example)[0]!.request
    const now = (policy.policyStartTimestamp + 9 * HOUR_MS) as Instant
    const plain = newPolicyContextOf(example, policy.productName, policyholder.values, now)
    const ground = { ...plain, product: { ...plain.product, ...product } }
    const request = { ...policy, paymentScheduleName, policyholderLocator: ground.policyholder.locator }
    const created = await decideCreation(
      PolicyCreateRequest.parse(request),
      ground,
      attemptAt(now, functions),
    )
    const clocked = new ClockedPolicy({ ...ground, aggregate: created.aggregate }, now, functions)
    await clocked.#record(created, undefined)
    return clocked
  }

  /** An attempt at the policy's current time. */
  get attempt(): Attempt {
    return attemptAt(this.now, this.#functions)
  }

  async issue(): Promise<void> {
    await this.record(await decideIssue(this.loaded, this.attempt))
  }

  /**
   * Records a plan as the policy's object does: pays from credit, and sets past-due timers for invoices that are created,
   * reopened or moved.
   */
  async record(planned: Planned): Promise<void> {
    await this.#record(planned, this.loaded.aggregate)
  }

  async #record(plan: Planned, before: PolicyAggregate | undefined): Promise<void> {
    const { planned, credit } = await withCredit(before, this.loaded, plan, this.attempt)
    const set = [...(planned.timers ?? []), ...pastDueTimers(before, planned.aggregate, this.loaded.product)]
    for (const timer of set)
      if (!this.#timers.some(one => one.locator !== undefined && one.locator === timer.locator))
        this.#timers.push(timer)
    this.loaded = { ...this.loaded, aggregate: planned.aggregate, credit }
    this.posted.push(...journalOfChange(before, planned.aggregate, this.now))
    this.events.push(...planned.events)
  }

  /** Advances to the start of a day, or to a time, and fires all timers that fall due on the way. */
  async advance(to: string | Instant): Promise<void> {
    const target = typeof to === 'string' ? this.day(to) : to
    for (;;) {
      const next = this.#timers.toSorted((a, b) => a.dueAt - b.dueAt)[0]
      if (!next || next.dueAt > target) break
      this.#timers = this.#timers.filter(timer => timer !== next)
      this.now = Math.max(this.now, next.dueAt) as Instant
      const planned = await this.#fire(next)
      if (planned) await this.record(planned)
    }
    this.now = target
  }

  async #fire({ kind, payload }: NewTimer): Promise<Planned | undefined> {
    const attempt = this.attempt
    const lapse = async (operation: LapseOperation) =>
      (await decideLapse(this.loaded, operation, attempt)).planned
    switch (kind) {
      case INVOICE_TIMER:
        return await decideInvoicing(this.loaded, attempt)
      case PAST_DUE_TIMER:
        return await lapse({
          action: 'pastDue',
          invoice: payload.invoiceLocator as Uuid,
          isReported: payload.isReported === 'true',
          isGraceOnly: payload.isGraceOnly === 'true',
        })
      case GRACE_END_TIMER:
        return await lapse({ action: 'graceEnd', gracePeriod: payload.gracePeriodLocator as Uuid })
      case REINSTATEMENT_PERIOD_TIMER:
        return await lapse({ action: 'periodEnd', reinstatement: payload.reinstatementLocator as Uuid })
      default:
        return undefined
    }
  }

  async decide(operation: LapseOperation): Promise<Uuid> {
    const { planned, shown } = await decideLapse(this.loaded, operation, this.attempt)
    await this.record(planned!)
    return 'reinstatement' in shown! ? shown.reinstatement : (shown as { gracePeriod: Uuid }).gracePeriod
  }

  /** Pays the invoice, in full by default. */
  async pay({ locator: invoice }: Invoice, amount?: string): Promise<Uuid> {
    const request = { fieldValues: { method: ['card'] }, amount }
    const paid = await decidePayment(this.loaded, { action: 'pay', invoice, request }, this.attempt)
    await this.record(paid.planned)
    return paid.payment
  }

  async reverse(payment: Uuid): Promise<void> {
    const attempt = this.attempt
    await this.record((await decidePayment(this.loaded, { action: 'reverse', payment }, attempt)).planned)
  }

  /** Upgrades to another version of the configuration, in which the policy's product has these properties. */
  async upgrade(product: Partial<ProductDefinition>): Promise<void> {
    const { configuration: former, product: formerProduct, aggregate } = this.loaded
    const upgraded = { ...formerProduct, ...product }
    const products = { ...former.configuration.products, [upgraded.name]: upgraded }
    const target = {
      configuration: { ...former, configuration: { ...former.configuration, products } },
      configVersion: aggregate.policy.configVersion + 1,
    }
    const { planned, loaded } = decideUpgrade(this.loaded, target, { dryRun: false }, this.now).upgraded!
    this.loaded = { ...loaded, aggregate }
    await this.record(planned)
  }

  day(date: string): Instant {
    return dayStart(date, this.loaded.aggregate.policy.timeZone)!
  }

  get graces(): GracePeriod[] {
    return [...this.loaded.aggregate.gracePeriods.values()]
  }

  /** Invoices in the order of their creation. */
  get invoices(): Invoice[] {
    return [...this.loaded.aggregate.invoices.values()]
  }

  /** Each invoice: type, total in minor units, status. */
  get invoiceSummaries(): [type: string, minor: number, status: string][] {
    return this.invoices.map(invoice => [invoice.type, this.due(invoice), invoiceStatus(invoice)])
  }

  due(invoice: Invoice): number {
    return totalDueOf(this.loaded.aggregate, invoice).minor
  }

  /** Returns the types of the events since the last call. */
  takeEventTypes(): string[] {
    return this.events.splice(0).map(event => event.type)
  }
}
