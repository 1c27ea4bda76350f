// Segments of a transaction: the policy's segments that its modification made, and the span that it left without cover.

import { notFound } from '../../kernel/errors.ts'
import { derivedUuid } from '../../kernel/locators.ts'
import { isStanding } from '../../policy/fold/line.ts'
import { policyCharacteristics } from '../../policy/projection/characteristics.ts'
import { policyView } from '../../policy/projection/view.ts'
import { type Modification, type PolicyAggregate, selectedQuote } from '../../policy/records/aggregate.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import type { SegmentResponse } from './contract.ts'

/**
 * Of the modification of that locator, or of the one that the endorsement, renewal, quote, cancellation or reinstatement
 * made: in the order of time, the gap last. None while the transaction is not accepted; 404 for what is none.
 */
export function segmentsOf(
  aggregate: PolicyAggregate,
  product: ProductDefinition,
  transaction: string,
): SegmentResponse[] {
  const modification = modificationOf(aggregate, transaction)
  if (!modification) {
    if (isOpenTransaction(aggregate, transaction)) return []
    throw notFound('transaction', transaction)
  }
  const own = modification.quoteLocator && aggregate.quotes.get(modification.quoteLocator)
  const quote = own ?? selectedQuote(aggregate)
  const view = policyView(aggregate, quote, product, isStanding)
  const step = view.line.find(one => one.modification.locator === modification.locator)
  if (!step) return []
  const made = new Set<string>(step.made.map(segment => segment.locator))
  const coverage = policyCharacteristics(view)
    .filter(({ locator }) => made.has(locator))
    .map(
      (characteristics): SegmentResponse => ({
        locator: characteristics.locator,
        transactionLocator: modification.locator,
        type: 'coverage',
        startTime: iso(Number(characteristics.startTimestamp)),
        endTime: iso(Number(characteristics.endTimestamp)),
        characteristics,
      }),
    )
  const covered = Math.max(modification.effectiveAt, ...step.made.map(segment => segment.end))
  const before = Math.max(covered, ...step.replaced.map(segment => segment.end))
  if (before === covered) return coverage
  const gap: SegmentResponse = {
    locator: derivedUuid(view.shard, modification.locator, 'gap'),
    transactionLocator: modification.locator,
    type: 'gap',
    startTime: iso(covered),
    endTime: iso(before),
  }
  return [...coverage, gap]
}

const modificationOf = ({ modifications }: PolicyAggregate, transaction: string): Modification | undefined =>
  [...modifications.values()].find(
    one =>
      one.locator === transaction.toLowerCase() ||
      one.transactionLocator === transaction ||
      String(one.quoteLocator) === transaction,
  )

/** A transaction that has made nothing yet. */
const isOpenTransaction = (
  { endorsements, cancellations, reinstatements }: PolicyAggregate,
  transaction: string,
): boolean =>
  [...endorsements.keys(), ...cancellations.keys(), ...reinstatements.keys()].some(
    locator => String(locator) === transaction.toLowerCase(),
  )

const iso = (at: number): string => new Date(at).toISOString()
