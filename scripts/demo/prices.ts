import type { WorkedPolicy } from '../example.ts'
import type { Story } from './story.ts'

type Amount = number | string

/** What the demonstration shows of the responses to `GET /policy/{locator}/price` and `GET /policy/{locator}`. */
export type Price = {
  grossPremium: Amount
  grossTaxes: Amount
  grossFees: Amount
  grossCommissions: Amount
  totalDue: Amount
  taxGroups: { name: string; amount: Amount }[]
  fees: { name: string; amount: Amount }[]
  commissions: { recipient: string; amount: Amount }[]
}

export type Policy = {
  locator: string
  issuedTimestamp?: string
  exposures: {
    name: string
    perils: { name: string; characteristics: { premium?: Amount; technicalPremium?: Amount }[] }[]
  }[]
}

/** Prints the premium of every peril of every exposure. */
export function showPremiums(story: Story, policy: Policy, expected: WorkedPolicy['expected']): void {
  policy.exposures.forEach((exposure, at) => {
    story.detail(`${exposure.name} ${at + 1}`)
    const worked = expected.perils.filter(peril => peril.exposure === at)
    const names = new Set(
      [...exposure.perils, ...worked.map(({ peril }) => ({ name: peril }))].map(p => p.name),
    )
    for (const name of names) {
      const charged = exposure.perils.find(peril => peril.name === name)?.characteristics[0]
      const right = worked.find(({ peril }) => peril === name)
      story.amount(`  ${name}, premium`, charged?.premium, right?.premium)
      story.amount(`  ${name}, technical premium`, charged?.technicalPremium, right?.technicalPremium)
    }
  })
}

/** Prints the parts of the price and their total. */
export function showPrice(story: Story, price: Price, expected: WorkedPolicy['expected']): void {
  story.amount('premium', price.grossPremium, expected.grossPremium)
  showNamed(story, 'tax', named(price.taxGroups), expected.taxGroups)
  story.amount('taxes', price.grossTaxes, expected.grossTaxes)
  showNamed(story, 'fee', named(price.fees), expected.fees)
  story.amount('fees', price.grossFees, expected.grossFees)
  const recipients = price.commissions.map(({ recipient, amount }): [string, Amount] => [recipient, amount])
  showNamed(story, 'commission of', Object.fromEntries(recipients), expected.commissions)
  story.amount('commissions', price.grossCommissions, expected.grossCommissions)
  story.amount('total due', price.totalDue, expected.total)
}

const named = (items: { name: string; amount: Amount }[]): Record<string, Amount> =>
  Object.fromEntries(items.map(({ name, amount }) => [name, amount]))

function showNamed(
  story: Story,
  kind: string,
  actual: Record<string, Amount>,
  expected: Record<string, string>,
): void {
  for (const name of new Set([...Object.keys(actual), ...Object.keys(expected)]))
    story.amount(`  ${kind} ${name}`, actual[name], expected[name])
}
