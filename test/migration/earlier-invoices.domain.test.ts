// Migrating in two attempts gives the same as in one: for invoices shared by policies of both, and for payments that come later.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { locatorSupply, type Uuid } from '../../src/kernel/locators.ts'
import { fromMinor, minus, plus, sum, toText, zero } from '../../src/kernel/money.ts'
import { restDue, totalDueOf } from '../../src/policy/bills/amounts-due.ts'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import { invoiceStatus } from '../../src/policy/records/invoice.ts'
import { MigrationRequest } from '../../src/servicing/migration/contract-request.ts'
import { convertAccount, digitsNeeded } from '../../src/servicing/migration/convert/account.ts'
import type {
  AccountRequest,
  Converted,
  EarlierInvoice,
  Existing,
} from '../../src/servicing/migration/convert/converted.ts'
import type { ItemMapping } from '../../src/servicing/migration/item.ts'
import { size } from '../support/sizes.ts'
import {
  accountOf,
  BOOK_BEGINS,
  converted,
  DAY,
  madePolicy,
  NOW,
  plainConfiguration,
  type Wire,
} from './made-book.ts'

const SEED = 20261122
const product = plainConfiguration.products.plain!
const NOTHING = zero(plainConfiguration.currency)

const partsOf = ({ locator, children = [] }: ItemMapping): Uuid[] =>
  [locator, ...children.map(one => one.locator)] as Uuid[]

/** The migrated records, as the next attempt finds them. */
function existingOf({ policies, mappings }: Converted): Existing {
  const invoices = mappings
    .filter(({ kind }) => kind === 'invoices')
    .map((mapping): [string, EarlierInvoice] => {
      const [first, ...others] = partsOf(mapping).map(invoice => ({
        policy: known(policies.find(one => one.invoices.has(invoice))!),
        invoice,
      }))
      return [mapping.originalId, { parts: [first!, ...others], isStatedSettled: false }]
    })
  return { credit: NOTHING, invoices: new Map(invoices) }
}

const policiesKnown = new WeakMap<PolicyAggregate, { aggregate: PolicyAggregate; product: typeof product }>()

/** The policy as the same object each time, as when its rows are read once. */
function known(aggregate: PolicyAggregate) {
  const policy = policiesKnown.get(aggregate) ?? { aggregate, product }
  policiesKnown.set(aggregate, policy)
  return policy
}

function further(wire: Wire, existing: Existing): Converted {
  const request: AccountRequest = MigrationRequest.parse(wire)
  const digits = Array.from(
    { length: digitsNeeded(request, existing.invoices) },
    (_, at) => 900_000_000 + at * 64,
  )
  return convertAccount(request, {
    configuration: plainConfiguration,
    configVersion: 1,
    now: NOW,
    shard: 0,
    existing,
    supply: locatorSupply(0, digits),
    accountLocator: '5b9a3f60-0000-4000-8000-000000000000' as Uuid,
    callerLocator: '5b9a3f61-0000-4000-8000-000000000000' as Uuid,
  })
}

/** For each invoice, by policy in order: its status, its amount due, and the amount paid. */
function billedOf(policies: readonly PolicyAggregate[], parts: ReadonlyMap<string, readonly Uuid[]>) {
  return Object.fromEntries(
    [...parts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, locators]) => [
        id,
        locators.map(locator => {
          const policy = policies.find(one => one.invoices.has(locator))!
          const invoice = policy.invoices.get(locator)!
          const due = totalDueOf(policy, invoice)
          return [invoiceStatus(invoice), toText(due), toText(minus(due, restDue(policy, invoice)))].join(' ')
        }),
      ]),
  )
}

const invoicesOf = (mappings: readonly ItemMapping[]): [string, Uuid[]][] =>
  mappings.filter(({ kind }) => kind === 'invoices').map(one => [one.originalId, partsOf(one)])

const namedBy = (policy: Wire): Set<string> =>
  new Set(
    policy.terms.flatMap((term: Wire) =>
      term.transactions.flatMap((one: Wire) => one.installments.map((each: Wire) => each.invoiceId)),
    ),
  )

/** Pays a share of each invoice, in percent, in two payments. Omits payments of zero. */
function paymentsOf({ policies, mappings }: Converted, shares: readonly number[]): Wire[] {
  return invoicesOf(mappings).flatMap(([id, locators], at) => {
    const total = sum(
      locators.map(locator => {
        const policy = policies.find(one => one.invoices.has(locator))!
        return totalDueOf(policy, policy.invoices.get(locator)!)
      }),
      plainConfiguration.currency,
    )
    const paid = Math.trunc((total.minor * shares[at % shares.length]!) / 100)
    const first = Math.trunc(paid / 3)
    return [first, paid - first]
      .filter(minor => minor !== 0)
      .map((minor, number) => ({
        id: `${id}-${number}`,
        paymentTime: BOOK_BEGINS + number * DAY,
        paymentItems: [{ invoiceId: id, amount: toText(fromMinor(minor, plainConfiguration.currency)) }],
      }))
  })
}

describe(`an account that is migrated in two attempts (seed ${SEED})`, () => {
  it('is the same as an account migrated in one attempt, to the cent', () => {
    let shared = 0
    fc.assert(
      fc.property(
        fc.tuple(madePolicy, madePolicy),
        fc.array(fc.constantFrom(0, 30, 100), { minLength: 6, maxLength: 6 }),
        (made, shares) => {
          const wire = accountOf(made)
          const whole = { ...wire, payments: paymentsOf(converted(wire), shares) }
          const atOnce = converted(whole)
          expect(atOnce.failures).toEqual([])
          const [P0, P1] = wire.policies
          const before = namedBy(P0)
          const first = converted({
            accountData: wire.accountData,
            policies: [P0],
            invoices: wire.invoices.filter((one: Wire) => before.has(one.id)),
          })
          const second = further(
            {
              policies: [P1],
              payments: whole.payments,
              invoices: wire.invoices.filter((one: Wire) => !before.has(one.id)),
            },
            existingOf(first),
          )
          expect([...first.failures, ...second.failures]).toEqual([])
          shared += second.added.length
          const changed = new Map(second.changes.map(({ after }) => [after.policy.locator, after]))
          const policies = [
            ...first.policies.map(one => changed.get(one.policy.locator) ?? one),
            ...second.policies,
          ]
          const parts = new Map([...invoicesOf(first.mappings), ...invoicesOf(second.mappings)])
          for (const { originalId, parts: more } of second.added)
            parts.set(originalId, [...parts.get(originalId)!, ...more])
          expect(billedOf(policies, parts)).toEqual(
            billedOf(atOnce.policies, new Map(invoicesOf(atOnce.mappings))),
          )
          expect(toText(plus(first.totals.invoiced, second.totals.invoiced))).toBe(
            toText(atOnce.totals.invoiced),
          )
          expect(toText(second.totals.paid)).toBe(toText(atOnce.totals.paid))
        },
      ),
      { seed: SEED, numRuns: size(12, 2_000) },
    )
    expect(shared).toBeGreaterThan(10)
  })
})
