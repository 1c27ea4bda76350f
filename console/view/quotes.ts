// Quotes of the policy.
import { get } from '../api.ts'
import { h } from '../dom.ts'
import { moment, money, span, words } from '../format.ts'
import { badge, empty, facts, loaded, section, table } from '../parts.ts'
import type { Policy, Price, Quote } from '../wire.ts'

export const quotesView = (
  policy: Policy,
  names: ReadonlyMap<string, string>,
  signal: AbortSignal,
): HTMLElement =>
  section(
    'Quotes',
    loaded('quotes', async () => {
      const quotes = await get<Quote[]>(`/policies/${encodeURIComponent(policy.locator)}/quotes`, signal)
      return quotes.length === 0 ? empty('The policy has no quotes.') : quoteTable(quotes, names, signal)
    }),
  )

const quoteTable = (
  quotes: readonly Quote[],
  names: ReadonlyMap<string, string>,
  signal: AbortSignal,
): HTMLElement =>
  table(
    'Quotes of the policy',
    [
      {
        head: 'Quote',
        cell: one => [one.name || 'Without a name', one.selected && [' ', badge('selected', 'Selected')]],
      },
      { head: 'State', cell: one => badge(one.state) },
      { head: 'Term', cell: one => span(one.contractStartTimestamp, one.contractEndTimestamp) },
      { head: 'Made', cell: one => moment(one.createdTimestamp) },
      {
        head: 'Premium',
        amount: true,
        cell: ({ characteristics: of }) => money(of.grossPremium, of.grossPremiumCurrency),
      },
    ],
    quotes,
    one => [
      one.automatedUnderwritingResult &&
        facts([
          ['Underwriting', badge(one.automatedUnderwritingResult.decision)],
          ['Notes', one.automatedUnderwritingResult.notes.join(' ') || 'None'],
        ]),
      loaded('the price', async () => {
        if (one.state === 'draft') return empty('A draft has no price.')
        const price = await get<Price>(`/quotes/${encodeURIComponent(one.locator)}/price`, signal)
        return [
          facts([
            ['Premium', money(price.grossPremium, price.grossPremiumCurrency)],
            ['Taxes', money(price.grossTaxes, price.grossTaxesCurrency)],
            ['Fees', money(price.grossFees, price.grossFeesCurrency)],
            ['Commissions', money(price.grossCommissions, price.grossCommissionsCurrency)],
            ['Total', h('strong', {}, money(price.total, price.totalCurrency))],
          ]),
          table(
            `Price of ${one.name}`,
            [
              { head: 'Peril', cell: ({ peril }) => names.get(peril.name) ?? words(peril.name) },
              { head: 'Exposure', cell: ({ exposure }) => names.get(exposure.name) ?? words(exposure.name) },
              {
                head: 'Premium',
                amount: true,
                cell: ({ peril }) => money(peril.premium, peril.premiumCurrency),
              },
              { head: 'Total', amount: true, cell: ({ peril }) => money(peril.total, peril.totalCurrency) },
            ],
            price.exposurePrices.flatMap(exposure =>
              exposure.perilPrices.map(peril => ({ exposure, peril })),
            ),
          ),
        ]
      }),
    ],
  )
