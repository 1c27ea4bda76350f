// The steps to a quote: the price of a risk, a new policyholder, and a new quote. A price is returned directly; the other two are
// previewed, and carry_out creates them.
import { z } from 'zod'
import { bodyOf } from '../answers.ts'
import { type Host, type Json, pathOf } from '../host.ts'
import { defineTool } from '../tool.ts'
import {
  ExposureIn,
  FieldGroupsIn,
  FieldValuesIn,
  isoOf,
  Money,
  money,
  msIfAny,
  NameIn,
  policyholderIn,
  Time,
  TimeIn,
  withAmounts,
} from '../values.ts'
import { keep, keptShape } from './previews.ts'

const risk = {
  policyholder: policyholderIn,
  product: NameIn,
  startAt: TimeIn.optional().describe('Left out: midnight today.'),
  endAt: TimeIn.optional().describe('Left out: one year after the start.'),
  fieldValues: FieldValuesIn.optional(),
  fieldGroups: FieldGroupsIn.optional(),
  exposures: z
    .array(ExposureIn)
    .max(50)
    .describe('Amounts of perils are decimal numbers; an indemnity can also be: unlimited.'),
  paymentSchedule: NameIn.optional().describe('A name that read_product lists. Left out: the first.'),
}

type Risk = z.output<z.ZodObject<typeof risk>>

const requestOf = ({ policyholder, product, startAt, endAt, paymentSchedule, ...content }: Risk) => ({
  policyholderLocator: policyholder,
  productName: product,
  policyStartTimestamp: msIfAny(startAt),
  policyEndTimestamp: msIfAny(endAt),
  paymentScheduleName: paymentSchedule,
  ...withAmounts(content),
})

const priced = {
  start: Time.optional(),
  end: Time.optional(),
  price: z
    .strictObject({
      premium: Money.optional(),
      taxes: Money.optional(),
      fees: Money.optional(),
      total: Money.optional(),
    })
    .optional(),
  perils: z.array(z.strictObject({ exposure: z.string(), peril: z.string(), premium: Money.optional() })),
  problem: z.string().optional().describe('Why there is no price.'),
}

const MOST_PERILS = 40

/** Prices a risk as a quick quote, which is neither checked nor underwritten and is not a policy. */
async function priceOf(risk: Risk, host: Host) {
  const path = pathOf`/policy/${host.tenant.locator}/quickquotes`
  const quick = await bodyOf(host.call({ method: 'POST', path, body: requestOf(risk) }))
  const { price } = quick
  const perils = (price?.exposurePrices ?? []).flatMap((exposure: Json) =>
    exposure.perilPrices.map((peril: Json) => ({
      exposure: exposure.name,
      peril: peril.name,
      premium: money(peril, 'premium'),
    })),
  )
  return {
    start: isoOf(quick.policyStartTimestamp),
    end: isoOf(quick.policyEndTimestamp),
    price: price && {
      premium: money(price, 'grossPremium'),
      taxes: money(price, 'grossTaxes'),
      fees: money(price, 'grossFees'),
      total: money(price, 'total'),
    },
    perils: perils.slice(0, MOST_PERILS),
    problem: quick.problem?.message,
  }
}

const priceRisk = defineTool({
  name: 'price_risk',
  title: 'Price a risk',
  about:
    'Shows what a new policy would cost, without creating one. Values are not checked and nothing is underwritten; preview_quote and carry_out do that. Needs a policyholder, because its values may affect the price.',
  effect: 'makes',
  input: z.strictObject(risk),
  output: z.strictObject(priced),
  run: priceOf,
})

const previewPolicyholder = defineTool({
  name: 'preview_policyholder',
  title: 'Preview a new policyholder',
  about:
    'Prepares a new policyholder with these values. First check with find_policyholders whether the person exists.',
  effect: 'makes',
  input: z.strictObject({
    values: FieldValuesIn.describe('Values of the policyholderFields of read_product.'),
  }),
  output: z.strictObject({ ...keptShape, values: z.number().int(), next: z.string() }),
  async run({ values }, host) {
    const asked = { method: 'POST', path: '/policyholder/create', body: { completed: true, values } } as const
    return {
      ...(await keep(host, 'policyholder', 'new', asked)),
      values: Object.keys(values).length,
      next: 'Show the values to the person. If they agree, call carry_out with preview. It checks the values and creates the policyholder.',
    }
  },
})

const previewQuote = defineTool({
  name: 'preview_quote',
  title: 'Preview a new quote',
  about:
    'Prepares a quote for a new policy. carry_out then checks its values, prices and underwrites it. This does not issue the policy: call preview_issue next. The price shown here is that of price_risk.',
  effect: 'makes',
  input: z.strictObject(risk),
  output: z.strictObject({ ...keptShape, ...priced, next: z.string() }),
  async run(asked, host) {
    const price = await priceOf(asked, host)
    const body = { ...requestOf(asked), finalize: true }
    return {
      ...price,
      ...(await keep(host, 'quote', asked.product, { method: 'POST', path: '/policy', body })),
      next: 'Show the price to the person. If they agree, call carry_out with preview, then preview_issue with the policy that carry_out returns.',
    }
  },
})

export const newBusinessTools = [priceRisk, previewPolicyholder, previewQuote]
