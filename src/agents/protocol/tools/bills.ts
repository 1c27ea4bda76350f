// Tools that read quotes and bills.
import { z } from 'zod'
import { bodyOf, firstOf, Refused } from '../answers.ts'
import { type Json, pathOf } from '../host.ts'
import { defineTool } from '../tool.ts'
import {
  isoOf,
  Money,
  MoreCount,
  money,
  policyholderIn,
  policyIn,
  Time,
  Underwriting,
  underwriting,
} from '../values.ts'

const Quote = z.strictObject({
  quote: z.string(),
  name: z.string(),
  state: z.string(),
  selected: z.boolean().describe('Whether this is the quote that the policy uses.'),
  start: Time.optional(),
  end: Time.optional(),
  premium: Money.optional(),
  taxes: Money.optional(),
  fees: Money.optional(),
  plannedBills: z.number().int(),
  underwriting: Underwriting.optional(),
})

const readQuotes = defineTool({
  name: 'read_quotes',
  title: 'Read the quotes of a policy',
  about: 'Lists the quotes of a policy with their state, price and underwriting, the newest last.',
  effect: 'reads',
  input: z.strictObject({ policy: policyIn }),
  output: z.strictObject({ quotes: z.array(Quote), earlierQuotes: MoreCount }),
  async run({ policy }, host) {
    const quotes: Json[] = await bodyOf(
      host.call({ method: 'GET', path: pathOf`/policies/${policy}/quotes` }),
    )
    const { some, more } = firstOf(quotes.toReversed(), 10)
    return {
      quotes: some.toReversed().map(one => ({
        quote: one.locator,
        name: one.name,
        state: one.state,
        selected: one.selected,
        start: isoOf(one.contractStartTimestamp),
        end: isoOf(one.contractEndTimestamp),
        premium: money(one.characteristics, 'grossPremium'),
        taxes: money(one.characteristics, 'grossTaxes'),
        fees: money(one, 'grossFees'),
        plannedBills: one.invoices.length,
        underwriting: underwriting(one.automatedUnderwritingResult),
      })),
      earlierQuotes: more,
    }
  },
})

const Invoice = z.strictObject({
  invoice: z.string(),
  number: z.string(),
  policy: z.string(),
  type: z.string(),
  due: Time.optional(),
  total: Money.optional(),
  status: z.string().describe('outstanding, or how the invoice was settled.'),
  stillToPay: Money.optional(),
})

const shownInvoice = (one: Json) => ({
  invoice: one.locator,
  number: one.displayId,
  policy: one.policyLocator,
  type: one.invoiceType,
  due: isoOf(one.dueTimestamp),
  total: money(one, 'totalDue'),
  status: one.settlementStatus === 'outstanding' ? 'outstanding' : String(one.settlementType ?? 'settled'),
  stillToPay: money(one, 'outstandingAmount'),
})

const Bills = z.strictObject({
  outstanding: z.array(Invoice).describe('Outstanding invoices, the earliest due first.'),
  moreOutstanding: MoreCount,
  settled: z.array(Invoice).describe('The invoices settled last.'),
  moreSettled: MoreCount,
  planned: z
    .array(
      z.strictObject({
        made: Time.optional(),
        due: Time.optional(),
        from: Time.optional(),
        to: Time.optional(),
      }),
    )
    .describe('Planned bills; only for a policy.'),
  morePlanned: MoreCount,
})

const byDue = (a: Json, b: Json): number => Number(a.dueTimestamp) - Number(b.dueTimestamp)

function shownBills(invoices: readonly Json[], future: readonly Json[]) {
  const open = firstOf(invoices.filter(one => one.settlementStatus === 'outstanding').sort(byDue), 20)
  const done = firstOf(
    invoices
      .filter(one => one.settlementStatus !== 'outstanding')
      .sort(byDue)
      .reverse(),
    10,
  )
  const planned = firstOf(future, 12)
  return {
    outstanding: open.some.map(shownInvoice),
    moreOutstanding: open.more,
    settled: done.some.map(shownInvoice),
    moreSettled: done.more,
    planned: planned.some.map(one => ({
      made: isoOf(one.issueTimestamp),
      due: isoOf(one.dueTimestamp),
      from: isoOf(one.startTimestamp),
      to: isoOf(one.endTimestamp),
    })),
    morePlanned: planned.more,
  }
}

const readBills = defineTool({
  name: 'read_bills',
  title: 'Read invoices and planned bills',
  about:
    'Lists outstanding invoices, the invoices settled last, and planned bills, of a policy or of a policyholder with all its policies. Name one of the two.',
  effect: 'reads',
  input: z.strictObject({ policy: policyIn.optional(), policyholder: policyholderIn.optional() }),
  output: Bills,
  async run({ policy, policyholder }, host) {
    if ((policy === undefined) === (policyholder === undefined))
      throw new Refused({
        status: 400,
        body: { code: 'invalidRequest', message: 'Name either a policy or a policyholder.' },
      })
    if (policyholder !== undefined)
      return shownBills(
        await bodyOf(host.call({ method: 'GET', path: pathOf`/policyholder/${policyholder}/invoices` })),
        [],
      )
    const path = pathOf`/policy/${policy!}/checkInvoices`
    const { invoices, futureInvoices } = await bodyOf(host.call({ method: 'GET', path }))
    return shownBills(invoices, futureInvoices)
  },
})

export const billTools = [readQuotes, readBills]
