// Maps each kind of record to its table. Amounts become minor units; nulls become absent properties.
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, fromMinor, type Money } from '../../kernel/money.ts'
import type {
  CollectionName,
  Fee,
  Holdback,
  Modification,
  PerilPrice,
  PerilRun,
  Policy,
  PolicyAggregate,
  RunSplit,
} from '../records/aggregate.ts'
import type { Payment, PlannedInstallment } from '../records/invoice.ts'
import type { Unread } from '../surroundings.ts'
import { installments, invoices, payments } from '../tables/billing.ts'
import { documents, policyMedia } from '../tables/documents.ts'
import type { policies, Stored, StoredHoldback } from '../tables/policies.ts'
import {
  cancellations,
  endorsements,
  exposureRuns,
  exposures,
  fees,
  gracePeriods,
  lapseReinstatements,
  lapses,
  modifications,
  perilRuns,
  perils,
  policySegments,
  quotes,
  reinstatements,
} from '../tables/policies.ts'

type Amounted = { readonly amount: Money }

/** Converts an amount to minor units for a JSON column. `readIn` converts it back. */
const toStoredAmount = <T extends Amounted>(item: T) => ({ ...item, amount: item.amount.minor })

const readIn =
  (currency: CurrencyCode) =>
  <T extends { amount: number }>(item: T) => ({ ...item, amount: fromMinor(item.amount, currency) })

const storedSplits = (splits: readonly RunSplit[]): Stored<RunSplit[]> =>
  splits.map(({ before, ...split }) => ({
    ...split,
    before: {
      premium: before.premium.minor,
      technicalPremium: before.technicalPremium?.minor,
      taxes: before.taxes.map(tax => tax.minor),
      commissions: before.commissions.map(commission => commission.minor),
    },
  }))

function readSplits(splits: Stored<RunSplit[]>, currency: CurrencyCode): RunSplit[] {
  const amount = (minor: number) => fromMinor(minor, currency)
  return splits.map(({ before, ...split }) => ({
    ...split,
    before: {
      premium: amount(before.premium),
      technicalPremium: before.technicalPremium === undefined ? undefined : amount(before.technicalPremium),
      taxes: before.taxes.map(amount),
      commissions: before.commissions.map(amount),
    },
  }))
}

type HoldbackOfRun = Extract<StoredHoldback, { perilRunLocator: Uuid }>

/** Groups the holdbacks of each run, because one row of a large policy contains all of its holdbacks. */
function storedHoldbacks(holdbacks: readonly Holdback[]): StoredHoldback[] {
  const byOwner = new Map<string, StoredHoldback>()
  for (const holdback of holdbacks) {
    const { minor } = holdback.amount
    if (holdback.type === 'fee') {
      byOwner.set(holdback.feeLocator, { feeLocator: holdback.feeLocator, amount: minor })
      continue
    }
    const { perilRunLocator } = holdback
    const ofRun = (byOwner.get(perilRunLocator) ?? { perilRunLocator }) as HoldbackOfRun
    byOwner.set(perilRunLocator, ofRun)
    if (holdback.type === 'premium') ofRun.amount = minor
    else if (holdback.type === 'tax') ofRun.taxes = { ...ofRun.taxes, [holdback.taxName]: minor }
    else ofRun.commissions = { ...ofRun.commissions, [holdback.position]: minor }
  }
  return [...byOwner.values()]
}

function* readHoldbacks(holdbacks: readonly StoredHoldback[], currency: CurrencyCode): Generator<Holdback> {
  const amount = (minor: number) => fromMinor(minor, currency)
  for (const holdback of holdbacks) {
    if ('feeLocator' in holdback) {
      yield { type: 'fee', feeLocator: holdback.feeLocator, amount: amount(holdback.amount) }
      continue
    }
    const { perilRunLocator, amount: premium, taxes = {}, commissions = {} } = holdback
    if (premium !== undefined) yield { type: 'premium', perilRunLocator, amount: amount(premium) }
    for (const [taxName, minor] of Object.entries(taxes))
      yield { type: 'tax', perilRunLocator, taxName, amount: amount(minor) }
    for (const [position, minor] of Object.entries(commissions))
      yield { type: 'commission', perilRunLocator, position: Number(position), amount: amount(minor) }
  }
}

/** One kind of record: its table, the columns that order it, and the conversions in both directions. */
export type Collection = {
  table: SQLiteTable
  order: string
  toRow(record: never): Record<string, unknown>
  fromRow(row: never, currency: CurrencyCode): { locator: string | number }
}

/** Returns the row without nulls, without `policyLocator` and without the columns in `without`. */
function withoutNulls<T extends object>(
  row: T,
  without?: ReadonlySet<string>,
): { [K in keyof T]: Exclude<T[K], null> } {
  const properties = {} as { [K in keyof T]: Exclude<T[K], null> }
  for (const name in row) {
    const value = row[name]
    if (value !== null && name !== 'policyLocator' && !without?.has(name))
      properties[name] = value as Exclude<T[typeof name], null>
  }
  return properties
}

/**
 * Makes the collection of a table. Records are stored unchanged, without absent properties; `toRow` and `read` convert the
 * properties that differ.
 */
function collection<T extends SQLiteTable & { $inferSelect: { locator: string | number } }>(
  table: T,
  order: string,
  toRow: (record: never) => Record<string, unknown> = (record: object) => ({ ...record }),
  read?: (row: T['$inferSelect'], currency: CurrencyCode) => object,
): Collection {
  const fromRow = (row: T['$inferSelect'], currency: CurrencyCode) =>
    read ? { ...withoutNulls(row), ...read(row, currency) } : withoutNulls(row)
  return { table, order, toRow, fromRow }
}

/** Columns of a peril run that are converted. */
const CONVERTED_COLUMNS: ReadonlySet<string> = new Set(['monthPremium', 'premium', 'price', 'splits'])

/** Converts without intermediate copies: a large policy has ten thousand runs. */
function readPerilRun(row: typeof perilRuns.$inferSelect, currency: CurrencyCode): PerilRun {
  const run = withoutNulls(row, CONVERTED_COLUMNS) as unknown as {
    -readonly [K in keyof PerilRun]: PerilRun[K]
  }
  const { monthPremium, premium, price, splits } = row
  if (splits) run.splits = readSplits(splits, currency)
  if (monthPremium !== null && premium !== null && price !== null)
    run.price = readPrice(monthPremium, premium, price, currency)
  return run
}

// Digit locators come from blocks that isolates hold, so a later record can have a smaller number. Those of one commit rise.
const BY_CREATION = 'created_at, locator'

export const COLLECTIONS: Record<CollectionName, Collection> = {
  quotes: collection(quotes, BY_CREATION),
  modifications: collection(
    modifications,
    'number',
    (record: Modification) => ({
      ...record,
      premiumChange: record.premiumChange?.minor,
      holdbacks: record.holdbacks && storedHoldbacks(record.holdbacks),
    }),
    ({ premiumChange, holdbacks }, currency) => ({
      premiumChange: premiumChange === null ? undefined : fromMinor(premiumChange, currency),
      ...(holdbacks && { holdbacks: [...readHoldbacks(holdbacks, currency)] }),
    }),
  ),
  segments: collection(policySegments, 'start'),
  exposures: collection(exposures, 'display_id'),
  exposureRuns: collection(exposureRuns, 'locator'),
  perils: collection(perils, 'display_id'),
  perilRuns: {
    table: perilRuns,
    order: 'locator',
    toRow: ({ price, splits, ...run }: PerilRun) => ({
      ...run,
      splits: splits && storedSplits(splits),
      monthPremium: price?.premium.month,
      premium: price?.premium.amount.minor,
      price: price && storedPrice(price),
    }),
    fromRow: readPerilRun,
  },
  fees: collection(
    fees,
    'locator',
    (fee: Fee) => ({
      ...toStoredAmount(fee),
      changes: fee.changes.map(change => ({
        ...change,
        parts: change.parts.map(toStoredAmount),
        removed: change.removed.map(toStoredAmount),
      })),
    }),
    ({ amount, changes }, currency) => ({
      amount: fromMinor(amount, currency),
      changes: changes.map(change => ({
        ...change,
        parts: change.parts.map(readIn(currency)),
        removed: change.removed.map(readIn(currency)),
      })),
    }),
  ),
  endorsements: collection(endorsements, BY_CREATION),
  cancellations: collection(cancellations, BY_CREATION),
  reinstatements: collection(reinstatements, 'locator'),
  documents: collection(documents, 'locator'),
  media: collection(policyMedia, 'rowid'),
  gracePeriods: collection(gracePeriods, 'locator'),
  lapses: collection(lapses, 'locator'),
  lapseReinstatements: collection(lapseReinstatements, 'locator'),
  installments: collection(
    installments,
    'number',
    (installment: PlannedInstallment) => ({ ...installment, fees: installment.fees?.map(toStoredAmount) }),
    ({ fees }, currency) => (fees ? { fees: fees.map(readIn(currency)) } : {}),
  ),
  invoices: collection(invoices, 'created_at, display_id', undefined, ({ policyLocator }) => ({
    policyLocator,
  })),
  payments: {
    table: payments,
    order: 'posted_at, display_id',
    toRow: (payment: Payment) => ({
      ...toStoredAmount(payment),
      credited: payment.credited.minor,
      currency: payment.amount.currency,
    }),
    fromRow: ({ currency: _, ...row }: typeof payments.$inferSelect, currency) => ({
      ...withoutNulls(row),
      amount: fromMinor(row.amount, currency),
      credited: fromMinor(row.credited, currency),
    }),
  },
}

export const COLLECTION_NAMES = Object.keys(COLLECTIONS) as CollectionName[]

/** Returns the policy's own row. Its counts of exposures and perils include unread ones, so saving a part keeps them correct. */
export const policyRow = (
  { policy, exposures, perils }: PolicyAggregate,
  unread: Unread,
): typeof policies.$inferInsert => ({
  ...policy,
  exposureCount: exposures.size + unread.exposures,
  perilCount: perils.size + unread.perils,
})

/** Converts a row, without its counts of exposures and perils. */
export function readPolicy(row: typeof policies.$inferSelect): Policy {
  const { exposureCount: _exposures, perilCount: _perils, ...policy } = withoutNulls(row)
  return policy as unknown as Policy
}

function storedPrice({ technicalPremium, commissions, taxes }: PerilPrice): StoredPrice {
  return {
    technicalPremium: technicalPremium && toStoredAmount(technicalPremium),
    commissions: commissions.map(toStoredAmount),
    taxes: taxes.map(toStoredAmount),
  }
}

type StoredPrice = NonNullable<(typeof perilRuns.$inferSelect)['price']>

function readPrice(month: string, premium: number, price: StoredPrice, currency: CurrencyCode): PerilPrice {
  const read = readIn(currency)
  return {
    premium: { month, amount: fromMinor(premium, currency) },
    technicalPremium: price.technicalPremium && read(price.technicalPremium),
    commissions: price.commissions.length === 0 ? NONE : price.commissions.map(read),
    taxes: price.taxes.length === 0 ? NONE : price.taxes.map(read),
  }
}

const NONE: readonly never[] = []
