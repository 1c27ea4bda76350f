// Makes the fold charge what a transaction states, exactly. New runs get the difference; ended elements without successor keep it.

import type { Uuid } from '../../../../kernel/locators.ts'
import { addTo } from '../../../../kernel/maps.ts'
import {
  decimal,
  type Money,
  minus,
  plus,
  RATE_PLACES,
  sumOf,
  toDecimal,
  zero,
} from '../../../../kernel/money.ts'
import { months } from '../../../../kernel/time.ts'
import type { Charge } from '../../../../policy/bills/charge.ts'
import { type Piece, piecesOf } from '../../../../policy/fold/pieces.ts'
import type { Amounts, Holdback, PerilPrice, PerilRun } from '../../../../policy/records/aggregate.ts'
import type { ReadElement, StatedCharge } from '../elements.ts'
import {
  type Context,
  changeModification,
  chargesNow,
  idsOfPerils,
  keptOf,
  keyOfCharged,
  lastRunOf,
  lineNow,
  modificationOf,
  runsOf,
} from './context.ts'
import { chargeFees } from './fees.ts'

/**
 * Changes prices, splits, holdbacks and fees until the fold charges what the transaction states. Call it when the segments and
 * runs exist.
 */
export function applyStatedCharges(context: Context): void {
  chargeFees(context)
  keepWholeCost(context)
  recordHoldbacks(context)
  addTechnicalPremiums(context)
  const { perilRuns } = context.making
  for (const [id, amounts] of missingAmounts(context)) {
    const locator = context.newRuns.get(id)
    const run = locator && perilRuns.get(locator)
    if (run) perilRuns.set(locator, { ...run, price: amounts.reduce(addToPrice, run.price!) })
    else keepCost(context, id, amounts)
  }
  for (const [id, run] of context.newRuns) setRates(context, run, context.transaction.tree!.elements.get(id)!)
}

/** For elements that are charged again: the whole cost of the part at the transaction's time is the price of the time before it. */
function keepWholeCost(context: Context): void {
  const { perilRuns } = context.making
  for (const { id, level, isChargedAnew } of context.transaction.tree?.elements.values() ?? []) {
    const split = level === 'peril' && isChargedAnew ? splitOf(context, id) : undefined
    if (!split) continue
    const { run, gone } = split
    const stated = {
      by: context.by,
      segment: gone.segment.locator,
      at: context.transaction.from,
      before: gone.amounts!,
    }
    perilRuns.set(run.locator, { ...run, splits: [...(run.splits ?? []), stated] })
  }
}

/** Records the holdbacks of elements that end, in addition to the cost of their time before. */
function recordHoldbacks(context: Context): void {
  const held: Holdback[] = []
  for (const { id, charges } of context.transaction.tree?.elements.values() ?? [])
    for (const { kind, name, amount } of charges) {
      if (kind !== 'holdback' || amount.minor === 0) continue
      const perilRunLocator = (splitOf(context, id)?.run ?? lastRunOf(context, id)).locator
      context.known.reach.held.add(perilRunLocator)
      held.push(
        name === ''
          ? { type: 'premium', perilRunLocator, amount }
          : { type: 'tax', perilRunLocator, taxName: name, amount },
      )
    }
  if (held.length > 0)
    changeModification(context, { holdbacks: [...(modificationOf(context).holdbacks ?? []), ...held] })
}

/** Adds the difference to the ended element: before the transaction's time if it has a part there, otherwise as a holdback. */
function keepCost(context: Context, id: string, amounts: readonly AmountChange[]): void {
  const { transaction, by } = context
  const { perilRuns } = context.making
  const target = splitOf(context, id)?.run ?? lastRunOf(context, id)
  const price = amounts.reduce(withPlace, target.price!)
  perilRuns.set(target.locator, { ...target, price })
  const split = splitOf(context, id)
  if (split) {
    const { run, gone, kept } = split
    const before = amounts.reduce((all, more) => addToAmounts(all, price, more), kept)
    const stated = { by, segment: gone.segment.locator, at: transaction.from, before }
    perilRuns.set(run.locator, { ...run, splits: [...(run.splits ?? []), stated] })
    return
  }
  const perilRunLocator = target.locator
  const held = amounts.map((more): Holdback => {
    const { kind, name, by: amount } = more
    if (kind === 'tax') return { type: 'tax', perilRunLocator, taxName: name, amount }
    if (kind === 'premium') return { type: 'premium', perilRunLocator, amount }
    return { type: 'commission', perilRunLocator, position: positionOf(price, more), amount }
  })
  // Runs with holdbacks stay in reach, since their charges name them.
  context.known.reach.held.add(perilRunLocator)
  changeModification(context, { holdbacks: [...(modificationOf(context).holdbacks ?? []), ...held] })
}

/** Returns the run that the transaction's time splits, with the part that remains. */
function splitOf(context: Context, id: string): { run: PerilRun; gone: Piece; kept: Amounts } | undefined {
  const { from } = context.transaction
  const line = lineNow(context)
  for (const run of runsOf(context, id)) {
    const pieces = piecesOf(run, line, context.making.policy.timeZone)
    const gone = pieces.find(
      piece => piece.replacedBy === context.by && piece.start < from && from < piece.end,
    )
    const kept = gone && keptOf(pieces, gone, context.by)?.amounts
    if (kept) return { run, gone, kept }
  }
  return undefined
}

/** Returns a zero price with an entry for each charge of the element. `was` is the run before. */
export function zeroPrice({ making }: Context, { charges }: ReadElement, was: Uuid | undefined): PerilPrice {
  const none = zero(making.policy.currency)
  const old = was && making.perilRuns.get(was)!.price
  const namesOf = (kind: StatedCharge['kind'], known: readonly string[]): string[] => [
    ...new Set([...known, ...charges.filter(one => one.kind === kind).map(one => one.name)]),
  ]
  const month = charges.find(one => one.kind === 'premium' && one.month !== undefined)?.month
  const technical = charges.find(one => one.kind === 'technicalPremium')
  return {
    premium: { month: month ?? '', amount: none },
    ...((technical || old?.technicalPremium) && {
      technicalPremium: { month: technical?.month ?? '', amount: none },
    }),
    taxes: namesOf('tax', old?.taxes.map(tax => tax.name) ?? []).map(name => ({ name, amount: none })),
    commissions: namesOf('commission', old?.commissions.map(commission => commission.recipient) ?? []).map(
      recipient => ({
        recipient,
        month: charges.find(one => one.kind === 'commission' && one.name === recipient)?.month ?? '',
        amount: none,
      }),
    ),
  }
}

/** Fills in monthly rates that are not stated: the amount divided by the run's months. */
function setRates({ making }: Context, locator: Uuid, { charges }: ReadElement): void {
  const run = making.perilRuns.get(locator)!
  const count = months(run.start, run.end, making.policy.timeZone)
  const withMonthlyRate = <R extends { month: string; amount: Money }>(one: R): R => {
    if (one.month !== '') return one
    const month = count.eq(0) ? '0' : toDecimal(one.amount).div(count).round(RATE_PLACES, 1).toFixed()
    return { ...one, month }
  }
  const price = run.price!
  making.perilRuns.set(locator, {
    ...run,
    price: {
      ...price,
      premium: withMonthlyRate(price.premium),
      // Drops a tax that was refunded in full; keeps one that is stated as zero.
      taxes: price.taxes.filter(
        tax =>
          tax.amount.minor !== 0 ||
          charges.some(one => one.kind === 'tax' && one.name === tax.name && one.amount.minor === 0),
      ),
      ...(price.technicalPremium && { technicalPremium: withMonthlyRate(price.technicalPremium) }),
      commissions: price.commissions.map(withMonthlyRate),
    },
  })
}

/** A technical premium that is stated as items is a difference. One that is stated as a rate is the run's own. */
function addTechnicalPremiums(context: Context): void {
  const { making, transaction, by, newRuns } = context
  const line = lineNow(context)
  const { currency, timeZone } = making.policy
  for (const [id, locator] of newRuns) {
    const run = making.perilRuns.get(locator)!
    if (!run.price?.technicalPremium) continue
    const stated = transaction.tree!.elements.get(id)!.charges.filter(one => one.kind === 'technicalPremium')
    const isWhole = stated.length > 0 && stated.every(one => one.items.length === 0)
    const others = isWhole ? [] : runsOf(context, id).filter(one => one.locator !== locator)
    let gone = zero(currency)
    for (const piece of others.flatMap(one => piecesOf(one, line, timeZone))) {
      const amount = piece.amounts?.technicalPremium
      if (!amount) continue
      if (piece.replacedBy === by) gone = plus(gone, amount)
      else if (piece.madeBy === by) gone = minus(gone, amount)
    }
    const technicalPremium = { ...run.price.technicalPremium, amount: plus(gone, totalOf(stated, currency)) }
    making.perilRuns.set(locator, { ...run, price: { ...run.price, technicalPremium } })
  }
}

export type Place = { readonly kind: 'premium' | 'tax' | 'commission'; readonly name: string }

type AmountChange = Place & { readonly by: Money }

/** Whether the element states a premium rate other than that of the price. */
export const hasOtherRate = ({ premium }: PerilPrice, { charges }: ReadElement): boolean =>
  charges.some(
    ({ kind, month }) => kind === 'premium' && month !== undefined && !decimal(month).eq(premium.month),
  )

/** Index in the price's taxes or commissions; -1 if it has none. */
const positionOf = ({ taxes, commissions }: PerilPrice, { kind, name }: Place): number =>
  kind === 'tax'
    ? taxes.findIndex(tax => tax.name === name)
    : commissions.findIndex(commission => commission.recipient === name)

/** Whether the price has an amount at the place. Each has one for the premium. */
export const hasPlace = (price: PerilPrice, place: Place): boolean =>
  place.kind === 'premium' || positionOf(price, place) >= 0

/** Adds a zero amount if the price has none for the place. */
function withPlace(price: PerilPrice, place: Place): PerilPrice {
  if (hasPlace(price, place)) return price
  const amount = zero(price.premium.amount.currency)
  return place.kind === 'tax'
    ? { ...price, taxes: [...price.taxes, { name: place.name, amount }] }
    : { ...price, commissions: [...price.commissions, { recipient: place.name, month: '0', amount }] }
}

function addToPrice(price: PerilPrice, more: AmountChange): PerilPrice {
  const add = <R extends { amount: Money }>(one: R): R => ({ ...one, amount: plus(one.amount, more.by) })
  if (more.kind === 'premium') return { ...price, premium: add(price.premium) }
  const position = positionOf(price, more)
  return more.kind === 'tax'
    ? { ...price, taxes: price.taxes.map((tax, at) => (at === position ? add(tax) : tax)) }
    : {
        ...price,
        commissions: price.commissions.map((commission, at) =>
          at === position ? add(commission) : commission,
        ),
      }
}

/** Adds to the amounts of a piece. `price` is that of its run, whose taxes and commissions are in the same order. */
export function addToAmounts(amounts: Amounts, price: PerilPrice, more: AmountChange): Amounts {
  if (more.kind === 'premium') return { ...amounts, premium: plus(amounts.premium, more.by) }
  const position = positionOf(price, more)
  const add = (one: Money, at: number): Money => (at === position ? plus(one, more.by) : one)
  return more.kind === 'tax'
    ? { ...amounts, taxes: amounts.taxes.map(add) }
    : { ...amounts, commissions: amounts.commissions.map(add) }
}

/** Returns the kind that a charge has in the fold. A holdback is one of a premium or of a tax. */
function kindInFold({ kind, name }: StatedCharge): StatedCharge['kind'] {
  if (kind !== 'holdback') return kind
  return name === '' ? 'premium' : 'tax'
}

function keyOfCharge(charge: Charge, ids: ReadonlyMap<Uuid, string>): string {
  if ('feeLocator' in charge) return keyOfCharged('fee', charge.feeLocator)
  const id = ids.get(charge.perilLocator)!
  if ('commissionRecipient' in charge) return keyOfCharged('commission', charge.commissionRecipient, id)
  if ('taxName' in charge && charge.taxName !== undefined) return keyOfCharged('tax', charge.taxName, id)
  return keyOfCharged('premium', '', id)
}

/** Returns the stated charges and the fold's charges, by the same keys. */
function chargesByThing(context: Context) {
  const ids = idsOfPerils(context)
  const stated = new Map<string, StatedCharge[]>()
  for (const { id, charges } of context.transaction.tree?.elements.values() ?? [])
    for (const charge of charges) {
      if (charge.kind === 'technicalPremium') continue
      const key = keyOfCharged(kindInFold(charge), charge.name, id)
      addTo(stated, context.feesFor.get(key) ?? key, charge)
    }
  return { stated, charged: Map.groupBy(chargesNow(context), charge => keyOfCharge(charge, ids)) }
}

const totalOf = (list: readonly { amount: Money }[] | undefined, currency: Money['currency']): Money =>
  sumOf(list ?? [], one => one.amount, currency)

/** Returns the stated amounts minus the fold's charges, by element and without fees. */
export function missingAmounts(context: Context): Map<string, AmountChange[]> {
  const { currency } = context.making.policy
  const { stated, charged } = chargesByThing(context)
  const missing = new Map<string, AmountChange[]>()
  for (const key of new Set([...stated.keys(), ...charged.keys()])) {
    const [kind, name, id] = JSON.parse(key) as [Place['kind'] | 'fee', string, string]
    if (kind === 'fee') continue
    const by = minus(totalOf(stated.get(key), currency), totalOf(charged.get(key), currency))
    if (by.minor !== 0) addTo(missing, id, { kind, name, by })
  }
  return missing
}

/** Stated charges and the fold's charges of one key. */
export type Billed = {
  readonly stated: readonly StatedCharge[]
  readonly charges: readonly Charge[]
  readonly name: string
}

/** Call it after applying the transaction. Throws if the fold's amount differs from the stated one, which is an internal fault. */
export function billedCharges(context: Context): Billed[] {
  const { currency } = context.making.policy
  const { stated, charged } = chargesByThing(context)
  return [...new Set([...charged.keys(), ...stated.keys()])].map(key => {
    const own = stated.get(key) ?? []
    const charges = charged.get(key) ?? []
    if (totalOf(own, currency).minor !== totalOf(charges, currency).minor)
      throw new Error(`${context.transaction.path} does not charge the stated amount of '${key}'.`)
    return { stated: own, charges, name: own[0]?.name || 'premium' }
  })
}
