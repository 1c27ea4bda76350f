import { notFound } from '../platform/errors.ts'
import type { CancellationLocator } from '../platform/locators.ts'
import type { Cancellation, PolicyAggregate } from '../policies/aggregate.ts'

/** The policy's cancellation of that locator; 404 when it has none. */
export function cancellationOf(
  { cancellations }: PolicyAggregate,
  locator: CancellationLocator,
): Cancellation {
  const cancellation = cancellations.get(locator)
  if (!cancellation) throw notFound('cancellation', String(locator))
  return cancellation
}
