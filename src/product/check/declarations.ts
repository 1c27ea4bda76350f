// Declarations in config.json other than settings: tables and snippets that are resources (resources brief 1.1), and custom events
// with their schedules (resources brief 8.3).

import { z } from 'zod'
import { type CustomEventType, isCustomEventType } from '../../platform/events/types.ts'
import {
  ALIGNMENTS,
  ANCHORS,
  CADENCE_UNITS,
  type CustomEventDefinition,
  SUPPRESSING_STATUSES,
} from '../custom-events.ts'
import {
  COLUMN_TYPES,
  LONGEST_RESOURCE_NAME,
  type RangeTableDeclaration,
  RESOURCE_NAME,
  type ResourceDeclarations,
  SELECTION_TIME_BASES,
  type SelectionTimeBasis,
  type TableDeclaration,
} from '../resources.ts'
import { asUnit } from './fields/file.ts'
import {
  caseInsensitiveEnum,
  definedEntries,
  flag,
  list,
  listOrSingle,
  name,
  text,
  textList,
  wholeNumber,
  withDescription,
} from './json/scalars.ts'
import type { ValueReport } from './report.ts'

const dataType = withDescription(
  caseInsensitiveEnum(COLUMN_TYPES).default('string'),
  'Type of the cells. Files are validated against it when they are uploaded.',
  'decimal',
)

/** Defaults to the effective time of the transaction. */
const selectionTimeBasis = withDescription(
  caseInsensitiveEnum(SELECTION_TIME_BASES).default('transactionEffectiveTime'),
  'The time of a transaction that determines which contents are in force.',
  'policyStartTime',
)

/** Becomes a list of entries, because the order of the columns is the order of the keys. */
const columnMap = <Column extends z.ZodObject>(column: Column) =>
  z
    .record(z.string(), column.optional())
    .transform(columns =>
      Object.entries(columns).flatMap(([columnName, one]) =>
        one === undefined ? [] : [{ name: columnName, ...(one as z.output<Column>) }],
      ),
    )

const isKey = withDescription(
  flag.default(false),
  'Whether look-ups specify a value of this column. They specify keys in the order of the columns.',
  true,
)
const keyColumns = withDescription(
  columnMap(z.strictObject({ dataType, isKey })),
  'The columns by their names in the file. At least one.',
  { state: { isKey: true }, rate: { dataType: 'decimal' } },
)

const table = z.strictObject({ columns: keyColumns, selectionTimeBasis })
const rangeTable = z.strictObject({
  columns: keyColumns,
  selectionTimeBasis,
  rangeStart: withDescription(
    name,
    'The column with the number at which the range of a row starts. It must not be a key.',
    'from',
  ),
  rangeEnd: withDescription(
    name.optional(),
    'The column with the number at which the range of a row ends. If another row starts at that number, the other row applies. If omitted: each range ends where the next row starts.',
    'to',
  ),
})
const makeDistinct = withDescription(
  flag.default(false),
  'Whether `GET /resource/{tenantLocator}/constraints/{name}/record` lists each value of the column only once. The choices of a field are always listed only once.',
  true,
)
const constraintTable = z.strictObject({
  columns: withDescription(
    columnMap(z.strictObject({ dataType, makeDistinct })),
    'The columns by their names in the file. At least one.',
    { make: { makeDistinct: true }, model: {} },
  ),
  selectionTimeBasis,
})

const recordByStaticName = <Entry extends z.ZodType>(entry: Entry) =>
  z.record(z.string(), entry.optional()).default({})

/** Resources brief 4.2; other properties are for user interfaces. */
const templateSnippet = z.strictObject({
  displayName: withDescription(text.optional(), 'Name shown to people. For screens only.', 'Letterhead'),
  selectionTimeBasis: withDescription(
    caseInsensitiveEnum(SELECTION_TIME_BASES).optional(),
    'The time of a transaction that determines which contents are in force. Default: the time of the document.',
    'currentTime',
  ),
})

const EXAMPLE_COLUMNS = { columns: { state: { isKey: true }, rate: { dataType: 'decimal' } } }

/** Resources brief 1.1. */
export const tableDeclarations = {
  tables: withDescription(
    recordByStaticName(table),
    'Tables that are resources of the tenant, by static name: the format of their files ([resources](resources.md)). Tables of the archive are not declared.',
    { rates: EXAMPLE_COLUMNS },
  ),
  rangeTables: withDescription(
    recordByStaticName(rangeTable),
    'The same for tables whose rows are ranges of numbers.',
    {
      age_factor: {
        columns: {
          from: { dataType: 'decimal' },
          to: { dataType: 'decimal' },
          factor: { dataType: 'decimal' },
        },
        rangeStart: 'from',
        rangeEnd: 'to',
      },
    },
  ),
  constraintTables: withDescription(
    recordByStaticName(constraintTable),
    'The same for tables that limit the values of fields.',
    {
      vehicles: { columns: { make: { makeDistinct: true }, model: {} } },
    },
  ),
  templateSnippets: withDescription(
    recordByStaticName(templateSnippet),
    'Parts of templates that are resources, by static name. Needed only for snippets that are selected at a different time from their document.',
    { letterhead: { selectionTimeBasis: 'currentTime' } },
  ),
}

type Declared<Entry> = Record<string, Entry | undefined>

type Tables = {
  tables: Declared<TableDeclaration>
  rangeTables: Declared<Omit<RangeTableDeclaration, 'rangeEnd'> & { rangeEnd?: string | undefined }>
  constraintTables: Declared<ResourceDeclarations['constraintTables'][string]>
  templateSnippets: Declared<{ selectionTimeBasis?: SelectionTimeBasis | undefined }>
}

const staticNameProblem = (name: string): string | undefined =>
  RESOURCE_NAME.test(name) && name.length <= LONGEST_RESOURCE_NAME
    ? undefined
    : 'is not a static name: it must begin with a letter or $, optionally after _, and contain only letters, digits, _ and $.'

/** Compiles the declarations and reports contradictions; undefined if there are none. */
export function compileResourceTables(
  { tables, rangeTables, constraintTables, templateSnippets }: Tables,
  report: ValueReport,
): ResourceDeclarations | undefined {
  const seen = new Set<string>()
  const ranges = checkedTables('rangeTables', rangeTables, seen, report)
  for (const [name, range] of Object.entries(ranges)) checkBounds(name, range, report)
  const declared: ResourceDeclarations = {
    tables: checkedTables('tables', tables, seen, report),
    rangeTables: ranges as ResourceDeclarations['rangeTables'],
    constraintTables: checkedTables('constraintTables', constraintTables, seen, report),
  }
  const snippets = Object.entries(templateSnippets).flatMap(([name, { selectionTimeBasis } = {}]) => {
    const problem = staticNameProblem(name)
    if (problem !== undefined)
      report.at('templateSnippets', name).error('badSnippetName', `'${name}' ${problem}`)
    // Keeps only snippets with their own selection time; the others use that of their template.
    return selectionTimeBasis === undefined ? [] : [[name, { selectionTimeBasis }] as const]
  })
  if (seen.size === 0 && snippets.length === 0) return undefined
  return { ...declared, ...(snippets.length > 0 && { templateSnippets: Object.fromEntries(snippets) }) }
}

/** Checks the names and columns of the tables of one kind, and returns those that are declared. `seen` has the names of all kinds. */
function checkedTables<Entry extends { columns: { name: string }[] }>(
  kind: keyof ResourceDeclarations,
  entries: Declared<Entry>,
  seen: Set<string>,
  report: ValueReport,
): Record<string, Entry> {
  const declared = Object.entries(entries).flatMap(([name, one]): [string, Entry][] =>
    one === undefined ? [] : [[name, one]],
  )
  for (const [name, { columns }] of declared) {
    const reportBadDeclaration = (message: string): void =>
      report.at(kind, name).error('badTableDeclaration', `'${name}' ${message}`)
    const problem = staticNameProblem(name)
    if (problem !== undefined) reportBadDeclaration(problem)
    if (seen.has(name))
      reportBadDeclaration('is also declared as a different kind of table; rename one of them.')
    if (columns.length === 0) reportBadDeclaration('declares no columns; list the columns of its file.')
    const lower = columns.map(column => column.name.trim().toLowerCase())
    const repeated = columns.find((_, at) => lower.indexOf(lower[at]!) !== at)
    if (repeated)
      reportBadDeclaration(
        `declares the column '${repeated.name}' twice, in different case; rename one of them.`,
      )
    seen.add(name)
  }
  return Object.fromEntries(declared)
}

function checkBounds(table: string, range: DeclaredRange, report: ValueReport): void {
  for (const bound of ['rangeStart', 'rangeEnd'] as const) {
    const problem = boundProblem(bound, range)
    if (problem !== undefined)
      report
        .at('rangeTables', table, bound)
        .error('badTableDeclaration', `'${bound}' of '${table}' ${problem}.`)
  }
}

type DeclaredRange = NonNullable<Tables['rangeTables'][string]>

/** Why a range table cannot use the column as a bound, as the end of a sentence. */
function boundProblem(bound: 'rangeStart' | 'rangeEnd', range: DeclaredRange): string | undefined {
  const name = range[bound]
  if (name === undefined) return undefined
  const column = range.columns.find(one => one.name === name)
  if (!column) return `names the column '${name}', which it does not have`
  if (column.isKey) return `names '${name}', which is a key; a bound must not be a key`
  if (!['string', 'int', 'long', 'decimal'].includes(column.dataType))
    return `names '${name}', which has type ${column.dataType}; bounds must be decimal numbers`
  return bound === 'rangeEnd' && name === range.rangeStart ? 'names the same column as rangeStart' : undefined
}

/** The interface's own values of `durationBasis` are plural: `years`. */
const cadenceUnit = z.preprocess(asUnit, z.enum(CADENCE_UNITS))

const offset = z.strictObject({
  amount: withDescription(wholeNumber, 'Number of units, at most 10,000. Negative: before.', -30),
  unit: withDescription(cadenceUnit.default('day'), 'Unit of `amount`. Its plural is also accepted.', 'day'),
})

const cadence = z.strictObject({
  intervalDuration: withDescription(
    wholeNumber.default(1),
    'Number of units between two occurrences, from 1 to 10,000.',
    1,
  ),
  durationBasis: withDescription(cadenceUnit, 'The unit. Its plural is also accepted.', 'year'),
  limit: withDescription(
    wholeNumber.optional(),
    'Maximum number of occurrences, including the first. Required with the anchor `policyEnd`; otherwise they end with the policy.',
    5,
  ),
})

const schedule = z.strictObject({
  anchor: withDescription(
    caseInsensitiveEnum(ANCHORS),
    'The time of the policy from which the schedule is counted.',
    'policyStart',
  ),
  alignment: withDescription(
    caseInsensitiveEnum(ALIGNMENTS).optional(),
    'Moves the time forward to the next start of a week (Monday), month or year. If omitted: it is not moved.',
    'monthStart',
  ),
  offset: withDescription(offset.optional(), 'Moves the time by this amount, after the alignment.', {
    amount: -30,
    unit: 'day',
  }),
  cadence: withDescription(cadence.optional(), 'Repeats the event. If omitted: it occurs once.', {
    durationBasis: 'year',
  }),
  suppressOnStatuses: withDescription(
    listOrSingle(list(caseInsensitiveEnum(SUPPRESSING_STATUSES))).default([]),
    'States of the policy in which an occurrence is skipped. Later ones still occur.',
    ['cancelled'],
  ),
})

/** Resources brief 8.3. */
export const customEventDeclarations = withDescription(
  list(
    z.strictObject({
      type: withDescription(
        name,
        'Name of the event in the stream and in webhooks: `custom.` and one to four words. Unique in the file.',
        'custom.policy.anniversary',
      ),
      schedule: withDescription(
        schedule.optional(),
        'When the event is emitted automatically. If omitted: only plugins emit it. At most 50 events can have a schedule.',
        { anchor: 'policyStart', cadence: { durationBasis: 'year' } },
      ),
      isPersisted: withDescription(
        flag.default(true),
        'Every event is persisted, so `false` only causes a warning.',
        true,
      ),
      products: withDescription(
        textList.optional(),
        'The products to whose policies the event applies. Default: all.',
        ['home'],
      ),
    }),
  ).default([]),
  'Custom events, which plugins emit or a schedule causes.',
  [{ type: 'custom.policy.anniversary', schedule: { anchor: 'policyStart' } }],
)

/** The most events with a schedule: each adds a row and a timer to every policy. */
const MOST_SCHEDULES = 50

/** The largest interval, limit and offset: longer than any policy, and still within the calendar. */
const LARGEST_AMOUNT = 10_000

type CustomEventFile = NonNullable<z.infer<typeof customEventDeclarations>[number]>

/**
 * Compiles custom events (resources brief 8.3), in the order of config.json. If a type is repeated, which is reported, the last one
 * counts.
 */
export function compileCustomEvents(
  declared: readonly (CustomEventFile | undefined)[],
  productNames: readonly string[],
  report: ValueReport,
): CustomEventDefinition[] {
  const definitions = new Map<string, CustomEventDefinition>()
  for (const [index, event] of definedEntries(declared)) {
    const own = report.at(index)
    const { type, isPersisted, products = [] } = event
    const badType = `'${type}' is not a type of a custom event. Write it like 'custom.policy.anniversary'.`
    if (!isCustomEventType(type)) own.at('type').error('badCustomEvent', badType)
    const repeated = `The type '${type}' is declared twice. Remove or rename one of the two.`
    if (definitions.has(type)) own.at('type').error('badCustomEvent', repeated)
    const kept = `'${type}' is declared as not persisted, but every event is kept in the stream.`
    if (!isPersisted) own.at('isPersisted').warning('customEventKept', kept)
    for (const product of products) {
      const unknown = `There is no product '${product}'. Refer to products by their folders.`
      if (!productNames.includes(product)) own.at('products').error('badCustomEvent', unknown)
    }
    checkSchedule(event, own.at('schedule'))
    definitions.set(type, definitionOf(event))
  }
  const { length: scheduled } = [...definitions.values()].filter(({ schedule }) => schedule !== undefined)
  const tooMany = `${scheduled} events have a schedule; at most ${MOST_SCHEDULES} can have one.`
  if (scheduled > MOST_SCHEDULES) report.error('badCustomEvent', tooMany)
  return [...definitions.values()]
}

function checkSchedule({ type, schedule }: CustomEventFile, report: ValueReport): void {
  const { anchor, offset, cadence } = schedule ?? {}
  if (offset && Math.abs(offset.amount) > LARGEST_AMOUNT)
    report
      .at('offset', 'amount')
      .error('badCustomEvent', `An offset can be at most ${LARGEST_AMOUNT}, before or after.`)
  if (!cadence) return
  const { intervalDuration, limit } = cadence
  const ofCadence = report.at('cadence')
  const badInterval = `An interval must be from 1 to ${LARGEST_AMOUNT}.`
  if (intervalDuration < 1 || intervalDuration > LARGEST_AMOUNT)
    ofCadence.at('intervalDuration').error('badCustomEvent', badInterval)
  if (limit !== undefined && (limit < 1 || limit > LARGEST_AMOUNT))
    ofCadence.at('limit').error('badCustomEvent', `A limit must be from 1 to ${LARGEST_AMOUNT}.`)
  const endless = `'${type}' is counted from the end of the policy and would repeat forever. Give its cadence a limit.`
  if (anchor === 'policyEnd' && limit === undefined) ofCadence.error('badCustomEvent', endless)
}

function definitionOf({ type, schedule, products }: CustomEventFile): CustomEventDefinition {
  const { anchor, alignment, offset, cadence, suppressOnStatuses = [] } = schedule ?? {}
  return {
    type: type as CustomEventType,
    ...(products && { products }),
    ...(anchor && {
      schedule: {
        anchor,
        ...(alignment && { alignment }),
        ...(offset && { offset }),
        ...(cadence && { cadence }),
        suppressOnStatuses: definedEntries(suppressOnStatuses).map(([, status]) => status),
      },
    }),
  }
}
