// What can be wrong with a book, planted on purpose: each kind breaks one rule at one place, and knows how to mend it.
import type { Random } from './random.ts'
import type { Account, AccountData, Disbursement, Invoice, Payment, Policy } from './wire.ts'

/** What puts a failed account right: the body of its PATCH, the locator of the account aside. */
export type Correction = {
  readonly accountData?: AccountData
  readonly policies?: Readonly<Record<string, Policy>>
  readonly invoices?: Readonly<Record<string, Invoice>>
  readonly payments?: Readonly<Record<string, Payment>>
  readonly disbursements?: Readonly<Record<string, Disbursement>>
}

export type Planted = {
  /** With the fault; the account that was given is as it was. */
  readonly account: Account
  /** Where the failure is told: original ids, as `P1/terms[0]/transactions[2]/veh-3`. */
  readonly path: string
  /** Part of the sentence that is told there. */
  readonly says: string
  readonly corrected: Correction
}

export interface Fault {
  readonly kind: string
  /** The rule that it breaks (resources brief 9.3), in words. */
  readonly rule: string
  /** Undefined where the account has nothing to break. */
  plant(account: Account, random: Random): Planted | undefined
}

const unknownProduct: Fault = {
  kind: 'unknownProduct',
  rule: '2: productName is a product of the configuration',
  plant(account, random) {
    const policy = random.pick(account.policies)
    return {
      account: withPolicy(account, { ...policy, productName: 'private_boat' }),
      path: policy.id,
      says: "productName 'private_boat' must be a product of the configuration",
      corrected: { policies: { [policy.id]: policy } },
    }
  },
}

const overpaidInvoice: Fault = {
  kind: 'overpaidInvoice',
  rule: '9: payments of an invoice are not more than it asks for',
  plant(account) {
    const settled = new Set(account.invoices.filter(one => one.invoiceState === 'settled').map(one => one.id))
    const payment = account.payments.find(
      one => one.paymentItems.length === 1 && settled.has(one.paymentItems[0]!.invoiceId ?? ''),
    )
    if (!payment) return undefined
    const [item] = payment.paymentItems
    const tooMuch = { ...payment, paymentItems: [{ ...item!, amount: 1_000_000 }] }
    return {
      account: {
        ...account,
        payments: account.payments.map(one => (one === payment ? tooMuch : one)),
      },
      path: item!.invoiceId!,
      says: 'must not be more than the invoice asks for',
      corrected: { payments: { [payment.id]: payment } },
    }
  },
}

export const FAULTS: readonly Fault[] = [unknownProduct, overpaidInvoice]

export const withPolicy = (account: Account, policy: Policy): Account => ({
  ...account,
  policies: account.policies.map(one => (one.id === policy.id ? policy : one)),
})
