import { notFound } from '../platform/errors.ts'
import type { Uuid } from '../platform/locators.ts'
import type { PolicyAggregate, Reinstatement } from '../policies/aggregate.ts'

/** The policy's reinstatement of that locator; 404 when it has none. */
export function reinstatementOf({ reinstatements }: PolicyAggregate, locator: Uuid): Reinstatement {
  const reinstatement = reinstatements.get(locator)
  if (!reinstatement) throw notFound('reinstatement', locator)
  return reinstatement
}
