// Primitives of every contract. Contracts import this file first because it sets up zod. Requests are parsed leniently, as real
// clients send them (brief 0); responses are plain types. Schemas are shared because each one costs start-up time.
import { z } from '@hono/zod-openapi'
import { decimal } from '../kernel/money.ts'
import { isLongerThan } from '../kernel/text.ts'
import { type Instant, instant, readDateTime } from '../kernel/time.ts'
import { describeProblem, reportProblem, rule } from './wire-problem.ts'
import { CURRENCY, MILLISECONDS, REQUEST_DECIMAL, REQUEST_MILLISECONDS } from './wire-units.ts'

// jitless: the runtime has no eval, and zod must not test for it.
z.config({ jitless: true, customError: describeProblem })

/** Maximum number of entries in one list of a request. Longer lists are rejected with 413. */
export const LONGEST_LIST = 10_000

const withoutEmpty = <T>(wire: T | null | undefined | ''): T | undefined =>
  wire === null || wire === '' ? undefined : (wire as T | undefined)

/** Makes a property optional. `null` (brief 0.3) and `""`, as in `?pagingToken=`, also mean that it is left out. */
export const optional = <S extends z.ZodType>(schema: S) =>
  z.preprocess<unknown, z.ZodOptional<S>, z.input<S> | null | undefined>(withoutEmpty, schema.optional())

/** `optional` for a named record: the OpenAPI document refers to the record instead of inlining it. */
export const optionalRecord = <S extends z.ZodType>(record: S) => optional(z.lazy(() => record))

/** A list for which absent or `null` means empty. It must not contain `null` (brief 0.12). */
export const list = <S extends z.ZodType>(element: S) =>
  z.preprocess<unknown, z.ZodArray<S>, readonly z.input<S>[] | null | undefined>(
    wire => wire ?? [],
    z.array(element).max(LONGEST_LIST),
  )

/** An object schema to which the OpenAPI document refers by name. */
export const component = <S extends z.ZodRawShape>(
  name: string,
  shape: S,
  metadata: Parameters<z.ZodObject['openapi']>[1] = {},
) => z.object(shape).openapi(name, metadata)

/** Fills in required properties that clients leave out or set to `null`. The OpenAPI document still lists them as required. */
export const withDefaults = <S extends z.ZodObject>(defaults: Readonly<Record<string, unknown>>, record: S) =>
  z.preprocess(wire => {
    if (typeof wire !== 'object' || wire === null || Array.isArray(wire)) return wire
    const filled: Record<string, unknown> = { ...wire }
    for (const [name, value] of Object.entries(defaults)) filled[name] ??= value
    return filled
  }, record)

/** Text that is not empty and has at most `most` characters. */
export const shortText = (most: number) =>
  z
    .string()
    .min(1)
    .check(ctx => {
      if (!isLongerThan(ctx.value, most)) return
      ctx.issues.push({ code: 'too_big', origin: 'string', maximum: most, inclusive: true, input: ctx.value })
    })
    .openapi({ maxLength: most })

/** Opaque: a wrong locator is 404, not 400. */
export const Locator = z.string().min(1).max(64)
export const OptionalLocator = optional(Locator)

/** A name from the configuration: product, exposure, peril, field, payment schedule. */
export const Name = shortText(128)
export const OptionalName = optional(Name)

/** A name from people or networks: user, host, tenant, display name, file. */
export const LongName = shortText(256)
export const OptionalLongName = optional(LongName)

/** What a timestamp must be, for messages. */
export const TIMESTAMP = 'must be a time in milliseconds since 1970-01-01T00:00Z, as an integer or its digits'

/** An integer of any size. `z.int()` ends at 2^53 and would report larger numbers as not whole. */
const WholeNumber = z.number().refine(Number.isInteger, { abort: true }).openapi({ type: 'integer' })

/** Milliseconds since the epoch as JSON integer or digits, years 0001 to 9999. */
export const RequestTimestamp = z
  .union([WholeNumber, z.string()], rule(TIMESTAMP))
  .transform((wire, ctx): Instant => {
    const isTime = typeof wire === 'number' || /^-?\d{1,400}$/.test(wire)
    const ms = isTime ? Number(wire) : Number.NaN
    const at = instant(ms)
    if (at !== undefined) return at
    reportProblem(ctx, Number.isNaN(ms) ? TIMESTAMP : 'must be in the years 0001 to 9999')
    return z.NEVER
  })
  .openapi({ description: REQUEST_MILLISECONDS, example: 1589740898000 })
export const OptionalTimestamp = optional(RequestTimestamp)

const DATE_TIME = 'must be a time such as 2026-03-01T09:30:00Z, or milliseconds since 1970-01-01T00:00Z'

/** ISO 8601, or milliseconds since 1970, years 0001 to 9999: for resources, events and tokens (contract 2). */
export const RequestDateTime = z
  .union([z.number(), z.string().max(64)], rule(DATE_TIME))
  .transform((wire, ctx): Instant => {
    const at = readDateTime(String(wire).trim())
    if (at !== undefined) return at
    reportProblem(ctx, DATE_TIME)
    return z.NEVER
  })
  .openapi({ type: 'string', format: 'date-time', example: '2026-03-01T09:30:00Z' })

const DECIMAL = 'must be a plain decimal number with at most 15 digits before the point and 7 after it'

const PLAIN_DECIMAL = /^-?\d{1,15}(\.\d{1,7})?$/

/** Converts a number or numeric text to exact decimal text: `250` and `"250.00"` give `250`. */
export const RequestDecimal = z
  .union([z.number(), z.string()], rule(DECIMAL))
  .transform((wire, ctx): string => {
    // For most numbers this is already the exact text.
    if (typeof wire === 'number' && wire !== 0 && PLAIN_DECIMAL.test(String(wire))) return String(wire)
    // Checked before big.js, which would write out an exponent of a million.
    const text = typeof wire === 'number' && Math.abs(wire) < 1e15 ? decimal(wire).toFixed() : String(wire)
    if (/^[+-]?\d{1,15}(\.\d{1,7})?$/.test(text.trim())) return decimal(text.replace('+', '')).toFixed()
    reportProblem(ctx, DECIMAL)
    return z.NEVER
  })
  .openapi({ description: REQUEST_DECIMAL, example: 250 })
export const OptionalDecimal = optional(RequestDecimal)

/** Forms and queries send numbers as text. Other text is returned unchanged. */
const wholeNumber = (wire: unknown): unknown =>
  typeof wire === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(wire) ? Number(wire) : wire

/** An integer, sent as a JSON number or as digits. 1.0 is allowed. */
export const requestInteger = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  z.preprocess(wholeNumber, z.int().min(minimum).max(maximum))

const TRUTH: Record<string, boolean> = { true: true, false: false, 1: true, 0: false }

const parseBoolean = (wire: unknown): unknown =>
  typeof wire === 'string' ? (TRUTH[wire.trim().toLowerCase()] ?? wire) : wire

/** A boolean. Also accepts the texts `true`, `false`, `1`, `0` in any case (resources brief 10.2). */
export const RequestBoolean = z.preprocess(parseBoolean, z.boolean())
export const OptionalBoolean = optional(RequestBoolean)

/** `value` is the default. */
export const booleanOr = (value: boolean) =>
  z.preprocess(wire => parseBoolean(withoutEmpty(wire) ?? value), z.boolean()).openapi({ default: value })

/** The number of entries before the page. Default 0. It has a maximum where a page far into the list costs as much as all before it. */
export const offsetUpTo = (maximum?: number) =>
  z.preprocess(wire => wire ?? 0, requestInteger(0, maximum)).openapi({ default: 0 })

/** Default 100. Reduces more than 1,000 to 1,000 (resources brief 0.1). */
export const PageSize = z
  .preprocess(
    wire => wholeNumber(withoutEmpty(wire) ?? 100),
    z
      .int()
      .min(1)
      .transform(size => Math.min(size, 1_000)),
  )
  .openapi({ description: 'Number of rows per page, at most 1,000.', default: 100 })

/** Opaque, from the previous response. */
export const PagingToken = optional(z.string().max(4_096)).describe(
  'Token from the response with the previous page. Opaque.',
)

const ORDERS = ['oldestFirst', 'newestFirst'] as const
export type Order = (typeof ORDERS)[number]

/** A paging token continues correctly only with the order of the page that it came from. */
export const ListOrder = z
  .preprocess(wire => withoutEmpty(wire) ?? 'oldestFirst', z.enum(ORDERS))
  .openapi({ description: 'Order of the list. Send the same for every page.', default: 'oldestFirst' })

/** A file part in the form in which the body reader passes it. */
export const filePart = (name: string) =>
  z
    .custom<unknown>(
      part => part !== undefined && part !== null,
      rule(`is missing; send the file as the part named ${name}`),
    )
    .openapi({ type: 'string', format: 'binary' })

type WireScalar = string | number | boolean

/**
 * Field values as sent: a scalar or a list of scalars for each field, `null` for a field without a value (brief 0.4).
 * `readFieldValues` of product/fields normalises and checks them.
 */
export type WireFieldValues = Readonly<Record<string, WireScalar | readonly WireScalar[] | null>>

const isScalar = (value: unknown): value is WireScalar =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

const FieldValues = z.custom<WireFieldValues>().check(ctx => {
  const wire: unknown = ctx.value
  if (typeof wire !== 'object' || wire === null || Array.isArray(wire))
    return reportProblem(ctx, 'must be an object of field values')
  for (const [name, value] of Object.entries(wire)) {
    if (value === null || isScalar(value)) continue
    if (!Array.isArray(value))
      reportProblem(ctx, 'must be a value or a list of values, not an object', [name])
    else if (!value.every(isScalar))
      reportProblem(ctx, 'must list simple values: text, numbers, true, false', [name])
    else if (value.length > LONGEST_LIST)
      reportProblem(ctx, `must list at most ${LONGEST_LIST} values`, [name])
  }
})

/** Absent means empty. */
export const RequestFieldValues = z
  .preprocess(wire => wire ?? {}, FieldValues)
  .openapi({
    type: ['object', 'null'],
    description:
      'Values by field name. A single value need not be in a list. null or an empty list means no value.',
    additionalProperties: {
      anyOf: [
        { type: 'array', items: { type: 'string' } },
        { type: ['string', 'number', 'boolean', 'null'] },
      ],
    },
    example: { make: ['Volvo'], year: 2019 },
  })

export const Text = z.string()

/** Milliseconds since the epoch, as text (brief 0.1). Write it with `String(instant)`. */
export const Timestamp = z.string().openapi({
  description: MILLISECONDS,
  example: '1589740898000',
  pattern: '^-?[0-9]+$',
})

/** ISO 8601 in UTC, for newer resources. */
export const DateTime = z.string().openapi({ format: 'date-time' })

/** Major units as a JSON number, rounded to the currency's minor units (brief 0.2). */
export const Amount = z.number()

export const Currency = z.string().openapi({ description: CURRENCY, example: 'EUR' })

/** Declares each amount with its currency: `premium` and `premiumCurrency` (brief 3.4). */
export const withCurrency = <S extends z.ZodType, N extends string>(amount: S, ...names: N[]) =>
  Object.fromEntries(
    names.flatMap(name => [
      [name, amount],
      [`${name}Currency`, Currency],
    ]),
  ) as { [K in N]: S } & { [K in `${N}Currency`]: typeof Currency }

export const Integer = z.int()
export const Flag = z.boolean()
export const Texts = z.array(Text)

/** Field values in a response: always lists (brief 0.4). */
export const FieldValueLists = z.record(Text, Texts)

/** By the locator of the group. */
export const FieldGroupValues = z.record(Text, FieldValueLists)

export const OptionalText = Text.optional()
export const OptionalAmount = Amount.optional()

export const TimestampIfAny = Timestamp.optional()

/** Deprecated in the contract. Older clients still read it. */
export const DeprecatedText = z.string().openapi({ deprecated: true })

export const ListCompleted = Flag.describe('Whether this is the last page.')

/** A page of a list in the form of older paths. */
export const listOf = <Item extends z.ZodType>(name: string, item: Item) =>
  component(name, { listCompleted: ListCompleted, items: z.array(item) })
