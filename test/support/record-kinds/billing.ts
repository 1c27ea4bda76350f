// Invoices and payments.
import { planWriteOff } from '../../../src/billing/payments.ts'
import type { Uuid } from '../../../src/kernel/locators.ts'
import { fromMinor, minus, toText } from '../../../src/kernel/money.ts'
import { restDue } from '../../../src/policy/bills/amounts-due.ts'
import { putRecords, selectedQuote } from '../../../src/policy/records/aggregate.ts'
import {
  carryInvoiceForward,
  INVOICE_TRANSITIONS,
  type Invoice,
  type InvoiceAction,
  type InvoiceStatus,
  invalidateInvoice,
  invoiceStatus,
  PAYMENT_TRANSITIONS,
  type PaymentAction,
  type PaymentState,
  paymentState,
  reopenInvoice,
  standingPayments,
  writeOffInvoice,
} from '../../../src/policy/records/invoice.ts'
import type { Loaded } from '../../../src/policy/surroundings.ts'
import { decidePayment } from '../../../src/transactions/payments/kind.ts'
import { STORY_BEGINS } from '../policy-story.ts'
import { after, attempt, finalized, INSURABLE } from './motor-policies.ts'
import { quoteAction } from './new-business.ts'
import { kind, type Situation } from './record-kind.ts'

const fieldValues = { method: ['card'] }

const pay = (loaded: Loaded, invoice: Uuid, amount: string | undefined) =>
  decidePayment(
    loaded,
    { action: 'pay', invoice, request: { fieldValues, amount, source: undefined } },
    attempt(),
  )

const reverse = async (loaded: Loaded, payment: Uuid) =>
  (await decidePayment(loaded, { action: 'reverse', payment }, attempt())).planned

const TEN = '10.00'

/** The first invoice of an accepted policy after payments. `amounts` compute each payment from what is still due. */
async function invoiceAfter(...amounts: ((rest: string) => string)[]): Promise<Situation> {
  let loaded = await finalized(INSURABLE)
  const [{ locator }] = loaded.aggregate.invoices.values() as unknown as [Invoice]
  for (const amount of amounts) {
    const rest = restDue(loaded.aggregate, loaded.aggregate.invoices.get(locator)!)
    loaded = after(loaded, (await pay(loaded, locator, amount(toText(rest)))).planned)
  }
  return { loaded, record: locator }
}

/** The invoice with all but 10.00 paid. */
async function nearlyPaid(): Promise<Situation> {
  const { loaded, record } = await invoiceAfter()
  const rest = restDue(loaded.aggregate, loaded.aggregate.invoices.get(record as Uuid)!)
  const most = minus(rest, fromMinor(1_000, rest.currency))
  return await invoiceAfter(() => toText(most))
}

/** The invoice after payments, with a status that new business cannot reach. */
async function invoiceThat(
  status: (invoice: Invoice) => Invoice,
  ...amounts: ((rest: string) => string)[]
): Promise<Situation> {
  const { loaded, record } = await invoiceAfter(...amounts)
  const { aggregate } = loaded
  const changed = status(aggregate.invoices.get(record as Uuid)!)
  const invoices = putRecords(aggregate.invoices, [changed])
  return { loaded: { ...loaded, aggregate: { ...aggregate, invoices } }, record }
}

const withStatus =
  (status: InvoiceStatus) =>
  (invoice: Invoice): Invoice => ({
    ...invoice,
    statuses: [...invoice.statuses, { at: STORY_BEGINS, status }],
  })

const named = ({ aggregate }: Loaded, locator: Uuid): Invoice => aggregate.invoices.get(locator)!

export const invoiceKind = kind<InvoiceAction, InvoiceStatus, Uuid>('invoice', INVOICE_TRANSITIONS, {
  stateOf: ({ invoices }, locator) => invoiceStatus(invoices.get(locator)!),
  situations: {
    unfulfilled: async () => [await invoiceAfter(() => TEN), await nearlyPaid()],
    paid: async () => [await invoiceAfter(rest => rest)],
    writtenOff: async () => [
      await invoiceThat(
        invoice => writeOffInvoice(invoice, STORY_BEGINS),
        () => TEN,
      ),
    ],
    // Invoices that are `zeroDue` or `carriedForward` are settled when they are created, so they are never paid.
    zeroDue: async () => [await invoiceThat(withStatus('zeroDue'))],
    invalidated: async () => [
      await invoiceThat(
        invoice => invalidateInvoice(invoice, STORY_BEGINS),
        () => TEN,
      ),
    ],
    carriedForward: async () => [await invoiceThat(withStatus('carriedForward'))],
  },
  act: {
    pay: async (loaded, locator) => (await pay(loaded, locator, TEN)).planned,
    /** Checks the invoice's own guard first: payments of a written-off invoice can be reversed, which does not reopen it. */
    reverse: async (loaded, locator) => {
      const { aggregate } = loaded
      reopenInvoice(named(loaded, locator), STORY_BEGINS, aggregate.policy.timeZone)
      return await reverse(loaded, standingPayments(aggregate, named(loaded, locator)).at(-1)!.locator)
    },
    /** Checks the invoice's own guard first, then runs the decision that voids it with the other invoices of its quote. */
    invalidate: async (loaded, locator) => {
      invalidateInvoice(named(loaded, locator), STORY_BEGINS)
      return await quoteAction({ action: 'invalidate' })(loaded, selectedQuote(loaded.aggregate).locator)
    },
    writeOff: async (loaded, locator) => {
      return planWriteOff(loaded.aggregate, [named(loaded, locator)], STORY_BEGINS)
    },
    carryForward: async (loaded, locator) => {
      const { aggregate } = loaded
      const settled = carryInvoiceForward(named(loaded, locator), STORY_BEGINS)
      return { aggregate: { ...aggregate, invoices: putRecords(aggregate.invoices, [settled]) }, events: [] }
    },
  },
})

async function paymentAfter(...steps: 'reverse'[]): Promise<Situation> {
  const { loaded, record } = await invoiceAfter(rest => rest)
  const [payment] = standingPayments(loaded.aggregate, named(loaded, record as Uuid))
  const { locator } = payment!
  let current = loaded
  for (const _ of steps) current = after(current, await reverse(current, locator))
  return { loaded: current, record: locator }
}

export const paymentKind = kind<PaymentAction, PaymentState, Uuid>('payment', PAYMENT_TRANSITIONS, {
  stateOf: ({ payments }, locator) => paymentState(payments.get(locator)!),
  situations: {
    posted: async () => [await paymentAfter()],
    reversed: async () => [await paymentAfter('reverse')],
  },
  act: { reverse },
})
