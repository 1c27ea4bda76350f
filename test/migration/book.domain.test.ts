import { describe, expect, it } from 'vitest'
import { generateAccount } from '../../tools/book/account.ts'
import { invoiceTotals } from '../../tools/book/bills.ts'
import { accountsOf, MOST_REQUEST_BYTES, requests } from '../../tools/book/requests.ts'

const ACCOUNTS = 150
const book = [...accountsOf({ seed: 'test', accounts: ACCOUNTS })].map(({ account }) => account)
const policies = book.flatMap(account => account.policies)
const transactions = policies.flatMap(({ terms }) => terms.flatMap(term => term.transactions))

describe('a generated book', () => {
  it('has the same account for the same seed and number, regardless of other accounts', () => {
    expect(generateAccount({ seed: 'test' }, 7)).toEqual(book[7])
    expect(generateAccount({ seed: 'other' }, 7)).not.toEqual(book[7])
  })

  it('has all kinds of histories in realistic proportions', () => {
    const between = (value: number, least: number, most: number): void => {
      expect(value).toBeGreaterThan(least)
      expect(value).toBeLessThan(most)
    }
    between(policies.length / ACCOUNTS, 1.3, 1.7)
    between(transactions.length / policies.length, 3.5, 4.5)
    between(book.flatMap(account => account.invoices).length / policies.length, 8, 12)
    const kinds = new Set(transactions.map(one => one.transactionType))
    for (const kind of ['issuance', 'renewal', 'change_of_risk', 'cancellation', 'reinstatement'])
      expect(kinds).toContain(kind)
    const items = book.flatMap(account => account.payments.flatMap(one => one.paymentItems))
    expect(items.some(({ invoiceId }) => invoiceId === undefined)).toBe(true)
    expect(book.some(({ disbursements }) => disbursements.length > 0)).toBe(true)
  })

  it('has control totals that equal the sums of its items', () => {
    const controlled = book.filter(({ accounting }) => accounting)
    expect(controlled.length).toBeGreaterThan(ACCOUNTS / 2)
    for (const account of controlled) {
      const totals = invoiceTotals(account)
      const { invoiced, paid } = account.accounting!.originalAccountBalances
      const asked = account.invoices
        .filter(one => one.invoiceState !== 'discarded')
        .reduce((sum, one) => sum + totals.get(one.id)!, 0)
      const received = account.payments
        .flatMap(one => one.paymentItems)
        .reduce((sum, { amount }) => sum + Math.round(amount * 100), 0)
      expect([Math.round(invoiced! * 100), Math.round(paid! * 100)]).toEqual([asked, received])
    }
  })

  it('is divided into requests below the size limit of the service', () => {
    const bytes: number[] = []
    for (const { request, text } of requests({ seed: 'test', accounts: 60, accountsOfRequest: 25 }))
      bytes[request] = (bytes[request] ?? 0) + Buffer.byteLength(text) + 1
    expect(bytes).toHaveLength(3)
    expect(Math.max(...bytes)).toBeLessThan(MOST_REQUEST_BYTES)
  })
})
