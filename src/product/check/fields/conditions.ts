import type { FieldDefinition } from '../../configuration.ts'
import type { JsonPath } from '../json/read.ts'
import { conditionCircles } from './circles.ts'
import type { FieldContext } from './fields.ts'

/**
 * Conditions name fields of the same list, or of the list around their group, and ask for values that those can
 * have. `complete` is false when a field was left out for another problem, so that none is called unknown for it.
 */
export function checkConditions(
  compiled: readonly { field: FieldDefinition; path: JsonPath }[],
  { names, complete }: { names: ReadonlySet<string>; complete: boolean },
  { place, report }: FieldContext,
): void {
  const byName = new Map(compiled.map(({ field }) => [field.name, field]))
  for (const { field, path } of compiled)
    for (const condition of field.conditions) {
      const where = place([...path, 'condition', condition.field])
      if (condition.field === field.name || (complete && !names.has(condition.field))) {
        report.error(
          where,
          'unknownConditionField',
          condition.field === field.name
            ? `The field '${field.name}' depends on itself. Name another field in its condition.`
            : `The field '${field.name}' depends on '${condition.field}', which is not defined beside it. Correct the name or define the field.${report.meant(condition.field, [...names])}`,
        )
        continue
      }
      const offered = byName.get(condition.field)?.values
      const never = condition.values.filter(value => offered !== undefined && !offered.includes(value))
      if (condition.values.length === 0 || never.length > 0)
        report.warning(
          where,
          'conditionNeverHolds',
          condition.values.length === 0
            ? `The condition of '${field.name}' on '${condition.field}' lists no values and never holds. List the values.`
            : `The condition of '${field.name}' asks '${condition.field}' for '${never.join("', '")}', which it does not offer. Correct the value.`,
        )
    }
  const pathOf = new Map(compiled.map(({ field, path }) => [field.name, path]))
  for (const circle of conditionCircles(byName)) {
    const [first, second = first] = circle
    report.error(
      place([...pathOf.get(first!)!, 'condition', second!]),
      'circularConditions',
      `The field '${first}' depends on itself by way of others: ${inWords(circle)}. Take one of these conditions out.`,
    )
  }
}

const MOST_SHOWN = 20

const inWords = (circle: readonly string[]): string =>
  [...circle.slice(0, MOST_SHOWN), ...(circle.length > MOST_SHOWN ? ['…'] : []), circle[0]].join(' → ')
