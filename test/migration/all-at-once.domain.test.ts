// An item with a malformed value gets all other errors about it too, but none caused only by the stand-in values.
import fc from 'fast-check'
import { expect, it, vi } from 'vitest'
import { locatorSupply, type Uuid } from '../../src/kernel/locators.ts'
import {
  convertAccount,
  digitsNeeded,
  findItemProblems,
} from '../../src/servicing/migration/convert/account.ts'
import { readFailingItems } from '../../src/servicing/migration/failing.ts'
import { Findings, InvoiceLinks, type ItemFailure } from '../../src/servicing/migration/item.ts'
import { readAccount } from '../../src/servicing/migration/request.ts'
import { doubtfulTimes } from '../../src/servicing/migration/run/account.ts'
import { size } from '../support/sizes.ts'
import { accountOf, BOOK_BEGINS, DAY, madePolicy, NOW, plainConfiguration, type Wire } from './made-book.ts'

const CONTEXT = {
  configuration: plainConfiguration,
  configVersion: 1,
  now: NOW,
  shard: 0,
  supply: locatorSupply(0, []),
  accountLocator: '5b9a3f60-0000-4000-8000-000000000000' as Uuid,
  callerLocator: '5b9a3f61-0000-4000-8000-000000000000' as Uuid,
}

/** The errors of each item beyond its shape, with their places. */
function further(wire: Wire): string[] {
  const { request, failures } = readAccount(wire, 'A1', true)
  const failing = readFailingItems(wire, 'A1', true, request, failures)
  const failed = new Set(failures.map(one => `${one.kind} ${one.originalId}`))
  return findItemProblems(failing.request, CONTEXT)
    .filter(({ kind, originalId }) => failed.has(`${kind} ${originalId}`))
    .flatMap(({ kind, originalId, problems }) =>
      problems.flatMap(one =>
        failing.sure(kind, originalId, one).map(sentence => `${one.locator}: ${sentence}`),
      ),
    )
}

const coverage = (charges: object[], more: object = {}) => ({
  id: 'cov',
  elementType: 'cover',
  charges,
  ...more,
})
const policy = (charges: object[], more: { policy?: object; data?: object; first?: object } = {}): Wire => ({
  id: 'P1',
  productName: 'plain',
  ...more.policy,
  terms: [
    {
      startTime: BOOK_BEGINS,
      endTime: BOOK_BEGINS + 365 * DAY,
      transactions: [
        {
          transactionType: 'issuance',
          issuedTime: BOOK_BEGINS,
          installments: [{ startTime: BOOK_BEGINS, dueTime: BOOK_BEGINS, invoiceId: 'I1' }],
          segment: {
            segmentType: 'coverage',
            startTime: BOOK_BEGINS,
            rootElement: {
              id: 'root',
              elementType: 'plain',
              elements: [
                {
                  id: 'car',
                  elementType: 'thing',
                  data: { yearly: 100, ...more.data },
                  elements: [coverage(charges)],
                },
              ],
            },
          },
          ...more.first,
        },
      ],
    },
  ],
})
const charge = (amount: unknown, chargeType = 'premium', installmentNumber: unknown = 1) => ({
  chargeType,
  installmentItems: [{ amount, installmentNumber }],
})
const invoice = (more: object = {}): Wire => ({
  id: 'I1',
  startTime: BOOK_BEGINS,
  endTime: BOOK_BEGINS + DAY,
  dueTime: BOOK_BEGINS + DAY,
  ...more,
})
const account = (policies: Wire[], more: object = {}): Wire => ({
  accountData: { id: 'A1', data: { last_name: 'Even' } },
  policies,
  invoices: [invoice()],
  ...more,
})

const CAR = 'P1/terms[0]/transactions[0]/car'
const COV = 'P1/terms[0]/transactions[0]/cov'

it('a malformed amount hides no error of other charges, nor of its own charge', () => {
  const wire = account([policy([charge('5,00', 'nope', 7), charge(1, 'premium', 9)], { data: { nose: 1 } })])
  expect(further(wire)).toEqual([
    expect.stringMatching(`^${CAR.replaceAll('[', '\\[')}: Field 'nose' is not known`),
    expect.stringContaining(`${COV}/charges[0]: chargeType 'nope' must be`),
    expect.stringContaining(`${COV}/charges[1]: installmentItems[0].installmentNumber 9 must be`),
  ])
})

it('a payment and a disbursement with malformed amounts get their other errors too', () => {
  const wire = account([policy([charge(1)])], {
    payments: [
      { id: 'M1', paymentTime: 'soon', currency: 'CHF', paymentItems: [{ amount: 'x', invoiceId: 'I9' }] },
    ],
    disbursements: [
      { id: 'D1', disbursementTime: 0, currency: 'CHF', sources: [{ amount: '€5' }, { amount: -1 }] },
    ],
  })
  expect(further(wire)).toEqual([
    'M1: currency must be EUR, the currency of the tenant.',
    expect.stringContaining("M1: paymentItems[0].invoiceId 'I9' must be the id of an invoice"),
    'D1: currency must be EUR, the currency of the tenant.',
    'D1: sources[1].amount must be above zero.',
  ])
})

it('an invoice without a start gets its other errors too', () => {
  const wire = account([policy([charge(1)])], {
    invoices: [invoice({ startTime: null, currency: 'CHF', timezone: 'Nowhere' })],
  })
  expect(further(wire)).toEqual([
    'I1: currency must be EUR, the currency of the tenant.',
    'I1: timezone must be the IANA name of a time zone, such as Europe/Berlin.',
  ])
})

it('a malformed issue time hides no error of charges and elements', () => {
  const first = { issuedTime: '31.01.2024' }
  expect(further(account([policy([charge(1, 'nope')], { first, data: { nose: 1 } })]))).toEqual([
    expect.stringContaining(`${CAR}: Field 'nose'`),
    expect.stringContaining(`${COV}/charges[0]: chargeType 'nope'`),
  ])
})

type Place = { readonly holder: Wire; readonly key: string }

function placesIn(part: Wire): Place[] {
  if (typeof part !== 'object' || part === null) return []
  return Object.keys(part).flatMap(key => [{ holder: part, key }, ...placesIn(part[key])])
}

it('a valid account with one malformed value gets no other error, wherever the value is', () => {
  fc.assert(
    fc.property(
      madePolicy,
      fc.nat(),
      fc.constantFrom<unknown>(null, 'x', '', 7.5, true, [], [null], ['x'], undefined),
      (made, at, value) => {
        const wire = JSON.parse(JSON.stringify(accountOf([made])))
        const items: Wire[] = [...wire.policies, ...wire.invoices]
        const places = items.flatMap(item =>
          placesIn(item).filter(one => one.holder !== item || one.key !== 'id'),
        )
        const { holder, key } = places[at % places.length]!
        holder[key] = value
        const { failures } = readAccount(wire, 'A1', true)
        const shapes = failures.filter(one => !isBlocked(one))
        // A value of valid shape may still break a rule.
        fc.pre(shapes.length > 0)
        expect(further(wire)).toEqual([])
      },
    ),
    { numRuns: size(150, 400) },
  )
})

const isBlocked = ({ problems }: ItemFailure): boolean =>
  problems.every(({ errors }) => errors.every(one => one.startsWith('blocked by ')))

it('a chain of linked items is followed once', () => {
  const looks = (length: number): number => {
    const links = new InvoiceLinks()
    for (let at = length; at > 0; at -= 1) {
      links.add({ kind: 'policies', id: `P${at}`, invoice: `I${at}` })
      links.add({ kind: 'policies', id: `P${at}`, invoice: `I${at - 1}` })
    }
    const failed = new Set(['invoices I0'])
    let count = 0
    links.block(
      [...failed],
      (kind, id) => {
        count += 1
        return failed.has(`${kind} ${id}`)
      },
      (kind, id) => failed.add(`${kind} ${id}`),
    )
    expect(failed.size).toBe(2 * length + 1)
    return count
  }
  expect(looks(4_000)).toBeLessThan(2.1 * looks(2_000))
})

it.each([0, 30])('unpaid settled invoices are all found in one round, with a credit of %d each', credit => {
  const rounds = (count: number): number => {
    const all = Array.from({ length: count }, (_, at) => at)
    const wire = account(
      all.map(at => {
        const one = policy([charge(120)], { policy: { id: `P${at}` } })
        one.terms[0].transactions[0].installments[0].invoiceId = `I${at}`
        return one
      }),
      {
        invoices: all.map(at => invoice({ id: `I${at}`, invoiceState: 'settled' })),
        payments: all.map(at => ({
          id: `M${at}`,
          paymentTime: BOOK_BEGINS,
          paymentItems: [{ amount: 1, invoiceId: `I${at}` }, ...(credit > 0 ? [{ amount: credit }] : [])],
        })),
      },
    )
    const { request } = readAccount(wire, 'A1', true)
    const supply = locatorSupply(
      0,
      Array.from({ length: digitsNeeded(request) }, (_, at) => (at + 1) * 64),
    )
    const block = vi.spyOn(Findings.prototype, 'block')
    const { failures } = convertAccount(request, { ...CONTEXT, supply })
    const calls = block.mock.calls.length
    block.mockRestore()
    expect(failures.filter(one => one.kind === 'invoices')).toHaveLength(count)
    return calls
  }
  expect(rounds(40)).toBe(rounds(10))
})

it('times that are probably seconds or days cause warnings, and malformed times do not', () => {
  const warnings = doubtfulTimes(
    {
      accountData: { id: 'A1', createdAt: 1_767_225_600 },
      payments: [
        { id: 'M1', paymentTime: '20260131' },
        { id: 'M2', paymentTime: '2026-02-30' },
        { id: 'M3', paymentTime: '2026-01-31t10:00', data: { someTime: '20260131' } },
        { id: 'M4', paymentTime: 1_767_225_600_000 },
      ],
    },
    'A1',
  )
  expect(warnings.map(({ locator, errors }) => `${locator}: ${errors}`)).toEqual([
    expect.stringMatching(
      /^A1: createdAt '1767225600' is read as milliseconds since 1970, which is 1970-01-21T/,
    ),
    expect.stringMatching(
      /^M1: paymentTime '20260131' is read as milliseconds since 1970, which is 1970-01-01T05:37:40.131Z/,
    ),
    expect.stringMatching(/^M3: paymentTime '2026-01-31t10:00' has no time zone/),
  ])
})
