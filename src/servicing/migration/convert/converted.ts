// What is converted of an account, and what becomes of it: values in, values out.
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
  /** The tenant's newest version, whose configuration that is. */
  readonly configVersion: number
  readonly now: Instant
  /** Has as many digits as `digitsNeeded` returns; its UUIDs carry the account's shard. */
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
  readonly preferences?: contract.Preferences
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
  /** What no invoice asked for and was not paid out. */
  readonly credit: Money
  readonly disbursed: Money
}

/** A policy that existed before and whose invoices the request pays. */
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
export type AccountRequest = contract.MigrationRequest &
  Partial<Pick<contract.AccountMigrationRequest, 'accountData'>>

/** What a payment changes of a policy. */
export type Payable = Pick<Making, 'invoices' | 'payments'>

/** The part of an invoice that a policy has. */
export type Part = {
  readonly making: Payable
  readonly invoice: Uuid
  /** What it asks for; nothing until all invoices of the account are made. */
  readonly due: Money
}

export type InvoiceItem = {
  readonly id: string
  /** The state that the request asks for; absent, it follows from the payments. */
  readonly state: contract.InvoiceMigrationRequest['invoiceState']
  readonly times: InvoiceTimes
  /** What there is of it already; absent where the request brings it. */
  readonly earlier?: {
    /** What is not settled. */
    readonly open: readonly Part[]
    /** The part with which credit stands. */
    readonly home: Part
    readonly statuses: readonly InvoiceStatus[]
  }
  /** Of each policy of the request that it bills, once they stand. */
  added: Part[]
  /** What payments of the request pay of it. */
  received: readonly Money[]
}

export type PaymentItem = {
  readonly request: contract.PaymentMigrationRequest
  readonly byInvoice: ReadonlyMap<string, Money>
  readonly credit: Money
  readonly fieldValues: FieldValues
}

/** The account that is being converted: what was sent of it, what was read of that, and what was found wrong or odd so far. */
export type Work = {
  readonly request: AccountRequest
  readonly context: ConvertContext
  readonly findings: Findings
  readonly warnings: Problems
  /** Nothing, in the tenant's currency. */
  readonly none: Money
  /** Invoices of the request and the earlier ones that it names, by id. */
  readonly invoices: Map<string, InvoiceItem>
  readonly payments: Map<string, PaymentItem>
  /** Earlier policies whose invoices the request names, with copies of the records that payments change. */
  readonly copies: Map<
    EarlierPolicy,
    { readonly making: Payable; readonly dueOf: (invoice: Invoice) => Money }
  >
}

export const newWork = (request: AccountRequest, context: ConvertContext): Work => ({
  ...{ request, context },
  findings: new Findings(context.failed ?? []),
  warnings: new Problems(),
  none: zero(context.configuration.currency),
  ...{ invoices: new Map(), payments: new Map(), copies: new Map() },
})

export const accountIdOf = ({ request, context }: Work): string =>
  request.accountData?.id ?? context.accountId ?? context.accountLocator

/** Invoices that do not fail. */
export const liveInvoices = ({ findings, invoices }: Work): InvoiceItem[] =>
  [...invoices.values()].filter(({ id }) => !findings.fails('invoices', id))

/** Payments that do not fail. */
export const livePayments = ({ findings, payments }: Work): PaymentItem[] =>
  [...payments.values()].filter(({ request }) => !findings.fails('payments', request.id))

export function assertCurrency(work: Work, kind: ItemKind, id: string, currency: string | undefined): void {
  const own = work.none.currency
  if (currency !== undefined && currency !== own)
    work.findings.wrong(kind, id, `currency must be ${own}, the currency of the tenant.`)
}

/** The key of auxiliary data with what the other system sent of a record and the record has no place for. */
export const ORIGIN_KEY = 'migration.origin'

/** One row, or none where there is nothing to keep. */
export function originRows(locator: string, origin: Readonly<Record<string, unknown>>): AuxRow[] {
  const value = JSON.stringify(origin)
  return value === '{}' ? [] : [{ locator, key: ORIGIN_KEY, value }]
}

/** A movement of an account's credit at a time. */
export type CreditMove = { readonly at: Instant; readonly by: Money }
