// A field in a file. Fields have the same properties in policy.json, in exposures and perils, and for policyholders and payments.
import { z } from 'zod'
import type { FieldType } from '../../configuration.ts'
import {
  blankAsAbsent,
  count,
  flag,
  list,
  name,
  text,
  textList,
  wholeNumber,
  withDescription,
} from '../json/scalars.ts'

/** Lower-cases a unit and removes a plural ending: `Days` becomes `day`. */
export const asUnit = (value: unknown): unknown =>
  typeof value === 'string' ? value.trim().toLowerCase().replace(/s$/, '') : value

const offset = z.strictObject({
  field: withDescription(
    z.preprocess(asUnit, z.enum(['year', 'month', 'week', 'day', 'hour', 'minute', 'second'])),
    "The unit of `amount`, in the calendar of the tenant's time zone. Its plural is also accepted.",
    'year',
  ),
  amount: withDescription(
    wholeNumber,
    'Number of units from now: negative for the past, positive for the future. At most 1,000 years either way.',
    -18,
  ),
  roundToDay: withDescription(
    flag.optional(),
    'Extends the bound to the whole day: to its start for an earliest date, to its end for a latest. Default: the exact time.',
    true,
  ),
})

/** `true`, or how to search, such as `text`. `false`, `none`, `no` and empty text turn search off. */
const search = z
  .preprocess(value => {
    if (typeof value !== 'string') return value
    return !['', 'false', 'none', 'no'].includes(value.trim().toLowerCase())
  }, z.boolean())
  .meta({ keywords: { type: ['boolean', 'string'] } })

const FIELD_TYPES = [
  'string',
  'number',
  'date',
  'select',
  'lookup',
  'email',
  'phone',
  'group',
  'media',
] as const satisfies readonly FieldType[]

const ONLY_SCREENS = 'For screens only; the service does not check or use it.'

const display = {
  width: withDescription(
    z.unknown().optional(),
    `Width of the input, in twelfths of its row. ${ONLY_SCREENS}`,
    6,
  ),
  newline: withDescription(
    z.unknown().optional(),
    `Whether the input starts a new row. ${ONLY_SCREENS}`,
    true,
  ),
  heading: withDescription(z.unknown().optional(), `A headline above the input. ${ONLY_SCREENS}`, 'Building'),
  multiline: withDescription(
    z.unknown().optional(),
    `Whether the text has several lines. ${ONLY_SCREENS}`,
    true,
  ),
  showCalendar: withDescription(
    z.unknown().optional(),
    `Whether the date is picked from a calendar. ${ONLY_SCREENS}`,
    true,
  ),
  placeholder: withDescription(
    z.unknown().optional(),
    `Placeholder of an empty input. ${ONLY_SCREENS}`,
    '10115',
  ),
  description: withDescription(
    z.unknown().optional(),
    `A sentence that helps people to complete the input. ${ONLY_SCREENS}`,
    'As the land register has it.',
  ),
}

const constraintCondition = z.strictObject({
  key: withDescription(
    name.optional(),
    'The field whose value the column must equal: one next to this field, or at an outer level (of its exposure, of the policy).',
    'make',
  ),
  values: withDescription(
    textList.optional(),
    'The permitted values of the column if there is no `key`, or if its field has no value. At least one of the two is required.',
    ['standard'],
  ),
})

const constraint = z.strictObject({
  table: withDescription(
    name,
    'Static name of a constraint table, which is a resource of the tenant.',
    'vehicles',
  ),
  column: withDescription(name, 'The column that lists the permitted values of this field.', 'model'),
  where: withDescription(
    z.record(z.string(), constraintCondition.optional()).default({}),
    'The conditions on other columns. A row applies if all of them are met. If omitted: every row applies.',
    { make: { key: 'make' } },
  ),
})

/** The properties of fields of all types (brief 5.2). */
const properties = {
  name: withDescription(
    name,
    'Name of the field in requests, templates, plugins and conditions: no blanks, unique in its list, and none of `constructor`, `prototype`, `__proto__`.',
    'year_built',
  ),
  title: withDescription(
    text.optional(),
    'Name shown to people. Default: derived from the name; `year_built` becomes `Year Built`.',
    'Year of construction',
  ),
  type: withDescription(
    z
      .preprocess(value => (typeof value === 'string' ? value.trim().toLowerCase() : value), z.string())
      .meta({ keywords: { enum: FIELD_TYPES } }),
    'The type of value, which determines the other properties. Policyholders cannot have `group`, `lookup` or `media`, payments cannot have `group` or `lookup`.',
    'select',
  ),
  optional: withDescription(
    flag.optional(),
    'Whether a policy can be quoted without a value. A field with a condition is required only while the condition holds. Default: `false`. A policyholder can always be stored without values.',
    true,
  ),
  condition: withDescription(
    z.record(z.string(), textList).optional(),
    'When the field applies: each field named here (next to it, or next to its group) must have one of the listed values. Otherwise no value can be sent.',
    { sprinklers: ['none', 'partial'] },
  ),
  repeatable: withDescription(
    flag.optional(),
    'Whether the field accepts a list of values. Templates then see a list, otherwise a single value; plugins always see a list. Default: `false`.',
    true,
  ),
  search: withDescription(
    search.optional(),
    'An older name for `searchable`, or the kind of search; `none` means false.',
    'text',
  ),
  searchable: withDescription(
    search.optional(),
    'Whether policies (or policyholders) can be found by the value. Only the first 2,700 characters are searchable. Default: `false`.',
    true,
  ),
  regex: withDescription(
    blankAsAbsent(text),
    'string: the pattern that the whole value must match, in RE2 syntax, at most 2,000 characters. Look-ahead is permitted after a part of fixed length, look-behind at the end; back-references are not permitted.',
    '[A-Z]{2}-[0-9]{4}',
  ),
  minimum: withDescription(
    blankAsAbsent(text),
    'number: the minimum value. date: the earliest day, such as `1900-01-31`, or milliseconds since 1970.',
    100,
  ),
  maximum: withDescription(
    blankAsAbsent(text),
    'number: the maximum value. date: the latest day. string: the maximum number of characters, at most 20,000. group: the maximum number of groups.',
    2000000,
  ),
  decimalPlaces: withDescription(
    count.optional(),
    'number: the maximum number of decimal places, 0 for whole numbers, at most 20. Default: unlimited.',
    2,
  ),
  precision: withDescription(
    text.meta({ keywords: { enum: ['year', 'month', 'day', 'second'] } }).optional(),
    'date: the precision in forms and on screens: `year`, `month`, `day` or `second`. Values are stored as they are sent. Default: `day`, with a warning.',
    'day',
  ),
  minimumOffset: withDescription(
    offset.optional(),
    'date: the earliest time, relative to now. `minimum` applies as well.',
    { field: 'year', amount: -100, roundToDay: true },
  ),
  maximumOffset: withDescription(
    offset.optional(),
    'date: the latest time, relative to now. `maximum` applies as well.',
    { field: 'year', amount: -18, roundToDay: true },
  ),
  values: withDescription(
    textList.optional(),
    'select: the choices, in this order. At least one, each once; values must match exactly.',
    ['brick', 'timber', 'steel'],
  ),
  table: withDescription(
    name.optional(),
    "lookup: the table in `tables/` (without `.csv`) that contains the choices, in the column with the field's name, otherwise in the first column.",
    'trades',
  ),
  constraint: withDescription(
    constraint.optional(),
    'Limits the value by a constraint table in force, optionally depending on other fields ([resources](resources.md)). Not for groups, media, and fields of payments.',
    { table: 'vehicles', column: 'model', where: { make: { key: 'make' } } },
  ),
  informational: withDescription(
    flag.optional(),
    'Whether the field is only stored, and no computation or document uses it. A strict product then does not report it as unused. Default: `false`.',
    true,
  ),
  ...display,
}

/** `fields` is accepted only to report that groups cannot be nested. JSON Schemas refer to both schemas by their ids. */
const groupedField = z
  .strictObject({
    ...properties,
    fields: withDescription(
      z.unknown().optional(),
      'Not permitted here: a group cannot contain a group.',
      [],
    ),
  })
  .meta({ id: 'groupedField' })

const fieldFile = z
  .strictObject({
    ...properties,
    fields: withDescription(
      list(groupedField).optional(),
      'group: the fields of each entry. At least one; they are like other fields, but cannot be groups.',
      [{ name: 'lender', type: 'string' }],
    ),
  })
  .meta({ id: 'field' })

export const fieldList = list(fieldFile)

/** A field in a file. `fields` is unknown in this type, because groups cannot be nested. */
export type FieldFile = z.infer<typeof groupedField>
export type FieldFiles = readonly (FieldFile | undefined)[]
