// Makes what the fold says that a transaction charges what was said. New runs cost what is missing; what ends without a
// successor keeps it.

import type { Uuid } from '../../../../kernel/locators.ts'
import { addTo } from '../../../../kernel/maps.ts'
import { decimal, type Money, minus, plus, RATE_PLACES, toDecimal, zero } from '../../../../kernel/money.ts'
import { months } from '../../../../kernel/time.ts'
import type { Charge } from '../../../../policy/bills/charge.ts'
import { type Piece, piecesOf } from '../../../../policy/fold/pieces.ts'
import type { Amounts, Holdback, PerilPrice, PerilRun } from '../../../../policy/records/aggregate.ts'
import type { SaidCharge } from '../charges.ts'
import type { ReadElement } from '../elements.ts'
import {
  type Carrying,
  changeModification,
  chargesNow,
  idsOfPerils,
  keptOf,
  lastRunOf,
  lineNow,
  modificationOf,
  reachHeld,
  runsOf,
  totalOf,
} from './carrying.ts'
import { chargeFees } from './fees.ts'

export function charge(carrying: Carrying): void {
  chargeFees(carrying)
  addTechnicalPremiums(carrying)
  for (const [id, amounts] of missingAmounts(carrying)) {
    const run = carrying.newRuns.get(id)
    if (run) addToPrice(carrying, run, amounts)
    else keep(carrying, id, amounts)
  }
  for (const [id, run] of carrying.newRuns) rate(carrying, run, carrying.transaction.tree!.elements.get(id)!)
}

function addToPrice({ making }: Carrying, locator: Uuid, amounts: readonly More[]): void {
  const run = making.perilRuns.get(locator)!
  const price = amounts.reduce((all, { key, by }) => changedPrice(all, readKey(key), by), run.price!)
  making.perilRuns.set(locator, { ...run, price })
}

/** An element that ends keeps that much more of its cost: in the part before the time, if there is one; else as a holdback. */
function keep(carrying: Carrying, id: string, amounts: readonly More[]): void {
  const { transaction, by } = carrying
  const { perilRuns } = carrying.making
  const target = splitOf(carrying, id)?.run ?? lastRunOf(carrying, id)
  const price = amounts.map(({ key }) => readKey(key)).reduce(withPlace, target.price!)
  perilRuns.set(target.locator, { ...target, price })
  const split = splitOf(carrying, id)
  if (split) {
    const { run, gone, kept } = split
    const before = amounts.reduce(
      (all, { key, by: more }) => changedAmounts(all, price, readKey(key), more),
      kept,
    )
    const told = { by, segment: gone.segment.locator, at: transaction.from, before }
    perilRuns.set(run.locator, { ...run, splits: [...(run.splits ?? []), told] })
    return
  }
  const held = amounts.map(({ key, by: amount }): Holdback => {
    const { kind, name } = readKey(key)
    const perilRunLocator = target.locator
    if (kind === 'tax') return { type: 'tax', perilRunLocator, taxName: name, amount }
    if (kind === 'commission') {
      const position = price.commissions.findIndex(one => one.recipient === name)
      return { type: 'commission', perilRunLocator, position, amount }
    }
    return { type: 'premium', perilRunLocator, amount }
  })
  reachHeld(carrying, target.locator)
  changeModification(carrying, { holdbacks: [...(modificationOf(carrying).holdbacks ?? []), ...held] })
}

/** The run of the element of which something lies before the time and something after it, with what is left of it. */
function splitOf(carrying: Carrying, id: string): { run: PerilRun; gone: Piece; kept: Amounts } | undefined {
  const { from } = carrying.transaction
  const line = lineNow(carrying)
  for (const run of runsOf(carrying, id)) {
    const pieces = piecesOf(run, line, carrying.making.policy.timeZone)
    const gone = pieces.find(one => one.replacedBy === carrying.by && one.start < from && from < one.end)
    const kept = gone && keptOf(pieces, gone, carrying.by)?.amounts
    if (kept) return { run, gone, kept }
  }
  return undefined
}

// What new runs cost: all that is charged of them, the monthly rates, and the technical premium, which nobody is charged.
/** A price of nothing that has a place for all that is charged of the element. `was`: the run before. */
export function unpriced({ making }: Carrying, { charges }: ReadElement, was: Uuid | undefined): PerilPrice {
  const none = zero(making.policy.currency)
  const old = was && making.perilRuns.get(was)!.price
  const namesOf = (kind: SaidCharge['kind'], known: readonly string[]): string[] => [
    ...new Set([...known, ...charges.filter(one => one.kind === kind).map(one => one.name)]),
  ]
  const month = charges.find(one => one.kind === 'premium' && one.month !== undefined)?.month
  const technical = charges.find(one => one.kind === 'technicalPremium')
  return {
    premium: { month: month ?? '', amount: none },
    ...((technical || old?.technicalPremium) && {
      technicalPremium: { month: technical?.month ?? '', amount: none },
    }),
    taxes: namesOf('tax', old?.taxes.map(one => one.name) ?? []).map(name => ({ name, amount: none })),
    commissions: namesOf('commission', old?.commissions.map(one => one.recipient) ?? []).map(recipient => ({
      recipient,
      month: charges.find(one => one.kind === 'commission' && one.name === recipient)?.month ?? '',
      amount: none,
    })),
  }
}

/** Rates a month of a new run that nothing was said of: what the amount is of the months. */
export function rate({ making }: Carrying, locator: Uuid, { charges }: ReadElement): void {
  const run = making.perilRuns.get(locator)!
  const count = months(run.start, run.end, making.policy.timeZone)
  const rated = <R extends { month: string; amount: Money }>(one: R): R =>
    one.month !== ''
      ? one
      : {
          ...one,
          month: count.eq(0) ? '0' : toDecimal(one.amount).div(count).round(RATE_PLACES, 1).toFixed(),
        }
  const price = run.price!
  making.perilRuns.set(locator, {
    ...run,
    price: {
      ...price,
      premium: rated(price.premium),
      // A tax of which all is given back is none of it any more; one that is said to come to nothing is.
      taxes: price.taxes.filter(
        tax =>
          tax.amount.minor !== 0 ||
          charges.some(one => one.kind === 'tax' && one.name === tax.name && one.amount.minor === 0),
      ),
      ...(price.technicalPremium && { technicalPremium: rated(price.technicalPremium) }),
      commissions: price.commissions.map(rated),
    },
  })
}

/** The technical premiums of new runs: said as items it is a difference, as a rate the run's own. */
export function addTechnicalPremiums(carrying: Carrying): void {
  const { making, transaction, by, newRuns } = carrying
  const line = lineNow(carrying)
  const { currency, timeZone } = making.policy
  for (const [id, locator] of newRuns) {
    const run = making.perilRuns.get(locator)!
    if (!run.price?.technicalPremium) continue
    const said = transaction.tree!.elements.get(id)!.charges.filter(one => one.kind === 'technicalPremium')
    const isWhole = said.length > 0 && said.every(one => one.items.length === 0)
    let gone = zero(currency)
    if (!isWhole)
      for (const piece of runsOf(carrying, id).flatMap(one =>
        one.locator === locator ? [] : piecesOf(one, line, timeZone),
      )) {
        const amount = piece.amounts?.technicalPremium
        if (!amount) continue
        if (piece.replacedBy === by) gone = plus(gone, amount)
        else if (piece.madeBy === by) gone = minus(gone, amount)
      }
    const technicalPremium = { ...run.price.technicalPremium, amount: plus(gone, totalOf(said, currency)) }
    making.perilRuns.set(locator, { ...run, price: { ...run.price, technicalPremium } })
  }
}

// Places of amounts in a peril's price: which element, which kind of charge, under which name.
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
    addTo(missing, id, { key, by })
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
      addTo(said, key, charge)
    }
  const { currency } = making.policy
  return [...new Set([...charges.keys(), ...said.keys()])].map(key => {
    const one = { said: said.get(key) ?? [], charges: charges.get(key) ?? [] }
    if (totalOf(one.said, currency).minor !== totalOf(one.charges, currency).minor)
      throw new Error(`${transaction.path} does not charge of '${key}' what it says.`)
    return { ...one, name: one.said[0]?.name || 'premium' }
  })
}
