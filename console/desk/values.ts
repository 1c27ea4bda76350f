// The input of a form, and what requests send of it.
import { clockAt } from '../calendar.ts'
import type { Values } from '../field-values.ts'
import { zone } from '../session.ts'
import type { Field } from '../wire.ts'

/** One group of a field. It has a `locator` if the record already has it. */
export type Group = { readonly locator?: string; readonly values: Values }

/** The values of fields, and their groups by the field's name. */
export type Filled = { readonly values: Values; readonly groups: Readonly<Record<string, readonly Group[]>> }

export const NOTHING: Filled = { values: {}, groups: {} }

/** Whether all conditions of a field hold. A field whose conditions do not hold has no value. */
export function isApplicable(field: Field, fields: readonly Field[], values: Values): boolean {
  return field.conditions.every(({ field: name, values: allowed }) => {
    const other = fields.find(one => one.name === name)
    if (!other || !isApplicable(other, fields, values)) return false
    return (values[name] ?? []).some(value => allowed.includes(value))
  })
}

/** Returns the values that are filled in, of fields whose conditions hold. */
function filledValues(fields: readonly Field[], values: Values): Record<string, string[]> {
  return Object.fromEntries(
    fields
      .filter(field => field.type !== 'group' && isApplicable(field, fields, values))
      .map(({ name }) => [name, (values[name] ?? []).filter(text => text.trim() !== '')] as const)
      .filter(([, list]) => list.length > 0),
  )
}

const groupFields = (fields: readonly Field[], values: Values): readonly Field[] =>
  fields.filter(field => field.type === 'group' && isApplicable(field, fields, values))

const groupsToAdd = ({ name, fields = [] }: Field, groups: readonly Group[]) =>
  groups.map(({ values }) => ({ fieldName: name, fieldValues: filledValues(fields, values) }))

/** Returns what a request sends for a new record. */
export const newRecordFields = (fields: readonly Field[], { values, groups }: Filled) => ({
  fieldValues: filledValues(fields, values),
  fieldGroups: groupFields(fields, values).flatMap(field => groupsToAdd(field, groups[field.name] ?? [])),
})

/** The names of required fields without a value, of fields whose conditions hold. */
export const missingFields = (fields: readonly Field[], { values, groups }: Filled): string[] =>
  fields
    .filter(field => !field.isOptional && isApplicable(field, fields, values))
    .filter(({ type, name }) =>
      type === 'group'
        ? (groups[name] ?? []).length === 0
        : (values[name] ?? []).every(text => text.trim() === ''),
    )
    .map(({ name }) => name)

const isSame = (one: readonly string[] = [], other: readonly string[] = []): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** Returns the values that changed. A value that was emptied is sent empty. */
const changedValues = (fields: readonly Field[], before: Values, now: Values): Record<string, string[]> =>
  Object.fromEntries(
    fields
      .filter(({ type, name }) => type !== 'group' && !isSame(before[name], now[name]))
      .map(({ name }) => [name, [...(now[name] ?? [])]]),
  )

/** Returns what a request sends for an existing record. Empty if nothing changed. */
export function changes(fields: readonly Field[], before: Filled, now: Filled) {
  const fieldValues = changedValues(fields, before.values, now.values)
  const addFieldGroups: ReturnType<typeof groupsToAdd> = []
  const updateFieldGroups: object[] = []
  const removeFieldGroups: string[] = []
  for (const field of fields.filter(({ type }) => type === 'group')) {
    const old = before.groups[field.name] ?? []
    const groups = now.groups[field.name] ?? []
    addFieldGroups.push(
      ...groupsToAdd(
        field,
        groups.filter(({ locator }) => locator === undefined),
      ),
    )
    for (const { locator, values } of old) {
      const kept = groups.find(group => group.locator === locator)
      if (!kept) {
        removeFieldGroups.push(locator!)
        continue
      }
      const other = changedValues(field.fields ?? [], values, kept.values)
      if (Object.keys(other).length > 0)
        updateFieldGroups.push({ fieldGroupLocator: locator, fieldName: field.name, fieldValues: other })
    }
  }
  return {
    ...(Object.keys(fieldValues).length > 0 && { fieldValues }),
    ...(addFieldGroups.length > 0 && { addFieldGroups }),
    ...(updateFieldGroups.length > 0 && { updateFieldGroups }),
    ...(removeFieldGroups.length > 0 && { removeFieldGroups }),
  }
}

/** Converts a date in milliseconds to the text of a date input. Leaves other values unchanged. */
export const formValue = ({ type, precision }: Field, text: string): string =>
  type === 'date' && /^-?\d+$/.test(text)
    ? clockAt(Number(text), zone()).slice(0, precision === 'second' ? 16 : 10)
    : text

const formValues = (fields: readonly Field[], values: Values): Values =>
  Object.fromEntries(
    fields
      .filter(({ type, name }) => type !== 'group' && values[name] !== undefined)
      .map(field => [field.name, values[field.name]!.map(text => formValue(field, text))]),
  )

type Recorded = {
  readonly fieldValues: Values
  readonly fieldGroupsByLocator?: Readonly<Record<string, Values>> | undefined
}

/** Returns a recorded state as form input. In the record, a field of groups lists their locators. */
export function filledFrom(fields: readonly Field[], recorded: Recorded | undefined): Filled {
  const { fieldValues = {}, fieldGroupsByLocator = {} } = recorded ?? {}
  const groups = fields
    .filter(({ type }) => type === 'group')
    .map(({ name, fields: inner = [] }): [string, Group[]] => [
      name,
      (fieldValues[name] ?? []).flatMap(locator => {
        const values = fieldGroupsByLocator[locator]
        return values ? [{ locator, values: formValues(inner, values) }] : []
      }),
    ])
  return { values: formValues(fields, fieldValues), groups: Object.fromEntries(groups) }
}
