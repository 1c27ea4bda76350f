// Exposures and perils that elements become: an exposure by its id for good, a peril once in each term.
import type { DisplayId, Uuid } from '../../../../kernel/locators.ts'
import type { Exposure, Peril } from '../../../../policy/records/aggregate.ts'
import type { ReadElement } from '../elements.ts'
import { type Carrying, keyOfElement } from './carrying.ts'

/** Takes a digit if the exposure is new. */
export function exposureOf(
  { making, known, made, supply, quote }: Carrying,
  { id, type }: ReadElement,
): Uuid {
  const found = known.exposures.get(id)
  if (found) return found
  const { createdAt, updatedAt } = made
  const exposure: Exposure = {
    locator: supply.uuid(),
    displayId: supply.digits() as DisplayId,
    quoteLocator: quote.locator,
    name: type,
    ...{ createdAt, updatedAt },
  }
  making.exposures.set(exposure.locator, exposure)
  known.exposures.set(id, exposure.locator)
  return exposure.locator
}

/** Takes a digit if the peril is new in its term. */
export function perilOf(carrying: Carrying, { id, type, exposureId, parentId }: ReadElement): Uuid {
  const { making, made, supply } = carrying
  const { perils, renewalGroups, exposures } = carrying.known
  const key = keyOfElement(carrying, id)
  const found = perils.get(key)
  if (found) return found
  const { createdAt, updatedAt } = made
  const locator = supply.uuid()
  const peril: Peril = {
    locator,
    displayId: supply.digits() as DisplayId,
    exposureLocator: exposures.get(exposureId)!,
    name: type,
    renewalGroup: renewalGroups.get(id) ?? locator,
    // What an element lies in is covered first.
    ...(parentId !== undefined && { parentLocator: perils.get(keyOfElement(carrying, parentId))! }),
    ...{ createdAt, updatedAt },
  }
  making.perils.set(locator, peril)
  perils.set(key, locator)
  renewalGroups.set(id, peril.renewalGroup)
  return locator
}
