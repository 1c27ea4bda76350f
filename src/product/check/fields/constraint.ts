import type { FieldConstraint, FieldType } from '../../configuration.ts'
import { RESOURCE_NAME } from '../../resources.ts'
import type { JsonPath } from '../json/read.ts'
import type { FieldFile, GroupedFieldFile } from '../schemas/field.ts'
import type { FieldContext } from './fields.ts'

/** The constraint of one field, by itself: what its keys name is checked when all fields are known (check/constraints.ts). */
export function constraintOf(
  { name, constraint }: FieldFile | GroupedFieldFile,
  type: FieldType,
  at: JsonPath,
  { owner, place, report }: FieldContext,
): { constraint?: FieldConstraint } {
  if (constraint === undefined || type === 'group' || type === 'media') return {}
  const wrong = (path: JsonPath, message: string): void =>
    report.error(place([...at, 'constraint', ...path]), 'badConstraint', message)
  if (owner === 'payment') {
    wrong([], `The field '${name}' is one of payments, which no table constrains. Remove 'constraint'.`)
    return {}
  }
  if (!RESOURCE_NAME.test(constraint.table))
    wrong(
      ['table'],
      `'${constraint.table}' is no static name of a table: it begins with a letter, $ or _ and a letter, and has letters, digits, _ and $ only.`,
    )
  const where: FieldConstraint['where'] = []
  for (const [column, condition] of Object.entries(constraint.where)) {
    if (condition === undefined) continue
    const { key, values = [] } = condition
    if (key === undefined && values.length === 0)
      wrong(
        ['where', column],
        `The constraint of '${name}' holds '${column}' against nothing. Add the 'key' of a field, or 'values'.`,
      )
    if (column === constraint.column)
      wrong(
        ['where', column],
        `The constraint of '${name}' holds its own column '${column}' against another field. Name another column.`,
      )
    where.push({ column, ...(key !== undefined && { key }), values })
  }
  return { constraint: { table: constraint.table, column: constraint.column, where } }
}
