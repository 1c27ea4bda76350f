// A table of policies, for lists and searches.
import { type Child, h, type View } from './element.ts'
import { displayNames } from './find.ts'
import { dayOrMoment, money, words } from './format.ts'
import { holderName } from './holder-name.ts'
import { badge, type Column, table } from './parts.ts'
import type { PolicySummary } from './wire.ts'

export const policyLink = (locator: string): View =>
  h('a', { href: `#/policy/${encodeURIComponent(locator)}` }, locator)

export function policyColumns(
  names: ReadonlyMap<string, string>,
  nameOf = holderName,
): Column<PolicySummary>[] {
  return [
    { head: 'Policy', cell: ({ locator }) => policyLink(locator) },
    { head: 'Policyholder', cell: ({ policyholderLocator }) => nameOf(policyholderLocator) },
    { head: 'Product', cell: ({ productName }) => names.get(productName) ?? words(productName) },
    { head: 'State', cell: ({ state }) => badge(state) },
    {
      head: 'Term',
      cell: ({ originalContractStartTimestamp: from, effectiveContractEndTimestamp: to }) =>
        h('span', { class: 'span' }, `${dayOrMoment(from)} – ${dayOrMoment(to)}`),
    },
    {
      head: 'Premium',
      amount: true,
      cell: ({ grossPremium, grossPremiumCurrency }) => money(grossPremium, grossPremiumCurrency),
    },
  ]
}

export async function policyTable(caption: string, policies: readonly PolicySummary[]): Promise<Child> {
  return table(caption, policyColumns(await displayNames()), policies)
}
