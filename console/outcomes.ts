// What became of a grace period, and what a payment was. Pure.
import { isNegative } from './decimal.ts'
import type { GracePeriod, Invoice, Policy } from './wire.ts'

/** One that ended in a lapse is settled too. A legacy lapse has no cancellation: its modification is of the same moment. */
export function outcomeOf(
  { settledTimestamp, cancellationLocator }: Pick<GracePeriod, 'settledTimestamp' | 'cancellationLocator'>,
  modifications: readonly Pick<Policy['modifications'][number], 'name' | 'issuedTimestamp'>[],
): 'open' | 'settled' | 'lapsed' {
  if (settledTimestamp === undefined) return 'open'
  const isLapse = modifications.some(
    one => one.name === 'modification.policy.lapse' && one.issuedTimestamp === settledTimestamp,
  )
  return cancellationLocator !== undefined || isLapse ? 'lapsed' : 'settled'
}

/** An offset moves no money, whichever sign it has. */
export function movementOf({
  source,
  amount,
}: Pick<Invoice['payments'][number], 'source' | 'amount'>): 'offset' | 'credit' | 'paidOut' | 'received' {
  if (source !== 'received') return source
  return isNegative(amount) ? 'paidOut' : 'received'
}
