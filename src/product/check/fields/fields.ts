import type { FieldConstraint, FieldDefinition, FieldType } from '../../configuration.ts'
import { conditionCircles } from '../../constraint-graph.ts'
import { RESOURCE_NAME } from '../../resources.ts'
import { pathText } from '../json/read.ts'
import { definedEntries, displayNameOf } from '../json/scalars.ts'
import type { PlaceReport, ValueReport } from '../report.ts'
import { boundsOf, checkRegex } from './bounds.ts'
import type { FieldFile, FieldFiles } from './file.ts'

/** Types that fields may not have, by the owner of the fields (brief 6.7). */
const FORBIDDEN_TYPES = {
  policy: [],
  exposure: [],
  peril: [],
  policyholder: ['group', 'lookup', 'media'],
  payment: ['group', 'lookup'],
} as const satisfies Record<string, readonly FieldType[]>

type FieldOwner = keyof typeof FORBIDDEN_TYPES

/** Tables that lookup fields may use. */
export type TableNames = { hasTable: (name: string) => boolean; tableNames: readonly string[] }

/** Properties that a type has in addition to the common ones (brief 5.2). */
export const propertiesByType: Record<FieldType, readonly (keyof FieldFile)[]> = {
  string: ['regex', 'maximum', 'constraint'],
  number: ['decimalPlaces', 'minimum', 'maximum', 'constraint'],
  date: ['precision', 'minimum', 'maximum', 'minimumOffset', 'maximumOffset', 'constraint'],
  select: ['values', 'constraint'],
  lookup: ['table', 'constraint'],
  email: ['constraint'],
  phone: ['constraint'],
  group: ['fields', 'maximum'],
  media: [],
}

const typedProperties = [...new Set(Object.values(propertiesByType).flat())]
const fieldTypes = Object.keys(propertiesByType) as FieldType[]
const isFieldType = (type: string): type is FieldType => Object.hasOwn(propertiesByType, type)

type FieldContext = TableNames & {
  owner: FieldOwner
  /** Fields that conditions may use: those of this list, and of the list that contains its group. */
  names: ReadonlySet<string>
  /** Whether no field was left out. If one was, no condition is reported as naming an unknown field. */
  isComplete: boolean
  isGroup: boolean
}

/** Compiles a list of fields and leaves out unusable ones. `report` is that of the list. */
export const compileFields = (
  files: FieldFiles,
  owner: FieldOwner,
  report: ValueReport,
  tables: TableNames,
): FieldDefinition[] =>
  compileList(files, report, { owner, names: new Set(), isComplete: true, isGroup: false, ...tables })

/** Where each field is defined, for checks that run later. */
const definitions = new WeakMap<FieldDefinition, PlaceReport>()

/** Returns undefined for a definition that does not come directly from a file. */
export const definitionReport = (field: FieldDefinition): PlaceReport | undefined => definitions.get(field)

function compileList(files: FieldFiles, report: ValueReport, around: FieldContext): FieldDefinition[] {
  const named = definedEntries(files)
  const context: FieldContext = {
    ...around,
    names: new Set([...around.names, ...named.map(([, file]) => file.name)]),
    isComplete: named.length === files.length && around.isComplete,
  }
  const seen = new Set<string>()
  const compiled = new Map<FieldDefinition, ValueReport>()
  for (const [index, file] of named) {
    const own = report.at(index)
    checkName(file.name, seen, own.at('name'))
    const field = compileField(file, own, context)
    if (field === undefined) continue
    compiled.set(field, own)
    definitions.set(field, own.at('name'))
  }
  checkConditions(compiled, context)
  return [...compiled.keys()]
}

const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype'])

function checkName(name: string, seen: Set<string>, report: ValueReport): void {
  const bad = `The field name '${name}' must not contain blanks and must not be a reserved word. Rename the field.`
  if (/\s/.test(name) || FORBIDDEN_NAMES.has(name)) report.error('badName', bad)
  const repeated = `The field '${name}' is defined twice in this list. Rename or remove one of them.`
  if (seen.has(name)) report.error('duplicateName', repeated)
  seen.add(name)
}

/** Types that other systems have, and what serves for them here. */
const TYPES_ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/^(?:int|integer|long|whole)$/i, `'number' with "decimalPlaces": 0`],
  [/^(?:decimal|double|float|numeric|currency|money|amount|percent|percentage)$/i, `'number'`],
  [/^(?:bool|boolean|checkbox|toggle|yes_?no)$/i, `'select' with "values": ["yes", "no"]`],
  [/^(?:enum|choice|dropdown|radio|option|list)$/i, `'select'`],
  [/^(?:text|textarea|str|varchar|char|uuid|url)$/i, `'string'`],
  [/^(?:date_?time|timestamp|time)$/i, `'date' with "precision": "second"`],
  [/^(?:file|image|photo|attachment|document|upload)$/i, `'media'`],
  [/^(?:object|struct|record|fieldset)$/i, `'group'`],
  [/^(?:tel|telephone|mobile)$/i, `'phone'`],
]

function compileField(
  file: FieldFile,
  report: ValueReport,
  context: FieldContext,
): FieldDefinition | undefined {
  const { name, type } = file
  const { owner, isGroup } = context
  const ofType = report.at('type')
  if (!isFieldType(type)) {
    const other = TYPES_ELSEWHERE.find(([pattern]) => pattern.test(type))
    const hint = other ? ` Write ${other[1]}.` : report.suggestion(type, fieldTypes)
    const message = `The field '${name}' has the type '${type}'. Use one of ${fieldTypes.join(', ')}.${hint}`
    ofType.error('unknownFieldType', message)
    return undefined
  }
  const forbidden: readonly FieldType[] = FORBIDDEN_TYPES[owner]
  if (forbidden.includes(type)) {
    const message = `The field '${name}' has type ${type}, which fields of a ${owner} cannot have. Use a different type.`
    ofType.error('fieldTypeNotAllowed', message)
    return undefined
  }
  if (isGroup && type === 'group') {
    ofType.error('nestedGroup', `The group '${name}' is inside another group. Move it next to that group.`)
    return undefined
  }
  for (const property of typedProperties) {
    if (file[property] === undefined || propertiesByType[type].includes(property)) continue
    const message = `'${property}' has no meaning for the ${type} field '${name}' and is ignored. Remove it.`
    report.at(property).warning('propertyOfOtherType', message)
  }
  return {
    name,
    title: displayNameOf(name, file.title),
    type,
    optional: file.optional ?? false,
    repeatable: file.repeatable ?? false,
    searchable: file.searchable ?? file.search ?? false,
    ...(file.informational && { isInformational: true as const }),
    conditions: Object.entries(file.condition ?? {}).map(([field, values]) => ({ field, values })),
    ...boundsOf(file, type, report),
    ...typeDetails(file, type, report, context),
    ...constraintOf(file, type, owner, report),
  }
}

function typeDetails(
  { name, regex, values, table, fields }: FieldFile,
  type: FieldType,
  report: ValueReport,
  context: FieldContext,
): Partial<FieldDefinition> {
  switch (type) {
    case 'string':
      return regex === undefined ? {} : checkRegex(regex, report.at('regex'))
    case 'select':
      return { values: selectValues(name, values ?? [], report) }
    case 'lookup': {
      const unnamed = `The lookup field '${name}' names no table. Add 'table' with the file name of a table, without .csv.`
      if (table === undefined) report.error('lookupWithoutTable', unnamed)
      else if (!context.hasTable(table)) {
        const message = `The lookup field '${name}' names the table '${table}', which no product has. Add tables/${table}.csv or correct the name.${report.suggestion(table, context.tableNames)}`
        report.at('table').error('missingTable', message)
      }
      return table === undefined ? {} : { table }
    }
    case 'group': {
      const list = Array.isArray(fields) ? (fields as FieldFiles) : []
      const message = `The group '${name}' has no fields. Add 'fields' or remove the group.`
      if (list.length === 0) report.error('groupWithoutFields', message)
      return { fields: compileList(list, report.at('fields'), { ...context, isGroup: true }) }
    }
    default:
      return {}
  }
}

function selectValues(name: string, offered: readonly string[], report: ValueReport): string[] {
  const values = new Set<string>()
  for (const value of offered) {
    const duplicate = `The select field '${name}' offers '${value}' twice. Remove one in ${pathText(report.at('values').path)}.`
    if (values.has(value)) report.at('values').warning('duplicateValue', duplicate)
    values.add(value)
  }
  const message = `The select field '${name}' has no choices. Add 'values'.`
  if (values.size === 0) report.error('selectWithoutValues', message)
  return [...values]
}

/**
 * Checks that conditions name fields of the same list, or of the list that contains their group, and values that those fields can
 * have.
 */
function checkConditions(compiled: ReadonlyMap<FieldDefinition, ValueReport>, context: FieldContext): void {
  const byName = new Map([...compiled.keys()].map(field => [field.name, field]))
  for (const [field, own] of compiled)
    for (const condition of field.conditions) {
      const report = own.at('condition', condition.field)
      const unknown = unknownFieldOf(field.name, condition.field, context, report)
      if (unknown !== undefined) {
        report.error('unknownConditionField', unknown)
        continue
      }
      const never = neverHoldsMessage(field.name, condition, byName.get(condition.field)?.values)
      if (never !== undefined) report.warning('conditionNeverHolds', never)
    }
  for (const circle of conditionCircles(byName)) {
    const [first, second = first] = circle
    const message = `The field '${first}' depends on itself through other fields: ${circleText(circle)}. Remove one of these conditions.`
    compiled.get(byName.get(first!)!)!.at('condition', second!).error('circularConditions', message)
  }
}

/** The message for a condition that does not name another field defined next to its own; undefined if it does. */
function unknownFieldOf(
  name: string,
  asked: string,
  { names, isComplete }: FieldContext,
  report: ValueReport,
): string | undefined {
  if (asked === name) return `The field '${name}' depends on itself. Name another field in its condition.`
  if (!isComplete || names.has(asked)) return undefined
  return `The field '${name}' depends on '${asked}', which is not defined next to it. Correct the name or define the field.${report.suggestion(asked, [...names])}`
}

/** The message for a condition that lists no value, or values that the other field, if it is a select field, never has. */
function neverHoldsMessage(
  name: string,
  { field: asked, values }: FieldDefinition['conditions'][number],
  offered: readonly string[] | undefined,
): string | undefined {
  // Requests and templates treat an empty text as no value.
  if (values.includes(''))
    return `The condition of '${name}' on '${asked}' lists an empty text, which is never a value: the condition does not hold while '${asked}' has no value. Remove the empty text.`
  if (values.length === 0)
    return `The condition of '${name}' on '${asked}' lists no values and never holds. List the values.`
  const known = offered && new Set(offered)
  const never = known ? values.filter(value => !known.has(value)) : []
  if (never.length === 0) return undefined
  return `The condition of '${name}' on '${asked}' lists '${never.join("', '")}', which that field does not offer. Correct the value.`
}

const MOST_SHOWN = 20

const circleText = (circle: readonly string[]): string =>
  [...circle.slice(0, MOST_SHOWN), ...(circle.length > MOST_SHOWN ? ['…'] : []), circle[0]].join(' → ')

/** The constraint of a field. Its keys are checked later, once all fields are known (product/constraint-graph.ts). */
function constraintOf(
  { name, constraint }: FieldFile,
  type: FieldType,
  owner: FieldOwner,
  report: ValueReport,
): { constraint?: FieldConstraint } {
  if (constraint === undefined || type === 'group' || type === 'media') return {}
  const own = report.at('constraint')
  const { table, column: ownColumn } = constraint
  if (owner === 'payment') {
    const message = `The field '${name}' belongs to payments, which cannot have constraints. Remove 'constraint'.`
    own.error('badConstraint', message)
    return {}
  }
  const badTable = `'${table}' is not a static name of a table: it must begin with a letter or $, optionally after _, and contain only letters, digits, _ and $.`
  if (!RESOURCE_NAME.test(table)) own.at('table').error('badConstraint', badTable)
  const where: FieldConstraint['where'] = []
  for (const [column, condition] of Object.entries(constraint.where)) {
    if (condition === undefined) continue
    const { key, values = [] } = condition
    const ofColumn = own.at('where', column)
    const nothing = `The constraint of '${name}' has no condition for '${column}'. Add the 'key' of a field, or 'values'.`
    if (key === undefined && values.length === 0) ofColumn.error('badConstraint', nothing)
    const itself = `The constraint of '${name}' compares its own column '${column}' with another field. Name a different column.`
    if (column === ownColumn) ofColumn.error('badConstraint', itself)
    where.push({ column, ...(key !== undefined && { key }), values })
  }
  return { constraint: { table, column: ownColumn, where } }
}
