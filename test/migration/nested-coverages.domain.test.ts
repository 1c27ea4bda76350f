// Coverages within coverages become perils of one exposure, each with the peril that contains it (resources brief 9.5).
import { describe, expect, it } from 'vitest'
import { locatorSupply } from '../../src/kernel/locators.ts'
import { withParents } from '../../src/policy/draft/draft.ts'
import { policyResponse } from '../../src/policy/projection/policy.ts'
import { boundQuote, type Peril, type PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import { planCopy } from '../../src/transactions/quotes/plans.ts'
import { storedAggregate } from '../support/stored-aggregate.ts'
import { BOOK_BEGINS, converted, DAY, NOW, plainConfiguration, type Wire } from './made-book.ts'

const product = plainConfiguration.products.plain!
const YEAR = 365 * DAY

type Tree = { [id: string]: Tree }

/** The id of an element begins with the name of its peril. */
const elements = (tree: Tree): Wire[] =>
  Object.entries(tree).map(([id, inner]) => ({
    id,
    elementType: id.split('-')[0],
    charges: [{ chargeType: 'premium', installmentItems: [{ amount: 10, installmentNumber: 1 }] }],
    elements: elements(inner),
  }))

const transaction = (transactionType: string, day: number, tree: Tree): Wire => ({
  transactionType,
  issuedTime: BOOK_BEGINS + day * DAY,
  segment: {
    segmentType: 'coverage',
    startTime: BOOK_BEGINS + day * DAY,
    rootElement: {
      id: 'root',
      elementType: 'plain',
      elements: [{ id: 'car', elementType: 'thing', data: { yearly: 100 }, elements: elements(tree) }],
    },
  },
  installments: [{ startTime: BOOK_BEGINS + day * DAY, dueTime: BOOK_BEGINS + day * DAY }],
})

const account = (...terms: Wire[][]): Wire => ({
  accountData: { id: 'A1', data: { last_name: 'Even' } },
  policies: [
    {
      id: 'P1',
      productName: 'plain',
      terms: terms.map((transactions, at) => ({
        startTime: BOOK_BEGINS + at * YEAR,
        endTime: BOOK_BEGINS + (at + 1) * YEAR,
        transactions,
      })),
    },
  ],
})

const NESTED: Tree = { 'cover-1': { 'theft-1': { 'theft-2': {} } }, 'theft-3': {} }

const perilResponses = (policy: PolicyAggregate) =>
  policyResponse(storedAggregate(policy), product, { summarizeQuotes: false }).exposures[0]!.perils

/** For each peril, the index of its parent in the list. */
const parents = (perils: readonly { locator: string; parentLocator?: string | undefined }[]) =>
  perils.map(one => {
    const at = perils.findIndex(other => other.locator === one.parentLocator)
    return one.parentLocator === undefined ? undefined : at
  })

describe('a coverage within a coverage', () => {
  it('refers to its parent peril at any depth, and in each term to one of that term', () => {
    const wire = account(
      [transaction('issuance', 0, NESTED), transaction('change', 100, NESTED)],
      [transaction('renewal', 365, { 'cover-1': { 'theft-2': {} }, 'theft-1': {}, 'theft-3': {} })],
    )
    const { policies, failures } = converted(wire)
    expect(failures).toEqual([])
    const perils = perilResponses(policies[0]!)
    expect(perils.map(one => one.name)).toEqual([
      'cover',
      'theft',
      'theft',
      'theft',
      'cover',
      'theft',
      'theft',
      'theft',
    ])
    expect(parents(perils)).toEqual([
      undefined,
      0,
      1,
      undefined,
      // In the second term, theft-2 is directly in the cover, and theft-1 in none.
      undefined,
      4,
      undefined,
      undefined,
    ])
    expect(perils[5]!.renewalGroup).toBe(perils[2]!.locator)
  })

  it('must stay in the same parent within a term', () => {
    const moved = { 'cover-1': { 'theft-1': {}, 'theft-2': {} }, 'theft-3': {} }
    const wire = account([transaction('issuance', 0, NESTED), transaction('change', 100, moved)])
    expect(converted(wire).failures).toMatchObject([
      {
        originalId: 'P1',
        problems: [
          {
            elementType: 'element',
            locator: 'P1/terms[0]/transactions[1]/theft-2',
            errors: ['must be in the same coverage as in an earlier transaction of its term.'],
          },
        ],
      },
    ])
  })

  it('that has ended may be anywhere in its exposure', () => {
    const change = transaction('change', 100, { 'cover-1': { 'theft-1': {} }, 'theft-3': {}, 'theft-2': {} })
    change.segment.rootElement.elements[0].elements[2].ended = true
    const { policies, failures } = converted(account([transaction('issuance', 0, NESTED), change]))
    expect(failures).toEqual([])
    expect(parents(perilResponses(policies[0]!))).toEqual([undefined, 0, 1, undefined])
  })

  it('refers to the copy of its parent in a copy of the quote', () => {
    const [policy] = converted(account([transaction('issuance', 0, NESTED)])).policies
    const digits = Array.from({ length: 20 }, (_, at) => (at + 9_000_000) * 64)
    const context = { product, now: NOW, timeZone: policy!.policy.timeZone, supply: locatorSupply(0, digits) }
    const { aggregate } = planCopy(policy!, boundQuote(policy!), {}, context as never)
    const copied = [...aggregate.perils.values()].filter(one => !policy!.perils.has(one.locator))
    expect(parents(copied)).toEqual([undefined, 0, 1, undefined])
  })

  it('has no parent if nothing replaces its parent', () => {
    const [policy] = converted(account([transaction('issuance', 0, NESTED)])).policies
    const again = new Map(
      [...policy!.perils.values()].slice(1).map((one): [Peril['locator'], Peril] => [one.locator, one]),
    )
    expect(parents(withParents(again))).toEqual([undefined, 0, undefined])
  })
})
