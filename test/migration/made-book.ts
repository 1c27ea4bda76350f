// Generated accounts as another system would send them: several terms, changes, gaps and later transactions, bills, payments.
import Big from 'big.js'
import fc from 'fast-check'
import { compileScript } from '../../src/extension/plugins/runners/script.ts'
import { locatorSupply, type Uuid } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { compileConfiguration } from '../../src/product/compile.ts'
import type { Configuration } from '../../src/product/configuration.ts'
import { loadPatternEngine } from '../../src/product/fields/patterns.ts'
import { compileTemplate } from '../../src/product/templates/liquid.ts'
import { AccountMigrationRequest } from '../../src/servicing/migration/contract-request.ts'
import { convertAccount, digitsNeeded } from '../../src/servicing/migration/convert/account.ts'
import type {
  AccountRequest,
  ConvertContext,
  Converted,
} from '../../src/servicing/migration/convert/converted.ts'

await loadPatternEngine()

export const DAY = 86_400_000
export const BOOK_BEGINS = Date.UTC(2024, 0, 1)
export const NOW = Date.UTC(2027, 0, 1) as Instant

const POLICY = 'products/plain/policy'
const THING = `${POLICY}/exposures/thing`

const files: Record<string, unknown> = {
  'config.json': { timezone: 'Europe/Berlin', currency: 'EUR' },
  'policyholder/policyholder.dictionary.json': [{ name: 'last_name', type: 'string', searchable: true }],
  'security/test_users.json': [{ username: 'alice', name: 'Alice', password: 'password' }],
  [`${POLICY}/policy.json`]: {
    fields: [{ name: 'note', title: 'Note', type: 'string', optional: true }],
    paymentSchedules: [
      { type: 'total', name: 'upfront', displayName: 'At once' },
      { type: 'monthly', name: 'monthly', displayName: 'Monthly' },
    ],
  },
  [`${POLICY}/endorsements.json`]: {
    endorsements: [{ name: 'always', displayName: 'always', reprice: 'always', documents: [] }],
  },
  [`${POLICY}/renewals.json`]: { documents: [] },
  [`${POLICY}/cancellations.json`]: {
    cancellationTypes: [
      {
        name: 'wish',
        title: 'At the customer’s wish',
        documents: [],
        reinstatement: { defaultDeadlineDays: 30, documents: [] },
      },
    ],
  },
  [`${THING}/exposure.json`]: {
    name: 'thing',
    displayName: 'Thing',
    fields: [
      { name: 'yearly', title: 'Yearly', type: 'number', decimalPlaces: 2 },
      {
        name: 'parts',
        title: 'Parts',
        type: 'group',
        optional: true,
        repeatable: true,
        fields: [{ name: 'part', title: 'Part', type: 'string' }],
      },
    ],
  },
  ...Object.fromEntries(
    ['cover', 'theft'].flatMap(name => [
      [`${THING}/perils/${name}.json`, { name, displayName: name, fields: [] }],
      [`${THING}/perils/${name}.premium.liquid`, '{{ 100 | set_year_premium }}'],
    ]),
  ),
}

const compiled = compileConfiguration(
  Object.entries(files).map(([path, content]) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    return { path, sizeBytes: text.length, bytes: () => new TextEncoder().encode(text), text: () => text }
  }),
  { compileLiquid: compileTemplate, compileScript },
)

/** Product `plain` in euros: exposures `thing` with a field `yearly` and perils `cover` and `theft`. */
if (!compiled.configuration) throw new Error(JSON.stringify(compiled.findings))
export const plainConfiguration: Configuration = compiled.configuration

/** The root of a segment of product `plain`: one exposure with one peril. */
export const plainElement = (cover: Wire, thing: Wire = { yearly: 120 }, root: Wire = {}): Wire => ({
  id: 'root',
  elementType: 'plain',
  elements: [
    {
      id: 'car',
      elementType: 'thing',
      data: thing,
      elements: [{ id: 'cov', elementType: 'cover', ...cover }],
    },
  ],
  ...root,
})

let sequence = 3_000_000

/** Converts the account as the service does, with exactly the number of locators that it needs. */
export function converted(wire: unknown, more: Partial<ConvertContext> = {}): Converted {
  const request: AccountRequest = AccountMigrationRequest.parse(wire)
  const digits = Array.from({ length: digitsNeeded(request) }, () => sequence++ * 64)
  return convertAccount(request, {
    configuration: plainConfiguration,
    configVersion: 1,
    now: NOW,
    supply: locatorSupply(0, digits),
    shard: 0,
    accountLocator: '5b9a3f60-0000-4000-8000-000000000000' as Uuid,
    callerLocator: '5b9a3f61-0000-4000-8000-000000000000' as Uuid,
    ...more,
  })
}

// biome-ignore lint/suspicious/noExplicitAny: requests that are made wrong on purpose
export type Wire = any

const cents = (minor: number): number => Number(new Big(minor).div(100).toFixed(2))

/** A generated transaction. The numbers select its properties. */
type Deed = {
  kind: 'change' | 'gap' | 'back' | 'bill'
  at: number
  /** Which perils of the two exposures are covered, and the value of `yearly` of each exposure. */
  cover: number[]
  yearly: number[]
  /** In cents, by element and type of charge. */
  amounts: number[]
  shares: number[]
  installments: number
  invoices: number[]
}

const deed: fc.Arbitrary<Deed> = fc.record({
  kind: fc.constantFrom('change', 'change', 'gap', 'back', 'bill'),
  at: fc.integer({ min: 0, max: 364 }),
  cover: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 4, maxLength: 4 }),
  yearly: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 2, maxLength: 2 }),
  amounts: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: -20_000, max: 60_000 })), {
    minLength: 13,
    maxLength: 13,
  }),
  shares: fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 3, maxLength: 3 }),
  installments: fc.integer({ min: 0, max: 3 }),
  invoices: fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 3, maxLength: 3 }),
})

export type MadePolicy = { terms: { first: Deed; later: Deed[] }[] }

export const madePolicy: fc.Arbitrary<MadePolicy> = fc.record({
  terms: fc.array(fc.record({ first: deed, later: fc.array(deed, { maxLength: 4 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
})

/** Splits an amount of any sign over the installments. */
function itemsOf(minor: number, { shares, installments }: Pick<Deed, 'shares' | 'installments'>): object[] {
  if (minor === 0) return []
  const items: { amount: number; installmentNumber: number }[] = []
  let left = minor
  for (let at = 0; at < installments; at += 1) {
    const part = at === installments - 1 ? left : Math.round((minor * shares[at]!) / 100)
    left -= part
    items.push({ amount: cents(part), installmentNumber: at + 1 })
  }
  return items
}

/** `covered` contains the coverages that the term had before. A gap adds none. */
function treeOf(made: Omit<Deed, 'kind'>, covered: Set<string>, isGap: boolean): object {
  let next = 0
  const amount = (): number => made.amounts[next++]!
  const charge = (chargeType: string, tag?: string) => ({
    chargeType,
    ...(tag && { tag }),
    installmentItems: itemsOf(amount(), made),
  })
  const things = [0, 1].flatMap(thing => {
    const perils = [0, 1].flatMap(peril => {
      const charges = [charge('premium'), charge('tax', 'levy'), charge('commission', 'broker')]
      const id = `t${thing}-p${peril}`
      if (made.cover[thing * 2 + peril] === 0 || (isGap && !covered.has(id))) return []
      covered.add(id)
      return [{ id, elementType: ['cover', 'theft'][peril], charges }]
    })
    if (perils.length === 0) return []
    return [
      {
        id: `t${thing}`,
        elementType: 'thing',
        data: { yearly: made.yearly[thing]! * 100 },
        elements: perils,
      },
    ]
  })
  return { id: 'root', elementType: 'plain', elements: things, charges: [charge('fee', 'admin')] }
}

/** An account with these policies and open invoices. */
export function accountOf(policies: readonly MadePolicy[]): Wire {
  const used = new Set<string>()
  return {
    accountData: { id: 'A1', data: { last_name: 'Even' } },
    policies: policies.map((made, policy) => ({
      id: `P${policy}`,
      productName: 'plain',
      durationBasis: 'years',
      terms: made.terms.map(({ first, later }, term) => {
        const start = BOOK_BEGINS + term * 365 * DAY
        const covered = new Set<string>()
        let issued = start - 5 * DAY
        return {
          startTime: new Date(start).toISOString(),
          endTime: start + 365 * DAY,
          transactions: [{ ...first, kind: 'first' as const, at: 0 }, ...later].map(one => {
            issued += 7 * DAY
            const from = start + one.at * DAY
            const bills = one.kind !== 'bill'
            return {
              transactionType:
                one.kind === 'first'
                  ? term === 0
                    ? 'issuance'
                    : 'renewal'
                  : { change: 'always', gap: 'wish', back: 'reinstatement', bill: 'aggregate' }[one.kind],
              issuedTime: issued,
              ...(bills && {
                segment: {
                  segmentType: one.kind === 'gap' ? 'gap' : 'coverage',
                  startTime: from,
                  rootElement: treeOf(one, covered, one.kind === 'gap'),
                },
              }),
              installments: bills
                ? Array.from({ length: one.installments }, (_, at) => {
                    const invoice = one.invoices[at]!
                    const invoiceId = invoice === 0 ? undefined : `I${invoice}`
                    if (invoiceId) used.add(invoiceId)
                    return {
                      startTime: from + at * 30 * DAY,
                      dueTime: from + (at * 30 + 14) * DAY,
                      invoiceId,
                    }
                  })
                : [],
            }
          }),
        }
      }),
    })),
    invoices: [...used].map(id => ({
      id,
      startTime: BOOK_BEGINS + Number(id.slice(1)) * 30 * DAY,
      endTime: BOOK_BEGINS + Number(id.slice(1)) * 30 * DAY + 30 * DAY,
      dueTime: BOOK_BEGINS + Number(id.slice(1)) * 30 * DAY + 14 * DAY,
    })),
  }
}

export type NaiveItem = { policy: string; invoice: string | undefined; kind: string; amount: Big }

/** All items of the account, as listed in the request. */
export function naiveItems(account: Wire): NaiveItem[] {
  const items: NaiveItem[] = []
  for (const policy of account.policies)
    for (const term of policy.terms)
      for (const transaction of term.transactions) {
        const visit = (element: Wire): void => {
          for (const charge of element.charges ?? [])
            for (const item of charge.installmentItems ?? [])
              items.push({
                policy: policy.id,
                invoice: transaction.installments[item.installmentNumber - 1].invoiceId,
                kind: charge.chargeType,
                amount: new Big(item.amount),
              })
          for (const one of element.elements ?? []) visit(one)
        }
        if (transaction.segment?.rootElement) visit(transaction.segment.rootElement)
      }
  return items
}

export const sumOf = (items: readonly { amount: Big }[]): string =>
  items.reduce((all, { amount }) => all.plus(amount), new Big(0)).toFixed(2)
