// The history of a policy: terms, changes, cancellations and what follows them, each with its charges and bills.
import type { Instant } from '../../src/kernel/time.ts'
import type { Bills, Period } from './bills.ts'
import {
  changeTime,
  DAY,
  duringWorkingHours,
  isoDay,
  midnight,
  plusDays,
  plusMonths,
  plusYears,
} from './calendar.ts'
import { type Difference, TermPremiums } from './premiums.ts'
import type { Random } from './random.ts'
import { aYearLater, changedRisk, exposuresOf, type RatedExposure, type Risk } from './risk.ts'
import {
  type Charge,
  type Element,
  euros,
  type Installment,
  type InstallmentItem,
  type Policy,
  type Term,
  type Transaction,
  wireTime,
} from './wire.ts'

export type Cadence = { readonly name: string; readonly months: number }

const MONTHLY: Cadence = { name: 'monthly', months: 1 }
const QUARTERLY: Cadence = { name: 'quarterly', months: 3 }
const SEMIANNUALLY: Cadence = { name: 'semiannually', months: 6 }
const ANNUALLY: Cadence = { name: 'annually', months: 12 }

/** Payment schedules, in proportion to their frequency. */
export const CADENCES: readonly Cadence[] = [
  MONTHLY,
  MONTHLY,
  MONTHLY,
  MONTHLY,
  QUARTERLY,
  QUARTERLY,
  SEMIANNUALLY,
  SEMIANNUALLY,
  ANNUALLY,
  ANNUALLY,
  ANNUALLY,
]

const PRODUCT = 'private_motor'
const POLICY_FEE_CENTS = 1_250
const POSTAL_FEE_CENTS = 600
const INSTALLMENT_FEE_CENTS = 200
const DAYS_TO_PAY = 14

export type PolicyPlan = {
  readonly accountId: string
  readonly id: string
  readonly start: Instant
  readonly asOf: Instant
  readonly cadence: Cadence
  readonly risk: Risk
  readonly bills: Bills
  /** Policies with the same key share their invoices. */
  readonly billKey: string
}

export function policyOf(random: Random, plan: PolicyPlan): Policy {
  const { id, cadence } = plan
  return {
    id,
    productName: PRODUCT,
    durationBasis: 'years',
    ...(random.chance(0.3) && { currency: 'EUR', timezone: 'Europe/Berlin' }),
    preferences: { installmentPreferences: { cadence: cadence.name } },
    staticData: {
      formerNumber: `KFZ ${plan.accountId}/${id}`,
      tariffGeneration: `${isoDay(plan.start).slice(0, 4)}-2`,
      ...(random.chance(0.2) && { agentNote: 'Nachlass geprüft – „Bestandskunde“' }),
    },
    ...(random.chance(0.15) && {
      auxData: { entries: [{ key: 'scoring', value: { grade: 'B', points: 61 } }] },
    }),
    terms: new History(random, plan).terms(),
  }
}

class History {
  readonly #random: Random
  readonly #plan: PolicyPlan
  #risk: Risk

  constructor(random: Random, plan: PolicyPlan) {
    this.#random = random
    this.#plan = plan
    this.#risk = plan.risk
  }

  terms(): Term[] {
    const { start, asOf } = this.#plan
    const terms: Term[] = []
    for (let year = 0; ; year += 1) {
      const [from, to] = [plusYears(start, year), plusYears(start, year + 1)]
      const decided = duringWorkingHours(this.#random, plusDays(from, -this.#random.between(20, 42)))
      if (year > 0 && (decided > asOf || this.#random.chance(0.12))) return terms
      if (year > 0) this.#risk = aYearLater(this.#risk)
      const term = new TermHistory(
        this.#random,
        this.#plan,
        { from, to, year, issuedAt: decided },
        this.#risk,
      )
      terms.push(term.term())
      this.#risk = term.risk
      if (term.isOver) return terms
    }
  }
}

type TermPlan = {
  readonly from: Instant
  readonly to: Instant
  readonly year: number
  readonly issuedAt: Instant
}

type Open = { readonly installment: Installment; readonly generateAt: Instant }

class TermHistory {
  readonly #random: Random
  readonly #plan: PolicyPlan
  readonly #term: TermPlan
  readonly #premiums: TermPremiums
  readonly #transactions: Transaction[] = []
  /** Installments of the term, which a cancellation settles together. */
  #open: Open[] = []
  #exposures: readonly RatedExposure[] = []
  #lastIssued: Instant
  risk: Risk
  isOver = false

  constructor(random: Random, plan: PolicyPlan, term: TermPlan, risk: Risk) {
    this.#random = random
    this.#plan = plan
    this.#term = term
    this.#premiums = new TermPremiums(term.to)
    this.#lastIssued = term.issuedAt
    this.risk = risk
  }

  term(): Term {
    const random = this.#random
    const { from, to } = this.#term
    this.#begin()
    let at = from
    for (let changes = random.pick([0, 0, 1, 1, 1, 2]); changes > 0; changes -= 1) {
      const next = changeTime(random, plusDays(at, 8), plusDays(to, -60))
      if (next >= plusDays(to, -60) || next <= at) break
      // Occasionally a change is reported late, with an effective time before that of an earlier reported change.
      const back = random.chance(0.05) && at > plusDays(from, 20) ? midnight((from + at) / 2) : next
      if (!this.#change(back, Math.max(back, next))) break
      at = next
    }
    if (random.chance(0.3)) this.#cancel(at)
    return { startTime: wireTime(from), endTime: wireTime(to), transactions: this.#transactions }
  }

  /** Returns when a transaction of that time is issued. Undefined if the book ends before that. */
  #issued(about: number): Instant | undefined {
    const at = duringWorkingHours(this.#random, plusDays(about, this.#random.between(-6, 8)))
    const issued = Math.max(at, this.#lastIssued + 3_600_000) as Instant
    if (issued > this.#plan.asOf) return undefined
    this.#lastIssued = issued
    return issued
  }

  // ------------------------------------------------------------------------------------------- transactions

  #begin(): void {
    const { from, year, issuedAt } = this.#term
    const periods = this.#periods(from)
    const { document_delivery: delivery } = this.risk.policy
    const charges = [
      this.#charge('policy_fee', [POLICY_FEE_CENTS]),
      ...(delivery === 'post' ? [this.#charge('postal_delivery_fee', [POSTAL_FEE_CENTS])] : []),
      ...(periods.length > 2
        ? [this.#charge('installment_fee', [0, ...periods.slice(1).map(() => INSTALLMENT_FEE_CENTS)])]
        : []),
    ]
    this.#record(year === 0 ? 'issuance' : 'renewal', issuedAt, from, {
      installments: this.#bill(periods, ''),
      root: this.#covered(from, periods.length, charges),
      createdAt: this.#random.chance(0.3) ? plusDays(issuedAt, -2) : undefined,
    })
  }

  /** Returns whether there was still time for the change. */
  #change(at: Instant, about: number): boolean {
    const issued = this.#issued(about)
    if (issued === undefined) return false
    const { name, risk } = changedRisk(this.#random, this.risk)
    this.risk = risk
    // Billed either immediately or with the regular bills that are still to come.
    const later = this.#periods(this.#term.from).filter(one => one.generateAt > issued)
    const isSpread = later.length > 0 && this.#random.chance(0.5)
    const periods = isSpread ? later : [this.#atOnce(issued)]
    const root = this.#covered(at, periods.length, [])
    const costs = hasCharges(root)
    this.#record(name, issued, at, {
      root,
      installments: costs ? this.#bill(periods, isSpread ? '' : ` ${issued}`) : [],
    })
    return true
  }

  #cancel(after: Instant): void {
    const random = this.#random
    const { from, to, year } = this.#term
    const isWithdrawal = year === 0 && this.#transactions.length === 1 && random.chance(0.1)
    const at = isWithdrawal ? from : changeTime(random, plusDays(after, 10), plusDays(to, -20))
    if (at >= to || (at <= after && !isWithdrawal)) return
    const issued = this.#issued(at)
    if (issued === undefined) return
    const settlement = this.#atOnce(issued)
    const key = this.#key(` cancelled ${issued}`)
    let moved = 0
    for (const { installment, generateAt } of this.#open) {
      if (generateAt <= issued) continue
      installment.invoiceId = this.#plan.bills.invoice(settlement, key)
      moved += 1
    }
    const hasFees = this.#plan.cadence.months < 6
    const fees = [
      ...(isWithdrawal ? [this.#charge('policy_fee', [-POLICY_FEE_CENTS])] : []),
      ...(hasFees && moved > 0
        ? [this.#charge('installment_fee', [-INSTALLMENT_FEE_CENTS * Math.min(moved, 11)])]
        : []),
    ]
    this.#open = []
    const name = random.pick([
      'customer_request',
      'customer_request',
      'lapse',
      'insurer_notice',
      'cancellation',
    ])
    this.#record(name, issued, at, {
      isGap: true,
      root: this.#tree(this.#premiums.end(at), 1, fees, true),
      installments: [this.#plan.bills.installment(settlement, key)],
    })
    this.isOver = true
    if (name !== 'insurer_notice' && !isWithdrawal && random.chance(0.6)) this.#reinstate(at)
  }

  #reinstate(cancelledAt: Instant): void {
    const random = this.#random
    const at = random.chance(0.7) ? cancelledAt : plusDays(midnight(cancelledAt), random.between(2, 15))
    const issued = this.#issued(plusDays(at, 12))
    if (issued === undefined || at >= plusDays(this.#term.to, -2)) return
    const regular = this.#periods(this.#term.from).filter(one => one.generateAt > issued)
    const periods = [this.#atOnce(issued), ...regular]
    this.#record('reinstatement', issued, at, {
      root: this.#covered(at, periods.length, []),
      installments: this.#bill(periods, ` again ${issued}`),
    })
    this.isOver = false
  }

  #record(
    transactionType: string,
    issuedAt: Instant,
    from: Instant,
    {
      root,
      installments,
      isGap = false,
      createdAt,
    }: { root: Element; installments: Installment[]; isGap?: boolean; createdAt?: Instant },
  ): void {
    this.#transactions.push({
      transactionType,
      issuedTime: wireTime(issuedAt),
      ...(createdAt !== undefined && { createdAt: wireTime(createdAt) }),
      segment: {
        segmentType: isGap ? 'gap' : 'coverage',
        startTime: wireTime(from),
        rootElement: root,
      },
      ...(installments.length > 0 && { installments }),
    })
  }

  // ------------------------------------------------------------------------------------------- elements

  #covered(at: Instant, installments: number, rootCharges: Charge[]): Element {
    this.#exposures = exposuresOf(this.risk, isoDay(at))
    const perils = this.#exposures.flatMap(exposure => exposure.perils)
    return this.#tree(this.#premiums.cover(perils, at), installments, rootCharges, false)
  }

  #tree(
    differences: ReadonlyMap<string, Difference | undefined>,
    installments: number,
    charges: Charge[],
    isGap: boolean,
  ): Element {
    return {
      id: 'root',
      elementType: PRODUCT,
      ...(!isGap && { data: this.risk.policy }),
      ...(charges.length > 0 && { charges }),
      elements: this.#exposures.map(({ id, type, data, perils }) => ({
        id,
        elementType: type,
        ...(!isGap && { data }),
        elements: perils.flatMap((peril): Element[] => {
          const difference = differences.get(peril.id)
          const own = difference ? this.#charges(peril, difference, installments, isGap) : []
          if (isGap) return own.length > 0 ? [{ id: peril.id, elementType: peril.type, charges: own }] : []
          return [
            {
              id: peril.id,
              elementType: peril.type,
              coverageTerms: peril.terms,
              ...(peril.data && { data: peril.data }),
              ...(own.length > 0 && { charges: own }),
            },
          ]
        }),
      })),
    }
  }

  #charges(
    { price }: RatedExposure['perils'][number],
    { costs, recipient }: Difference,
    installments: number,
    isGap: boolean,
  ): Charge[] {
    const rated = (year: { toFixed(places: number): string } | undefined): { rate?: number } =>
      isGap || !year ? {} : { rate: Number(year.toFixed(2)) }
    const spread = (cents: number): number[] => parts(cents, installments)
    const commission = costs.commission + costs.onceOnly
    return [
      { ...this.#charge('premium', spread(costs.premium)), ...rated(price.year) },
      ...(isGap ? [] : [{ chargeType: 'technicalPremium', ...rated(price.technicalYear) }]),
      ...(costs.tax !== 0 ? [this.#charge('insurance_tax', spread(costs.tax))] : []),
      ...(costs.levy !== 0 ? [this.#charge('commercial_levy', spread(costs.levy))] : []),
      ...(commission !== 0
        ? [{ ...this.#charge('commission', [commission]), tag: recipient!, ...rated(price.commission?.year) }]
        : []),
    ]
  }

  /** Amounts are in cents, by installment, in their order. */
  #charge(chargeType: string, cents: readonly number[]): Charge {
    const installmentItems = cents.flatMap((amount, at): InstallmentItem[] =>
      amount === 0 ? [] : [{ amount: euros(amount), installmentNumber: at + 1 }],
    )
    return { chargeType, ...(installmentItems.length > 0 && { installmentItems }) }
  }

  // ------------------------------------------------------------------------------------------- bills

  /** Returns the regular bills of the term that begin at the time or later. */
  #periods(since: Instant): Period[] {
    const { from, to } = this.#term
    const { cadence } = this.#plan
    const starts: Instant[] = []
    for (let at = from, count = 1; at < to; at = plusMonths(from, cadence.months * count), count += 1)
      starts.push(at)
    return starts
      .map((start, index) => ({
        start,
        end: starts[index + 1] ?? to,
        generateAt: start,
        dueAt: plusDays(start, DAYS_TO_PAY),
      }))
      .filter(one => one.start >= since)
  }

  /** A separate bill, generated when the transaction is issued. */
  #atOnce(issued: Instant): Period {
    const start = midnight(issued)
    return {
      start,
      end: Math.max(this.#term.to, start + DAY) as Instant,
      generateAt: issued,
      dueAt: plusDays(issued, DAYS_TO_PAY),
    }
  }

  #key(own: string): string {
    return `${this.#plan.billKey}${own}`
  }

  #bill(periods: readonly Period[], own: string): Installment[] {
    return periods.map(period => {
      const installment = this.#plan.bills.installment(period, this.#key(`${own} ${period.start}`))
      this.#open.push({ installment, generateAt: period.generateAt })
      return installment
    })
  }
}

/** Returns equal parts. The first part includes the remainder. */
function parts(cents: number, count: number): number[] {
  const part = Math.trunc(cents / count)
  return Array.from({ length: count }, (_, at) => (at === 0 ? cents - part * (count - 1) : part))
}

const hasCharges = ({ charges = [], elements = [] }: Element): boolean =>
  charges.some(charge => charge.installmentItems) || elements.some(hasCharges)
