// Invoices of an account's book: the items of each bill, and the amounts.
import type { Instant } from '../../src/kernel/time.ts'
import { type Account, type Element, type Installment, type Invoice, wireTime } from './wire.ts'

export type Period = {
  readonly start: Instant
  readonly end: Instant
  readonly generateAt: Instant
  readonly dueAt: Instant
}

/** Invoices by key. The same key is the same invoice. */
export class Bills {
  readonly #asOf: Instant
  readonly #byKey = new Map<string, Invoice>()

  constructor(asOf: Instant) {
    this.#asOf = asOf
  }

  /** Returns an installment of the period. It is on the invoice of that key if its time of generation has come. */
  installment(period: Period, key: string): Installment {
    return {
      startTime: wireTime(period.start),
      dueTime: wireTime(period.dueAt),
      generateTime: wireTime(period.generateAt),
      ...(period.generateAt <= this.#asOf && { invoiceId: this.invoice(period, key) }),
    }
  }

  /** Returns the id of the invoice of that key, and creates the invoice if it is new. */
  invoice({ start, end, dueAt, generateAt }: Period, key: string): string {
    const found = this.#byKey.get(key)
    if (found) return found.id
    const invoice = {
      id: `I${this.#byKey.size + 1}`,
      startTime: wireTime(start),
      endTime: wireTime(end),
      dueTime: wireTime(dueAt),
      generateTime: wireTime(generateAt),
    }
    this.#byKey.set(key, invoice)
    return invoice.id
  }

  get all(): Invoice[] {
    return [...this.#byKey.values()]
  }
}

const CHARGED_OF_NOBODY: ReadonlySet<string> = new Set(['commission', 'cededPremium', 'technicalPremium'])

/** Returns the total of each invoice, in cents, from the items that belong to it. */
export function invoiceTotals({ policies }: Pick<Account, 'policies'>): Map<string, number> {
  const totals = new Map<string, number>()
  for (const { terms } of policies)
    for (const { transactions } of terms)
      for (const { segment, installments = [] } of transactions) {
        for (const { invoiceId } of installments)
          if (invoiceId !== undefined) totals.set(invoiceId, totals.get(invoiceId) ?? 0)
        const visit = ({ charges = [], elements = [] }: Element): void => {
          for (const { chargeType, installmentItems = [] } of charges)
            for (const { amount, installmentNumber } of installmentItems) {
              const invoice = installments[installmentNumber - 1]!.invoiceId
              if (invoice === undefined || CHARGED_OF_NOBODY.has(chargeType)) continue
              totals.set(invoice, totals.get(invoice)! + Math.round(amount * 100))
            }
          for (const one of elements) visit(one)
        }
        if (segment.rootElement) visit(segment.rootElement)
      }
  return totals
}
