// Compares a policy before and after it was carried over, in its current state.
import type { PolicyRecord } from '../policy-record.ts'
import { activePayments, carriedInvoices, paidOf } from './bills.ts'
import { amountText, dataOf, isInForce, minorOf, termsOf } from './words.ts'

/** Returns the differences in the current state, each with both values, at most ten. Empty if the two are the same. */
export const currentDifferences = (before: PolicyRecord, after: PolicyRecord): string[] =>
  [...differences('', currentState(before), currentState(after))].slice(0, 10)

function* differences(path: string, a: unknown, b: unknown): Generator<string> {
  if (canonicalJson(a) === canonicalJson(b)) return
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) {
    yield `${path}: ${canonicalJson(a) ?? 'nothing'} became ${canonicalJson(b) ?? 'nothing'}`
    return
  }
  for (const name of new Set([...Object.keys(a), ...Object.keys(b)]))
    yield* differences(path === '' ? name : `${path}.${name}`, a[name], b[name])
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

/** Returns equal texts for equal values, no matter how their properties are ordered. */
const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, own) =>
    typeof own === 'object' && own !== null && !Array.isArray(own)
      ? Object.fromEntries(Object.entries(own).sort(([a], [b]) => (a < b ? -1 : 1)))
      : own,
  )

const byText = <T>(list: readonly T[]): T[] =>
  list.toSorted((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1))

/** Returns the terms of the policy, its cover with data and amounts, and its cost, bills, payments and planned bills. */
function currentState(record: PolicyRecord): Record<string, unknown> {
  const { currency } = record
  const amount = (value: number): string => amountText(minorOf(value, currency), currency)
  return {
    product: record.productName,
    paymentSchedule: record.paymentScheduleName,
    timezone: record.timezone,
    original: [record.originalContractStartTimestamp, record.originalContractEndTimestamp],
    // Without any cover, the effective end is the time of one of the transactions that ended the policy.
    ...(record.characteristics.some(isInForce) && { effectiveEnd: record.effectiveContractEndTimestamp }),
    segments: currentSegments(record, amount),
    ...currentPrice(record),
    invoices: currentInvoices(record),
    planned: sumsByName(
      record.futureInvoices.map(invoice => [
        `${invoice.issueTimestamp} ${invoice.dueTimestamp}`,
        invoice.financialTransactions
          .filter(({ type }) => type !== 'commission')
          .reduce((sum, item) => sum + minorOf(item.amount, currency), 0),
      ]),
      currency,
    ),
  }
}

function currentPrice({ price, holdbacks, currency }: PolicyRecord): Record<string, unknown> {
  const amount = (value: number): string => amountText(minorOf(value, currency), currency)
  const kept = holdbacks
    .filter(({ type }) => type !== 'commission')
    .reduce((sum, one) => sum + minorOf(one.amount, currency), 0)
  return {
    premium: price && amount(price.grossPremium),
    taxes: sumsByName(
      price?.taxGroups.map(group => [group.name, minorOf(group.amount, currency)]) ?? [],
      currency,
    ),
    // A holdback of a fee is a fee in the other system.
    feesAndHoldbacks: price && amountText(minorOf(price.grossFees, currency) + kept, currency),
    commissions: sumsByName(
      price?.commissions.map(commission => [commission.recipient, minorOf(commission.amount, currency)]) ??
        [],
      currency,
    ),
    total: price && amount(price.total),
  }
}

function currentInvoices(record: PolicyRecord): unknown[] {
  const { currency } = record
  const shown = carriedInvoices(record)
    // Invoices of zero settle nothing.
    .filter(one => one.due !== 0 || activePayments(one).length > 0)
    .map(one => ({
      start: one.startTimestamp,
      end: one.endTimestamp,
      due: one.dueTimestamp,
      total: amountText(one.due, currency),
      state: one.settlementType === 'carriedForward' ? 'paid' : (one.settlementType ?? one.settlementStatus),
      outstanding:
        one.outstandingAmount === undefined
          ? undefined
          : amountText(minorOf(one.outstandingAmount, currency), currency),
      payments: sumsByName(
        activePayments(one).map(({ source, amount: paid, creditedAmount = 0 }) => [
          source === 'received' ? source : 'credit',
          minorOf(paid, currency) - minorOf(creditedAmount, currency),
        ]),
        currency,
      ),
    }))
  return byText(shown)
}

/** Adds up minor units by name. Leaves out sums of zero. */
function sumsByName(
  list: readonly (readonly [name: string, minor: number])[],
  currency: PolicyRecord['currency'],
): Record<string, string> {
  const byName: Record<string, number> = {}
  for (const [name, minor] of list) byName[name] = (byName[name] ?? 0) + minor
  return Object.fromEntries(
    Object.entries(byName).flatMap(([name, minor]) =>
      minor === 0 ? [] : [[name, amountText(minor, currency)]],
    ),
  )
}

/** In minor units. */
export type CurrentSums = Readonly<Record<'price' | 'invoiced' | 'paid' | 'outstanding' | 'planned', number>>

/**
 * Returns the amounts of a policy to add up over a book: its price, the total of the invoices that are carried over, payments of
 * these, what is outstanding, and planned bills.
 */
export function currentSums(record: PolicyRecord): CurrentSums {
  const { currency, price, futureInvoices } = record
  const invoices = carriedInvoices(record)
  const sumOf = <T>(list: readonly T[], minor: (one: T) => number): number =>
    list.reduce((sum, one) => sum + minor(one), 0)
  return {
    price: price ? minorOf(price.total, currency) : 0,
    invoiced: sumOf(invoices, one => one.due),
    paid: sumOf(invoices, paidOf),
    outstanding: sumOf(invoices, one => minorOf(one.outstandingAmount ?? 0, currency)),
    planned: sumOf(
      futureInvoices
        .flatMap(invoice => invoice.financialTransactions)
        .filter(({ type }) => type !== 'commission'),
      one => minorOf(one.amount, currency),
    ),
  }
}

/** Returns the segments, each with its exposures and perils, identified by content because their locators differ. */
function currentSegments(record: PolicyRecord, amount: (value: number) => string): unknown[] {
  const charges = new Map(record.segmentCharges.map(charge => [charge.perilCharacteristicsLocator, charge]))
  const perilsOf = (exposure: Exposure, segment: Segment): unknown[] =>
    exposure.perils.flatMap(({ name, characteristics }) =>
      characteristics
        .filter(one => isInForce(one) && one.policyCharacteristicsLocator === segment.locator)
        .map(part => ({
          name,
          data: dataOf(part),
          terms: termsOf(part),
          ...currentCharges(charges.get(part.locator), amount),
        })),
    )
  const exposuresOf = (segment: Segment): unknown[] => {
    const start = Number(segment.startTimestamp)
    return record.exposures.flatMap(exposure => {
      const own = exposure.characteristics.find(one => isInForce(one) && containsStart(one, start))
      return own
        ? [{ name: exposure.name, data: dataOf(own), perils: byText(perilsOf(exposure, segment)) }]
        : []
    })
  }
  return record.characteristics
    .filter(isInForce)
    .sort((a, b) => Number(a.startTimestamp) - Number(b.startTimestamp))
    .map(segment => ({
      start: segment.startTimestamp,
      end: segment.endTimestamp,
      data: dataOf(segment),
      exposures: byText(exposuresOf(segment)),
    }))
}

type Exposure = PolicyRecord['exposures'][number]
type Segment = PolicyRecord['characteristics'][number]
type SegmentCharges = PolicyRecord['segmentCharges'][number]

const containsStart = (
  { startTimestamp, endTimestamp }: Pick<Segment, 'startTimestamp' | 'endTimestamp'>,
  start: number,
): boolean => Number(startTimestamp) <= start && start < Number(endTimestamp)

/** Returns what a peril costs in a segment, without taxes and commissions of zero. */
const currentCharges = (costs: SegmentCharges | undefined, amount: (value: number) => string) => ({
  premium: amount(costs?.premium ?? 0),
  taxes: costs?.taxes.filter(tax => tax.amount !== 0).map(tax => `${tax.name} ${amount(tax.amount)}`),
  commissions: costs?.commissions
    .filter(commission => commission.amount !== 0)
    .map(commission => `${commission.recipient} ${amount(commission.amount)}`),
})
