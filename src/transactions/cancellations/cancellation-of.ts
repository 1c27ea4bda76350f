import { notFound } from '../../kernel/errors.ts'
import type { CancellationLocator } from '../../kernel/locators.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Cancellation } from '../../policy/records/transactions.ts'

/** The policy's cancellation of that locator; 404 when it has none. */
export function cancellationOf(
  { cancellations }: PolicyAggregate,
  locator: CancellationLocator,
): Cancellation {
  const cancellation = cancellations.get(locator)
  if (!cancellation) throw notFound('cancellation', String(locator))
  return cancellation
}
