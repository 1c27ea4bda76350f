import type { TimeZone } from '../../kernel/time.ts'
import type { FieldDefinition } from '../configuration.ts'
import { readDate } from './dates.ts'
import { shown } from './errors.ts'
import { type FieldValues, plainDecimal, valuesOf } from './values.ts'

type Condition = FieldDefinition['conditions'][number]

/** Which fields of one owner, or of one group, its values call for (brief 5.2). */
export type Applicability = {
  /** A field applies while all its conditions hold. */
  applies(definition: FieldDefinition): boolean
  /** Holds while the named field applies and has one of the values. */
  holds(condition: Condition): boolean
}

/** `outer` answers for fields that are not defined here: the owner of a group. */
export function applicability(
  definitions: ReadonlyMap<string, FieldDefinition>,
  values: FieldValues,
  zone: TimeZone,
  outer?: Applicability,
): Applicability {
  const decided = new Map<string, boolean>()
  const applies = (definition: FieldDefinition): boolean => {
    const known = decided.get(definition.name)
    if (known !== undefined) return known
    // Ends a circle of conditions: fields of a circle apply as far as their values say.
    decided.set(definition.name, true)
    const result = definition.conditions.every(holds)
    decided.set(definition.name, result)
    return result
  }
  const holds = (condition: Condition): boolean => {
    const definition = definitions.get(condition.field)
    if (!definition) return outer?.holds(condition) ?? false
    return (
      applies(definition) &&
      valuesOf(values, condition.field).some(value =>
        condition.values.some(wanted => sameValue(definition, value, wanted, zone)),
      )
    )
  }
  return { applies, holds }
}

/** Numbers and dates compare by what they mean: a day and its milliseconds are the same date. */
function sameValue(definition: FieldDefinition, value: string, wanted: string, zone: TimeZone): boolean {
  if (value === wanted) return true
  if (definition.type === 'number') {
    const [a, b] = [plainDecimal(value), plainDecimal(wanted)]
    return a !== undefined && b !== undefined && a.eq(b)
  }
  if (definition.type === 'date') {
    const [a, b] = [readDate(value, zone), readDate(wanted, zone)]
    return a !== undefined && a === b
  }
  return false
}

const SHOWN_VALUES = 10

/** The conditions in words: `'cover' is 'full' or 'part' and 'age' is '18'`. */
export function conditionsInWords(conditions: readonly Condition[]): string {
  return conditions
    .map(({ field, values }) => {
      const listed = values.slice(0, SHOWN_VALUES).map(value => `'${shown(value)}'`)
      if (values.length > SHOWN_VALUES) listed.push('…')
      return `'${shown(field)}' is ${listed.join(' or ')}`
    })
    .join(' and ')
}
