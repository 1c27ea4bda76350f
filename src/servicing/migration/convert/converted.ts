// Input and output of the conversion of an account.
import type { LocatorSupply, Uuid } from '../../../kernel/locators.ts'
import { type Money, zero } from '../../../kernel/money.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { NewTimer } from '../../../platform/commit.ts'
import type { PolicyAggregate } from '../../../policy/records/aggregate.ts'
import type { Invoice, InvoiceStatus } from '../../../policy/records/invoice.ts'
import type { Policyholder } from '../../../policyholders/values.ts'
import type { Configuration, ProductDefinition } from '../../../product/configuration.ts'
import type { FieldValues } from '../../../product/fields/values.ts'
import type * as contract from '../contract-request.ts'
import {
  Findings,
  type ItemFailure,
  type ItemKind,
  type ItemMapping,
  Problems,
  type StoredProblem,
} from '../item.ts'
import type { InvoiceTimes } from './bills.ts'
import type { Making } from './transaction/context.ts'

export type ConvertContext = {
  readonly configuration: Configuration
  /** The tenant's newest version. */
  readonly configVersion: number
  readonly now: Instant
  /** Has the digits of `digitsNeeded`. Its UUIDs carry the account's shard. */
  readonly supply: LocatorSupply
  readonly shard: number
  /** The policyholder's locator. */
  readonly accountLocator: Uuid
  /** The id of an existing account in the other system, if it has one. */
  readonly accountId?: string
  /** The account that migrates. It is the creator of the policyholder unless the request names a locator. */
  readonly callerLocator: Uuid
  /** Absent: the account is created. */
  readonly existing?: Existing
  /** Failing items, which are not in the request. They block the items that depend on them. */
  readonly failed?: readonly ItemFailure[]
  /** Problems that constraint tables find in the account's data. */
  readonly disallowed?: readonly string[]
}

export type Existing = {
  readonly credit: Money
  readonly preferences?: contract.Preferences
  /** Earlier migrated invoices that the request names, by id. */
  readonly invoices: ReadonlyMap<string, EarlierInvoice>
  /** Holds credit if the request has no invoice. */
  readonly lastInvoice?: EarlierPart
}

/** An existing policy, with the product of its own configuration version. */
export type EarlierPolicy = { readonly aggregate: PolicyAggregate; readonly product: ProductDefinition }

export type EarlierPart = { readonly policy: EarlierPolicy; readonly invoice: Uuid }

/** An earlier migrated invoice: one record for each policy that it bills. */
export type EarlierInvoice = {
  readonly parts: readonly [EarlierPart, ...EarlierPart[]]
  /** Whether the request states it as settled: an earlier attempt at this request created it. */
  readonly isStatedSettled: boolean
}

export type AuxRow = { readonly locator: string; readonly key: string; readonly value: string }

export type ConvertedDisbursement = {
  readonly locator: Uuid
  readonly originalId: string
  readonly type: string
  readonly amount: Money
  readonly at: Instant
  readonly data: Readonly<Record<string, unknown>>
}

export type ControlTotals = {
  /** Without discarded invoices. */
  readonly invoiced: Money
  /** Payments received, less refunds paid. */
  readonly paid: Money
  /** Money beyond the amounts due that was not paid out. */
  readonly credit: Money
  readonly disbursed: Money
}

/** An existing policy whose invoices the request pays. */
export type PolicyChange = {
  readonly before: PolicyAggregate
  readonly after: PolicyAggregate
  readonly product: ProductDefinition
  readonly timers: readonly NewTimer[]
}

/** Invoices that policies of the request add to an earlier migrated one. */
export type AddedParts = { readonly originalId: string; readonly parts: readonly Uuid[] }

export type Converted = {
  /** Absent if the account exists or failed. */
  readonly account: Policyholder | undefined
  readonly policies: readonly PolicyAggregate[]
  readonly changes: readonly PolicyChange[]
  readonly added: readonly AddedParts[]
  readonly auxData: readonly AuxRow[]
  readonly disbursements: readonly ConvertedDisbursement[]
  readonly mappings: readonly ItemMapping[]
  /** These items are in no other list. */
  readonly failures: readonly ItemFailure[]
  /** Oddities that were accepted. */
  readonly warnings: readonly StoredProblem[]
  /** Without the amounts that the account had before. */
  readonly totals: ControlTotals
}

/** An account, or (without `accountData`) further items of an existing one. */
export type AccountRequest = contract.MigrationRequest &
  Partial<Pick<contract.AccountMigrationRequest, 'accountData'>>

type Payable = Pick<Making, 'invoices' | 'payments'>

/** The invoice of one policy, as part of an invoice of the other system. */
export type Part = {
  readonly making: Payable
  readonly invoice: Uuid
  /** Zero until all invoices of the account are created. */
  readonly due: Money
}

export type InvoiceItem = {
  readonly id: string
  /** The stated state. If absent, it follows from the payments. */
  readonly state: contract.InvoiceMigrationRequest['invoiceState']
  /** The rest that payments leave is written off. */
  readonly isRestGivenUp?: boolean | undefined
  readonly times: InvoiceTimes
  /** Its existing records. Absent if the request contains the invoice. */
  readonly earlier?: {
    /** Parts that are not settled. */
    readonly open: readonly Part[]
    /** The part that holds credit. */
    readonly home: Part
    readonly statuses: readonly InvoiceStatus[]
  }
  /** One part for each policy of the request that it bills. */
  added: Part[]
  /** Payments of the request. */
  received: readonly Money[]
}

export type PaymentItem = {
  readonly request: contract.PaymentMigrationRequest
  readonly byInvoice: ReadonlyMap<string, Money>
  readonly credit: Money
  readonly fieldValues: FieldValues
}

/** The state of a conversion: the request, what has been read of it, and the problems so far. */
export type Work = {
  readonly request: AccountRequest
  readonly context: ConvertContext
  readonly findings: Findings
  readonly warnings: Problems
  /** Zero in the tenant's currency. */
  readonly none: Money
  /** Invoices of the request and earlier ones that it names, by id. */
  readonly invoices: Map<string, InvoiceItem>
  readonly payments: Map<string, PaymentItem>
  /** Earlier policies whose invoices the request names, with copies of records that payments change. */
  readonly copies: Map<
    EarlierPolicy,
    { readonly making: Payable; readonly dueOf: (invoice: Invoice) => Money }
  >
}

/** Begins a conversion. Its findings start with the failures known so far (`context.failed`). */
export const newWork = (request: AccountRequest, context: ConvertContext): Work => ({
  request,
  context,
  findings: new Findings(context.failed ?? []),
  warnings: new Problems(),
  none: zero(context.configuration.currency),
  invoices: new Map(),
  payments: new Map(),
  copies: new Map(),
})

/** Returns the account's id in the other system, or its locator if it has none. */
export const accountIdOf = ({ request, context }: Work): string =>
  request.accountData?.id ?? context.accountId ?? context.accountLocator

/** Returns the invoices that have not failed so far, with the earlier ones that the request names. */
export const liveInvoices = ({ findings, invoices }: Work): InvoiceItem[] =>
  [...invoices.values()].filter(({ id }) => !findings.fails('invoices', id))

/** Returns the payments that have not failed so far, in the order of the request. */
export const livePayments = ({ findings, payments }: Work): PaymentItem[] =>
  [...payments.values()].filter(({ request }) => !findings.fails('payments', request.id))

/** Adds a finding (throws nothing) if the item states another currency than the tenant's. */
export function checkCurrency(work: Work, kind: ItemKind, id: string, currency: string | undefined): void {
  const own = work.none.currency
  if (currency !== undefined && currency !== own)
    work.findings.wrong(kind, id, `currency must be ${own}, the currency of the tenant.`)
}

/** The key of auxiliary data for properties for which Bindery's records have no field. */
export const ORIGIN_KEY = 'migration.origin'

/** Returns a row with the properties as JSON, or none if all of them are undefined. */
export function originRows(locator: string, origin: Readonly<Record<string, unknown>>): AuxRow[] {
  const value = JSON.stringify(origin)
  return value === '{}' ? [] : [{ locator, key: ORIGIN_KEY, value }]
}

export type CreditMove = { readonly at: Instant; readonly by: Money }
