// Records of a policy by their locators. Each refuses (404) a locator that the policy has no such record of.

import { notFound } from '../../kernel/errors.ts'
import type { CancellationLocator, EndorsementLocator, QuoteLocator, Uuid } from '../../kernel/locators.ts'
import type { PolicyAggregate, Quote } from './aggregate.ts'
import type {
  Cancellation,
  Endorsement,
  GracePeriod,
  LapseReinstatement,
  Reinstatement,
} from './transactions.ts'

/** The policy's quote of that locator; 404 when it has none. */
export function quoteOf({ quotes }: PolicyAggregate, locator: QuoteLocator): Quote {
  const quote = quotes.get(locator)
  if (!quote) throw notFound('quote', String(locator))
  return quote
}

/** The policy's endorsement of that locator; 404 when it has none. */
export function endorsementOf({ endorsements }: PolicyAggregate, locator: EndorsementLocator): Endorsement {
  const endorsement = endorsements.get(locator)
  if (!endorsement) throw notFound('endorsement', String(locator))
  return endorsement
}

/** The policy's cancellation of that locator; 404 when it has none. */
export function cancellationOf(
  { cancellations }: PolicyAggregate,
  locator: CancellationLocator,
): Cancellation {
  const cancellation = cancellations.get(locator)
  if (!cancellation) throw notFound('cancellation', String(locator))
  return cancellation
}

/** The policy's reinstatement of that locator; 404 when it has none. */
export function reinstatementOf({ reinstatements }: PolicyAggregate, locator: Uuid): Reinstatement {
  const reinstatement = reinstatements.get(locator)
  if (!reinstatement) throw notFound('reinstatement', locator)
  return reinstatement
}

/** The policy's grace period of that locator; 404 when it has none. */
export function gracePeriodOf({ gracePeriods }: PolicyAggregate, locator: Uuid): GracePeriod {
  const grace = gracePeriods.get(locator)
  if (!grace) throw notFound('gracePeriod', locator)
  return grace
}

/** The reinstatement of a lapse of that locator; 404 when the policy has none. */
export function lapseReinstatementOf(
  { lapseReinstatements }: PolicyAggregate,
  locator: Uuid,
): LapseReinstatement {
  const reinstatement = lapseReinstatements.get(locator)
  if (!reinstatement) throw notFound('reinstatement', locator)
  return reinstatement
}
