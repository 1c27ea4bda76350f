import { expect, test } from 'vitest'
import type { Instant } from '../../../src/kernel/time.ts'
import { BillEntries, type InvoiceState } from '../../../src/policy/journal/bills.ts'
import { Entries } from '../../../src/policy/journal/entries.ts'
import type { PolicyAggregate } from '../../../src/policy/records/aggregate.ts'
import type { Invoice, Payment } from '../../../src/policy/records/invoice.ts'
import { BoatInUtc } from '../../support/boat-in-utc.ts'

const invoice = { locator: 'an invoice' } as unknown as Invoice
const dueAt = 1_000 as Instant

const payment = (minor: number): Payment =>
  ({
    locator: `a payment of ${minor}`,
    source: 'external',
    amount: { minor, currency: 'EUR' },
    credited: { minor: 0, currency: 'EUR' },
  }) as unknown as Payment

/** A policy of which nothing may be read. */
const unread = new Proxy({} as PolicyAggregate, {
  get(_, name) {
    throw new Error(`${String(name)} is read.`)
  },
})

test('a payment is posted without computing the charges of the policy', () => {
  const entries = new Entries()
  const was: InvoiceState = { status: 'unfulfilled', dueAt, payments: [payment(30_00)] }
  const is: InvoiceState = { status: 'paid', dueAt, payments: [payment(30_00), payment(70_00)] }
  new BillEntries(unread).add(entries, invoice, was, is)
  const posted = entries.list()
  expect(posted.find(({ account }) => account === 'receivable')).toMatchObject({ minor: -70_00, due: dueAt })
  expect(posted.reduce((sum, { minor }) => sum + minor, 0)).toBe(0)
})

test('a written-off invoice is posted with everything that it bills', () => {
  const was: InvoiceState = { status: 'unfulfilled', dueAt, payments: [] }
  const is: InvoiceState = { status: 'writtenOff', dueAt, payments: [] }
  expect(() => new BillEntries(unread).add(new Entries(), invoice, was, is)).toThrow('is read')
})

test('an overpayment is posted as credit, and a bounced payment takes the credit back', () => {
  const overpaid = { ...payment(100_00), credited: { minor: 20_00, currency: 'EUR' } } as unknown as Payment
  const open: InvoiceState = { status: 'unfulfilled', dueAt, payments: [] }
  const paid: InvoiceState = { status: 'paid', dueAt, payments: [overpaid] }
  const posted = (was: InvoiceState, is: InvoiceState) => {
    const entries = new Entries()
    new BillEntries(unread).add(entries, invoice, was, is)
    return Object.fromEntries(entries.list().map(({ account, minor }) => [account, minor]))
  }
  expect(posted(open, paid)).toEqual({ cash: 100_00, credit: -20_00, receivable: -80_00 })
  expect(posted(paid, open)).toEqual({ cash: -100_00, credit: 20_00, receivable: 80_00 })
})

test('a written-off invoice paid in part keeps that part when its transaction is invalidated', async () => {
  const boat = await BoatInUtc.issued({ schedule: 'upfront' })
  await boat.pay(boat.invoices[0]!, { amount: '500.00' })
  const payments = [...boat.aggregate.payments.values()]
  const entries = new Entries()
  new BillEntries(boat.aggregate).add(
    entries,
    boat.invoices[0]!,
    { status: 'writtenOff', dueAt, payments },
    { status: 'invalidated', dueAt, payments },
  )
  expect(entries.list().map(({ account, minor }) => [account, minor])).toEqual([
    ['unbilled', 700_00],
    ['writtenOff', -700_00],
  ])
})
