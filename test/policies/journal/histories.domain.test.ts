// The journal through random histories of a policyholder's policies: bills, payments, reversals and changes in any order.
import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { CurrencyCode } from '../../../src/kernel/money.ts'
import { add, type Instant } from '../../../src/kernel/time.ts'
import { isBilled } from '../../../src/policy/bills/amounts-due.ts'
import { journalOfChange, openingsOf } from '../../../src/policy/journal/history.ts'
import type { JournalRow } from '../../../src/policy/journal/rows.ts'
import type { Loaded } from '../../../src/policy/surroundings.ts'
import type { Example } from '../../support/configurations.ts'
import {
  expectCashMatchesPayments,
  expectEarnedSumsToWritten,
  expectJournalConsistent,
  expectReceivablesMatchInvoices,
  expectRowsBalance,
  expectUnbilledIsPlanned,
  expectWrittenIsPriceChanges,
} from '../../support/journal-checks.ts'
import { migratedBooks } from '../../support/migrated-books.ts'
import { afterStep, type Book, type BookStep, bookSteps, emptyBook } from '../../support/payment-story.ts'
import { size } from '../../support/sizes.ts'

const SEED = 20261126

const BOOKS: { example: Example; currency: CurrencyCode }[] = [
  { example: 'motor', currency: 'EUR' as CurrencyCode },
  { example: 'motor', currency: 'JPY' as CurrencyCode },
  { example: 'home', currency: 'BHD' as CurrencyCode },
]

/** The rows of each policy, as the commits of the steps post them. */
async function posted(begun: Book, steps: readonly BookStep[]) {
  const rows: JournalRow[][] = begun.policies.map(() => [])
  const times: Instant[] = [begun.now]
  let book = begun
  for (const step of steps) {
    const before = book
    book = await afterStep(book, step)
    times.push(book.now)
    for (const [at, { aggregate }] of book.policies.entries()) {
      const was = before.policies[at]?.aggregate
      if (was === aggregate) continue
      const made = journalOfChange(was, aggregate, book.now)
      expectRowsBalance(made)
      rows[at] = [...(rows[at] ?? []), ...made]
    }
  }
  return { book, rows, times }
}

/** Whether something is billed that is not issued yet. */
const hasPending = ({ aggregate }: Loaded): boolean =>
  [...aggregate.modifications.values()].some(one => isBilled(aggregate, one) && one.issuedAt === undefined)

describe.each(BOOKS)('The journal of policies in $currency ($example)', ({ example, currency }) => {
  it(
    `balances, and says what is written, owed, paid and unbilled (seed ${SEED})`,
    async () => {
      await fc.assert(
        fc.asyncProperty(bookSteps, fc.array(fc.nat(800), { maxLength: 6 }), async (steps, days) => {
          const { book, rows, times } = await posted(emptyBook(example, currency), steps)
          for (const [at, loaded] of book.policies.entries()) {
            const { aggregate } = loaded
            const { originalStart, timeZone } = aggregate.policy
            const later = days.map(day => add(originalStart, day, 'day', timeZone))
            expectJournalConsistent(rows[at] ?? [], aggregate, [...times, ...later])
          }
        }),
        { seed: SEED, numRuns: size(20, 2_000) },
      )
    },
    size(120_000, 3_000_000),
  )
})

describe('The journal of migrated policies', () => {
  it(
    `goes on from what their records say (seed ${SEED})`,
    async () => {
      const books = migratedBooks('journal', 40)
      await fc.assert(
        fc.asyncProperty(fc.nat(books.length - 1), bookSteps, async (at, all) => {
          const begun = books[at]!
          const { book, rows } = await posted(
            begun,
            all.filter(one => one.kind !== 'create'),
          )
          for (const [place, loaded] of book.policies.entries()) {
            const { aggregate } = loaded
            const own = [...openingsOf(begun.policies[place]!.aggregate, begun.now), ...rows[place]!]
            expectRowsBalance(own)
            expectWrittenIsPriceChanges(own, aggregate)
            expectEarnedSumsToWritten(own, aggregate, [begun.now])
            expectReceivablesMatchInvoices(own, aggregate)
            expectCashMatchesPayments(own, aggregate)
            if (!hasPending(loaded)) expectUnbilledIsPlanned(own, aggregate)
          }
        }),
        { seed: SEED, numRuns: size(20, 1_000) },
      )
    },
    size(120_000, 3_000_000),
  )
})
