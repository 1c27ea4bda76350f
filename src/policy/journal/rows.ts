// The rows of the journal: one or more for each transaction and each change of its bills, in double entry. Rows are made by the
// commit that they describe and never change.
import type { PolicyLocator, Uuid } from '../../kernel/locators.ts'
import type { CurrencyCode } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import type { AccountName } from '../../product/books.ts'
import type { ModificationKind } from '../records/transactions.ts'

/**
 * One amount of one account. Entries that name an invoice or a payment belong to the billing side of a row and are booked when they
 * are recorded. The others are booked when their transaction takes effect. Each side adds up to zero by itself.
 */
export type JournalEntry = {
  readonly account: AccountName
  /** Minor units of the row's currency: a debit is positive, a credit negative. Never zero. */
  readonly minor: number
  /** The name of the peril, for premium, tax, holdback and commission of a peril. */
  readonly peril?: string
  /** The name of the tax or fee, or the commission's recipient. For a holdback, the name of its tax or fee. */
  readonly name?: string
  /** For premium: the span over which it is earned. */
  readonly start?: Instant
  readonly end?: Instant
  /** The invoice that is made, settled or given up. */
  readonly invoice?: Uuid
  /** For receivables: when the invoice is due. */
  readonly due?: Instant
  /** The payment that is posted or reversed, or the disbursement. */
  readonly payment?: Uuid
}

/**
 * `invoice` and `payment`: a change of bills without a transaction. `disbursement`: credit paid out to a policyholder. `opening`:
 * everything up to that time of a policy that came from another system.
 */
export type JournalKind = ModificationKind | 'invoice' | 'payment' | 'disbursement' | 'opening'

export type JournalRow = {
  /** Absent for disbursements, which belong to no policy. */
  readonly policyLocator?: PolicyLocator
  readonly policyholderLocator: Uuid
  readonly productName?: string
  readonly currency: CurrencyCode
  readonly kind: JournalKind
  /** When the row was recorded, in the tenant's time. The rows up to a time are what was known at that time. */
  readonly at: Instant
  /** As of when the transaction posts these entries: when it, or what it takes back, takes effect. `at` for changes of bills. */
  readonly effectiveAt: Instant
  /** The issued transaction. */
  readonly modificationLocator?: Uuid
  /** The policy segment in force when the transaction takes effect (`policy_segment`). Reports read field values from it. */
  readonly segmentLocator?: Uuid
  /** Empty for a transaction that changes no amount. */
  readonly entries: readonly JournalEntry[]
}

/** A row as it is stored. */
export type StoredJournalRow = JournalRow & {
  /**
   * Rises in the order of recording within a shard. Rows that were brought in afterwards have later ids, but keep the `at` of what
   * they record.
   */
  readonly id: number
  /** The time up to which the books were closed when the row was recorded; 0 if never. Nothing is booked before it. */
  readonly closedUntil: Instant
}

/** Whether the entry belongs to the billing side of its row. */
export const isBillingEntry = ({ invoice, payment }: JournalEntry): boolean =>
  invoice !== undefined || payment !== undefined

/** Returns the time to which the entry belongs in the books. A closed period accepts no more entries. */
export const bookedAt = (
  row: Pick<StoredJournalRow, 'at' | 'effectiveAt' | 'closedUntil'>,
  entry: JournalEntry,
): Instant =>
  isBillingEntry(entry) ? (Math.max(row.at, row.closedUntil) as Instant) : transactionBookedAt(row)

/** Returns the time at which the transaction of the row is booked, even if the row has no amounts. */
export const transactionBookedAt = ({
  effectiveAt,
  closedUntil,
}: Pick<StoredJournalRow, 'effectiveAt' | 'closedUntil'>): Instant =>
  Math.max(effectiveAt, closedUntil) as Instant

/**
 * Whether the row sums what happened to the policy in another system. What that system issued for a later time has an opening row
 * of that time, and is written here.
 */
export const sumsAnotherSystem = ({ kind, at, effectiveAt }: JournalRow): boolean =>
  kind === 'opening' && effectiveAt <= at
