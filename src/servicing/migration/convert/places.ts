// Places of amounts in a peril's price: which element, which kind of charge, under which name.
import { decimal, type Money, plus, zero } from '../../../kernel/money.ts'
import type { Amounts, PerilPrice } from '../../../policy/records/aggregate.ts'
import type { SaidCharge } from './charges.ts'
import type { ReadElement } from './elements.ts'

export type Priced = 'premium' | 'tax' | 'commission' | 'fee'

/** Ids may be any text: the kind and the name stand first. */
export const keyOf = (id: string, kind: SaidCharge['kind'], name: string): string =>
  JSON.stringify([kind, name, id])

export function readKey(key: string): { kind: Priced; name: string; id: string } {
  const [kind, name, id] = JSON.parse(key) as [Priced, string, string]
  return { kind, name, id }
}

/** Whether the element says another rate of its premium than the price has. */
export const hasOtherRate = ({ premium }: PerilPrice, { charges }: ReadElement): boolean =>
  charges.some(
    ({ kind, month }) => kind === 'premium' && month !== undefined && !decimal(month).eq(premium.month),
  )

export type Place = { kind: Priced; name: string }

/** The price with an amount of that kind and name, be it nothing. */
export function withPlace(price: PerilPrice, place: Place): PerilPrice {
  if (hasPlace(price, place)) return price
  const amount = zero(price.premium.amount.currency)
  return place.kind === 'tax'
    ? { ...price, taxes: [...price.taxes, { name: place.name, amount }] }
    : { ...price, commissions: [...price.commissions, { recipient: place.name, month: '0', amount }] }
}

export const hasPlace = ({ taxes, commissions }: PerilPrice, { kind, name }: Place): boolean =>
  kind === 'premium' ||
  (kind === 'tax' && taxes.some(one => one.name === name)) ||
  (kind === 'commission' && commissions.some(one => one.recipient === name))

export function changedPrice(price: PerilPrice, { kind, name }: Place, by: Money): PerilPrice {
  const more = <R extends { amount: Money }>(one: R): R => ({ ...one, amount: plus(one.amount, by) })
  if (kind === 'premium') return { ...price, premium: more(price.premium) }
  if (kind === 'tax')
    return { ...price, taxes: price.taxes.map(one => (one.name === name ? more(one) : one)) }
  const at = price.commissions.findIndex(one => one.recipient === name)
  return { ...price, commissions: price.commissions.map((one, index) => (index === at ? more(one) : one)) }
}

export function changedAmounts(
  amounts: Amounts,
  price: PerilPrice,
  { kind, name }: Place,
  by: Money,
): Amounts {
  if (kind === 'premium') return { ...amounts, premium: plus(amounts.premium, by) }
  const add = (list: readonly Money[], at: number): Money[] =>
    list.map((one, index) => (index === at ? plus(one, by) : one))
  return kind === 'tax'
    ? {
        ...amounts,
        taxes: add(
          amounts.taxes,
          price.taxes.findIndex(one => one.name === name),
        ),
      }
    : {
        ...amounts,
        commissions: add(
          amounts.commissions,
          price.commissions.findIndex(one => one.recipient === name),
        ),
      }
}
