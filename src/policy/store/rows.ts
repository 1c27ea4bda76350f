// How each kind of record of a policy lies in its table. Amounts become whole minor units, nulls become absence.
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, fromMinor } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import type {
  Fee,
  FeePart,
  Holdback,
  Modification,
  PerilPrice,
  PerilRun,
  Policy,
  PolicyAggregate,
  RunSplit,
} from '../records/aggregate.ts'
import type { Invoice, Payment, PlannedInstallment } from '../records/invoice.ts'
import type { Unread } from '../surroundings.ts'
import { installments, invoices, payments } from '../tables/billing.ts'
import { documents, policyMedia } from '../tables/documents.ts'
import { gracePeriods, lapseReinstatements, lapses } from '../tables/lapses.ts'
import {
  cancellations,
  endorsements,
  exposureRuns,
  exposures,
  fees,
  modifications,
  perilRuns,
  perils,
  type policies,
  policySegments,
  quotes,
  reinstatements,
  type StoredFeePart,
  type StoredHoldback,
  type StoredPerilPrice,
  type StoredSplit,
} from '../tables/policies.ts'

// Splits of runs and holdbacks of modifications as their rows have them: in minor units. Of the holdbacks of a large
// policy, all of which one row has, those of a run are together.
export const storedSplits = (splits: readonly RunSplit[]): StoredSplit[] =>
  splits.map(({ before, ...split }) => ({
    ...split,
    before: {
      premium: before.premium.minor,
      technicalPremium: before.technicalPremium?.minor,
      taxes: before.taxes.map(tax => tax.minor),
      commissions: before.commissions.map(commission => commission.minor),
    },
  }))

export function readSplits(splits: readonly StoredSplit[], currency: CurrencyCode): RunSplit[] {
  const amount = (minor: number) => fromMinor(minor, currency)
  return splits.map(({ by, segment, at, before }) => ({
    by: by as Uuid,
    segment: segment as Uuid,
    at: at as Instant,
    before: {
      premium: amount(before.premium),
      technicalPremium: before.technicalPremium === undefined ? undefined : amount(before.technicalPremium),
      taxes: before.taxes.map(amount),
      commissions: before.commissions.map(amount),
    },
  }))
}

type OfRun = Extract<StoredHoldback, { perilRunLocator: string }>

export function storedHoldbacks(holdbacks: readonly Holdback[]): StoredHoldback[] {
  const stored = new Map<string, StoredHoldback>()
  for (const one of holdbacks) {
    const { minor } = one.amount
    if (one.type === 'fee') {
      stored.set(one.feeLocator, { feeLocator: one.feeLocator, amount: minor })
      continue
    }
    const { perilRunLocator } = one
    const known = (stored.get(perilRunLocator) ?? { perilRunLocator }) as OfRun
    stored.set(perilRunLocator, known)
    if (one.type === 'premium') known.amount = minor
    else if (one.type === 'tax') known.taxes = { ...known.taxes, [one.taxName]: minor }
    else known.commissions = { ...known.commissions, [one.position]: minor }
  }
  return [...stored.values()]
}

export function readHoldbacks(stored: readonly StoredHoldback[], currency: CurrencyCode): Holdback[] {
  const amount = (minor: number) => fromMinor(minor, currency)
  return stored.flatMap((one): Holdback[] => {
    if ('feeLocator' in one)
      return [{ type: 'fee', feeLocator: one.feeLocator as Uuid, amount: amount(one.amount) }]
    const perilRunLocator = one.perilRunLocator as Uuid
    return [
      ...(one.amount === undefined
        ? []
        : [{ type: 'premium' as const, perilRunLocator, amount: amount(one.amount) }]),
      ...Object.entries(one.taxes ?? {}).map(([taxName, minor]) => ({
        type: 'tax' as const,
        perilRunLocator,
        taxName,
        amount: amount(minor),
      })),
      ...Object.entries(one.commissions ?? {}).map(([position, minor]) => ({
        type: 'commission' as const,
        perilRunLocator,
        position: Number(position),
        amount: amount(minor),
      })),
    ]
  })
}

/** The collections of an aggregate: every property but the policy itself. */
export type CollectionName = Exclude<keyof PolicyAggregate, 'policy'>

type RecordOf<N extends CollectionName> = PolicyAggregate[N] extends ReadonlyMap<unknown, infer R> ? R : never

/** One kind of record: its table, the column that its rows are read in the order of, and both conversions. */
export type Collection = {
  table: SQLiteTable
  order: string
  toRow(record: never): Record<string, unknown>
  fromRow(row: never, currency: CurrencyCode): { locator: string | number }
}

/** A row without its nulls, its policy, and the columns of these names. */
function present<T extends object>(
  row: T,
  without?: ReadonlySet<string>,
): { [K in keyof T]: Exclude<T[K], null> } {
  const kept = {} as { [K in keyof T]: Exclude<T[K], null> }
  for (const name in row) {
    const value = row[name]
    if (value !== null && name !== 'policyLocator' && !without?.has(name))
      kept[name] = value as Exclude<T[typeof name], null>
  }
  return kept
}

/** Columns of a peril's run that are its price, and its splits: not records of the aggregate as they lie there. */
const OF_PRICE: ReadonlySet<string> = new Set(['monthPremium', 'premium', 'price', 'splits'])

const minorOf = (amount: { minor: number } | undefined): number | undefined => amount?.minor

function collection<N extends CollectionName, T extends SQLiteTable>(
  table: T,
  order: string,
  convert: {
    toRow?: (record: RecordOf<N>) => Record<string, unknown>
    fromRow?: (row: T['$inferSelect'], currency: CurrencyCode) => object
  } = {},
): Collection {
  const fromRow = convert.fromRow ?? ((row: T['$inferSelect']) => present(row as object))
  return {
    table,
    order,
    toRow: (convert.toRow ?? ((record: object) => ({ ...record }))) as Collection['toRow'],
    fromRow: fromRow as Collection['fromRow'],
  }
}

export const COLLECTIONS: Record<CollectionName, Collection> = {
  quotes: collection<'quotes', typeof quotes>(quotes, 'locator'),
  modifications: collection<'modifications', typeof modifications>(modifications, 'number', {
    toRow: (record: Modification) => ({
      ...record,
      premiumChange: minorOf(record.premiumChange),
      holdbacks: record.holdbacks && storedHoldbacks(record.holdbacks),
    }),
    fromRow: ({ holdbacks, ...row }, currency): Modification => ({
      ...(present(row) as unknown as Modification),
      premiumChange: row.premiumChange === null ? undefined : fromMinor(row.premiumChange, currency),
      ...(holdbacks && { holdbacks: readHoldbacks(holdbacks, currency) }),
    }),
  }),
  segments: collection<'segments', typeof policySegments>(policySegments, 'start'),
  exposures: collection<'exposures', typeof exposures>(exposures, 'display_id'),
  exposureRuns: collection<'exposureRuns', typeof exposureRuns>(exposureRuns, 'rowid'),
  perils: collection<'perils', typeof perils>(perils, 'display_id'),
  perilRuns: collection<'perilRuns', typeof perilRuns>(perilRuns, 'rowid', {
    toRow: ({ price, splits, ...run }: PerilRun) => ({
      ...run,
      splits: splits && storedSplits(splits),
      monthPremium: price?.premium.month,
      premium: price?.premium.amount.minor,
      price: price && storedPrice(price),
    }),
    // A large policy has ten thousand of them: each is made once and not copied.
    fromRow: (row, currency): PerilRun => {
      const run = present(row, OF_PRICE) as unknown as { -readonly [K in keyof PerilRun]: PerilRun[K] }
      const { monthPremium, premium, price, splits } = row
      if (splits) run.splits = readSplits(splits, currency)
      if (monthPremium !== null && premium !== null && price !== null)
        run.price = readPrice(monthPremium, premium, price, currency)
      return run
    },
  }),
  fees: collection<'fees', typeof fees>(fees, 'rowid', {
    toRow: (fee: Fee) => ({
      ...fee,
      amount: fee.amount.minor,
      changes: fee.changes.map(change => ({
        ...change,
        parts: change.parts.map(storedPart),
        removed: change.removed.map(storedPart),
      })),
    }),
    fromRow: (row, currency): Fee => ({
      ...(present(row) as unknown as Fee),
      amount: fromMinor(row.amount, currency),
      changes: row.changes.map(change => ({
        ...change,
        by: change.by as Uuid,
        parts: change.parts.map(part => readPart(part, currency)),
        removed: change.removed.map(part => readPart(part, currency)),
      })),
    }),
  }),
  endorsements: collection<'endorsements', typeof endorsements>(endorsements, 'locator'),
  cancellations: collection<'cancellations', typeof cancellations>(cancellations, 'locator'),
  reinstatements: collection<'reinstatements', typeof reinstatements>(reinstatements, 'rowid'),
  documents: collection<'documents', typeof documents>(documents, 'rowid'),
  media: collection<'media', typeof policyMedia>(policyMedia, 'rowid'),
  gracePeriods: collection<'gracePeriods', typeof gracePeriods>(gracePeriods, 'rowid'),
  lapses: collection<'lapses', typeof lapses>(lapses, 'rowid'),
  lapseReinstatements: collection<'lapseReinstatements', typeof lapseReinstatements>(
    lapseReinstatements,
    'rowid',
  ),
  installments: collection<'installments', typeof installments>(installments, 'number', {
    toRow: (installment: PlannedInstallment) => ({
      ...installment,
      fees: installment.fees?.map(fee => ({ ...fee, amount: fee.amount.minor })),
    }),
    fromRow: ({ fees, ...row }, currency): PlannedInstallment => ({
      ...(present(row) as unknown as PlannedInstallment),
      ...(fees && {
        fees: fees.map(fee => ({
          ...fee,
          locator: fee.locator as Uuid,
          reversedBy: fee.reversedBy as Uuid | undefined,
          amount: fromMinor(fee.amount, currency),
        })),
      }),
    }),
  }),
  invoices: collection<'invoices', typeof invoices>(invoices, 'display_id', {
    fromRow: (row): Invoice => ({
      ...(present(row) as unknown as Invoice),
      policyLocator: row.policyLocator as PolicyLocator,
    }),
  }),
  payments: collection<'payments', typeof payments>(payments, 'display_id', {
    toRow: (payment: Payment) => ({
      ...payment,
      amount: payment.amount.minor,
      credited: payment.credited.minor,
      currency: payment.amount.currency,
    }),
    fromRow: ({ currency: _, ...row }, currency): Payment => ({
      ...(present(row) as unknown as Payment),
      amount: fromMinor(row.amount, currency),
      credited: fromMinor(row.credited, currency),
    }),
  }),
}

export const COLLECTION_NAMES = Object.keys(COLLECTIONS) as CollectionName[]

/** The policy's own row, with how many exposures and perils it has. */
export const policyRow = (
  { policy, exposures, perils }: PolicyAggregate,
  unread: Unread,
): typeof policies.$inferInsert => ({
  ...policy,
  exposureCount: exposures.size + unread.exposures,
  perilCount: perils.size + unread.perils,
})

export function readPolicy(row: typeof policies.$inferSelect): Policy {
  const { exposureCount: _exposures, perilCount: _perils, ...policy } = present(row)
  return policy as unknown as Policy
}

function storedPrice({ technicalPremium, commissions, taxes }: PerilPrice): StoredPerilPrice {
  return {
    technicalPremium: technicalPremium && {
      month: technicalPremium.month,
      amount: technicalPremium.amount.minor,
    },
    commissions: commissions.map(one => ({ ...one, amount: one.amount.minor })),
    taxes: taxes.map(one => ({ ...one, amount: one.amount.minor })),
  }
}

function readPrice(
  month: string,
  premium: number,
  price: StoredPerilPrice,
  currency: CurrencyCode,
): PerilPrice {
  const amounted = <T extends { amount: number }>(one: T) => ({
    ...one,
    amount: fromMinor(one.amount, currency),
  })
  return {
    premium: { month, amount: fromMinor(premium, currency) },
    technicalPremium: price.technicalPremium && amounted(price.technicalPremium),
    commissions: price.commissions.length === 0 ? NONE : price.commissions.map(amounted),
    taxes: price.taxes.length === 0 ? NONE : price.taxes.map(amounted),
  }
}

const NONE: readonly never[] = []

const storedPart = ({ start, end, amount }: FeePart): StoredFeePart => ({ start, end, amount: amount.minor })

const readPart = ({ start, end, amount }: StoredFeePart, currency: CurrencyCode): FeePart => ({
  start: start as Instant,
  end: end as Instant,
  amount: fromMinor(amount, currency),
})
