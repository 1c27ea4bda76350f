import type { TimeZone } from '../../kernel/time.ts'
import type { FieldDefinition } from '../configuration.ts'
import { readDate } from './dates.ts'
import type { FieldData } from './groups.ts'
import { type FieldValues, valuesOf } from './values.ts'

/**
 * Values as they are stored: dates as milliseconds text, media locators in lower case, all else as sent (numbers
 * keep their decimal text), no empty entries. Values that do not fit their field stay as they are.
 */
export function normaliseFieldValues(
  definitions: FieldDefinition[],
  values: FieldValues,
  zone: TimeZone,
): FieldValues {
  const types = new Map(definitions.map(definition => [definition.name, definition.type]))
  const stored = (name: string): string[] =>
    valuesOf(values, name).map(value => {
      const type = types.get(name)
      if (type === 'date') return String(readDate(value, zone) ?? value)
      return type === 'media' ? value.toLowerCase() : value
    })
  return Object.fromEntries(
    Object.keys(values)
      .map(name => [name, stored(name)] as const)
      .filter(([, list]) => list.length > 0),
  )
}

/** The owner's values and those of its groups as they are stored. */
export function normaliseFieldData(
  definitions: FieldDefinition[],
  data: FieldData,
  zone: TimeZone,
): FieldData {
  const fieldsOf = (name: string): FieldDefinition[] =>
    definitions.find(definition => definition.name === name)?.fields ?? []
  return {
    values: normaliseFieldValues(definitions, data.values, zone),
    groups: data.groups.map(group => ({
      ...group,
      values: normaliseFieldValues(fieldsOf(group.fieldName), group.values, zone),
    })),
  }
}
