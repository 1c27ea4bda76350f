// Perils within perils, as migrated policies have them, when others take their place: in a renewal's term, in a quote's copy.
import type { Uuid } from '../kernel/locators.ts'
import type { Peril } from './records/aggregate.ts'

/**
 * The perils that take the place of others, by the locators of those: each lies in the one that took the place of its parent;
 * in none, if none did.
 */
export function withParents(anew: ReadonlyMap<Uuid, Peril>): Peril[] {
  return [...anew.values()].map(({ parentLocator, ...peril }): Peril => {
    const parent = parentLocator && anew.get(parentLocator)
    return parent ? { ...peril, parentLocator: parent.locator } : peril
  })
}
