// Places of amounts in a peril's price: which element, which kind of charge, under which name.

import type { Uuid } from '../../../../kernel/locators.ts'
import { decimal, type Money, minus, plus, zero } from '../../../../kernel/money.ts'
import type { Charge } from '../../../../policy/bills/charge.ts'
import type { Amounts, PerilPrice } from '../../../../policy/records/aggregate.ts'
import type { SaidCharge } from '../charges.ts'
import type { ReadElement } from '../elements.ts'
import { type Carrying, chargesNow, idsOfPerils, totalOf } from './carrying.ts'

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

/** The price with an amount of that kind and name, zero included. */
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

// What a transaction is said to charge, held against what the fold says that it charges.
/** An amount that something is to cost more: what (`keyOf`), and how much. */
export type More = { readonly key: string; readonly by: Money }

/** The element and the kind and name that a charge of the fold is of. */
export function keyOfCharge(charge: Charge, ids: ReadonlyMap<Uuid, string>): string {
  if ('feeLocator' in charge) return keyOfFee(charge.feeLocator)
  const id = ids.get(charge.perilLocator)!
  if ('commissionRecipient' in charge) return keyOf(id, 'commission', charge.commissionRecipient)
  if ('taxName' in charge && charge.taxName !== undefined) return keyOf(id, 'tax', charge.taxName)
  return keyOf(id, 'premium', '')
}

export const keyOfFee = (locator: Uuid): string => `fee ${locator}`

/** By element, how much more it is said to charge of each thing than the fold says. */
export function missingAmounts(carrying: Carrying): Map<string, More[]> {
  const { currency } = carrying.making.policy
  const said = new Map<string, Money>()
  for (const element of carrying.transaction.tree?.elements.values() ?? [])
    for (const charge of element.charges) {
      if (charge.kind === 'fee' || charge.kind === 'technicalPremium') continue
      const key = keyOf(element.id, charge.kind, charge.name)
      said.set(key, plus(said.get(key) ?? zero(currency), charge.amount))
    }
  const ids = idsOfPerils(carrying)
  const net = new Map<string, Money>()
  for (const charge of chargesNow(carrying)) {
    if ('feeLocator' in charge) continue
    const key = keyOfCharge(charge, ids)
    net.set(key, plus(net.get(key) ?? zero(currency), charge.amount))
  }
  const missing = new Map<string, More[]>()
  for (const key of new Set([...said.keys(), ...net.keys()])) {
    const by = minus(said.get(key) ?? zero(currency), net.get(key) ?? zero(currency))
    if (by.minor === 0) continue
    const { id } = readKey(key)
    missing.set(id, [...(missing.get(id) ?? []), { key, by }])
  }
  return missing
}

// What a transaction charges, thing by thing: what was said of it, and the charges of the fold.
/** One thing that is charged, and all charges of the fold that it is made of. */
export type Billed = {
  readonly said: readonly SaidCharge[]
  readonly charges: readonly Charge[]
  readonly name: string
}

/** Of a transaction that is carried out. Throws where the two differ: that would be a fault of ours. */
export function billedThings(carrying: Carrying): Billed[] {
  const { transaction, making, feesFor } = carrying
  const ids = idsOfPerils(carrying)
  const charges = Map.groupBy(chargesNow(carrying), charge => keyOfCharge(charge, ids))
  const said = new Map<string, SaidCharge[]>()
  for (const element of transaction.tree?.elements.values() ?? [])
    for (const charge of element.charges) {
      if (charge.kind === 'technicalPremium') continue
      const own = keyOf(element.id, charge.kind, charge.name)
      const key = feesFor.get(own) ?? own
      said.set(key, [...(said.get(key) ?? []), charge])
    }
  const { currency } = making.policy
  return [...new Set([...charges.keys(), ...said.keys()])].map(key => {
    const one = { said: said.get(key) ?? [], charges: charges.get(key) ?? [] }
    if (totalOf(one.said, currency).minor !== totalOf(one.charges, currency).minor)
      throw new Error(`${transaction.path} does not charge of '${key}' what it says.`)
    return { ...one, name: one.said[0]?.name || 'premium' }
  })
}
