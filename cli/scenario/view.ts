// What a scenario can expect after a step: figures and records of the policy, named as in the HTTP interface, with amounts as
// decimal text and times as days. Each part is computed only when it is compared.
import { checkedInvoices } from '../../src/billing/payments.ts'
import { decimal, minorDigits, toText } from '../../src/kernel/money.ts'
import { months, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import { isIssued } from '../../src/policy/fold/line.ts'
import { policyResponse, policyView } from '../../src/policy/projection/policy.ts'
import { invoiceResponses } from '../../src/policy/projection/records.ts'
import {
  type Modification,
  type PolicyAggregate,
  type Quote,
  selectedQuoteIfAny,
} from '../../src/policy/records/aggregate.ts'
import { policyState } from '../../src/policy/transitions.ts'
import { policyPriceResponse } from '../../src/rating/price.ts'
import { statusOf } from '../../src/transactions/custom-events/plan.ts'
import { graceLapseReinstatements } from '../../src/transactions/lapses/projection.ts'
import { recordedPriceChange } from '../../src/transactions/mechanism/price-change.ts'
import { isPriced } from '../../src/transactions/quotes/projection.ts'
import type { PolicyLife } from '../offline/life.ts'
import { timeText, withTimes } from './times.ts'

/** The position in the life when the step began. */
export type Mark = {
  readonly policy: PolicyAggregate | undefined
  readonly events: number
  readonly auxData: number
  readonly logs: number
}

export const markOf = (life: PolicyLife): Mark => ({
  policy: life.isBegun ? life.aggregate : undefined,
  events: life.events.length,
  auxData: life.auxData.length,
  logs: life.logs.length,
})

/** A document that the step created, in the form in which documents are compared. */
export type ShownDocument = {
  readonly fileName: string
  readonly displayName: string
  readonly state: string
  readonly failure?: string
  readonly text?: string
}

/** The state after a step: the life, the position before the step, and the response of the interface. */
export type Moment = { readonly life: PolicyLife; readonly since: Mark; readonly answer: unknown }

type Part = { readonly says: string; of(moment: Moment): unknown }

const part = (says: string, of: (moment: Moment) => unknown): Part => ({ says, of })

const ofPrice = (says: string, of: (price: PolicyPriceResponse, shown: Shown) => unknown): Part =>
  part(says, ({ life }) => {
    const price = priceNow(life)
    return price && of(price, shownBy(life))
  })

/** The properties of `expect`, in addition to `refused`. */
export const PARTS = {
  state: part(
    'The state of the policy as in lists of policies: created, quoted, finalized, issued, inGrace, lapsed …',
    ({ life }) => stateOf(life),
  ),
  decision: part(
    'The underwriting decision on the transaction of the step: accept, reject or none.',
    moment => underwritingOf(moment)?.decision,
  ),
  notes: part('The underwriting notes on the transaction.', moment => underwritingOf(moment)?.notes),
  grossPremium: ofPrice('Premium of the whole policy.', (price, { amount }) => amount(price.grossPremium)),
  grossTechnicalPremium: ofPrice(
    'Technical premium of the whole policy, if every peril has one.',
    (price, { amount }) =>
      price.grossTechnicalPremium === undefined ? undefined : amount(price.grossTechnicalPremium),
  ),
  grossTaxes: ofPrice('Taxes of the whole policy.', (price, { amount }) => amount(price.grossTaxes)),
  grossFees: ofPrice('Fees of the whole policy.', (price, { amount }) => amount(price.grossFees)),
  grossCommissions: ofPrice('Commissions of the whole policy.', (price, { amount }) =>
    amount(price.grossCommissions),
  ),
  total: ofPrice('Total of premium, taxes, fees and holdbacks.', (price, { amount }) => amount(price.total)),
  taxGroups: ofPrice('Amount by tax.', ({ taxGroups }, { byName }) =>
    byName(taxGroups.map(group => [group.name, group.amount])),
  ),
  fees: ofPrice('Amount by fee; fees of the same name are added.', ({ fees }, { byName }) =>
    byName(fees.map(fee => [fee.name, fee.amount])),
  ),
  commissions: ofPrice('Amount by recipient.', ({ commissions }, { byName }) =>
    byName(commissions.map(commission => [commission.recipient, commission.amount])),
  ),
  perils: ofPrice(
    'Each peril: exposure (counted from 0), peril, premium, technicalPremium.',
    ({ exposurePrices }, { amount }) =>
      exposurePrices.flatMap(({ perilPrices }, exposure) =>
        perilPrices.map(({ name: peril, premium, technicalPremium }) => ({
          exposure,
          peril,
          premium: amount(premium),
          ...(technicalPremium !== undefined && { technicalPremium: amount(technicalPremium) }),
        })),
      ),
  ),
  months: part('Months of the contract, by which rates are scaled.', ({ life }) => {
    const quote = quoteOf(life.aggregate)
    return quote && months(quote.contractStart, quote.contractEnd, life.configuration.timeZone).toFixed()
  }),
  change: part(
    'The change of the price by the transaction of the step, as in the price of that transaction.',
    changeOf,
  ),
  invoices: part('All invoices so far, oldest first.', ({ life }) => invoicesOf(life)),
  newInvoices: part('Invoices issued since the previous step.', ({ life, since }) =>
    invoicesOf(life, since.policy),
  ),
  futureInvoices: part('Planned invoices, in the order of their due times.', ({ life }) =>
    futureInvoices(life),
  ),
  credit: part('The credit of the policyholder.', ({ life }) => toText(life.credit)),
  documents: part('Documents created since the previous step, by file name.', documentsOf),
  events: part('Types of the events since the previous step, in order.', ({ life, since }) =>
    life.events.slice(since.events).map(({ type }) => type),
  ),
  gracePeriods: part(
    'Grace periods with their lapses and reinstatements, as in GET …/graceLapseReinstatements.',
    ({ life }) =>
      shownBy(life).record(withoutLocators(graceLapseReinstatements(life.aggregate, life.loaded.product))),
  ),
  auxData: part(
    'Auxiliary data that plugins wrote since the previous step: key and value.',
    ({ life, since }) => life.auxData.slice(since.auxData).map(({ key, value }) => ({ key, value })),
  ),
  logs: part('Lines that plugins logged since the previous step.', ({ life, since }) =>
    life.logs.slice(since.logs).map(({ text }) => text),
  ),
  answer: part('The response of the API to the step.', ({ life, answer }) => shownBy(life).record(answer)),
  policy: part('The policy, as in GET /policy/{policyLocator}.', ({ life }) =>
    shownBy(life).record(policyResponse(life.aggregate, life.loaded.product, { summarizeQuotes: false })),
  ),
} satisfies Record<string, Part>

export type PartName = keyof typeof PARTS

export const isPart = (name: string): name is PartName => Object.hasOwn(PARTS, name)

/** The parts that `--update` writes if nothing is expected yet. */
export const FIRST_PARTS: readonly PartName[] = [
  'state',
  'decision',
  'grossPremium',
  'grossTaxes',
  'grossFees',
  'total',
]

type Shown = ReturnType<typeof shownBy>

/** Converts amounts and times to the form of scenarios. */
function shownBy(life: PolicyLife) {
  const { currency, timeZone } = life.configuration
  const amount = (value: number | string): string => decimal(value).toFixed(minorDigits(currency))
  return {
    amount,
    byName: (entries: readonly (readonly [string, number])[]): Record<string, string> => {
      const sums = new Map<string, ReturnType<typeof decimal>>()
      for (const [name, value] of entries) sums.set(name, (sums.get(name) ?? decimal(0)).plus(value))
      return Object.fromEntries([...sums].map(([name, sum]) => [name, sum.toFixed(minorDigits(currency))]))
    },
    record: (value: unknown): unknown => withShownTimes(JSON.parse(JSON.stringify(value ?? null)), timeZone),
  }
}

/** Locators and URLs of files differ from run to run. */
const RUN_OWN = /locator$|^(?:policyId|document|documents|uploadedDocuments|reinstatementDocument|url)$/i

function withoutLocators(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLocators)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !RUN_OWN.test(name))
      .map(([name, one]) => [name, withoutLocators(one)]),
  )
}

const withShownTimes = (value: unknown, zone: TimeZone): unknown =>
  withTimes(value, time => (Number.isNaN(Number(time)) ? time : timeText(Number(time), zone)))

const stateOf = ({ isBegun, aggregate, now }: PolicyLife): string | undefined => {
  if (!isBegun) return undefined
  const state = policyState(aggregate)
  return state === 'issued' ? statusOf(aggregate, now) : state
}

const quoteOf = (policy: PolicyAggregate): Quote | undefined => selectedQuoteIfAny(policy)

/** Undefined until a quote is priced. */
export function priceNow({ loaded: { aggregate, product } }: PolicyLife): PolicyPriceResponse | undefined {
  const quote = quoteOf(aggregate)
  if (!quote || !isPriced(aggregate, quote)) return undefined
  return policyPriceResponse(policyView(aggregate, quote, product, isIssued))
}

/** Returns the newest modification that the step created or issued. */
const modificationOf = ({ life, since }: Moment): Modification | undefined =>
  [...life.aggregate.modifications.values()]
    .filter(modification => since.policy?.modifications.get(modification.locator) !== modification)
    .sort((a, b) => a.number - b.number)
    .at(-1)

const underwritingOf = (moment: Moment) => {
  const modification = modificationOf(moment)
  const quote = quoteOf(moment.life.aggregate)
  return modification && modification.quoteLocator === undefined
    ? modification.underwriting
    : quote?.underwriting
}

function changeOf(moment: Moment): unknown {
  const { aggregate, product } = moment.life.loaded
  const modification = modificationOf(moment)
  if (!modification || aggregate.policy.issuedAt === undefined || modification.quoteLocator !== undefined)
    return undefined
  const { amount, byName } = shownBy(moment.life)
  const {
    taxGroups,
    commissions,
    fees: _,
    holdbacks,
    exposurePrices,
    ...amounts
  } = recordedPriceChange(aggregate, modification, product)
  return {
    ...Object.fromEntries(
      Object.entries(amounts).flatMap(([name, value]) =>
        typeof value === 'number' ? [[name, amount(value)]] : [],
      ),
    ),
    taxGroups: byName(taxGroups.map(group => [group.name, group.amountChange])),
    commissions: byName(commissions.map(commission => [commission.recipient, commission.amountChange])),
    holdbacks: holdbacks.map(({ type, amount: held, perilName, feeName, taxName }) => ({
      type,
      amount: amount(held),
      ...(perilName !== undefined && { perilName }),
      ...(feeName !== undefined && { feeName }),
      ...(taxName !== undefined && { taxName }),
    })),
    perils: exposurePrices.flatMap(({ perilPrices }, exposure) =>
      perilPrices.map(({ name: peril, newPremium, premiumChange }) => ({
        exposure,
        peril,
        newPremium: amount(newPremium),
        premiumChange: amount(premiumChange),
      })),
    ),
  }
}

function invoicesOf(life: PolicyLife, before?: PolicyAggregate): unknown {
  const { aggregate } = life
  const { amount, record } = shownBy(life)
  const wanted = [...aggregate.invoices.values()].filter(invoice => !before?.invoices.has(invoice.locator))
  return invoiceResponses(aggregate, wanted).map(one => ({
    ...(record({
      invoiceType: one.invoiceType,
      dueTimestamp: one.dueTimestamp,
      startTimestamp: one.startTimestamp,
      endTimestamp: one.endTimestamp,
      createdTimestamp: one.createdTimestamp,
    }) as object),
    totalDue: amount(one.totalDue),
    settlementStatus: one.settlementStatus,
    ...(one.settlementType !== undefined && { settlementType: one.settlementType }),
    ...(one.outstandingAmount !== undefined && { outstandingAmount: amount(one.outstandingAmount) }),
    payments: one.payments.map(payment => ({
      ...(record({ postedTimestamp: payment.postedTimestamp }) as object),
      amount: amount(payment.amount),
      source: payment.source,
      ...(payment.reversedTimestamp !== undefined &&
        (record({ reversedTimestamp: payment.reversedTimestamp }) as object)),
    })),
  }))
}

function futureInvoices(life: PolicyLife): unknown {
  const { amount, record } = shownBy(life)
  return checkedInvoices(life.aggregate).futureInvoices.map(
    ({ financialTransactions, writeOff: _, ...times }) => {
      const items = financialTransactions.filter(({ type }) => type !== 'commission')
      const total = items.reduce((sum, one) => sum.plus(one.amount), decimal(0))
      return { ...(record(times) as object), totalDue: amount(total.toFixed()) }
    },
  )
}

/** Returns the documents that are new since the step began, or whose state has changed. */
function documentsOf({ life, since }: Moment): ShownDocument[] {
  const { documents } = life.aggregate
  return [...documents.values()]
    .filter(one => since.policy?.documents.get(one.locator)?.state !== one.state)
    .map(({ locator, fileName, displayName, state, failure }) => {
      const text = life.texts.get(locator)
      return {
        fileName,
        displayName,
        state,
        ...(failure !== undefined && { failure }),
        ...(text !== undefined && { text }),
      }
    })
}
