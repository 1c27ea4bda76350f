// What values look like in archives of the world: numbers and booleans as text, one value where a list may stand.
import { z } from 'zod'
import { MARGIN } from '../../../../packages/pdf/page.ts'
import { decimal } from '../../../kernel/money.ts'

const asText = (value: unknown): unknown => {
  if (typeof value === 'boolean') return String(value)
  return typeof value === 'number' ? decimal(value).toFixed() : value
}

const asNumber = (value: unknown): unknown =>
  typeof value === 'string' && /^\s*[+-]?\d{1,15}\s*$/.test(value) ? Number(value) : value

const asFlag = (value: unknown): unknown => {
  if (typeof value !== 'string') return value
  const word = value.trim().toLowerCase()
  return word === 'true' ? true : word === 'false' ? false : value
}

/** Text; numbers and booleans are taken as they print. */
export const text = z.preprocess(asText, z.string())

/** Text that is not blank, trimmed. */
export const name = z.preprocess(asText, z.string().trim().min(1))

export const flag = z.preprocess(asFlag, z.boolean())

export const wholeNumber = z.preprocess(asNumber, z.int())

export const count = z.preprocess(asNumber, z.int().min(0))

const PLAIN_DECIMAL = /^[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})$/

/** The number in its shortest plain form, or undefined when the text is none. */
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

/** Text that `read` makes something of; `expected` says in a finding what it must be. */
const textAs = (expected: string, read: (value: string) => string | undefined) =>
  z.string().transform((value, context) => {
    const result = read(value)
    if (result === undefined) context.addIssue(expected)
    return result ?? z.NEVER
  })

/** An amount as decimal text in its shortest form. */
export const amount = z.preprocess(asText, textAs('a plain decimal number', plainDecimal))

/** An amount or `unlimited`. */
export const indemnity = z.preprocess(
  asText,
  textAs("a plain decimal number or 'unlimited'", value =>
    value.trim().toLowerCase() === 'unlimited' ? 'unlimited' : plainDecimal(value),
  ),
)

const length = textAs("a length like '20mm', in mm, cm, in, pt, pc or px", value =>
  MARGIN.test(value) ? value : undefined,
)

/** A margin of a page; blank is as if it were left out. */
export const margin = z.preprocess(
  value => (asText(value) === '' ? undefined : asText(value)),
  length.optional(),
)

/** As the schema reads it; blank is as if it were left out. */
export const unlessBlank = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .preprocess(
      value => (typeof value === 'string' && value.trim() === '' ? undefined : value),
      schema.optional(),
    )
    .optional()

/** One of the words; letter case and blanks around it do not matter. */
export const choice = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.preprocess(value => {
    if (typeof value !== 'string') return value
    const given = value.trim().toLowerCase()
    return words.find(word => word.toLowerCase() === given) ?? value
  }, z.enum(words))

/** A list of text, or a single one. */
export const textList = z.preprocess(
  value => (value === undefined || Array.isArray(value) ? value : [value]),
  z.array(text.optional()).transform(values => values.filter(value => value !== undefined)),
)

/** A list in which an entry that did not pass leaves a hole, so that indexes still name places in the file. */
export const list = <Item extends z.ZodType>(item: Item) => z.array(item.optional())

/** The entries of a `list` with their indexes. */
export function present<Item>(items: readonly (Item | undefined)[] | undefined): [number, Item][] {
  const found: [number, Item][] = []
  for (const [index, item] of (items ?? []).entries()) if (item !== undefined) found.push([index, item])
  return found
}

/** The name for people that a file gives, else one made of the thing's own name: `personal-auto` becomes `Personal Auto`. */
export const displayNameOf = (name: string, given?: string): string =>
  given?.trim() ||
  name
    .split(/[_\-\s]+/)
    .filter(word => word !== '')
    .map(word => word[0]!.toUpperCase() + word.slice(1))
    .join(' ') ||
  name
