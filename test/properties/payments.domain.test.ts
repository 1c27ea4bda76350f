// Random histories of a policyholder's policies, which are billed, paid and changed in any order: no money is created or lost, in
// currencies with 0, 2 and 3 minor digits, and invoices never change.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoByObject } from '../../src/kernel/maps.ts'
import { type CurrencyCode, money } from '../../src/kernel/money.ts'
import { planOf, restDue, totalsDueOf } from '../../src/policy/bills/amounts-due.ts'
import type { PolicyInvoiceResponse } from '../../src/policy/contract/billing.ts'
import { billedItemsOf } from '../../src/policy/projection/billed-items.ts'
import { invoiceResponses } from '../../src/policy/projection/records.ts'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import { invoiceStatus, isOutstanding } from '../../src/policy/records/invoice.ts'
import type { Example } from '../support/configurations.ts'
import { migratedBooks } from '../support/migrated-books.ts'
import {
  expectBillsMatchPrice,
  expectItemsSumToCharges,
  expectPaidMatchesTotals,
} from '../support/money-checks.ts'
import { afterStep, type Book, type BookStep, bookSteps, emptyBook } from '../support/payment-story.ts'
import { size } from '../support/sizes.ts'
import { storedAggregate } from '../support/stored-aggregate.ts'
import { totalDue } from '../support/total-due.ts'

const SEED = 20261121

const BOOKS: { example: Example; currency: CurrencyCode; digits: number }[] = [
  { example: 'motor', currency: 'EUR' as CurrencyCode, digits: 2 },
  { example: 'motor', currency: 'JPY' as CurrencyCode, digits: 0 },
  { example: 'home', currency: 'BHD' as CurrencyCode, digits: 3 },
]

/** Memoized, because a step changes only a few policies. */
const responsesOf = memoByObject((aggregate: PolicyAggregate) => invoiceResponses(aggregate))

/** What responses show as paid of an invoice, in minor units. */
function shownPaid(invoice: PolicyInvoiceResponse): bigint {
  const minor = (amount: number): bigint =>
    BigInt(money(amount, invoice.totalDueCurrency as CurrencyCode).minor)
  if (invoice.settlementStatus === 'outstanding')
    return minor(invoice.totalDue) - minor(invoice.outstandingAmount!)
  if (invoice.settlementType === 'paid') return minor(invoice.totalDue)
  const standing = invoice.payments.filter(one => one.reversedTimestamp === undefined)
  return standing.reduce((total, one) => total + minor(one.amount) - minor(one.creditedAmount ?? 0), 0n)
}

/** What was paid in for a policy and neither paid out nor credited, in minor units. */
const heldBy = ({ payments }: PolicyAggregate): number =>
  [...payments.values()]
    .filter(one => one.source !== 'offset' && one.reversedAt === undefined)
    .reduce((total, one) => total + one.amount.minor - one.credited.minor, 0)

/** What a step pays out of a policy, in any direction, was paid in before and not paid out yet. */
function neverPaysOutMore(before: Book, { policies }: Book): number {
  let out = 0
  for (const [at, { aggregate }] of policies.entries()) {
    const known = before.policies[at]?.aggregate.payments
    const gone = [...aggregate.payments.values()].filter(
      one => one.amount.minor < 0 && one.source !== 'offset' && !known?.has(one.locator),
    )
    out += gone.length
    if (gone.length > 0) expect(heldBy(aggregate)).toBeGreaterThanOrEqual(0)
  }
  return out
}

/** Each offset has a counterpart, and both stand or are reversed together. Nothing that could be offset remains. */
function offsetsInPairs({ policies }: Book): number {
  let offsets = 0
  for (const { aggregate } of policies) {
    const all = [...aggregate.payments.values()].filter(one => one.source === 'offset')
    offsets += all.length
    const pairOf = (one: (typeof all)[number], other: (typeof all)[number]): boolean =>
      one.invoiceLocator === other.offsetInvoiceLocator &&
      one.offsetInvoiceLocator === other.invoiceLocator &&
      one.amount.minor === -other.amount.minor &&
      one.postedAt === other.postedAt &&
      one.reversedAt === other.reversedAt
    expect(all.filter(one => !all.some(other => pairOf(one, other)))).toEqual([])
    expect(all.reduce((total, one) => total + one.amount.minor, 0)).toBe(0)
    const totalDueOf = totalsDueOf(aggregate)
    const open = [...aggregate.invoices.values()]
      .filter(one => aggregate.modifications.get(one.policyModificationLocator)!.issuedAt !== undefined)
      .filter(isOutstanding)
      .map(one => Math.sign(restDue(aggregate, one, totalDueOf(one)).minor))
    expect(new Set(open).size).toBeLessThan(2)
  }
  return offsets
}

/** Everything received is either paid on invoices or credit, and the credit is the sum of the payments. */
function conserves({ policies, credit, cash }: Book): void {
  expect(credit.minor).toBeGreaterThanOrEqual(0)
  const paid = policies
    .flatMap(({ aggregate }) => responsesOf(aggregate).map(shownPaid))
    .reduce((total, one) => total + one, 0n)
  expect(cash).toBe(paid + BigInt(credit.minor))
  const payments = policies.flatMap(({ aggregate }) => [...aggregate.payments.values()])
  const standing = payments.filter(one => one.reversedAt === undefined)
  const made = standing.reduce((total, one) => total + one.credited.minor, 0)
  const used = standing.filter(one => one.source === 'credit')
  expect(credit.minor).toBe(made - used.reduce((total, one) => total + one.amount.minor, 0))
}

/** What each invoice bills, and how each paid one is shown, by locator. */
type Stand = { readonly billed: Map<string, string>; readonly paid: Map<string, string> }

const standOfPolicy = memoByObject(
  (aggregate: PolicyAggregate): Stand => ({
    billed: billedBy(aggregate),
    paid: new Map(
      responsesOf(aggregate)
        .filter(one => one.settlementType === 'paid')
        .map(({ transactionIssued: _, ...one }) => [one.locator, JSON.stringify(one)] as const),
    ),
  }),
)

const standOf = ({ policies }: Book): Stand[] => policies.map(({ aggregate }) => standOfPolicy(aggregate))

function billedBy(aggregate: PolicyAggregate): Map<string, string> {
  const billed = new Map<string, string>()
  const itemsOf = billedItemsOf(aggregate)
  const totalDueOf = totalsDueOf(aggregate)
  for (const invoice of aggregate.invoices.values()) {
    const plan = planOf(aggregate, aggregate.modifications.get(invoice.policyModificationLocator)!)
    const items = itemsOf(plan[invoice.installmentNumber - 1]!)
    const total = totalDueOf(invoice)
    expect(totalDue(items, total.currency)).toEqual(total)
    const shown = items.map(({ charge, amount }) => `${charge.id} ${charge.start} ${amount.minor}`)
    billed.set(invoice.locator, `${invoice.start} ${invoice.end} ${total.minor}\n${shown.join('\n')}`)
  }
  return billed
}

/** Steps that take payments back, directly or with what they were paid for. */
const TAKES_BACK: ReadonlySet<BookStep['kind']> = new Set([
  'reverse',
  'endRenewal',
  'endReinstatement',
  'renew',
  'reinstate',
  'cancel',
  'withdraw',
  'takeQuoteBack',
  'discard',
  'wait',
])

/** What was billed never changes. What was paid does not change unless its payments were taken back. */
function staysAsItWas(before: readonly Stand[], after: readonly Stand[], { kind }: BookStep): void {
  for (const [at, was] of before.entries()) {
    const now = after[at]!
    if (now === was) continue
    expect([...was.billed].filter(([locator, text]) => now.billed.get(locator) !== text)).toEqual([])
    if (TAKES_BACK.has(kind)) continue
    expect([...was.paid].filter(([locator, text]) => now.paid.get(locator) !== text)).toEqual([])
  }
}

describe.each(BOOKS)(
  'The payments of a policyholder in $currency ($digits minor digits)',
  ({ example, currency }) => {
    it(
      `are neither more nor less than what came in, whatever befalls the policies (seed ${SEED})`,
      async () => {
        const seen = { paid: 0, credited: 0, fromCredit: 0, reversed: 0, out: 0, offsets: 0 }
        await fc.assert(
          fc.asyncProperty(bookSteps, async all => {
            let book = emptyBook(example, currency)
            let stand = standOf(book)
            for (const step of all) {
              const before = book
              book = await afterStep(book, step)
              conserves(book)
              seen.out += neverPaysOutMore(before, book)
              seen.offsets += offsetsInPairs(book)
              const now = standOf(book)
              staysAsItWas(stand, now, step)
              stand = now
            }
            for (const loaded of book.policies) {
              expectPaidMatchesTotals(loaded)
              expectItemsSumToCharges(loaded)
              expectBillsMatchPrice(loaded)
              expect(invoiceResponses(storedAggregate(loaded.aggregate))).toEqual(
                invoiceResponses(loaded.aggregate),
              )
              for (const one of loaded.aggregate.payments.values()) {
                seen.paid += 1
                if (one.credited.minor > 0) seen.credited += 1
                if (one.source === 'credit') seen.fromCredit += 1
                if (one.reversedAt !== undefined) seen.reversed += 1
              }
            }
          }),
          { seed: SEED, numRuns: size(36, 1_500) },
        )
        const { out, offsets, ...payments } = seen
        for (const count of Object.values(payments)) expect(count).toBeGreaterThan(10)
        for (const count of [out, offsets]) expect(count).toBeGreaterThan(0)
      },
      size(240_000, 3_000_000),
    )
  },
)

describe('The payments of a policyholder whose policies were migrated', () => {
  it(
    `are what came in, there or here, and no more goes out (seed ${SEED})`,
    async () => {
      const books = migratedBooks('lived', 40)
      const seen = { steps: 0, out: 0, offsets: 0, writtenOff: 0, credited: 0, reversed: 0 }
      const story = fc.tuple(fc.nat(books.length - 1), bookSteps)
      await fc.assert(
        fc.asyncProperty(story, async ([at, all]) => {
          const begun = books[at]!
          let book = begun
          for (const step of all.filter(one => one.kind !== 'create')) {
            const before = book
            book = await afterStep(book, step)
            conserves(book)
            seen.out += neverPaysOutMore(before, book)
            seen.offsets += offsetsInPairs(book)
            if (book !== before) seen.steps += 1
          }
          for (const [index, loaded] of book.policies.entries()) {
            expectPaidMatchesTotals(loaded)
            const migrated = begun.policies[index]?.aggregate
            for (const [locator, one] of loaded.aggregate.invoices)
              if (invoiceStatus(one) === 'writtenOff' && !migrated?.invoices.has(locator))
                seen.writtenOff += 1
            for (const [locator, one] of loaded.aggregate.payments) {
              const known = migrated?.payments.get(locator)
              if (known && one.reversedAt !== undefined && known.reversedAt === undefined) seen.reversed += 1
              if (!known && (one.credited.minor > 0 || (one.source === 'credit' && one.amount.minor < 0)))
                seen.credited += 1
            }
          }
        }),
        { seed: SEED, numRuns: size(70, 3_000) },
      )
      for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0)
    },
    size(240_000, 3_000_000),
  )
})
