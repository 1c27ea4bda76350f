// What clients are told of constraints (resources brief 3): one function for accounts, quotes, quick quotes and
// transactions. Nothing is stored.
import { invalidRequest, type Refusal } from '../../kernel/errors.ts'
import { shown, valuesOf } from '../../product/fields/values.ts'
import type { DependencyResponse, EvaluationRequest, EvaluationResponse } from './contract.ts'
import {
  allowedValues,
  type ConstrainedField,
  constrainedFields,
  type Element,
  type TableOf,
} from './evaluation.ts'

/** The options of the fields that the request names; of all constrained fields, when it names none. */
export type Evaluation = {
  /** Static names of the tables that are asked. */
  readonly tables: readonly string[]
  readonly answer: (tableOf: TableOf) => Promise<EvaluationResponse>
}

/** Refuses (400) what the request names and the elements do not have. */
export function evaluation(elements: readonly Element[], request: EvaluationRequest): Evaluation {
  const fields = constrainedFields(elements)
  const { asked, assumptions } = isEmpty(request)
    ? { asked: fields, assumptions: new Map<ConstrainedField, Map<string, string>>() }
    : namedFields(elements, fields, request)
  return {
    tables: [...new Set(asked.map(({ table }) => table))],
    answer: async tableOf => {
      const allowed = await allowedValues(asked, assumptions, tableOf)
      return byElement(asked, one => [...(allowed.get(one) ?? [])])
    },
  }
}

const isEmpty = (entries: object): boolean => Object.keys(entries).length === 0

function namedFields(
  elements: readonly Element[],
  fields: readonly ConstrainedField[],
  request: EvaluationRequest,
): { asked: ConstrainedField[]; assumptions: Map<ConstrainedField, Map<string, string>> } {
  const byLocator = Map.groupBy(fields, one => one.element.locator)
  const known = new Map(elements.map(one => [one.locator, one]))
  const asked: ConstrainedField[] = []
  const assumptions = new Map<ConstrainedField, Map<string, string>>()
  for (const [locator, wanted] of Object.entries(request)) {
    const element = known.get(locator)
    if (!element)
      throw unknown(
        `There is no element '${shown(locator)}' here; GET …/constraints/dependency lists those that have constraints.`,
      )
    const own = byLocator.get(locator) ?? []
    if (isEmpty(wanted)) asked.push(...own)
    for (const [name, columns] of Object.entries(wanted)) {
      const field = own.find(one => one.field.name === name)
      if (!field)
        throw unknown(
          element.fields.some(one => one.name === name)
            ? `The field '${shown(name)}' of '${shown(locator)}' has no constraint.`
            : `There is no field '${shown(name)}' in '${shown(locator)}'.`,
        )
      asked.push(field)
      const assumed = Object.entries(columns).map(
        ([column, value]) => [columnOf(field, column), value] as const,
      )
      if (assumed.length > 0) assumptions.set(field, new Map(assumed))
    }
  }
  return { asked, assumptions }
}

/** By the column's own name, or by that of the field that governs it. */
function columnOf({ field, where }: ConstrainedField, name: string): string {
  const found =
    where.find(({ column }) => column === name) ?? where.find(({ governor }) => governor?.field.name === name)
  if (found) return found.column
  const columns = where.map(({ column }) => `'${column}'`).join(', ')
  throw unknown(
    `The field '${field.name}' is not held against '${shown(name)}'; its constraint has ${columns || 'no columns'}.`,
  )
}

const unknown = (message: string): Refusal => invalidRequest(message)

/** Which fields govern each constrained field, with the values that they have; none: unset. */
export const dependencies = (elements: readonly Element[]): DependencyResponse =>
  byElement(constrainedFields(elements), ({ element, table, column, where }) => ({
    table,
    column,
    where: Object.fromEntries(
      where.map(({ column: at, governor, fixed }) => [
        at,
        governor
          ? {
              staticLocator: governor.element.locator,
              fieldName: governor.field.name,
              values: [...valuesOf(governor.element.values, governor.field.name)],
            }
          : // No field governs it: the configuration says its values.
            { staticLocator: element.locator, fieldName: '', values: [...fixed] },
      ]),
    ),
  }))

function byElement<Value>(
  fields: readonly ConstrainedField[],
  shownOf: (field: ConstrainedField) => Value,
): Record<string, Record<string, Value>> {
  return Object.fromEntries(
    [...Map.groupBy(fields, one => one.element.locator)].map(([locator, ofElement]) => [
      locator,
      Object.fromEntries(ofElement.map(one => [one.field.name, shownOf(one)])),
    ]),
  )
}
