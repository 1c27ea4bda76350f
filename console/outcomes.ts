// The outcome of a grace period, and the kind of a payment. Pure functions.
import { isNegative } from './decimal.ts'
import type { GracePeriod, Invoice, Policy } from './wire.ts'

/**
 * A grace period that ended in a lapse is settled too. A legacy lapse has no cancellation, but a lapse modification that was
 * issued at the same moment.
 */
export function outcomeOf(
  { settledTimestamp, cancellationLocator }: Pick<GracePeriod, 'settledTimestamp' | 'cancellationLocator'>,
  modifications: readonly Pick<Policy['modifications'][number], 'name' | 'issuedTimestamp'>[],
): 'open' | 'settled' | 'lapsed' {
  if (settledTimestamp === undefined) return 'open'
  const isLapse = modifications.some(
    modification =>
      modification.name === 'modification.policy.lapse' && modification.issuedTimestamp === settledTimestamp,
  )
  return cancellationLocator !== undefined || isLapse ? 'lapsed' : 'settled'
}

/** An offset moves no money, regardless of its sign. */
export function movementOf({
  source,
  amount,
}: Pick<Invoice['payments'][number], 'source' | 'amount'>): 'offset' | 'credit' | 'paidOut' | 'received' {
  if (source !== 'received') return source
  return isNegative(amount) ? 'paidOut' : 'received'
}
