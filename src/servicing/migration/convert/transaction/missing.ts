// What a transaction is said to charge, held against what the fold says that it charges.

import type { Uuid } from '../../../../kernel/locators.ts'
import { type Money, minus, plus, zero } from '../../../../kernel/money.ts'
import type { Charge } from '../../../../policy/bills/charge.ts'
import { keyOf, readKey } from '../places.ts'
import { type Carrying, chargesNow, idsOfPerils } from './carrying.ts'

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
