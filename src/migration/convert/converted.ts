// What becomes of an account that is handed over: values in, values out.
import type { Configuration } from '../../configuration/configuration.ts'
import type { LocatorSupply, Uuid } from '../../platform/locators.ts'
import type { Money } from '../../platform/money.ts'
import type { Instant } from '../../platform/time.ts'
import type { PolicyAggregate } from '../../policies/aggregate.ts'
import type { Policyholder } from '../../policyholders/policyholder.ts'
import type { ItemFailure, ItemMapping, StoredProblem } from '../item.ts'

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
  /** Who migrates; stands as the maker of the account where the request names none that is a locator. */
  readonly callerLocator: Uuid
  /** Of an account that is there already: its credit. Absent, the account is made. */
  readonly existing?: { readonly credit: Money }
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

export type Converted = {
  /** Absent where the account exists, or failed. */
  readonly account: Policyholder | undefined
  /** Policies with all that belongs to them: bills, invoices, payments. */
  readonly policies: readonly PolicyAggregate[]
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
