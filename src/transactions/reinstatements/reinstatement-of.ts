import { notFound } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Reinstatement } from '../../policy/records/transactions.ts'

/** The policy's reinstatement of that locator; 404 when it has none. */
export function reinstatementOf({ reinstatements }: PolicyAggregate, locator: Uuid): Reinstatement {
  const reinstatement = reinstatements.get(locator)
  if (!reinstatement) throw notFound('reinstatement', locator)
  return reinstatement
}
