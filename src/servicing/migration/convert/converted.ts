// What becomes of an account that is handed over: values in, values out.

import { type DisplayId, type LocatorSupply, type Uuid, uuidOfPolicy } from '../../../kernel/locators.ts'
import { type CurrencyCode, type Money, minus, plus, sum, zero } from '../../../kernel/money.ts'
import { type Instant, later } from '../../../kernel/time.ts'
import type { NewTimer } from '../../../platform/commit.ts'
import type { SettlementType } from '../../../policy/contract/billing.ts'
import type { PolicyAggregate } from '../../../policy/records/aggregate.ts'
import {
  applied,
  type Invoice,
  invoiceStatus,
  type Payment,
  paymentState,
} from '../../../policy/records/invoice.ts'
import type { Policyholder } from '../../../policyholders/values.ts'
import type { Configuration, ProductDefinition } from '../../../product/configuration.ts'
import type { FieldValues } from '../../../product/fields/values.ts'
import type { AccountMigrationRequest, MigrationRequest, Preferences } from '../contract-request.ts'
import type { Findings, ItemFailure, ItemMapping, Problems, StoredProblem } from '../item.ts'
import type { Making } from './transaction/carrying.ts'

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

// Invoices and the money on them: payments, credit, and what was paid out of it (rules 8 to 10 of resources brief 9.3).
//
// An invoice of several policies becomes an invoice of each, and its payments a payment of each. Money that no invoice asked for is
// credit, and stands with the account's last invoice. Credit covers settled invoices that payments do not, and receives settled
// refunds that nobody paid out.
/** What a payment changes of a policy. */
export type Payable = Pick<Making, 'invoices' | 'payments'>

/** The part of an invoice that a policy has. */
export type Part = {
  readonly making: Payable
  readonly invoice: Uuid
  /** What it asks for; nothing until all invoices of the account are made. */
  readonly due: Money
}

const invoiceOf = ({ making, invoice }: Part): Invoice => making.invoices.get(invoice)!

export type Received = {
  readonly amount: Money
  readonly at: Instant
  readonly fieldValues: FieldValues
  readonly source: Payment['source']
  /** What of it the invoice did not ask for, beside the amount; nothing unless said. */
  readonly credited?: Money
}

const standingOf = ({ making, invoice }: Part): Payment[] =>
  [...making.payments.values()].filter(
    one => one.invoiceLocator === invoice && paymentState(one) === 'posted',
  )

/** What the part asks for beyond what is paid of it. */
export const restOf = (part: Part): Money =>
  minus(part.due, sum(standingOf(part).map(applied), part.due.currency))

/** What of the amount is for which part. Paid in full, each gets what it asks for; else one after the other does. */
function spread(parts: readonly Part[], amount: Money, currency: CurrencyCode): Money[] {
  const rests = parts.map(restOf)
  if (sum(rests, currency).minor === amount.minor) return rests
  let left = amount
  return rests.map((rest, at) => {
    const isSame = Math.sign(rest.minor) === Math.sign(left.minor)
    const share =
      isSame && Math.abs(rest.minor) < Math.abs(left.minor) ? rest : isSame ? left : zero(currency)
    const own = at === rests.length - 1 ? left : share
    left = minus(left, own)
    return own
  })
}

/** Pays the parts; credit stands with the last payment. Takes a digit for each; the locators of the payments that were made. */
export function receive(
  parts: readonly Part[],
  received: Received,
  policyholderLocator: Uuid,
  supply: LocatorSupply,
): Uuid[] {
  const { amount, at, fieldValues, source, credited = zero(amount.currency) } = received
  const shares = spread(parts, amount, amount.currency)
  const last = shares.findLastIndex(share => share.minor !== 0)
  return parts.flatMap((part, index) => {
    const share = shares[index]!
    if (share.minor === 0) return []
    const own = index === last ? credited : zero(amount.currency)
    const terms = { amount: plus(share, own), credited: own, at, fieldValues, source }
    return [addPayment(part, terms, policyholderLocator, supply)]
  })
}

/** Money that no invoice asked for, with an invoice that it did not pay. Takes a digit. */
export const receiveCredit = (
  part: Part,
  { amount, at, fieldValues }: Omit<Received, 'source'>,
  policyholderLocator: Uuid,
  supply: LocatorSupply,
): Uuid => {
  const terms = { amount, credited: amount, at, fieldValues, source: 'received' } as const
  return addPayment(part, terms, policyholderLocator, supply)
}

function addPayment(
  part: Part,
  { at, ...terms }: Required<Received>,
  policyholderLocator: Uuid,
  supply: LocatorSupply,
): Uuid {
  const { making, invoice } = part
  const locator = uuidOfPolicy(invoiceOf(part).policyLocator)
  const displayId = supply.digits() as DisplayId
  const ids = { locator, displayId, policyholderLocator, invoiceLocator: invoice }
  making.payments.set(locator, { ...ids, ...terms, postedAt: at })
  return locator
}

/** Settles each part: paid when its last payment came, due for nothing, or given up. */
export function settle(parts: readonly Part[], how: Extract<SettlementType, 'paid' | 'writtenOff'>): void {
  for (const part of parts) {
    const invoice = invoiceOf(part)
    const isNothing = part.due.minor === 0
    const at = standingOf(part).reduce((last, one) => later(last, one.postedAt), invoice.statuses.at(-1)!.at)
    const status = isNothing ? 'zeroDue' : how
    if (invoiceStatus(invoice) === status) continue
    part.making.invoices.set(part.invoice, {
      ...invoice,
      updatedAt: at,
      statuses: [...invoice.statuses, { at, status }],
    })
  }
}

/** A movement of an account's credit at a time. */
export type CreditMove = { readonly at: Instant; readonly by: Money }
