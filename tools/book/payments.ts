// Payments on the invoices of a book: full and partial payments, overpayments, discarded invoices, credit, and disbursements.

import type { Instant } from '../../src/kernel/time.ts'
import { dayOf, duringWorkingHours, isoDay, plusDays } from './calendar.ts'
import type { Random } from './random.ts'
import { type Account, type Disbursement, euros, type Invoice, type Payment, wireTime } from './wire.ts'

export type Money = Pick<Account, 'invoices' | 'payments' | 'disbursements'> & {
  readonly balances: Record<'invoiced' | 'paid' | 'credit' | 'disbursed', number>
}

/** Outcomes for invoices with a positive total, by their probability. */
const FATES = [
  ...Array<'paid'>(85).fill('paid'),
  ...Array<'twice'>(4).fill('twice'),
  ...Array<'partly'>(3).fill('partly'),
  ...Array<'over'>(3).fill('over'),
  ...Array<'unpaid'>(4).fill('unpaid'),
  ...Array<'discarded'>(1).fill('discarded'),
]

/** Returns the payments of the invoices, whose totals are in cents, up to the date of the book. */
export function moneyOf(
  random: Random,
  accountId: string,
  invoices: readonly Invoice[],
  totals: ReadonlyMap<string, number>,
  asOf: Instant,
): Money {
  const byTime = [...invoices].sort((a, b) => (a.generateTime < b.generateTime ? -1 : 1))
  const book = new Accounting(random, accountId, asOf)
  const states = new Map(byTime.map(one => [one.id, book.settle(one, totals.get(one.id)!)]))
  book.payOut()
  const settled = byTime.map((one): Invoice => {
    const state = states.get(one.id)
    return { ...one, ...(state && { invoiceState: state }) }
  })
  const sumOf = (cents: readonly number[]): number => cents.reduce((sum, one) => sum + one, 0)
  return {
    invoices: settled,
    payments: book.payments,
    disbursements: book.disbursements,
    balances: {
      invoiced: euros(
        sumOf(settled.map(one => (one.invoiceState === 'discarded' ? 0 : totals.get(one.id)!))),
      ),
      paid: euros(book.paid),
      credit: euros(book.credit),
      disbursed: euros(book.disbursed),
    },
  }
}

class Accounting {
  readonly #random: Random
  readonly #asOf: Instant
  readonly #method: Record<string, unknown>
  /** Credit that arose, with its time. `#used` is the part that was used. In cents. */
  readonly #came: { at: Instant; cents: number }[] = []
  #used = 0
  readonly payments: Payment[] = []
  readonly disbursements: Disbursement[] = []
  paid = 0
  disbursed = 0

  constructor(random: Random, accountId: string, asOf: Instant) {
    this.#random = random
    this.#asOf = asOf
    this.#method = random.pick([
      { method: 'direct_debit', mandate_reference: `M-${accountId.slice(-12).toUpperCase()}` },
      { method: 'bank_transfer' },
      { method: 'card' },
    ])
  }

  get credit(): number {
    return this.#came.reduce((sum, one) => sum + one.cents, 0) - this.#used
  }

  /** The credit that arose up to the time and is not used yet. */
  #available(at: Instant): number {
    return Math.max(0, this.#came.reduce((sum, one) => sum + (one.at <= at ? one.cents : 0), 0) - this.#used)
  }

  /** Returns the state that is sent for the invoice. Undefined if it must be derived from the payments. */
  settle(invoice: Invoice, cents: number): Invoice['invoiceState'] {
    const random = this.#random
    const made = Date.parse(invoice.generateTime) as Instant
    const due = Date.parse(invoice.dueTime)
    if (cents === 0) return 'settled'
    if (cents < 0) {
      this.#came.push({ at: made, cents: -cents })
      return 'settled'
    }
    const covered = random.chance(0.6) ? Math.min(cents, this.#available(made)) : 0
    if (covered > 0) {
      const rest = cents - covered
      const at = duringWorkingHours(random, plusDays(due, random.between(-10, 6)))
      if (rest === 0 || at <= this.#asOf) {
        this.#used += covered
        if (rest > 0) this.#pay(at, [{ cents: rest, invoice }])
        return 'settled'
      }
    }
    const at = duringWorkingHours(random, plusDays(due, random.between(-12, 12)))
    const fate = at > this.#asOf ? 'unpaid' : random.pick(FATES)
    const said = <S extends Invoice['invoiceState']>(state: S): S | undefined =>
      random.chance(0.8) ? state : undefined
    if (fate === 'discarded') return 'discarded'
    if (fate === 'unpaid') return said('open')
    if (fate === 'partly' && cents > 200) {
      this.#pay(at, [{ cents: Math.floor(cents * random.pick([0.25, 0.5, 0.9])), invoice }])
      return said('open')
    }
    if (fate === 'twice' && cents > 200) {
      const first = Math.floor(cents / 3)
      const again = duringWorkingHours(random, plusDays(at, 21))
      this.#pay(at, [{ cents: first, invoice }])
      if (again > this.#asOf) return said('open')
      this.#pay(again, [{ cents: cents - first, invoice }])
      return said('settled')
    }
    const over = fate === 'over' ? random.between(1, 90) * 100 : 0
    this.#pay(at, [{ cents, invoice }, ...(over > 0 ? [{ cents: over }] : [])])
    if (over > 0) this.#came.push({ at, cents: over })
    return said('settled')
  }

  #pay(at: Instant, items: readonly { cents: number; invoice?: Invoice }[]): void {
    const paymentItems = items.map(({ cents, invoice }) => ({
      amount: euros(cents),
      ...(invoice && { invoiceId: invoice.id }),
    }))
    this.paid += items.reduce((sum, { cents }) => sum + cents, 0)
    const last = this.payments.at(-1)
    const day = isoDay(at)
    // Occasionally one payment is for several invoices, unless it left credit, which has its own time and may already be used.
    const joins = last && last.paymentTime <= wireTime(at) && this.#random.chance(0.04)
    if (joins && last.paymentItems.every(({ invoiceId }) => invoiceId !== undefined)) {
      last.paymentItems.push(...paymentItems)
      last.paymentTime = wireTime(at)
      return
    }
    this.payments.push({
      id: `M${this.payments.length + 1}`,
      paymentTime: wireTime(at),
      paymentType: 'standard',
      data: { ...this.#method, ...(this.#random.chance(0.3) && { received_on: day }) },
      paymentItems,
    })
  }

  /** Pays out most credit some weeks after the last of it arose, sometimes as an amount with two sources. */
  payOut(): void {
    const random = this.#random
    const last = this.#came.reduce((at, one) => Math.max(at, one.at), 0)
    const at = duringWorkingHours(
      random,
      plusDays(Math.max(last, dayOf('2023-01-01')), random.between(20, 40)),
    )
    const left = this.credit
    if (left <= 0 || at > this.#asOf || random.chance(0.25)) return
    const cents = random.chance(0.8) ? left : Math.ceil(left / 2)
    const isSplit = cents > 1_000 && random.chance(0.2)
    this.#used += cents
    this.disbursed += cents
    this.disbursements.push({
      id: 'D1',
      disbursementTime: wireTime(at),
      disbursementType: 'refund',
      data: { iban: 'DE00 0000 0000 0000 0000 00' },
      sources: (isSplit ? [500, cents - 500] : [cents]).map(one => ({ amount: euros(one) })),
    })
  }
}
