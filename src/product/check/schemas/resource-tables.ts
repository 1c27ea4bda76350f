import { z } from 'zod'
import { COLUMN_TYPES, SELECTION_TIME_BASES } from '../../resources.ts'
import { choice, flag, name, text } from './scalars.ts'

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
