import type { FieldConstraint, FieldDefinition, FieldType } from '../../configuration.ts'
import { conditionCircles } from '../../constraint-graph.ts'
import { RESOURCE_NAME } from '../../resources.ts'
import { type JsonPath, pathText } from '../json/read.ts'
import { present } from '../json/scalars.ts'
import { displayNameOf } from '../names.ts'
import { boundsOf, checkRegex } from './bounds.ts'
import { type FieldContext, type FieldFile, fieldOwners, type GroupedFieldFile } from './files.ts'

/** What a field may have beside the properties common to all (brief 5.2). */
const propertiesByType: Record<FieldType, readonly (keyof FieldFile)[]> = {
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

/** The fields of one file, checked; `path` leads to their list. A field that is beyond use is left out. */
export function compileFields(
  files: readonly (FieldFile | undefined)[],
  path: JsonPath,
  context: FieldContext,
): FieldDefinition[] {
  return compileList(files, path, context, undefined)
}

/** Every list but a group's knows its neighbours only; fields of a group may depend on those around the group. */
type Surroundings = { names: ReadonlySet<string>; complete: boolean }

function compileList(
  files: readonly (FieldFile | GroupedFieldFile | undefined)[],
  path: JsonPath,
  context: FieldContext,
  around: Surroundings | undefined,
): FieldDefinition[] {
  const named = present(files)
  const surroundings: Surroundings = {
    names: new Set([...(around?.names ?? []), ...named.map(([, file]) => file.name)]),
    complete: named.length === files.length && around?.complete !== false,
  }
  const seen = new Set<string>()
  const compiled: { field: FieldDefinition; path: JsonPath }[] = []
  for (const [index, file] of named) {
    const at = [...path, index]
    checkName(file.name, seen, at, context)
    const field = compileField(file, at, context, surroundings, around !== undefined)
    if (field !== undefined) compiled.push({ field, path: at })
  }
  checkConditions(compiled, surroundings, context)
  return compiled.map(({ field }) => field)
}

const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype'])

function checkName(name: string, seen: Set<string>, at: JsonPath, { place, report }: FieldContext): void {
  const where = place([...at, 'name'])
  if (/\s/.test(name) || FORBIDDEN_NAMES.has(name))
    report.error(
      where,
      'badName',
      `The field name '${name}' must have no blanks and be no reserved word. Rename the field.`,
    )
  if (seen.has(name))
    report.error(
      where,
      'duplicateName',
      `The field '${name}' is defined twice in this list. Rename or remove one of them.`,
    )
  seen.add(name)
}

function compileField(
  file: FieldFile | GroupedFieldFile,
  at: JsonPath,
  context: FieldContext,
  surroundings: Surroundings,
  isGrouped: boolean,
): FieldDefinition | undefined {
  const { place, report } = context
  const { type } = file
  if (!isFieldType(type)) {
    report.error(
      place([...at, 'type']),
      'unknownFieldType',
      `The field '${file.name}' has the type '${type}'. Use one of ${fieldTypes.join(', ')}.${report.meant(type, fieldTypes)}`,
    )
    return undefined
  }
  const forbidden: readonly FieldType[] = fieldOwners[context.owner]
  if (forbidden.includes(type)) {
    report.error(
      place([...at, 'type']),
      'fieldTypeNotAllowed',
      `The field '${file.name}' is of type ${type}, which fields of a ${context.owner} cannot be. Use another type.`,
    )
    return undefined
  }
  if (isGrouped && type === 'group') {
    report.error(
      place([...at, 'type']),
      'nestedGroup',
      `The group '${file.name}' stands inside another group. Move it beside that group.`,
    )
    return undefined
  }
  for (const property of typedProperties)
    if (file[property] !== undefined && !propertiesByType[type].includes(property))
      report.warning(
        place([...at, property]),
        'propertyOfOtherType',
        `'${property}' has no meaning for the ${type} field '${file.name}' and is ignored. Remove it.`,
      )
  return {
    name: file.name,
    title: file.title?.trim() || displayNameOf(file.name),
    type,
    optional: file.optional ?? false,
    repeatable: file.repeatable ?? false,
    searchable: file.searchable ?? file.search ?? false,
    conditions: Object.entries(file.condition ?? {}).map(([field, values]) => ({ field, values })),
    ...boundsOf(file, type, at, context),
    ...typeDetails(file, type, at, context, surroundings),
    ...constraintOf(file, type, at, context),
  }
}

function typeDetails(
  file: FieldFile | GroupedFieldFile,
  type: FieldType,
  at: JsonPath,
  context: FieldContext,
  surroundings: Surroundings,
): Partial<FieldDefinition> {
  const { place, report } = context
  switch (type) {
    case 'string':
      return file.regex === undefined ? {} : checkRegex(file.regex, [...at, 'regex'], context)
    case 'select':
      return { values: selectValues(file, at, context) }
    case 'lookup':
      if (file.table === undefined)
        report.error(
          place(at),
          'lookupWithoutTable',
          `The lookup field '${file.name}' names no table. Add 'table' with the file name of a table, without .csv.`,
        )
      else if (!context.hasTable(file.table))
        report.error(
          place([...at, 'table']),
          'missingTable',
          `The lookup field '${file.name}' names the table '${file.table}', which no product has. Add tables/${file.table}.csv or correct the name.${report.meant(file.table, context.tableNames)}`,
        )
      return file.table === undefined ? {} : { table: file.table }
    case 'group': {
      const fields = Array.isArray(file.fields) ? (file.fields as (GroupedFieldFile | undefined)[]) : []
      if (fields.length === 0)
        report.error(
          place(at),
          'groupWithoutFields',
          `The group '${file.name}' has no fields. Add 'fields' or remove the group.`,
        )
      return { fields: compileList(fields, [...at, 'fields'], context, surroundings) }
    }
    default:
      return {}
  }
}

function selectValues(
  file: FieldFile | GroupedFieldFile,
  at: JsonPath,
  { place, report }: FieldContext,
): string[] {
  const values = new Set<string>()
  for (const value of file.values ?? [])
    if (values.has(value))
      report.warning(
        place([...at, 'values']),
        'duplicateValue',
        `The select field '${file.name}' offers '${value}' twice. Remove one in ${pathText([...at, 'values'])}.`,
      )
    else values.add(value)
  if (values.size === 0)
    report.error(
      place(at),
      'selectWithoutValues',
      `The select field '${file.name}' offers nothing to choose. Add 'values'.`,
    )
  return [...values]
}

/**
 * Conditions name fields of the same list, or of the list around their group, and ask for values that those can
 * have. `complete` is false when a field was left out for another problem, so that none is called unknown for it.
 */
function checkConditions(
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

/** The constraint of one field. What its keys name is checked once all fields are known (product/constraint-graph.ts). */
function constraintOf(
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
