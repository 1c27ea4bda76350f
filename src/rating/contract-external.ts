// The answer of an external rater (resources brief 6.3). Unknown properties are ignored. It is not in OpenAPI, and is loaded only
// when a rater is called, because making schemas takes time.
import Big from 'big.js'
import { z } from 'zod'
import { type Decimal, decimal, RATE_PLACES } from '../kernel/money.ts'
import { isStorable, removeUnstorable, shortened } from '../kernel/text.ts'
import type { RecordedRate } from './rates.ts'

const AMOUNT = `must be an amount: a number or its digits as text, below 10^13, with at most ${RATE_PLACES} decimal places`

/**
 * In major units; may be negative. Text has at most 7 places. A JSON number is rounded to 7, because it is a binary fraction
 * (`379.1 * 1.19` is 451.12899999999996).
 */
const Amount = z.union([z.number(), z.string()], AMOUNT).transform((wire, ctx): Decimal => {
  const text = String(wire).trim()
  if (text.length <= 400 && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(text)) {
    const amount = decimal(text.replace(/^\+/, ''))
    const kept = amount.round(RATE_PLACES, Big.roundHalfUp)
    if (amount.abs().lt('1e13') && (typeof wire === 'number' || kept.eq(amount))) return kept
  }
  ctx.issues.push({ code: 'custom', message: AMOUNT, input: wire })
  return z.NEVER
})

const optional = <S extends z.ZodType>(schema: S) => schema.nullish().transform(value => value ?? undefined)

const IfAny = optional(Amount)

/** `amount` and `exactAmount` are for the segment itself and are not scaled. */
const CommissionReply = z
  .object({
    recipient: z.string().min(1).max(128).refine(isStorable, 'has characters that cannot be stored'),
    amount: IfAny,
    exactAmount: IfAny,
    yearlyAmount: IfAny,
  })
  .refine(
    ({ amount, exactAmount, yearlyAmount }) => (amount ?? exactAmount ?? yearlyAmount) !== undefined,
    'needs amount',
  )

/**
 * The segment's amount (`exactPremium`; `premium` for older raters), a rate that is scaled to it (`yearlyPremium`; `monthPremium`
 * for older raters), or both. A yearly rate takes precedence over a monthly one.
 */
export const SegmentRateReply = z
  .object({
    yearlyPremium: IfAny,
    exactPremium: IfAny,
    premium: IfAny,
    monthPremium: IfAny,
    yearlyTechnicalPremium: IfAny,
    exactTechnicalPremium: IfAny,
    technicalPremium: IfAny,
    monthTechnicalPremium: IfAny,
    commissions: optional(z.array(CommissionReply).max(50)),
  })
  .refine(
    ({ yearlyPremium, exactPremium, premium, monthPremium }) =>
      (yearlyPremium ?? exactPremium ?? premium ?? monthPremium) !== undefined,
    'needs yearlyPremium or exactPremium',
  )
  .transform(
    (rate): SegmentRate => ({
      premium: {
        yearly: rate.yearlyPremium,
        monthly: rate.yearlyPremium ? undefined : rate.monthPremium,
        exact: rate.exactPremium ?? rate.premium,
      },
      technicalPremium: {
        yearly: rate.yearlyTechnicalPremium,
        monthly: rate.yearlyTechnicalPremium ? undefined : rate.monthTechnicalPremium,
        exact: rate.exactTechnicalPremium ?? rate.technicalPremium,
      },
      commissions: (rate.commissions ?? []).map(({ recipient, amount, exactAmount, yearlyAmount }) => ({
        recipient,
        yearly: yearlyAmount,
        exact: exactAmount ?? amount,
      })),
    }),
  )

/** In characters. */
const LONGEST_MESSAGE = 2_000

/** Rates are parsed one by one, because rates that were not requested are ignored even if they are invalid. */
export const RaterReply = z.object({
  pricedPerilCharacteristics: z
    .record(z.string(), z.unknown())
    .nullish()
    .transform(priced => priced ?? {}),
  exceptionMessage: z
    .union([z.string(), z.number()], 'must be text')
    .nullish()
    .transform(
      message => shortened(removeUnstorable(String(message ?? '')).trim(), LONGEST_MESSAGE) || undefined,
    ),
})

/** A recipient may have several commission lines. */
export type SegmentRate = {
  readonly premium: RecordedRate
  readonly technicalPremium: RecordedRate
  readonly commissions: readonly (RecordedRate & { readonly recipient: string })[]
}
