import { z } from 'zod'
import { count, flag, list, name, text, textList, unlessBlank, wholeNumber } from '../json/scalars.ts'

/** `Days` is `day`. */
export const asUnit = (value: unknown): unknown =>
  typeof value === 'string' ? value.trim().toLowerCase().replace(/s$/, '') : value

const offset = z.strictObject({
  field: z.preprocess(asUnit, z.enum(['year', 'month', 'week', 'day', 'hour', 'minute', 'second'])),
  amount: wholeNumber,
  roundToDay: flag.optional(),
})

/** `true`, or how to search (`text`); `false` and `none` mean not at all. */
const search = z.preprocess(value => {
  if (typeof value !== 'string') return value
  return !['', 'false', 'none', 'no'].includes(value.trim().toLowerCase())
}, z.boolean())

/** How screens show a field; no meaning here. */
const display = {
  width: z.unknown().optional(),
  newline: z.unknown().optional(),
  heading: z.unknown().optional(),
  multiline: z.unknown().optional(),
  showCalendar: z.unknown().optional(),
  placeholder: z.unknown().optional(),
  description: z.unknown().optional(),
}

const constraint = z.strictObject({
  table: name,
  column: name,
  where: z
    .record(z.string(), z.strictObject({ key: name.optional(), values: textList.optional() }).optional())
    .default({}),
})

/** Properties of a field that every type may have, and those of single types (brief 5.2). */
const properties = {
  name,
  title: text.optional(),
  type: z.preprocess(value => (typeof value === 'string' ? value.trim().toLowerCase() : value), z.string()),
  optional: flag.optional(),
  condition: z.record(z.string(), textList).optional(),
  repeatable: flag.optional(),
  search: search.optional(),
  searchable: search.optional(),
  regex: unlessBlank(text),
  minimum: unlessBlank(text),
  maximum: unlessBlank(text),
  decimalPlaces: count.optional(),
  precision: text.optional(),
  minimumOffset: offset.optional(),
  maximumOffset: offset.optional(),
  values: textList.optional(),
  table: name.optional(),
  constraint: constraint.optional(),
  ...display,
}

/** A field inside a group. `fields` is read only to say that groups do not nest. */
const groupedField = z.strictObject({ ...properties, fields: z.unknown().optional() })

const fieldFile = z.strictObject({ ...properties, fields: list(groupedField).optional() })

export const fieldList = list(fieldFile)

/** A field as its file has it. One of a group has no fields of its own that mean anything. */
export type FieldFile = z.infer<typeof groupedField>
export type FieldFiles = readonly (FieldFile | undefined)[]
