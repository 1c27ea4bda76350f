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
export function currentState(record: PolicyRecord): Record<string, unknown> {
  const { currency } = record
  const amount = (value: number): string => amountText(minorOf(value, currency), currency)
  const sums = (list: readonly (readonly [name: string, minor: number])[]): Record<string, string> => {
    const byName: Record<string, number> = {}
    for (const [name, minor] of list) byName[name] = (byName[name] ?? 0) + minor
    return Object.fromEntries(
      Object.entries(byName).flatMap(([name, minor]) =>
        minor === 0 ? [] : [[name, amountText(minor, currency)]],
      ),
    )
  }
  const kept = record.holdbacks
    .filter(({ type }) => type !== 'commission')
    .reduce((sum, one) => sum + minorOf(one.amount, currency), 0)
  return {
    product: record.productName,
    paymentSchedule: record.paymentScheduleName,
    timezone: record.timezone,
    original: [record.originalContractStartTimestamp, record.originalContractEndTimestamp],
    // Without any cover, the effective end is the time of one of the transactions that ended the policy.
    ...(record.characteristics.some(isInForce) && { effectiveEnd: record.effectiveContractEndTimestamp }),
    segments: currentSegments(record, amount),
    premium: record.price && amount(record.price.grossPremium),
    taxes: sums(record.price?.taxGroups.map(one => [one.name, minorOf(one.amount, currency)] as const) ?? []),
    // A holdback of a fee is a fee in the other system.
    feesAndHoldbacks: record.price && amountText(minorOf(record.price.grossFees, currency) + kept, currency),
    commissions: sums(
      record.price?.commissions.map(one => [one.recipient, minorOf(one.amount, currency)] as const) ?? [],
    ),
    total: record.price && amount(record.price.total),
    invoices: byText(
      carriedInvoices(record)
        // Invoices of zero settle nothing.
        .filter(one => one.due !== 0 || activePayments(one).length > 0)
        .map(one => ({
          start: one.startTimestamp,
          end: one.endTimestamp,
          due: one.dueTimestamp,
          total: amountText(one.due, currency),
          state:
            one.settlementType === 'carriedForward' ? 'paid' : (one.settlementType ?? one.settlementStatus),
          outstanding: one.outstandingAmount === undefined ? undefined : amount(one.outstandingAmount),
          payments: sums(
            activePayments(one).map(({ source, amount: paid, creditedAmount = 0 }) => [
              source === 'received' ? source : 'credit',
              minorOf(paid, currency) - minorOf(creditedAmount, currency),
            ]),
          ),
        })),
    ),
    planned: sums(
      record.futureInvoices.map(one => [
        `${one.issueTimestamp} ${one.dueTimestamp}`,
        one.financialTransactions
          .filter(({ type }) => type !== 'commission')
          .reduce((sum, item) => sum + minorOf(item.amount, currency), 0),
      ]),
    ),
  }
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
      futureInvoices.flatMap(one => one.financialTransactions).filter(({ type }) => type !== 'commission'),
      one => minorOf(one.amount, currency),
    ),
  }
}

/** Returns the segments, each with its exposures and perils, identified by content because their locators differ. */
function currentSegments(record: PolicyRecord, amount: (value: number) => string): unknown[] {
  const charges = new Map(record.segmentCharges.map(one => [one.perilCharacteristicsLocator, one]))
  const holds = (at: number, start: string, end: string): boolean => Number(start) <= at && at < Number(end)
  return record.characteristics
    .filter(isInForce)
    .sort((a, b) => Number(a.startTimestamp) - Number(b.startTimestamp))
    .map(segment => {
      const at = Number(segment.startTimestamp)
      const exposures = record.exposures.flatMap(exposure => {
        const own = exposure.characteristics.find(
          one => isInForce(one) && holds(at, one.startTimestamp, one.endTimestamp),
        )
        if (!own) return []
        const perils = exposure.perils.flatMap(peril =>
          peril.characteristics
            .filter(one => isInForce(one) && one.policyCharacteristicsLocator === segment.locator)
            .map(part => {
              const costs = charges.get(part.locator)
              return {
                name: peril.name,
                data: dataOf(part),
                terms: termsOf(part),
                premium: amount(costs?.premium ?? 0),
                taxes: costs?.taxes
                  .filter(one => one.amount !== 0)
                  .map(one => `${one.name} ${amount(one.amount)}`),
                commissions: costs?.commissions
                  .filter(one => one.amount !== 0)
                  .map(one => `${one.recipient} ${amount(one.amount)}`),
              }
            }),
        )
        return [{ name: exposure.name, data: dataOf(own), perils: byText(perils) }]
      })
      return {
        start: segment.startTimestamp,
        end: segment.endTimestamp,
        data: dataOf(segment),
        exposures: byText(exposures),
      }
    })
}
