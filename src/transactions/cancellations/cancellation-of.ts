import { notFound } from '../../kernel/errors.ts'
import type { CancellationLocator } from '../../kernel/locators.ts'
import type { Cancellation, PolicyAggregate } from '../../policy/records/aggregate.ts'

/** The policy's cancellation of that locator; 404 when it has none. */
export function cancellationOf(
  { cancellations }: PolicyAggregate,
  locator: CancellationLocator,
): Cancellation {
  const cancellation = cancellations.get(locator)
  if (!cancellation) throw notFound('cancellation', String(locator))
  return cancellation
}
