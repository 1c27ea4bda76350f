// A field in a file. Fields have the same properties in policy.json, in exposures and perils, and for policyholders and payments.
import { z } from 'zod'
import type { FieldType } from '../../configuration.ts'
import { about, count, flag, list, name, text, textList, unlessBlank, wholeNumber } from '../json/scalars.ts'

/** Lower-cases a unit and removes a plural ending: `Days` becomes `day`. */
export const asUnit = (value: unknown): unknown =>
  typeof value === 'string' ? value.trim().toLowerCase().replace(/s$/, '') : value

const offset = z.strictObject({
  field: about(
    z.preprocess(asUnit, z.enum(['year', 'month', 'week', 'day', 'hour', 'minute', 'second'])),
    "The unit that `amount` counts, by the calendar of the tenant's time zone. Its plural is read too.",
    'year',
  ),
  amount: about(
    wholeNumber,
    'How many units from now: negative for the past, positive for the future; 1,000 years at most either way.',
    -18,
  ),
  roundToDay: about(
    flag.optional(),
    'Takes the whole day into the bound: its start for an earliest date, its end for a latest. Left out: the very moment counts.',
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

const ONLY_SCREENS = 'For screens; the service keeps and checks nothing of it.'

const display = {
  width: about(z.unknown().optional(), `How wide an input is, in twelfths of its row. ${ONLY_SCREENS}`, 6),
  newline: about(z.unknown().optional(), `Whether the input begins a row. ${ONLY_SCREENS}`, true),
  heading: about(z.unknown().optional(), `A headline above the input. ${ONLY_SCREENS}`, 'Building'),
  multiline: about(z.unknown().optional(), `Whether the text has several lines. ${ONLY_SCREENS}`, true),
  showCalendar: about(
    z.unknown().optional(),
    `Whether a date is picked from a calendar. ${ONLY_SCREENS}`,
    true,
  ),
  placeholder: about(z.unknown().optional(), `What an empty input shows. ${ONLY_SCREENS}`, '10115'),
  description: about(
    z.unknown().optional(),
    `A sentence that helps people to fill it in. ${ONLY_SCREENS}`,
    'As the land register has it.',
  ),
}

const constraintCondition = z.strictObject({
  key: about(
    name.optional(),
    'The field whose value the column must equal: one beside this field, or further out (of its exposure, of the policy).',
    'make',
  ),
  values: about(
    textList.optional(),
    'What the column may be where no `key` is named, or where its field has no value. One of the two is needed.',
    ['standard'],
  ),
})

const constraint = z.strictObject({
  table: about(name, 'Static name of a constraint table, which is a resource of the tenant.', 'vehicles'),
  column: about(name, 'The column that lists what this field may be.', 'model'),
  where: about(
    z.record(z.string(), constraintCondition.optional()).default({}),
    'Which rows count, by column: all of these must fit. Left out: every row.',
    { make: { key: 'make' } },
  ),
})

/** The properties of fields of all types (brief 5.2). */
const properties = {
  name: about(
    name,
    'What requests, templates, plugins and conditions call the field: no blanks, unique in its list, and none of `constructor`, `prototype`, `__proto__`.',
    'year_built',
  ),
  title: about(
    text.optional(),
    'What people call it. Left out, it is made of the name: `year_built` becomes `Year Built`.',
    'Year of construction',
  ),
  type: about(
    z
      .preprocess(value => (typeof value === 'string' ? value.trim().toLowerCase() : value), z.string())
      .meta({ keywords: { enum: FIELD_TYPES } }),
    'What kind of value it has; each kind takes some properties of its own. Policyholders have no `group`, `lookup` or `media`, payments no `group` or `lookup`.',
    'select',
  ),
  optional: about(
    flag.optional(),
    'Whether a policy can be quoted without a value. A field under a condition is needed only while that holds. Left out: `false`; fields of policyholders are never needed to store one.',
    true,
  ),
  condition: about(
    z.record(z.string(), textList).optional(),
    'When there is such a field: each field named here (beside it, or beside its group) has one of the values listed. While it does not hold no value may be sent.',
    { sprinklers: ['none', 'partial'] },
  ),
  repeatable: about(
    flag.optional(),
    'Whether it takes a list of values. Templates then find a list, else one value; plugins find a list in any case. Left out: `false`.',
    true,
  ),
  search: about(search.optional(), 'An older word for `searchable`, or how to search; `none` is no.', 'text'),
  searchable: about(
    search.optional(),
    'Whether policies (or policyholders) are found by its value. Only the first 2,700 characters count. Left out: `false`.',
    true,
  ),
  regex: about(
    unlessBlank(text),
    'string: the pattern that the whole value fits, in RE2 syntax, 2,000 characters at most. Look-ahead may stand where as many characters always come before it, look-behind at the end; back-references nowhere.',
    '[A-Z]{2}-[0-9]{4}',
  ),
  minimum: about(
    unlessBlank(text),
    'number: the least value. date: the earliest day, as `1900-01-31`, or milliseconds since 1970.',
    100,
  ),
  maximum: about(
    unlessBlank(text),
    'number: the greatest value. date: the latest day. string: the most characters, 20,000 at most. group: how many there may be.',
    2000000,
  ),
  decimalPlaces: about(
    count.optional(),
    'number: the most decimal places of a value, 0 for whole numbers; 20 at most. Left out: any number of places.',
    2,
  ),
  precision: about(
    text.meta({ keywords: { enum: ['year', 'month', 'day', 'second'] } }).optional(),
    'date: how exactly forms ask for it and show it: `year`, `month`, `day` or `second`. A value is kept as it is sent. Left out: `day`, with a warning.',
    'day',
  ),
  minimumOffset: about(
    offset.optional(),
    'date: the earliest time as a distance from now, which moves with the clock; `minimum` holds beside it.',
    { field: 'year', amount: -100, roundToDay: true },
  ),
  maximumOffset: about(
    offset.optional(),
    'date: the latest time as a distance from now; `maximum` holds beside it.',
    { field: 'year', amount: -18, roundToDay: true },
  ),
  values: about(
    textList.optional(),
    'select: what can be chosen, in this order; at least one, each once, compared to the letter.',
    ['brick', 'timber', 'steel'],
  ),
  table: about(
    name.optional(),
    "lookup: the table of `tables/` (without `.csv`) whose cells are the choices: those of the column with the field's name, else of the first.",
    'trades',
  ),
  constraint: about(
    constraint.optional(),
    'Limits the value by a constraint table in force, perhaps depending on other fields ([resources](resources.md)). Not for groups, media, and fields of payments.',
    { table: 'vehicles', column: 'model', where: { make: { key: 'make' } } },
  ),
  informational: about(
    flag.optional(),
    'Whether the field is only kept, and nothing is worked out or printed from it: a strict product then does not take it for forgotten. Left out: `false`.',
    true,
  ),
  ...display,
}

/** `fields` is accepted only to report that groups cannot be nested. JSON Schemas refer to both schemas by their ids. */
const groupedField = z
  .strictObject({
    ...properties,
    fields: about(z.unknown().optional(), 'Has no place here: a group stands in no other group.', []),
  })
  .meta({ id: 'groupedField' })

const fieldFile = z
  .strictObject({
    ...properties,
    fields: about(
      list(groupedField).optional(),
      'group: the fields that each entry of it has, at least one. They are as other fields, but no groups.',
      [{ name: 'lender', type: 'string' }],
    ),
  })
  .meta({ id: 'field' })

export const fieldList = list(fieldFile)

/** A field in a file. `fields` is unknown in this type, because groups cannot be nested. */
export type FieldFile = z.infer<typeof groupedField>
export type FieldFiles = readonly (FieldFile | undefined)[]
