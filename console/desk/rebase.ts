// The form of a record that was read again: the present values, with the entries of the user.
import type { Values } from '../field-values.ts'
import { rebased } from '../rebase.ts'
import type { AmountName, PerilForm } from './peril-form.ts'
import type { Filled, Group } from './values.ts'

export type ExposureForm = {
  readonly filled: Filled
  readonly perils: Readonly<Record<string, PerilForm>>
  readonly endedPerils: readonly string[]
  readonly addedPerils: Readonly<Record<string, PerilForm>>
}

/** Returns the present values with those that the user has changed. A group that others have removed is left out. */
export function rebasedFilled(before: Filled, entered: Filled, now: Filled): Filled {
  const names = Object.keys({ ...now.groups, ...entered.groups })
  return {
    values: rebasedValues(before.values, entered.values, now.values),
    groups: Object.fromEntries(
      names.map(name => [
        name,
        rebasedGroups(before.groups[name] ?? [], entered.groups[name] ?? [], now.groups[name] ?? []),
      ]),
    ),
  }
}

const rebasedValues = (before: Values, entered: Values, now: Values): Values =>
  Object.fromEntries(
    Object.keys({ ...now, ...entered }).map(name => [
      name,
      rebased(before[name] ?? [], entered[name] ?? [], now[name] ?? []),
    ]),
  )

function rebasedGroups(before: readonly Group[], entered: readonly Group[], now: readonly Group[]): Group[] {
  const find = (groups: readonly Group[], { locator }: Group): Group | undefined =>
    groups.find(group => group.locator === locator)
  return [
    ...now.flatMap((group): Group[] => {
      const old = find(before, group)
      const mine = find(entered, group)
      if (!old) return [group]
      return mine ? [{ ...group, values: rebasedValues(old.values, mine.values, group.values) }] : []
    }),
    ...entered.filter(({ locator }) => locator === undefined),
  ]
}

/** Returns the exposure's present values with those that the user has changed. */
export function rebasedExposure(
  before: ExposureForm,
  entered: ExposureForm,
  now: ExposureForm,
): ExposureForm {
  const perilForms = Object.entries(now.perils).map(([locator, present]): [string, PerilForm] => {
    const old = before.perils[locator]
    const mine = entered.perils[locator]
    return [locator, old && mine ? rebasedPeril(old, mine, present) : present]
  })
  return {
    ...entered,
    filled: rebasedFilled(before.filled, entered.filled, now.filled),
    perils: Object.fromEntries(perilForms),
    endedPerils: entered.endedPerils.filter(locator => locator in now.perils),
  }
}

const rebasedPeril = (before: PerilForm, entered: PerilForm, now: PerilForm): PerilForm => ({
  filled: rebasedFilled(before.filled, entered.filled, now.filled),
  amounts: Object.fromEntries(
    Object.keys({ ...now.amounts, ...entered.amounts }).map(key => {
      const name = key as AmountName
      return [name, rebased(before.amounts[name] ?? '', entered.amounts[name] ?? '', now.amounts[name] ?? '')]
    }),
  ),
})
