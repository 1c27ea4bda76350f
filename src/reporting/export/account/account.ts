// A policyholder and all its records, as an export contains them, as a migration request. Each policy has its history if a
// request can express it exactly, and otherwise its current state.
import type { PolicyholderResponse } from '../../../policyholders/contract.ts'
import type { PolicyRecord } from '../policy-record.ts'
import { activePayments, paidOf } from './bills.ts'
import { currentTerms } from './current-state.ts'
import { type HistoricBill, historicBills, termsWithHistory } from './history.ts'
import { type DisbursementRecord, moneyRequests } from './money.ts'
import { amountText, minorOf, NotExpressible } from './words.ts'

export type AuxDataRecord = {
  readonly locator: string
  readonly key: string
  readonly value: string
  readonly uiType: string
}

export type ExportedAccount = {
  readonly holder: PolicyholderResponse
  readonly policies: readonly PolicyRecord[]
  readonly disbursements: readonly DisbursementRecord[]
  /** Auxiliary data of its policies. */
  readonly auxData: readonly AuxDataRecord[]
}

/** `history`: with its exact history. `asNow`: in its current state, with the reason. `left`: not carried over, with the reason. */
export type PolicyOutcome = {
  readonly locator: string
  readonly as: 'history' | 'asNow' | 'left'
  readonly reason?: string
  /** Parts of the policy that are not carried over. */
  readonly notes: readonly string[]
}

export type AccountMigration = {
  /** A migration request for one account. */
  readonly request: object
  readonly policies: readonly PolicyOutcome[]
  /** Parts of the policyholder itself that are not carried over. */
  readonly left: readonly string[]
}

const NO_MONEY = { invoiced: '0', paid: '0', credit: '0', disbursed: '0' }

/** The key of the policy's own origin. A migration writes it again. */
const ORIGIN_KEY = 'migration.origin'

/**
 * Converts an exported policyholder to a migration request. A policy that cannot be expressed is left out, with the reason in its
 * outcome. Reads all payments and disbursements in the currency of the first policy.
 */
export function migrationOfAccount({
  holder,
  policies,
  disbursements,
  auxData,
}: ExportedAccount): AccountMigration {
  const migrations = policies.map(one => ({ record: one, ...migrationOfPolicy(one) }))
  const carried = migrations.filter(one => one.terms !== undefined)
  const currency = policies[0]?.currency ?? disbursements[0]?.currency ?? 'XXX'
  const left = migrations.filter(one => one.terms === undefined).map(one => one.record)
  const { totals, ...money } = moneyRequests(
    carried.map(one => one.record),
    left,
    disbursements,
    currency,
  )
  // Credit is stored with an invoice.
  const isHeld = money.invoices.length > 0
  const hasMoney = money.payments.length > 0 || disbursements.length > 0
  return {
    request: {
      accountData: {
        id: holder.locator,
        data: holder.entity.values,
        createdAt: Number(holder.createdTimestamp),
      },
      policies: carried.map(({ record, terms }) => ({
        id: record.locator,
        productName: record.productName,
        durationBasis: 'months',
        timezone: record.timezone,
        createdAt: Number(record.createdTimestamp),
        preferences: { installmentPreferences: { installmentPlanName: record.paymentScheduleName } },
        staticData: Object.fromEntries(
          auxData
            .filter(one => one.locator === record.locator && one.key !== ORIGIN_KEY)
            .map(({ key, value }) => [key, value]),
        ),
        terms,
      })),
      ...(isHeld && money),
      // With totals, an account is migrated as a whole or not at all.
      accounting: { originalAccountBalances: isHeld ? totals : NO_MONEY },
    },
    policies: migrations.map(({ record: { locator }, as, reason, notes }) => ({
      locator,
      as,
      notes,
      ...(reason !== undefined && { reason }),
    })),
    left: [
      ...(Object.values(holder.entity.subEntitiesByLocator ?? {}).length > 0 ? ['its sub-entities'] : []),
      ...creditUsedBy(left, currency),
      ...(hasMoney && !isHeld
        ? [
            `payments of ${totals.paid} ${currency}, of which ${totals.credit} are credit: no invoice is carried over that could hold the credit`,
          ]
        : []),
    ],
  }
}

/** Credit that was used by policies that are not carried over becomes available again. */
function creditUsedBy(left: readonly PolicyRecord[], currency: string): string[] {
  const used = left
    .flatMap(one => one.invoices.flatMap(activePayments))
    .filter(one => one.source === 'credit')
    .reduce((sum, { amount }) => sum + minorOf(amount, currency), 0)
  const text = amountText(Math.abs(used), currency)
  if (used === 0) return []
  return [
    used > 0
      ? `that ${text} ${currency} of its credit paid policies that are not carried over: this amount is credit again`
      : `${text} ${currency} of its credit, which came from refunds of policies that are not carried over`,
  ]
}

type Told = Omit<PolicyOutcome, 'locator'> & { readonly terms?: object[] }

function migrationOfPolicy(record: PolicyRecord): Told {
  const notes = notesOn(record)
  if (record.issuedTimestamp === undefined) return { as: 'left', reason: 'it is not issued', notes: [] }
  if (record.isOutline)
    return {
      as: 'left',
      notes: paidText(record),
      reason: 'its perils have more characteristics than an export can contain, so they are missing from it',
    }
  try {
    return { as: 'history', terms: exactTerms(record), notes }
  } catch (problem) {
    if (!(problem instanceof NotExpressible)) throw problem
    const reason = problem.message
    try {
      return { as: 'asNow', reason, terms: currentTerms(record), notes }
    } catch (second) {
      if (!(second instanceof NotExpressible)) throw second
      const accepted = record.modifications.find(modification => modification.issuedTimestamp === undefined)
      return {
        as: 'left',
        notes: paidText(record),
        reason: accepted
          ? `its bills belong to ${accepted.name} ${accepted.displayId}, which is accepted and not issued: issue or invalidate it, and export again`
          : second.message,
      }
    }
  }
}

/** Throws `NotExpressible`. */
function exactTerms(record: PolicyRecord): object[] {
  const taxes = new Map(
    (record.price?.exposurePrices ?? [])
      .flatMap(price => price.perilPrices)
      .map(({ locator, taxGroups }) => [locator, taxGroups.map(tax => tax.name)] as const),
  )
  if (record.invoices.some(one => !one.transactionIssued))
    throw new NotExpressible('an invoice of a transaction that is not issued')
  if (!isInOrder(record))
    throw new NotExpressible(
      'a transaction that takes effect no later than an earlier one, or a reinstatement',
    )
  const bills = historicBills({ ...record, policyLocator: record.locator })
  if (!isBilledWhole(record, bills)) throw new NotExpressible('a charge that is not on bills')
  return termsWithHistory(record as never, bills, taxes)
}

/**
 * Whether the bills contain everything that coverages cost, coverage by coverage. A sum of zero is on no visible bill, even if a
 * cent moved from the tax of one coverage to that of another.
 */
export function isBilledWhole(
  { exposures, segmentCharges, holdbacks, currency }: PolicyRecord,
  bills: readonly HistoricBill[],
): boolean {
  const groups = new Map<string, string>()
  for (const { locator, renewalGroup, characteristics } of exposures.flatMap(exposure => exposure.perils)) {
    groups.set(locator, renewalGroup)
    for (const one of characteristics) groups.set(one.locator, renewalGroup)
  }
  /** The cost of coverages minus the amounts on bills, in minor units. */
  const missing = new Map<string, number>()
  const add = (coverage: string, type: string, name: string, minor: number): void => {
    const key = JSON.stringify([groups.get(coverage), type, name])
    missing.set(key, (missing.get(key) ?? 0) + minor)
  }
  for (const { perilCharacteristicsLocator: at, premium, taxes, commissions } of segmentCharges) {
    add(at, 'premium', '', minorOf(premium, currency))
    for (const { name, amount } of taxes) add(at, 'tax', name, minorOf(amount, currency))
    for (const { recipient, amount } of commissions)
      add(at, 'commission', recipient, minorOf(amount, currency))
  }
  for (const { type, amount, perilLocator, taxName = '', commissionRecipient = '' } of holdbacks)
    if (perilLocator !== undefined)
      add(perilLocator, type, taxName || commissionRecipient, minorOf(amount, currency))
  for (const { perilCharacteristicsLocator: at, ...item } of bills.flatMap(bill => bill.items)) {
    if (at === undefined) continue
    const { amount, taxName = '', commissionRecipient = '' } = item
    const untaxed = commissionRecipient === '' ? 'premium' : 'commission'
    const type = taxName === '' ? untaxed : 'tax'
    add(at, type, taxName || commissionRecipient, -minorOf(amount, currency))
  }
  return [...missing.values()].every(minor => minor === 0)
}

function paidText({ invoices, currency }: PolicyRecord): string[] {
  const paid = invoices.reduce((sum, one) => sum + paidOf(one), 0)
  return paid === 0 ? [] : [`${amountText(paid, currency)} ${currency} paid for it`]
}

/**
 * Whether each transaction takes effect after the preceding ones. Otherwise several segments share an amount that a request
 * states only once, and their shares might be off by a cent.
 */
const isInOrder = ({ modifications }: PolicyRecord): boolean =>
  modifications.every(
    (modification, at) =>
      modification.name !== 'modification.policy.reinstate' &&
      (at === 0 ||
        Number(modification.effectiveTimestamp) > Number(modifications[at - 1]!.effectiveTimestamp)),
  )

/** Returns the parts of a carried-over policy that a request cannot express. */
function notesOn(record: PolicyRecord): string[] {
  const open = (list: readonly object[], what: string): string[] => {
    const locators = (list as { locator: string; state: string }[])
      .filter(({ state }) => !CLOSED.has(state))
      .map(one => `${what} ${one.locator} (${one.state})`)
    return locators
  }
  const waiting = record.invoices.filter(
    one => !one.transactionIssued && one.settlementType !== 'invalidated',
  )
  return [
    ...open(record.transactions, 'transaction'),
    ...open(record.cancellations, 'cancellation'),
    ...open(record.reinstatements, 'reinstatement'),
    ...waiting.map(one => {
      const paid = activePayments(one).reduce((sum, { amount }) => sum + minorOf(amount, record.currency), 0)
      const due = `${amountText(minorOf(one.totalDue, record.currency), record.currency)} ${record.currency}`
      return `invoice ${one.locator} of a transaction that is not issued, of ${due}${paid === 0 ? '' : '; what was paid on it is credit'}`
    }),
    ...(hasMedia(record) ? ['files of media fields'] : []),
    ...(record.documents.length > 0 ? ['documents'] : []),
  ]
}

const CLOSED: ReadonlySet<string> = new Set([
  'issued',
  'invalidated',
  'discarded',
  'rescinded',
  'executed',
  'withdrawn',
])

const hasMedia = ({ characteristics, exposures }: PolicyRecord): boolean =>
  [
    ...characteristics,
    ...exposures.flatMap(exposure => [
      ...exposure.characteristics,
      ...exposure.perils.flatMap(peril => peril.characteristics),
    ]),
  ].some(one => Object.keys(one.mediaByLocator).length > 0)
