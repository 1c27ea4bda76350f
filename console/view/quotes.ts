// Quotes of the policy.
import { get } from '../api.ts'
import type { Prepared } from '../desk/desk.ts'
import { type Child, h, part, type View } from '../element.ts'
import { fieldTitle, valuesText } from '../field-values.ts'
import { moment, money, span, words } from '../format.ts'
import { desk } from '../open-desk.ts'
import { badge, emptyNote, facts, loadedSection, section, table } from '../parts.ts'
import type { Policy, Price, Quote } from '../wire.ts'
import { DESK } from '../words.ts'
import type { Known } from './view-input.ts'
import { VIEW } from './words.ts'

export const quotesView = (policy: Policy, known: Known, signal: AbortSignal): View =>
  section(
    VIEW.quotes,
    loadedSection(VIEW.loads.quotes, async () => {
      const quotes = await get<Quote[]>(`/policies/${encodeURIComponent(policy.locator)}/quotes`, signal)
      return quotes.length === 0
        ? emptyNote(VIEW.noQuotes)
        : [quoteTable(quotes, known, signal), quotes.length > 1 && comparison(quotes, known)]
    }),
  )

const quoteTable = (quotes: readonly Quote[], { names, held }: Known, signal: AbortSignal): View =>
  table(
    VIEW.policyQuotes,
    [
      {
        head: VIEW.quote,
        cell: one => [one.name || VIEW.withoutAName, one.selected && [' ', badge('selected', VIEW.selected)]],
      },
      { head: VIEW.state, cell: one => badge(one.state) },
      { head: VIEW.term, cell: one => span(one.contractStartTimestamp, one.contractEndTimestamp) },
      { head: VIEW.made, cell: one => moment(one.createdTimestamp) },
      {
        head: VIEW.premium,
        amount: true,
        cell: ({ characteristics: of }) => money(of.grossPremium, of.grossPremiumCurrency),
      },
    ],
    quotes,
    one => [
      one.automatedUnderwritingResult &&
        facts([
          [VIEW.underwriting, badge(one.automatedUnderwritingResult.decision)],
          [VIEW.notes, one.automatedUnderwritingResult.notes.join(' ') || VIEW.noUnderwritingNotes],
        ]),
      quoteSteps(one, held),
      loadedSection(VIEW.loads.price, async () => {
        if (one.state === 'draft') return emptyNote(VIEW.draftHasNoPrice)
        const price = await get<Price>(`/quotes/${encodeURIComponent(one.locator)}/price`, signal)
        return [
          facts([
            [VIEW.premium, money(price.grossPremium, price.grossPremiumCurrency)],
            [VIEW.taxes, money(price.grossTaxes, price.grossTaxesCurrency)],
            [VIEW.fees, money(price.grossFees, price.grossFeesCurrency)],
            [VIEW.commissions, money(price.grossCommissions, price.grossCommissionsCurrency)],
            [VIEW.total, h('strong', {}, money(price.total, price.totalCurrency))],
          ]),
          table(
            VIEW.priceOf(one.name),
            [
              { head: VIEW.peril, cell: ({ peril }) => names.get(peril.name) ?? words(peril.name) },
              {
                head: VIEW.exposure,
                cell: ({ exposure }) => names.get(exposure.name) ?? words(exposure.name),
              },
              {
                head: VIEW.premium,
                amount: true,
                cell: ({ peril }) => money(peril.premium, peril.premiumCurrency),
              },
              {
                head: VIEW.total,
                amount: true,
                cell: ({ peril }) => money(peril.total, peril.totalCurrency),
              },
            ],
            price.exposurePrices.flatMap(exposure =>
              exposure.perilPrices.map(peril => ({ exposure, peril })),
            ),
          ),
        ]
      }),
    ],
  )

const titleOf = ({ name, locator }: Quote): string => name || VIEW.quoteOf(locator)

function quoteSteps(quote: Quote, held: ReadonlySet<string>): Child {
  return loadedSection(VIEW.loads.whatCanBeDone, async () => {
    const { Steps } = await desk()
    const prepared: Prepared = {
      kind: 'quote',
      locator: quote.locator,
      title: titleOf(quote),
      state: quote.state,
      decision: quote.automatedUnderwritingResult?.decision,
    }
    return part(Steps, { prepared, policyLocator: quote.policyLocator, held })
  })
}

/** A table of the differences between quotes, with a column for each quote. */
function comparison(quotes: readonly Quote[], { names, fields: { policy: known } }: Known): Child {
  const rows: { name: string; of: (quote: Quote) => Child }[] = [
    { name: VIEW.state, of: one => badge(one.state) },
    { name: VIEW.term, of: one => span(one.contractStartTimestamp, one.contractEndTimestamp) },
    {
      name: DESK.schedule,
      of: ({ paymentScheduleName: name }) => (name ? (names.get(name) ?? words(name)) : '–'),
    },
    {
      name: DESK.premium,
      of: ({ characteristics: { grossPremium, grossPremiumCurrency } }) =>
        money(grossPremium, grossPremiumCurrency),
    },
    {
      name: DESK.taxes,
      of: ({ characteristics: { grossTaxes, grossTaxesCurrency } }) => money(grossTaxes, grossTaxesCurrency),
    },
    {
      name: DESK.insured,
      of: ({ exposures }) => exposures.map(({ name }) => names.get(name) ?? words(name)).join(', '),
    },
  ]
  const values = ({ characteristics }: Quote, field: string): string[] =>
    characteristics.fieldValues[field] ?? []
  const fields = new Set(quotes.flatMap(({ characteristics }) => Object.keys(characteristics.fieldValues)))
  const differing = [...fields].filter(
    field =>
      new Set(quotes.map(one => values(one, field).join())).size > 1 &&
      !quotes.some(({ characteristics: { fieldValues, fieldGroupsByLocator } }) =>
        fieldValues[field]?.some(text => text in fieldGroupsByLocator),
      ),
  )
  return section(
    DESK.compare,
    table(
      DESK.compare,
      [
        { head: DESK.part, cell: ({ name }) => name },
        ...quotes.map(quote => ({
          head: titleOf(quote),
          cell: ({ of }: (typeof rows)[number]) => of(quote),
        })),
      ],
      [
        ...rows,
        ...differing.map(field => ({
          name: fieldTitle(known, field),
          of: (one: Quote): Child => valuesText(known.get(field), values(one, field)) || '–',
        })),
      ],
    ),
  )
}
