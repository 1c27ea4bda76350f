// Applies constraint tables to the values of elements (resources brief 3): the options of fields, for clients, and the errors of
// values that a table does not permit, for validation.
import { invalidRequest } from '../../kernel/errors.ts'
import type { TimeZone } from '../../kernel/time.ts'
import { applicability } from '../../product/fields/validate.ts'
import { type FieldError, fieldError, shortenForMessage, valuesOf } from '../../product/fields/values.ts'
import type { DependencyResponse, EvaluationRequest, EvaluationResponse } from './contract.ts'
import {
  allowedValues,
  type ConstrainedField,
  comparable,
  comparisonOf,
  constrainedFields,
  type Element,
  type TableOf,
} from './evaluation.ts'
import type { TablesInForce } from './force.ts'

/** The options of the fields that the request names, or of all constrained fields if it names none. */
type Evaluation = {
  /** The static names of the tables to read. */
  readonly tables: readonly string[]
  readonly answer: (tableOf: TableOf) => Promise<EvaluationResponse>
}

/** Prepares an evaluation. Rejects with 400 locators and fields that the elements do not have. */
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
  const elementsByLocator = new Map(elements.map(one => [one.locator, one]))
  const requested: ConstrainedField[] = []
  const assumptions = new Map<ConstrainedField, Map<string, string>>()
  for (const [locator, wanted] of Object.entries(request)) {
    const element = elementsByLocator.get(locator)
    if (!element)
      throw invalidRequest(
        `There is no element '${shortenForMessage(locator)}' here; GET …/constraints/dependency lists the elements that have constraints.`,
      )
    const elementFields = byLocator.get(locator) ?? []
    if (isEmpty(wanted)) requested.push(...elementFields)
    for (const [name, columns] of Object.entries(wanted)) {
      const field = elementFields.find(one => one.field.name === name)
      if (!field)
        throw invalidRequest(
          element.fields.some(one => one.name === name)
            ? `The field '${shortenForMessage(name)}' of '${shortenForMessage(locator)}' has no constraint.`
            : `There is no field '${shortenForMessage(name)}' in '${shortenForMessage(locator)}'.`,
        )
      requested.push(field)
      const assumed = Object.entries(columns).map(
        ([column, value]) => [columnOf(field, column), value] as const,
      )
      if (assumed.length > 0) assumptions.set(field, new Map(assumed))
    }
  }
  return { asked: requested, assumptions }
}

/** Finds the column by its own name or by that of the field that governs it. */
function columnOf({ field, where }: ConstrainedField, name: string): string {
  const match =
    where.find(({ column }) => column === name) ?? where.find(({ governor }) => governor?.field.name === name)
  if (match) return match.column
  const columns = where.map(({ column }) => `'${column}'`).join(', ')
  throw invalidRequest(
    `The constraint of the field '${field.name}' does not use '${shortenForMessage(name)}'; it uses ${columns || 'no columns'}.`,
  )
}

/** The fields that govern each constrained field, with their values. A governor without values is unset. */
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
          : // No field governs the column: its values come from the configuration.
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

/** The errors of the checked fields. Leaves out fields without errors, and fields whose table is not in force. */
export async function breachesOf(
  checked: readonly ConstrainedField[],
  tables: TablesInForce,
): Promise<Map<ConstrainedField, FieldError[]>> {
  const inForce = checked.filter(({ table }) => tables.has(table))
  const allowed = await allowedValues(inForce, new Map(), tables.tableOf)
  const errorsByField = [...allowed].map(([one, values]) => [one, breaches(one, values, tables)] as const)
  return new Map(errorsByField.filter(([, errors]) => errors.length > 0))
}

/** The constrained fields that apply and have a value. */
export function fieldsInUse(elements: readonly Element[], timeZone: TimeZone): ConstrainedField[] {
  const applying = new Map<Element, ReturnType<typeof applicability>>()
  const appliesIn = (element: Element): ReturnType<typeof applicability> => {
    const cached = applying.get(element)
    if (cached) return cached
    const definitions = new Map(element.fields.map(one => [one.name, one]))
    const around = element.kind === 'group' && element.outer ? appliesIn(element.outer) : undefined
    const applicable = applicability(definitions, element.values, timeZone, around)
    applying.set(element, applicable)
    return applicable
  }
  return constrainedFields(elements).filter(
    ({ element, field }) =>
      valuesOf(element.values, field.name).length > 0 && appliesIn(element).applies(field),
  )
}

/** The most permitted values that one error lists. */
const SHOWN_VALUES = 20

function breaches(
  one: ConstrainedField,
  allowed: readonly string[],
  { tableOf }: TablesInForce,
): FieldError[] {
  const { field, element, table, column } = one
  const by = comparisonOf(tableOf, one, column, field)
  const allowedTexts = new Set(allowed.map(value => comparable(value, by)))
  const values = valuesOf(element.values, field.name)
  return values.flatMap((value, at) => {
    if (allowedTexts.has(comparable(value, by))) return []
    const place = values.length > 1 ? `(value ${at + 1}) ` : ''
    return [fieldError(field.name, 'INVALID_VALUE', `${place}${ruleOf(one, allowed, table)}`)]
  })
}

function ruleOf({ where }: ConstrainedField, allowed: readonly string[], table: string): string {
  if (allowed.length === 0) {
    const governors = where.flatMap(({ governor }) => (governor ? [`'${governor.field.name}'`] : []))
    const others = governors.length > 0 ? `with the values of ${governors.join(' and ')}` : 'at all'
    return `has no value that the table '${table}' permits ${others}; change those values, or remove this one`
  }
  const listed = allowed.slice(0, SHOWN_VALUES).map(value => `'${shortenForMessage(value)}'`)
  const more = allowed.length > SHOWN_VALUES ? ` or one of ${allowed.length - SHOWN_VALUES} more` : ''
  return `must be a value that the table '${table}' permits: ${listed.join(', ')}${more}; choose one of them`
}
