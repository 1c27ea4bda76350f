import { notFound } from '../../kernel/errors.ts'
import type { EndorsementLocator } from '../../kernel/locators.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'

/** The policy's endorsement of that locator; 404 when it has none. */
export function endorsementOf({ endorsements }: PolicyAggregate, locator: EndorsementLocator): Endorsement {
  const endorsement = endorsements.get(locator)
  if (!endorsement) throw notFound('endorsement', String(locator))
  return endorsement
}
