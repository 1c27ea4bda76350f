// What becomes of an account that is handed over: values in, values out.
import type { LocatorSupply, Uuid } from '../../../kernel/locators.ts'
import type { Money } from '../../../kernel/money.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { NewTimer } from '../../../platform/commit.ts'
import type { PolicyAggregate } from '../../../policy/records/aggregate.ts'
import type { Policyholder } from '../../../policyholders/values.ts'
import type { Configuration, ProductDefinition } from '../../../product/configuration.ts'
import type { AccountMigrationRequest, MigrationRequest, Preferences } from '../contract-request.ts'
import type { ItemFailure, ItemMapping, StoredProblem } from '../item.ts'
import type { Findings, Problems } from './problems.ts'

export type ConvertContext = {
  readonly configuration: Configuration
  /** The tenant's newest version, whose configuration that is. */
  readonly configVersion: number
  readonly now: Instant
  /** Its digits are as many as `digitsNeeded` tells; its UUIDs carry the account's shard. */
  readonly supply: LocatorSupply
  readonly shard: number
  /** The locator that the account gets as a policyholder, or has. */
  readonly accountLocator: Uuid
  /** What an account that exists is called: by its id in the other system, if it has one. */
  readonly accountId?: string
  /** Who migrates; stands as the maker of the account where the request names none that is a locator. */
  readonly callerLocator: Uuid
  /** What there is of an account that is there already. Absent, the account is made. */
  readonly existing?: Existing
  /** Items of the account that are not in the request, since they fail: what rests on them is blocked by them. */
  readonly failed?: readonly ItemFailure[]
  /** What constraint tables find wrong with the account's data. */
  readonly disallowed?: readonly string[]
}

export type Existing = {
  readonly credit: Money
  /** What the account prefers, as it was migrated. */
  readonly preferences?: Preferences
  /** Invoices that were migrated before and that the request names, by their ids. */
  readonly invoices: ReadonlyMap<string, EarlierInvoice>
  /** The account's last invoice: what is paid beside any stands with it, where the request has none. */
  readonly lastInvoice?: EarlierPart
}

/** A policy that is there already, with its product in its own version of the configuration. */
export type EarlierPolicy = { readonly aggregate: PolicyAggregate; readonly product: ProductDefinition }

/** An invoice of a policy that is there already. */
export type EarlierPart = { readonly policy: EarlierPolicy; readonly invoice: Uuid }

/** What an invoice that was migrated before became: one of each policy that it bills. */
export type EarlierInvoice = {
  readonly parts: readonly [EarlierPart, ...EarlierPart[]]
  /** Whether the request says that it is settled: an earlier attempt at this very request made it. */
  readonly isToldSettled: boolean
}

export type AuxRow = { readonly locator: string; readonly key: string; readonly value: string }

/** Money paid out of an account's credit. */
export type ConvertedDisbursement = {
  readonly locator: Uuid
  readonly originalId: string
  readonly type: string
  readonly amount: Money
  readonly at: Instant
  readonly data: Readonly<Record<string, unknown>>
}

export type ControlTotals = {
  /** What invoices ask for that were not discarded. */
  readonly invoiced: Money
  /** What was received, less what was paid out on refund invoices. */
  readonly paid: Money
  /** What is left of it that nobody asked for, and was not paid out. */
  readonly credit: Money
  readonly disbursed: Money
}

/** A policy that was there already, of which invoices were paid. */
export type PolicyChange = {
  readonly before: PolicyAggregate
  readonly after: PolicyAggregate
  readonly product: ProductDefinition
  readonly timers: readonly NewTimer[]
}

/** What policies of the request added to an invoice that was migrated before: invoices of their own. */
export type AddedParts = { readonly originalId: string; readonly parts: readonly Uuid[] }

export type Converted = {
  /** Absent where the account exists, or failed. */
  readonly account: Policyholder | undefined
  /** Policies with all that belongs to them: bills, invoices, payments. */
  readonly policies: readonly PolicyAggregate[]
  readonly changes: readonly PolicyChange[]
  readonly added: readonly AddedParts[]
  readonly auxData: readonly AuxRow[]
  readonly disbursements: readonly ConvertedDisbursement[]
  readonly mappings: readonly ItemMapping[]
  /** Nothing of these items is in the rest. */
  readonly failures: readonly ItemFailure[]
  /** What is odd and was taken all the same. */
  readonly warnings: readonly StoredProblem[]
  /** Of what is in here, beside what the account had. */
  readonly totals: ControlTotals
}

/** An account, or (without `accountData`) further items of one that exists. */
export type AccountRequest = MigrationRequest & Partial<Pick<AccountMigrationRequest, 'accountData'>>

/** The account that is being converted: what was sent of it, and what was found wrong or odd so far. */
export type Work = {
  readonly request: AccountRequest
  readonly context: ConvertContext
  readonly findings: Findings
  readonly warnings: Problems
  /** Nothing, in the tenant's currency. */
  readonly none: Money
}

export const accountIdOf = ({ request, context }: Work): string =>
  request.accountData?.id ?? context.accountId ?? context.accountLocator

// What the other system said of a record that the record has no place for: auxiliary data under its locator.
/** The key under which it is. */
export const ORIGIN_KEY = 'migration.origin'

/** One row, or none where nothing was said. */
export function originRows(locator: string, said: Readonly<Record<string, unknown>>): AuxRow[] {
  const value = JSON.stringify(said)
  return value === '{}' ? [] : [{ locator, key: ORIGIN_KEY, value }]
}
