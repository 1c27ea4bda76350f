import type { FieldDefinition, FieldType } from '../../configuration.ts'
import { displayNameOf } from '../display-name.ts'
import { type JsonPath, pathText } from '../json/read.ts'
import type { Place, Report } from '../report.ts'
import type { FieldFile, GroupedFieldFile } from '../schemas/field.ts'
import { present } from '../schemas/scalars.ts'
import { boundsOf } from './bounds.ts'
import { checkConditions } from './conditions.ts'
import { constraintOf } from './constraint.ts'
import { checkRegex } from './regex.ts'

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

/** Whose fields they are, and which types those must not have (brief 6.7). */
export const fieldOwners = {
  policy: [],
  exposure: [],
  peril: [],
  policyholder: ['group', 'lookup', 'media'],
  payment: ['group', 'lookup'],
} as const satisfies Record<string, readonly FieldType[]>

export type FieldContext = {
  owner: keyof typeof fieldOwners
  place: (path: JsonPath) => Place
  report: Report
  hasTable: (name: string) => boolean
  /** Those that there are. */
  tableNames: readonly string[]
}

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
