import {
  type FieldError,
  type FieldErrors,
  type FieldGroupError,
  type FieldValues,
  fieldError,
  fieldErrors,
  LARGEST_VALUE_COUNT,
  mergeFieldValues,
  nameProblem,
  readFieldValues,
  shortenForMessage,
  valuesOf,
} from './values.ts'

/** An entry of a group field, such as one driver of a vehicle. It keeps its locator when it is updated (brief 2.3). */
export type FieldGroup = { locator: string; fieldName: string; values: FieldValues }

/** Values and groups. The value of a group field lists the locators of its groups. */
export type FieldData = { values: FieldValues; groups: FieldGroup[] }

export const NO_FIELD_DATA: FieldData = { values: {}, groups: [] }

/** Changes in a request. For a new record they apply to `NO_FIELD_DATA`. `fieldValues` are not parsed yet. */
export type FieldChanges = {
  fieldValues?: unknown
  /** `locator` is a temporary name; the stored group gets a different one. */
  addFieldGroups?: { fieldName: string; locator?: string; fieldValues?: unknown }[] | null
  updateFieldGroups?: { fieldGroupLocator: string; fieldName: string; fieldValues?: unknown }[] | null
  removeFieldGroups?: string[] | null
}

/**
 * Applies changes: first values, then updates, removals and additions of groups. A removal overrides an update. A new value of a
 * group field keeps only the groups that it lists; null removes them all. `reported` contains unreadable values and unknown
 * locators. Pass it to `validateFields`, which checks everything else.
 */
export function changeFields(
  current: FieldData,
  changes: FieldChanges,
  newLocator: (addition: { locator?: string }) => string,
): { data: FieldData; reported: FieldErrors } {
  const read = readFieldValues(changes.fieldValues)
  const values = mergeFieldValues(current.values, read.values)
  const problems: FieldError[] = [...read.problems]
  const groupProblems: { fieldName: string; locator: string; errors: FieldError[] }[] = []
  const known = new Map(current.groups.map(group => [group.locator, group]))
  const kept = listedGroups(current.groups, values)

  const put = (group: FieldGroup, wire: unknown): void => {
    const content = readFieldValues(wire)
    kept.set(group.locator, { ...group, values: mergeFieldValues(group.values, content.values) })
    if (content.problems.length > 0)
      groupProblems.push({ fieldName: group.fieldName, locator: group.locator, errors: content.problems })
  }

  for (const { fieldGroupLocator: locator, fieldName, fieldValues } of changes.updateFieldGroups ?? []) {
    const group = known.get(locator)
    if (group?.fieldName !== fieldName) problems.push(unknownGroup(fieldName, locator))
    else if (kept.has(locator)) put(kept.get(locator) ?? group, fieldValues)
  }

  for (const locator of changes.removeFieldGroups ?? []) {
    if (!known.has(locator)) problems.push(unknownGroup('removeFieldGroups', locator))
    kept.delete(locator)
  }

  const added = new Map<string, string[]>()
  for (const addition of changes.addFieldGroups ?? []) {
    const { fieldName, fieldValues } = addition
    const problem = nameProblem(fieldName)
    const list = added.get(fieldName) ?? []
    if (problem) problems.push(problem)
    else if (valuesOf(values, fieldName).length + list.length >= LARGEST_VALUE_COUNT)
      problems.push(
        fieldError(fieldName, 'INVALID_VALUE', `accepts at most ${LARGEST_VALUE_COUNT} groups; send fewer`),
      )
    else {
      const locator = newLocator(addition)
      added.set(fieldName, [...list, locator])
      put({ locator, fieldName, values: {} }, fieldValues)
    }
  }

  const data = { values: withLocators(values, known, kept, added), groups: [...kept.values()] }
  return { data, reported: fieldErrors(problems, withIndexes(groupProblems, data)) }
}

/** The groups that exist in any of several spans of time: the name of the field, by locator. */
export type GroupsOverTime = ReadonlyMap<string, string>

/** Collects the groups of all spans. A group that continues from one span to the next keeps its locator. */
export const groupsOverTime = (stretches: readonly FieldData[]): GroupsOverTime =>
  new Map(stretches.flatMap(({ groups }) => groups.map(({ locator, fieldName }) => [locator, fieldName])))

/**
 * The part of the changes that applies to one span of time. Leaves out groups that exist only in other spans. A group that no span
 * has remains, so that it is reported.
 */
export function changesOfStretch<Changes extends FieldChanges>(
  changes: Changes,
  own: FieldData,
  all: GroupsOverTime,
): Changes {
  if (all.size === own.groups.length) return changes
  const held = new Set(own.groups.map(group => group.locator))
  const isElsewhere = (locator: string, fieldName: string): boolean =>
    !held.has(locator) && all.get(locator) === fieldName
  return {
    ...changes,
    fieldValues: withoutGroups(changes.fieldValues, isElsewhere),
    updateFieldGroups: changes.updateFieldGroups?.filter(
      ({ fieldGroupLocator, fieldName }) => !isElsewhere(fieldGroupLocator, fieldName),
    ),
    removeFieldGroups: changes.removeFieldGroups?.filter(locator => held.has(locator) || !all.has(locator)),
  }
}

/** A client may send the value of a group field back unchanged. */
function withoutGroups(
  fieldValues: unknown,
  isElsewhere: (locator: string, fieldName: string) => boolean,
): unknown {
  if (typeof fieldValues !== 'object' || fieldValues === null) return fieldValues
  const kept = Object.entries(fieldValues).map(([name, value]: [string, unknown]) => {
    const list: unknown[] = [value].flat()
    const own = list.filter(one => !isElsewhere(String(one), name))
    return [name, own.length === list.length ? value : own]
  })
  return Object.fromEntries(kept)
}

function unknownGroup(fieldName: string, locator: string): FieldError {
  return {
    fieldName: shortenForMessage(fieldName),
    code: 'INVALID_VALUE',
    message: `There is no field group '${shortenForMessage(locator)}' for '${shortenForMessage(fieldName)}'; send a locator that is a value of the field.`,
  }
}

function listedGroups(groups: FieldGroup[], values: FieldValues): Map<string, FieldGroup> {
  const listed = new Map<string, Set<string>>()
  const isListed = ({ fieldName, locator }: FieldGroup): boolean => {
    const locators = listed.get(fieldName) ?? new Set(valuesOf(values, fieldName))
    listed.set(fieldName, locators)
    return locators.has(locator)
  }
  return new Map(groups.filter(isListed).map(group => [group.locator, group]))
}

/** Removes deleted groups from the values of their fields and appends added ones. */
function withLocators(
  values: FieldValues,
  known: Map<string, FieldGroup>,
  kept: Map<string, FieldGroup>,
  added: Map<string, string[]>,
): FieldValues {
  const update: [string, string[]][] = []
  const names = new Set([...known.values()].map(group => group.fieldName).concat([...added.keys()]))
  for (const name of names) {
    const stays = valuesOf(values, name).filter(
      locator => kept.has(locator) || known.get(locator)?.fieldName !== name,
    )
    update.push([name, [...stays, ...(added.get(name) ?? [])]])
  }
  return mergeFieldValues(values, Object.fromEntries(update))
}

function withIndexes(
  problems: { fieldName: string; locator: string; errors: FieldError[] }[],
  data: FieldData,
): FieldGroupError[] {
  return problems.map(({ fieldName, locator, errors }) => ({
    fieldName,
    errors,
    locator,
    index: valuesOf(data.values, fieldName).indexOf(locator),
  }))
}
