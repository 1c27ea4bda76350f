// Stored values held against the constraint tables in force: which values to check, and the errors of those that a table
// does not allow.
import type { TimeZone } from '../../kernel/time.ts'
import { applicability } from '../../product/fields/validate.ts'
import { type FieldError, fieldError, shown, valuesOf } from '../../product/fields/values.ts'
import {
  allowedValues,
  type ConstrainedField,
  comparisonOf,
  constrainedFields,
  type Element,
} from './evaluation.ts'
import type { TablesInForce } from './force.ts'
import { comparable } from './scan.ts'

/** The errors of each field that has one. A field whose table is not in force has none. */
export async function breachesOf(
  checked: readonly ConstrainedField[],
  tables: TablesInForce,
): Promise<Map<ConstrainedField, FieldError[]>> {
  const inForce = checked.filter(({ table }) => tables.has(table))
  const allowed = await allowedValues(inForce, new Map(), tables.tableOf)
  const found = [...allowed].map(([one, values]) => [one, breaches(one, values, tables)] as const)
  return new Map(found.filter(([, errors]) => errors.length > 0))
}

/** Constrained fields that have a value and apply. */
export function fieldsInUse(elements: readonly Element[], timeZone: TimeZone): ConstrainedField[] {
  const applying = new Map<Element, ReturnType<typeof applicability>>()
  const appliesIn = (element: Element): ReturnType<typeof applicability> => {
    const known = applying.get(element)
    if (known) return known
    const definitions = new Map(element.fields.map(one => [one.name, one]))
    const around = element.kind === 'group' && element.outer ? appliesIn(element.outer) : undefined
    const made = applicability(definitions, element.values, timeZone, around)
    applying.set(element, made)
    return made
  }
  return constrainedFields(elements).filter(
    ({ element, field }) =>
      valuesOf(element.values, field.name).length > 0 && appliesIn(element).applies(field),
  )
}

/** Allowed values that one error lists. */
const SHOWN_VALUES = 20

function breaches(
  one: ConstrainedField,
  allowed: readonly string[],
  { tableOf }: TablesInForce,
): FieldError[] {
  const { field, element, table, column } = one
  const by = comparisonOf(tableOf, one, column, field)
  const known = new Set(allowed.map(value => comparable(value, by)))
  const values = valuesOf(element.values, field.name)
  return values.flatMap((value, at) => {
    if (known.has(comparable(value, by))) return []
    const which = values.length > 1 ? `(value ${at + 1}) ` : ''
    return [fieldError(field.name, 'INVALID_VALUE', `${which}${ruleOf(one, allowed, table)}`)]
  })
}

function ruleOf({ where }: ConstrainedField, allowed: readonly string[], table: string): string {
  if (allowed.length === 0) {
    const governors = where.flatMap(({ governor }) => (governor ? [`'${governor.field.name}'`] : []))
    const others = governors.length > 0 ? `with what ${governors.join(' and ')} have` : 'at all'
    return `has no value that the table '${table}' allows ${others}; change that, or remove the value`
  }
  const listed = allowed.slice(0, SHOWN_VALUES).map(value => `'${shown(value)}'`)
  const more = allowed.length > SHOWN_VALUES ? ` or one of ${allowed.length - SHOWN_VALUES} more` : ''
  return `must be what the table '${table}' allows: ${listed.join(', ')}${more}; choose one of them`
}
