// What a request makes of the field values of one owner: a policy, an exposure, a peril.

import type { LocatorSupply, Uuid } from '../../kernel/locators.ts'
import type { TimeZone } from '../../kernel/time.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { type FieldErrors, joinFieldErrors } from '../../product/fields/errors.ts'
import { changeFields, type FieldChanges, type FieldData } from '../../product/fields/groups.ts'
import { normaliseFieldData } from '../../product/fields/values.ts'
import type { ReportedProblems } from './request.ts'

/** Where problems go, and what values and new groups are made with. */
export type ChangeContext = {
  readonly timeZone: TimeZone
  readonly supply: LocatorSupply
  readonly reported: ReportedProblems
}

/**
 * The data after the changes, as it is stored; undefined when the request says nothing of it. Problems are reported
 * under `owner`; `nextGroup` names the groups that it adds.
 */
export function changedData(
  owner: string,
  fields: ProductDefinition['fields'],
  data: FieldData,
  changes: FieldChanges,
  { timeZone, supply, reported }: ChangeContext,
  nextGroup: () => Uuid = () => supply.uuid(),
): FieldData | undefined {
  const silent =
    Object.keys(changes.fieldValues ?? {}).length === 0 &&
    !changes.addFieldGroups?.length &&
    !changes.updateFieldGroups?.length &&
    !changes.removeFieldGroups?.length
  if (silent) return undefined
  const changed = changeFields(data, changes, nextGroup)
  report(reported, owner, changed.reported)
  return normaliseFieldData(fields, changed.data, timeZone)
}

/** Puts problems of the owner beside those that are reported already. */
export function report({ byOwner }: ReportedProblems, owner: string, found: FieldErrors): void {
  if (!found.hasErrors) return
  const earlier = byOwner.get(owner)
  byOwner.set(owner, earlier ? joinFieldErrors(earlier, found) : found)
}
