// How installments bill the charges of a transaction. Items are derived, not stored: large policies (10,000 perils, monthly) have
// hundreds of thousands. Only a plugin's plan states its items itself.
import type { Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, fromMinor, type Money, plus, sumOf, zero } from '../../kernel/money.ts'
import { earlier, type Instant, later, type Span } from '../../kernel/time.ts'
import { splitBy } from '../fold/shares.ts'
import type { Installment, PlannedInstallment } from '../records/invoice.ts'
import { type Charge, feeChargeId, isHoldback, isPayable, lineOfCharge, sourceOfCharge } from './charge.ts'

/** The part of a charge that one installment bills. Never zero. */
export type InstallmentItem = { readonly charge: Charge; readonly amount: Money }

/**
 * Returns the items of each installment, in plan order. The items of a charge add up to it exactly and never have the opposite
 * sign. Pass the whole plan, including invoiced installments.
 */
export function installmentItems(
  plan: readonly Installment[],
  charges: readonly Charge[],
): readonly InstallmentItem[][] {
  const items = plan.map((): InstallmentItem[] => [])
  const split = splitterOver(plan, charges)
  for (const charge of charges)
    for (const [index, amount] of split(charge).entries())
      if (amount.minor !== 0) items[index]!.push({ charge, amount })
  return isContinued(plan) || isSpread(plan) ? items.map(joinedByCharge) : items
}

/** Merges the rests of one charge that several installments left into one item. */
function joinedByCharge(items: readonly InstallmentItem[]): InstallmentItem[] {
  const joined = new Map<string, InstallmentItem>()
  for (const item of items) {
    const known = joined.get(item.charge.id)
    joined.set(item.charge.id, known ? { ...known, amount: plus(known.amount, item.amount) } : item)
  }
  return [...joined.values()].filter(item => item.amount.minor !== 0)
}

/** Returns the sum of each installment's items without commissions, in plan order. */
export function totalsDue(
  plan: readonly Installment[],
  charges: readonly Charge[],
  currency: CurrencyCode,
): Money[] {
  const totals = plan.map(() => zero(currency))
  const split = splitterOver(plan, charges)
  for (const charge of charges)
    if (isPayable(charge))
      for (const [index, amount] of split(charge).entries())
        if (amount.minor !== 0) totals[index] = plus(totals[index]!, amount)
  return totals
}

/**
 * Returns what the installments with these numbers bill of each charge: the sum of their items, over the span that they pay for.
 * Omits charges of which they bill nothing.
 */
export const restOf = (
  plan: readonly PlannedInstallment[],
  charges: readonly Charge[],
  numbers: ReadonlySet<number>,
): Charge[] =>
  openParts(plan, charges, numbers).flatMap(({ charge, parts }) => {
    if (parts.length === 0) return []
    const amount = sumOf(parts, part => part.amount, charge.amount.currency)
    const paid = {
      start: parts.map(({ installment }) => installment.start).reduce(earlier),
      end: parts.map(({ installment }) => installment.end).reduce(later),
    }
    return [{ ...charge, amount, rest: overlap(paid, charge.rest ?? charge) }]
  })

/** Like `restOf`, but with a separate rest for each installment, which names the installment (`from`). */
export const restsByInstallment = (
  plan: readonly PlannedInstallment[],
  charges: readonly Charge[],
  numbers: ReadonlySet<number>,
): Charge[] =>
  openParts(plan, charges, numbers).flatMap(({ charge, parts }) =>
    parts.map(({ installment: { start, end, locator }, amount }) => {
      return { ...charge, amount, rest: overlap({ start, end }, charge.rest ?? charge), from: locator }
    }),
  )

/** Returns the parts of each charge that these installments bill. No part is zero. */
function openParts(
  plan: readonly PlannedInstallment[],
  charges: readonly Charge[],
  numbers: ReadonlySet<number>,
) {
  const open = [...plan.entries()].filter(([, installment]) => numbers.has(installment.number))
  const split = splitterOver(plan, charges)
  return charges.map(charge => {
    const amounts = split(charge)
    const billing = open.filter(([index]) => amounts[index]!.minor !== 0)
    return {
      charge,
      parts: billing.map(([index, installment]) => ({ installment, amount: amounts[index]! })),
    }
  })
}

/** Returns the overlap of the spans, or the first span if they do not overlap. */
function overlap(first: Span, second: Span): Span {
  const start = later(first.start, second.start)
  const end = earlier(first.end, second.end)
  return start < end ? { start, end } : first
}

/** Returns a function that splits a charge over the plan: one part for each installment, in order. */
const splitterOver = (
  plan: readonly Installment[],
  charges: readonly Charge[],
): ((charge: Charge) => Money[]) => {
  if (plan.length === 0) return () => []
  if (isContinued(plan)) return splitContinued(plan, charges, splitByTime(plan))
  return plan.some(one => one.items) ? splitterByItems(plan) : splitByTime(plan)
}

/** Splits charges as the plan's items and fees state. All parts of a charge that the plan does not name are zero. */
function splitterByItems(plan: readonly Installment[]): (charge: Charge) => Money[] {
  const stated = new Map<string, number[]>()
  const put = (id: string, at: number, minor: number): void => {
    const parts = stated.get(id) ?? plan.map(() => 0)
    parts[at] = minor
    stated.set(id, parts)
  }
  for (const [at, { items = {}, fees = [] }] of plan.entries()) {
    for (const [id, minor] of Object.entries(items)) put(id, at, minor)
    for (const fee of fees) put(feeChargeId(fee), at, fee.amount.minor)
  }
  return ({ id, amount: { currency } }) => {
    const parts = stated.get(id)
    return plan.map((_, at) => fromMinor(parts?.[at] ?? 0, currency))
  }
}

/** Splits charges by time. Computes the weights once per span, because most charges share one. */
function splitByTime(plan: readonly Installment[]): (charge: Charge) => Money[] {
  const splitBySpan = new Map<string, (amount: Money) => Money[]>()
  return charge => {
    const { start, end } = charge.rest ?? charge
    const span = `${start}/${end}`
    let split = splitBySpan.get(span)
    if (split === undefined) {
      split = splitBy(weightsOver(plan, { start, end }))
      splitBySpan.set(span, split)
    }
    return split(charge.amount)
  }
}

/**
 * Returns how much of a span each installment pays for: 1 for each whole billing period, and a share by milliseconds for a period
 * that the span or the end of coverage cuts. The weights have a common denominator, so they are whole numbers. A span outside all
 * periods is billed by the first installment.
 */
function weightsOver(plan: readonly Installment[], span: Span): bigint[] {
  const shares = plan.map(installment =>
    installment.periods.map(period => ({
      coveredMs: Math.max(0, Math.min(span.end, period.end) - Math.max(span.start, period.start)),
      wholeMs: period.wholeMs,
    })),
  )
  let denominator = 1n
  for (const { coveredMs, wholeMs } of shares.flat())
    if (coveredMs !== 0 && coveredMs !== wholeMs) denominator *= BigInt(wholeMs)
  const weights = shares.map(periods => {
    let weight = 0n
    for (const { coveredMs, wholeMs } of periods)
      weight += (BigInt(coveredMs) * denominator) / BigInt(wholeMs)
    return weight
  })
  return weights.some(weight => weight > 0n) ? weights : plan.map((_, index) => (index === 0 ? 1n : 0n))
}

/**
 * Whether the plan continues an earlier one (brief 4.5). Each installment replaces some that were planned and bills what they
 * billed. A reduction of a premium, tax or fee is first taken from the installments that bill the same premium, tax or fee for the
 * removed time. The installment up to `keptUntil` bears the difference, so that it bills what is left of what is in force. What no
 * installment bills is refunded immediately. New charges of the transaction are spread by time.
 *
 * Amounts of issued invoices are derived by this formula: never change it.
 */
export const isContinued = (plan: readonly Installment[]): boolean =>
  plan.some(one => one.replans !== undefined && one.replans.bill !== 'spread')

/** Whether the plan was made by another payment schedule. Plans of earlier releases have no mark and keep their formula. */
export const isSpread = (plan: readonly Installment[]): boolean =>
  plan.some(one => one.replans?.bill === 'spread')

/** `charges` are all charges that the plan bills. Each rest that it took over is separate and names its installment (`from`). */
function splitContinued(
  plan: readonly Installment[],
  charges: readonly Charge[],
  splitByTime: (charge: Charge) => Money[],
): (charge: Charge) => Money[] {
  const places = placesIn(plan)
  const { planned, atOnce, placeOf } = places
  const keepsCover = plan.some(one => one.replans?.keepsCover)
  const bearsCommissions = plan.some(one => one.replans?.bearsCommissions)
  const lines = linesIn(charges, plan, placeOf)
  return charge => {
    const { amount } = charge
    const amounts = (...parts: Part[]): Money[] => amountsOf(parts, plan, amount.currency)
    if (charge.from !== undefined) {
      const place = placeOf(charge)
      const refunded = immediateRefundOf(charge, plan[place]!, lines)
      return amounts([atOnce, refunded], [place, amount.minor - refunded])
    }
    if (bearsCommissions ? isHoldback(charge) : charge.type === 'holdback')
      return amounts([planned.at(-1) ?? atOnce, amount.minor])
    const keptUntil = (keepsCover ? charge.coverUntil : undefined) ?? charge.keptUntil
    if (keptUntil !== undefined) return amounts(...splitKept(charge, keptUntil, plan, places, lines))
    return isNewFee(charge) ? amounts([atOnce, amount.minor]) : splitByTime(charge)
  }
}

/** What one installment bills of a charge: its place in the plan, and minor units. */
type Part = readonly [at: number, minor: number]

/** Returns the amount of each installment. Parts of the same installment add up. */
function amountsOf(parts: readonly Part[], plan: readonly Installment[], currency: CurrencyCode): Money[] {
  // One shared value, because most amounts are zero.
  const nothing = zero(currency)
  const minors = plan.map(() => 0)
  for (const [at, minor] of parts) minors[at] = minors[at]! + minor
  return minors.map(minor => (minor === 0 ? nothing : fromMinor(minor, currency)))
}

/** Which installments of a continued plan bill what, as places in the plan. */
type Places = {
  /** The installments that are still planned, in plan order. */
  readonly planned: readonly number[]
  /** The installment that bills and refunds immediately. */
  readonly atOnce: number
  /** Returns the installment that took over the rest. */
  placeOf(rest: Charge): number
}

function placesIn(plan: readonly Installment[]): Places {
  const places = new Map(plan.flatMap(({ replans }, at) => (replans?.open ?? []).map(one => [one, at])))
  const immediate = plan.findIndex(one => one.replans?.bill === 'atOnce')
  // A plan without an immediate installment has nothing to bill immediately. Its last installment takes that place.
  const atOnce = immediate >= 0 ? immediate : plan.length - 1
  return {
    planned: [...plan.keys()].filter(at => plan[at]!.replans?.bill === 'planned'),
    atOnce,
    placeOf: ({ from }) => places.get(from!) ?? atOnce,
  }
}

/** Splits a charge of a line that is kept until a time. The first charge of the line takes back what was billed for later time. */
function splitKept(
  charge: Charge,
  keptUntil: Instant,
  plan: readonly Installment[],
  places: Places,
  lines: Lines,
): Part[] {
  const { planned, atOnce } = places
  const line = lineOfCharge(charge)
  const rests = lines.restsOnPlan.get(line)
  if (!rests) return [[atOnce, charge.amount.minor]]
  const isFirst = lines.firstOf.get(line) === charge
  const after = isFirst ? planned.filter(at => plan[at]!.start >= keptUntil) : []
  const takenBack = after.map((at): Part => [at, -rests[at]!])
  const left = takenBack.reduce((sum, [, minor]) => sum - minor, charge.amount.minor)
  const bearer = bearerOf(keptUntil, plan, places)
  const freed = (plan[bearer]!.replans?.frees ?? []).reduce(
    (sum, from) => sum + (lines.rests.get(restKey(line, from)) ?? 0),
    0,
  )
  if (freed <= 0) return [...takenBack, [bearer, left]]
  const borne = Math.max(left, -freed)
  return [...takenBack, [bearer, borne], [atOnce, left - borne]]
}

/** Returns the installment that bears what a change leaves of a line that is kept until then. */
function bearerOf(keptUntil: Instant, plan: readonly Installment[], { planned, atOnce }: Places): number {
  const before = planned.findLast(at => plan[at]!.start < keptUntil)
  if (before !== undefined) return before
  return planned.length > 0 && plan[planned[0]!]!.start === keptUntil ? planned.at(-1)! : atOnce
}

/** What a continued plan takes over of each line of charges, and what is new in each line. */
type Lines = {
  /** By line: a rest for each installment of the plan, in minor units. */
  readonly restsOnPlan: ReadonlyMap<string, readonly number[]>
  /** By line and earlier installment (`restKey`), in minor units. */
  readonly rests: ReadonlyMap<string, number>
  /**
   * Both are by source and earlier installment (`restKey`). A negative rest of an installment is a refund if the installment bills
   * nothing of the source for its own time, but changes that time. Otherwise it is a difference that the installment bears.
   */
  readonly billingOwnTime: ReadonlySet<string>
  readonly changingOwnTime: ReadonlySet<string>
  /** The first new charge of each line. */
  readonly firstOf: ReadonlyMap<string, Charge>
}

const restKey = (of: string, from: Uuid | undefined): string => `${of} ${from}`

function linesIn(
  charges: readonly Charge[],
  plan: readonly Installment[],
  placeOf: (charge: Charge) => number,
): Lines {
  const restsOnPlan = new Map<string, number[]>()
  const rests = new Map<string, number>()
  const billingOwnTime = new Set<string>()
  const changingOwnTime = new Set<string>()
  const firstOf = new Map<string, Charge>()
  for (const charge of charges) {
    const line = lineOfCharge(charge)
    if (charge.from === undefined) {
      if (!firstOf.has(line)) firstOf.set(line, charge)
      continue
    }
    const onPlan = restsOnPlan.get(line) ?? plan.map(() => 0)
    const at = placeOf(charge)
    onPlan[at] = onPlan[at]! + charge.amount.minor
    restsOnPlan.set(line, onPlan)
    const key = restKey(line, charge.from)
    rests.set(key, (rests.get(key) ?? 0) + charge.amount.minor)
    const source = restKey(sourceOfCharge(charge), charge.from)
    const { start, end } = charge.rest ?? charge
    if (charge.keptUntil === undefined && charge.amount.minor > 0) billingOwnTime.add(source)
    if (start < charge.end && charge.start < end) changingOwnTime.add(source)
  }
  return { restsOnPlan, rests, billingOwnTime, changingOwnTime, firstOf }
}

/**
 * Returns how many minor units of a rest are refunded immediately. Applies to a rest that refunds an invoiced charge, as when
 * dearer cover replaced cheaper cover. Refunds the part after the end of cover, whether the installment with the refund is dropped
 * or only shortened.
 */
function immediateRefundOf(
  charge: Charge,
  { replans }: Installment,
  { rests, billingOwnTime, changingOwnTime, firstOf }: Lines,
): number {
  if (charge.type === 'fee') return 0
  const line = lineOfCharge(charge)
  if (rests.get(restKey(line, charge.from))! >= 0 || firstOf.has(line)) return 0
  const { open, freesAfter, keepsDifferences } = replans ?? {}
  const source = restKey(sourceOfCharge(charge), charge.from)
  if (keepsDifferences && (billingOwnTime.has(source) || !changingOwnTime.has(source))) return 0
  const { minor } = charge.amount
  if (freesAfter === undefined) return open?.[0] === charge.from ? 0 : minor
  const { start, end } = charge.rest ?? charge
  if (end <= freesAfter) return 0
  if (start >= freesAfter) return minor
  return splitBy([BigInt(freesAfter - start), BigInt(end - freesAfter)])(charge.amount)[1]!.minor
}

/** Whether the transaction adds the fee. A new fee is billed immediately; a restored fee is spread like the premium. */
const isNewFee = (charge: Charge): boolean =>
  charge.type === 'fee' && charge.id === feeChargeId({ locator: charge.feeLocator })
