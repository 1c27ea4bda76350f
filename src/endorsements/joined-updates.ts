// What an endorsement asks of one exposure in several places, as one: an update of an application puts its words
// beside those that were said before (plans.ts), so that both may be about the same exposure or the same peril.
import type { FieldChanges } from '../platform/fields/groups.ts'
import type { PerilUpdate } from '../policies/draft/request.ts'
import type { EndorsedExposure } from './changes.ts'

/** One update for each exposure, with its first place in the request; of a value said twice, the later holds. */
export function joinedUpdates(
  updates: readonly EndorsedExposure[],
): { update: EndorsedExposure; index: number }[] {
  const joined = new Map<string, { update: EndorsedExposure; index: number }>()
  for (const [index, update] of updates.entries()) {
    const first = joined.get(update.exposureLocator)
    joined.set(
      update.exposureLocator,
      first ? { index: first.index, update: both(first.update, update) } : { index, update },
    )
  }
  return [...joined.values()]
}

function both(first: EndorsedExposure, second: EndorsedExposure): EndorsedExposure {
  const perils = new Map<string, PerilUpdate>()
  for (const update of [...(first.updatePerils ?? []), ...(second.updatePerils ?? [])]) {
    const before = perils.get(update.perilLocator)
    perils.set(
      update.perilLocator,
      before ? { ...before, ...said(update), ...fieldsOfBoth(before, update) } : update,
    )
  }
  return {
    exposureLocator: first.exposureLocator,
    ...fieldsOfBoth(first, second),
    addPerils: [...(first.addPerils ?? []), ...(second.addPerils ?? [])],
    updatePerils: [...perils.values()],
    endPerils: [...(first.endPerils ?? []), ...(second.endPerils ?? [])],
  }
}

/** Without what is left unsaid, which must not take the place of what was said before. */
const said = <T extends object>(update: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(update).filter(([, value]) => value !== undefined && value !== null),
  ) as Partial<T>

const fieldsOfBoth = (first: FieldChanges, second: FieldChanges): FieldChanges => ({
  fieldValues: { ...(first.fieldValues ?? {}), ...(second.fieldValues ?? {}) },
  addFieldGroups: [...(first.addFieldGroups ?? []), ...(second.addFieldGroups ?? [])],
  updateFieldGroups: [...(first.updateFieldGroups ?? []), ...(second.updateFieldGroups ?? [])],
  removeFieldGroups: [...(first.removeFieldGroups ?? []), ...(second.removeFieldGroups ?? [])],
})
