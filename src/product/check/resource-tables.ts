// Tables that config.json declares as resources (resources brief 1.1).

import { z } from 'zod'
import {
  COLUMN_TYPES,
  LONGEST_RESOURCE_NAME,
  type RangeTableDeclaration,
  RESOURCE_NAME,
  type ResourceDeclarations,
  SELECTION_TIME_BASES,
  type SelectionTimeBasis,
  type SnippetDeclaration,
  type TableDeclaration,
} from '../resources.ts'
import type { JsonPath } from './json/read.ts'
import { choice, flag, name, text } from './json/scalars.ts'
import type { Place, Report } from './report.ts'

const dataType = choice(COLUMN_TYPES).default('string')

/** Without one it is the transaction's own time that decides. */
const selectionTimeBasis = choice(SELECTION_TIME_BASES).default('transactionEffectiveTime')

/** A map of columns as the list of its entries: their order is that of keys. */
const columnMap = <Column extends z.ZodObject>(column: Column) =>
  z
    .record(z.string(), column.optional())
    .transform(columns =>
      Object.entries(columns).flatMap(([columnName, one]) =>
        one === undefined ? [] : [{ name: columnName, ...(one as z.output<Column>) }],
      ),
    )

const keyColumns = columnMap(z.strictObject({ dataType, isKey: flag.default(false) }))

const table = z.strictObject({ columns: keyColumns, selectionTimeBasis })
const rangeTable = z.strictObject({
  columns: keyColumns,
  selectionTimeBasis,
  rangeStart: name,
  rangeEnd: name.optional(),
})
const constraintTable = z.strictObject({
  columns: columnMap(z.strictObject({ dataType, makeDistinct: flag.default(false) })),
  selectionTimeBasis,
})

const byStaticName = <Entry extends z.ZodType>(entry: Entry) =>
  z.record(z.string(), entry.optional()).default({})

/** A snippet says no more than this (resources brief 4.2); what it says for people is for screens. */
const templateSnippet = z.strictObject({
  displayName: text.optional(),
  selectionTimeBasis: choice(SELECTION_TIME_BASES).optional(),
})

/** Properties of config.json: tables that are resources, by static name (resources brief 1.1). */
export const tableDeclarations = {
  tables: byStaticName(table),
  rangeTables: byStaticName(rangeTable),
  constraintTables: byStaticName(constraintTable),
  templateSnippets: byStaticName(templateSnippet),
}

type Declared<Entry> = Record<string, Entry | undefined>

type Read = {
  tables: Declared<TableDeclaration>
  rangeTables: Declared<Omit<RangeTableDeclaration, 'rangeEnd'> & { rangeEnd?: string | undefined }>
  constraintTables: Declared<ResourceDeclarations['constraintTables'][string]>
  templateSnippets: Declared<{ selectionTimeBasis?: SelectionTimeBasis | undefined }>
}

/** The declarations, with what contradicts itself reported; undefined when there are none. */
export function compileResourceTables(
  { tables, rangeTables, constraintTables, templateSnippets }: Read,
  place: (path: JsonPath) => Place,
  report: Report,
): ResourceDeclarations | undefined {
  const seen = new Set<string>()
  const checked = <Entry extends { columns: { name: string }[] }>(
    kind: keyof ResourceDeclarations,
    entries: Declared<Entry>,
  ): Record<string, Entry> => {
    const found = Object.entries(entries).flatMap(([name, one]): [string, Entry][] =>
      one === undefined ? [] : [[name, one]],
    )
    for (const [name, { columns }] of found) {
      const wrong = (message: string): void =>
        report.error(place([kind, name]), 'badTableDeclaration', `'${name}' ${message}`)
      if (!RESOURCE_NAME.test(name) || name.length > LONGEST_RESOURCE_NAME)
        wrong(
          'is no static name: it begins with a letter, $ or _ and a letter, and has letters, digits, _ and $ only.',
        )
      if (seen.has(name)) wrong('is declared as a table of another kind too; rename one of them.')
      if (columns.length === 0) wrong('declares no columns; name those of its file.')
      const lower = columns.map(column => column.name.trim().toLowerCase())
      const repeated = columns.find((_, at) => lower.indexOf(lower[at]!) !== at)
      if (repeated)
        wrong(`declares the column '${repeated.name}' twice, in other letters; rename one of them.`)
      seen.add(name)
    }
    return Object.fromEntries(found)
  }
  const ranges = checked('rangeTables', rangeTables)
  for (const [name, range] of Object.entries(ranges))
    for (const bound of ['rangeStart', 'rangeEnd'] as const) checkBound(name, bound, range)
  function checkBound(name: string, bound: 'rangeStart' | 'rangeEnd', range: (typeof ranges)[string]): void {
    const columnName = range[bound]
    if (columnName === undefined) return
    const column = range.columns.find(one => one.name === columnName)
    const problem = !column
      ? `names the column '${columnName}', which it does not have`
      : column.isKey
        ? `names '${columnName}', which is a key; a bound is none`
        : !['string', 'int', 'long', 'decimal'].includes(column.dataType)
          ? `names '${columnName}', which is a ${column.dataType}; bounds are decimal numbers`
          : bound === 'rangeEnd' && columnName === range.rangeStart
            ? 'names the same column as rangeStart'
            : undefined
    if (problem)
      report.error(
        place(['rangeTables', name, bound]),
        'badTableDeclaration',
        `'${bound}' of '${name}' ${problem}.`,
      )
  }
  const declared: ResourceDeclarations = {
    tables: checked('tables', tables),
    rangeTables: ranges as ResourceDeclarations['rangeTables'],
    constraintTables: checked('constraintTables', constraintTables),
  }
  const snippets = compileSnippets(templateSnippets, place, report)
  if (seen.size === 0 && snippets.length === 0) return undefined
  return { ...declared, ...(snippets.length > 0 && { templateSnippets: Object.fromEntries(snippets) }) }
}

/** Those that are read for a time of their own. */
function compileSnippets(
  declared: Read['templateSnippets'],
  place: (path: JsonPath) => Place,
  report: Report,
): [string, SnippetDeclaration][] {
  return Object.entries(declared).flatMap(([name, one]): [string, SnippetDeclaration][] => {
    if (!RESOURCE_NAME.test(name) || name.length > LONGEST_RESOURCE_NAME)
      report.error(
        place(['templateSnippets', name]),
        'badSnippetName',
        `'${name}' is no static name: it begins with a letter, $ or _ and a letter, and has letters, digits, _ and $ only.`,
      )
    const { selectionTimeBasis } = one ?? {}
    return selectionTimeBasis === undefined ? [] : [[name, { selectionTimeBasis }]]
  })
}
