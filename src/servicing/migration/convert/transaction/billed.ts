// What a transaction charges, thing by thing: what was said of it, and the charges of the fold.
import type { Charge } from '../../../../policy/bills/charge.ts'
import type { SaidCharge } from '../charges.ts'
import { keyOf } from '../places.ts'
import { type Carrying, chargesNow, idsOfPerils, totalOf } from './carrying.ts'
import { keyOfCharge } from './missing.ts'

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
