// All policies of a policyholder, billed and paid, exported as one account and migrated again have the same policies, invoices,
// payments and credit. The book was written by the live service or migrated before.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planWriteOff } from '../../src/billing/payments.ts'
import { plus, toNumber } from '../../src/kernel/money.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { restDue } from '../../src/policy/bills/amounts-due.ts'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import { isOutstanding, isSilent } from '../../src/policy/records/invoice.ts'
import type { NewPolicyContext } from '../../src/policy/surroundings.ts'
import { NotExpressible } from '../../src/reporting/export/account/words.ts'
import type { Converted } from '../../src/servicing/migration/convert/converted.ts'
import { creditChange, creditOf } from '../../src/transactions/payments/credit.ts'
import { accountsOf } from '../../tools/book/requests.ts'
import { accountFromResponses, type LiveBook } from '../support/account-from-responses.ts'
import {
  answersOf,
  comparableBilling,
  comparablePolicy,
  comparablePrice,
} from '../support/comparable-responses.ts'
import { type Example, newPolicyContextOf } from '../support/configurations.ts'
import { convertForTest } from '../support/convert-for-test.ts'
import { afterStep, type Book, type BookStep, bookSteps, emptyBook } from '../support/payment-story.ts'
import { size } from '../support/sizes.ts'

const SEED = 20261122

const requestOf = (
  { policyholder, product }: NewPolicyContext,
  policies: readonly PolicyAggregate[],
  disbursements: LiveBook['disbursements'] = [],
) =>
  accountFromResponses({
    id: 'A',
    values: policyholder.entity.values,
    policies: policies.map(one => ({ ...answersOf(one, product), auxData: {} })),
    disbursements,
  })

/** The credit of the policies, in minor units. */
const creditIn = (policies: readonly PolicyAggregate[]): number =>
  policies
    .flatMap(one => [...one.payments.values()])
    .reduce((all, payment) => all + creditOf(payment).minor, 0)

function isTheSame(
  { product }: NewPolicyContext,
  before: readonly PolicyAggregate[],
  { policies, failures }: Pick<Converted, 'policies' | 'failures'>,
): void {
  expect(failures).toEqual([])
  expect(policies.length).toBe(before.length)
  for (const [at, policy] of before.entries()) {
    const [live, again] = [answersOf(policy, product), answersOf(policies[at]!, product)]
    expect(comparablePolicy(again)).toEqual(comparablePolicy(live))
    expect(comparablePrice(again)).toEqual(comparablePrice(live))
    expect(comparableBilling(again)).toEqual(comparableBilling(live))
  }
  expect(creditIn(policies)).toBe(creditIn(before))
}

const issuedOf = ({ policies }: Book): PolicyAggregate[] =>
  policies.map(one => one.aggregate).filter(one => one.policy.issuedAt !== undefined)

/** Charges that total zero are billed on no invoice, and a request cannot express them. */
const hasSilentBills = ({ policies }: Book): boolean =>
  policies.some(({ aggregate }) => [...aggregate.installments.values()].some(isSilent))

/** Whether a request can express the book. It omits policies that are not issued, so these must have no payments. */
const isTellable = (book: Book): boolean =>
  !hasSilentBills(book) &&
  told(book.ground, issuedOf(book)) !== undefined &&
  book.policies.every(
    ({ aggregate }) => aggregate.policy.issuedAt !== undefined || aggregate.payments.size === 0,
  )

/** The migration request, or undefined if none can express the book. */
function told(...of: Parameters<typeof requestOf>): ReturnType<typeof requestOf> | undefined {
  try {
    return requestOf(...of)
  } catch (problem) {
    if (problem instanceof NotExpressible) return undefined
    throw problem
  }
}

/** The book with one invoice written off, as by a lapse. */
function givenUp(book: Book, { policy, which }: BookStep): Book {
  const at = policy % (book.policies.length || 1)
  const { aggregate } = book.policies[at] ?? {}
  const owed = [...(aggregate?.invoices.values() ?? [])].filter(
    one => isOutstanding(one) && restDue(aggregate!, one).minor > 0,
  )
  if (!aggregate || owed.length === 0) return book
  const after = planWriteOff(aggregate, [owed[which % owed.length]!], book.now).aggregate
  return {
    ...book,
    policies: book.policies.with(at, { ...book.policies[at]!, aggregate: after }),
    credit: plus(book.credit, creditChange(aggregate, after)),
  }
}

/** Replaces steps that a request cannot express with steps that move money. Discarding a draft becomes writing off an invoice. */
const moneySteps = bookSteps.map(all =>
  all.slice(0, size(20, 30)).map(one => ({ ...one, kind: MONEY[one.kind] ?? one.kind, firmly: true })),
)

const MONEY: Partial<Record<BookStep['kind'], BookStep['kind']>> = {
  withdraw: 'payPart',
  takeQuoteBack: 'nextInvoice',
  endRenewal: 'nextInvoice',
  endReinstatement: 'payPart',
}

describe.each<Example>(['motor', 'home'])(`a paid book on the ${'%s'} example (seed ${SEED})`, example => {
  it(
    'migrated again is the same book: changed, billed, overpaid, paid from credit, and written off',
    async () => {
      const seen = { policies: 0, fromCredit: 0, overpaid: 0, givenUp: 0 }
      await fc.assert(
        fc.asyncProperty(moneySteps, async all => {
          let book = emptyBook(example)
          for (const one of all) {
            // Transactions are distinguished by the time at which they became known.
            const later = { ...book, now: (book.now + 60_000) as Instant }
            const next = one.kind === 'discard' ? givenUp(later, one) : await afterStep(later, one)
            if (isTellable(next)) book = next
          }
          const before = issuedOf(book)
          isTheSame(
            book.ground,
            before,
            convertForTest(requestOf(book.ground, before), book.ground, book.now),
          )
          for (const { invoices, payments } of before) {
            const standing = [...payments.values()].filter(one => one.reversedAt === undefined)
            seen.policies += 1
            seen.fromCredit += standing.filter(one => one.source === 'credit').length
            seen.overpaid += standing.filter(one => one.credited.minor > 0).length
            seen.givenUp += [...invoices.values()].filter(
              one => one.statuses.at(-1)!.status === 'writtenOff',
            ).length
          }
        }),
        { seed: SEED, numRuns: size(25, 300) },
      )
      expect(Math.min(...Object.values(seen))).toBeGreaterThan(size(0, 5))
    },
    size(120_000, 1_200_000),
  )
})

describe('a generated book that was migrated', () => {
  it(
    'migrated again is the same book, with joint invoices divided by policy, and with disbursements',
    () => {
      const now = Date.UTC(2026, 9, 1, 12) as Instant
      let seen = 0
      let disbursed = 0
      for (const { account } of accountsOf({
        seed: 'twice',
        accounts: size(30, 1_000),
        asOf: '2026-10-01',
      })) {
        const ground = newPolicyContextOf('motor', 'private_motor', account.accountData.data, now)
        const first = convertForTest(account, ground, now)
        expect(first.failures).toEqual([])
        const request = told(
          ground,
          first.policies,
          first.disbursements.map(one => ({
            locator: one.locator,
            disbursementTimestamp: String(one.at),
            disbursementType: one.type,
            data: { ...one.data },
            amount: toNumber(one.amount),
          })),
        )
        if (!request) continue
        const again = convertForTest(request, ground, now)
        isTheSame(ground, first.policies, again)
        expect(again.totals).toEqual(first.totals)
        const paidOut = ({ disbursements }: Converted) =>
          disbursements.map(({ locator: _, originalId: __, ...one }) => one)
        expect(paidOut(again)).toEqual(paidOut(first))
        seen += first.policies.length
        disbursed += first.disbursements.length
      }
      expect(seen).toBeGreaterThan(size(20, 800))
      expect(disbursed).toBeGreaterThan(0)
    },
    size(120_000, 1_200_000),
  )
})
