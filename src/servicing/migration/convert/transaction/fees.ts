// Fees that a transaction charges, and gives back.
import type { Uuid } from '../../../../kernel/locators.ts'
import { type Money, minus, negated, zero } from '../../../../kernel/money.ts'
import { type Instant, later } from '../../../../kernel/time.ts'
import { type FeeInForce, feeInForce } from '../../../../policy/fold/line.ts'
import type { Fee, FeePart } from '../../../../policy/records/aggregate.ts'
import { type Carrying, isInTerm, lineNow, modificationOf, totalOf } from './carrying.ts'
import { keyOf, keyOfFee } from './charging.ts'

export function chargeFees(carrying: Carrying): void {
  const { transaction, making, feesFor } = carrying
  for (const { id, charges } of transaction.tree?.elements.values() ?? []) {
    const fees = charges.filter(one => one.kind === 'fee')
    for (const [name, said] of Map.groupBy(fees, one => one.name)) {
      const fee = feeFor(carrying, name, totalOf(said, making.policy.currency))
      if (fee) feesFor.set(keyOf(id, 'fee', name), keyOfFee(fee))
    }
  }
  if (transaction.isGap) endFees(carrying)
}

/** The fee that is charged; one that is given back shrinks a fee of that name in the term, if there is so much of it. */
function feeFor(carrying: Carrying, name: string, amount: Money): Uuid | undefined {
  if (amount.minor === 0) return undefined
  const { making, quote, product, supply, by, transaction } = carrying
  const { from, term, isGap } = transaction
  const taken = feeTakenBack(carrying, name, amount)
  if (taken) return taken
  const known = amount.minor < 0 ? feeOfAtLeast(carrying, name, negated(amount)) : undefined
  if (known) {
    const { fee, parts } = known
    const change = { by, ...shrunk(parts, negated(amount), from, isGap) }
    making.fees.set(fee.locator, { ...fee, changes: [...fee.changes, change] })
    return fee.locator
  }
  const fee: Fee = {
    locator: supply.uuid(),
    quoteLocator: quote.locator,
    name,
    description: product.fees.find(one => one.name === name)?.displayName ?? name,
    amount,
    madeBy: by,
    start: from,
    end: term.endTime,
    changes: [],
  }
  making.fees.set(fee.locator, fee)
  return fee.locator
}

/** A reinstatement brings back a fee that its cancellation took, if it took so much of it. */
function feeTakenBack(carrying: Carrying, name: string, amount: Money): Uuid | undefined {
  const { making, by, transaction } = carrying
  if (modificationOf(carrying).kind !== 'reinstatement' || amount.minor < 0) return undefined
  const undone = new Set(
    [...making.reinstatements.values()].flatMap(one =>
      one.modificationLocator === by
        ? [making.cancellations.get(one.cancellationLocator)!.modificationLocator]
        : [],
    ),
  )
  const line = lineNow(carrying)
  for (const fee of making.fees.values()) {
    const removed = fee.changes.find(change => undone.has(change.by))?.removed ?? []
    if (fee.name !== name || totalOf(removed, amount.currency).minor < amount.minor) continue
    if (fee.changes.some(change => change.by === by)) continue
    const { start, end } = removed[0]!
    const back = { start: later(start, transaction.from), end, amount }
    const parts = [...feeInForce(fee, line).parts, back].sort((a, b) => a.start - b.start)
    making.fees.set(fee.locator, { ...fee, changes: [...fee.changes, { by, parts, removed: [] }] })
    return fee.locator
  }
  return undefined
}

function feeOfAtLeast(carrying: Carrying, name: string, least: Money): FeeInForce | undefined {
  const { making, by, isCreation } = carrying
  if (isCreation) return undefined
  const line = lineNow(carrying)
  return [...making.fees.values()]
    .filter(
      fee =>
        fee.name === name &&
        fee.madeBy !== by &&
        isInTerm(carrying, fee.start) &&
        !fee.changes.some(change => change.by === by),
    )
    .map(fee => feeInForce(fee, line))
    .findLast(({ amount }) => amount.minor >= least.minor)
}

/** Of fees of which nothing is said to be given back, what is left lies before the time, but for those that are never split. */
function endFees(carrying: Carrying): void {
  const { making, product, by, transaction } = carrying
  const { from } = transaction
  const line = lineNow(carrying)
  for (const fee of [...making.fees.values()]) {
    const isFlat = product.fees.find(one => one.name === fee.name)?.proration === 'flat'
    if (!isInTerm(carrying, fee.start) || fee.changes.some(change => change.by === by)) continue
    if (isFlat && fee.start < from) continue
    const { parts } = feeInForce(fee, line)
    const change = shrunk(parts, zero(fee.amount.currency), from, true)
    if (change.removed.length > 0)
      making.fees.set(fee.locator, { ...fee, changes: [...fee.changes, { by, ...change }] })
  }
}

// What is left of a fee of which a transaction gives something back.
/** A fee's parts after giving an amount back, from the last part on. Where the cover ends, the rest lies before that time. */
export function shrunk(
  parts: readonly FeePart[],
  by: Money,
  from: Instant,
  isGap: boolean,
): { parts: FeePart[]; removed: FeePart[] } {
  const kept: FeePart[] = []
  const removed: FeePart[] = []
  let left = by
  for (const part of [...parts].reverse()) {
    const { start, end, amount } = part
    // Of what was given back as a fee of its own, nothing is to be taken.
    const own = amount.minor < 0 ? zero(amount.currency) : left.minor < amount.minor ? left : amount
    left = minus(left, own)
    const rest = minus(amount, own)
    const endsThere = isGap && start < from && from < end
    const isTaken = own.minor !== 0 || endsThere || (isGap && from <= start && amount.minor === 0)
    if (isTaken) removed.unshift({ start: endsThere ? from : start, end, amount: own })
    if (rest.minor !== 0 || endsThere || !isTaken)
      kept.unshift({ start, end: endsThere ? from : end, amount: rest })
  }
  return { parts: kept, removed }
}
