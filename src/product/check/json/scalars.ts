// Scalars in published archives. Numbers and booleans may be text, and a single value may replace a list.
import { z } from 'zod'
import { MARGIN } from '../../../../packages/pdf/page.ts'
import { decimal } from '../../../kernel/money.ts'

/**
 * Adds to a schema its description and examples for authors. docs/configuration.md and the JSON Schemas, and therefore editors,
 * show both.
 */
export const withDescription = <Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  ...examples: unknown[]
): Schema => schema.meta({ description, examples }) as Schema

/** Adds JSON Schema keywords that describe the accepted input, which is wider than the schema's own type. */
const withKeywords = <Schema extends z.ZodType>(schema: Schema, keywords: object): Schema =>
  schema.meta({ keywords }) as Schema

const SCALAR = { type: ['string', 'number', 'boolean'] }
const WHOLE = { type: ['integer', 'string'], pattern: '^\\s*[+-]?\\d{1,15}\\s*$' }

const asText = (value: unknown): unknown => {
  if (typeof value === 'boolean') return String(value)
  return typeof value === 'number' ? decimal(value).toFixed() : value
}

const asNumber = (value: unknown): unknown =>
  typeof value === 'string' && /^\s*[+-]?\d{1,15}\s*$/.test(value) ? Number(value) : value

const asFlag = (value: unknown): unknown => {
  if (typeof value !== 'string') return value
  const word = value.trim().toLowerCase()
  if (word === 'true') return true
  return word === 'false' ? false : value
}

/** Text. Numbers and booleans are also accepted and become text. */
export const text = withKeywords(z.preprocess(asText, z.string()), SCALAR)

/** Text that is not blank, trimmed. */
export const name = withKeywords(z.preprocess(asText, z.string().trim().min(1)), {
  ...SCALAR,
  pattern: '\\S',
})

/** Text that is not empty, not trimmed. */
export const filledText = withKeywords(z.preprocess(asText, z.string().min(1)), { ...SCALAR, minLength: 1 })

export const flag = withKeywords(z.preprocess(asFlag, z.boolean()), { enum: [true, false, 'true', 'false'] })

export const wholeNumber = withKeywords(z.preprocess(asNumber, z.int()), WHOLE)

export const count = withKeywords(z.preprocess(asNumber, z.int().min(0)), {
  ...WHOLE,
  minimum: 0,
  pattern: '^\\s*[+]?\\d{1,15}\\s*$',
})

/** A larger number of days would exceed the calendar. */
const MOST_DAYS = 999_999

export const days = withKeywords(z.preprocess(asNumber, z.int().min(0).max(MOST_DAYS)), {
  ...WHOLE,
  minimum: 0,
  maximum: MOST_DAYS,
  pattern: '^\\s*[+]?0{0,9}\\d{1,6}\\s*$',
})

/** A decimal number, possibly with blanks around it, as a JSON Schema pattern. */
const DECIMAL_IN_TEXT = '^\\s*[+-]?(\\d{1,30}(\\.\\d{0,30})?|\\.\\d{1,30})\\s*$'

const PLAIN_DECIMAL = /^[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})$/

/** Returns the shortest plain form of a decimal number; undefined if the text is not one. */
export function plainDecimal(value: string): string | undefined {
  const digits = value.trim()
  if (!PLAIN_DECIMAL.test(digits)) return undefined
  return decimal(
    digits
      .replace(/^\+/, '')
      .replace(/\.$/, '')
      .replace(/^(-?)\./, '$10.'),
  ).toFixed()
}

/** `expected` completes the message of the finding for text that `read` rejects. */
const textAs = (expected: string, read: (value: string) => string | undefined) =>
  z.string().transform((value, context) => {
    const result = read(value)
    if (result === undefined) context.addIssue(expected)
    return result ?? z.NEVER
  })

/** A decimal number as text in its shortest plain form, without an exponent. */
export const amount = withKeywords(z.preprocess(asText, textAs('a plain decimal number', plainDecimal)), {
  type: ['number', 'string'],
  pattern: DECIMAL_IN_TEXT,
})

/** A decimal number in its shortest plain form, or the word `unlimited`. */
export const indemnity = withKeywords(
  z.preprocess(
    asText,
    textAs("a plain decimal number or 'unlimited'", value =>
      value.trim().toLowerCase() === 'unlimited' ? 'unlimited' : plainDecimal(value),
    ),
  ),
  { anyOf: [{ const: 'unlimited' }, { type: ['number', 'string'], pattern: DECIMAL_IN_TEXT }] },
)

const length = textAs("a length like '20mm', in mm, cm, in, pt, pc or px", value =>
  MARGIN.test(value) ? value : undefined,
)

/** A length with a unit. Blank text means absent. */
export const margin = withKeywords(
  z.preprocess(value => (asText(value) === '' ? undefined : asText(value)), length.optional()),
  { type: ['string', 'number'] },
)

/** Treats blank text as absent. */
export const blankAsAbsent = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .preprocess(
      value => (typeof value === 'string' && value.trim() === '' ? undefined : value),
      schema.optional(),
    )
    .optional()

/** Ignores case and surrounding blanks. */
export const caseInsensitiveEnum = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.preprocess(value => {
    if (typeof value !== 'string') return value
    const given = value.trim().toLowerCase()
    return words.find(word => word.toLowerCase() === given) ?? value
  }, z.enum(words))

/** Accepts a single value in place of a list. */
export const listOrSingle = <List extends z.ZodType>(schema: List) =>
  z.preprocess(value => (value === undefined || Array.isArray(value) ? value : [value]), schema)

/** A list of texts, or a single text in its place. Leaves out invalid entries, which are reported. */
export const textList = withKeywords(
  listOrSingle(z.array(text.optional()).transform(values => values.filter(value => value !== undefined))),
  { anyOf: [SCALAR, { type: 'array', items: SCALAR }] },
)

/** A list. An invalid entry leaves a hole, so that indexes still refer to places in the file. */
export const list = <Item extends z.ZodType>(item: Item) => z.array(item.optional())

/** Skips the holes of a list and keeps the original indexes, which findings need. */
export function definedEntries<Item>(items: readonly (Item | undefined)[] | undefined): [number, Item][] {
  const found: [number, Item][] = []
  for (const [index, item] of (items ?? []).entries()) if (item !== undefined) found.push([index, item])
  return found
}

/** The given name, or else one derived from `name`: `personal-auto` becomes `Personal Auto`. */
export const displayNameOf = (name: string, given?: string): string =>
  given?.trim() ||
  name
    .split(/[_\-\s]+/)
    .filter(word => word !== '')
    .map(word => word[0]!.toUpperCase() + word.slice(1))
    .join(' ') ||
  name
