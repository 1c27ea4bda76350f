// How the charges of a transaction lie on its installments. Items are not stored: they follow from the stored
// plan and the charges. Plans of a policy at its limits (10,000 perils, monthly) have hundreds of thousands.
// The plan of a plugin says of each charge what its installments bill; there the items are what it says.
import { type CurrencyCode, fromMinor, type Money, plus, sumOf, zero } from '../../kernel/money.ts'
import { earlier, type Instant, later, type Span } from '../../kernel/time.ts'
import { splitBy } from '../fold/shares.ts'
import type { Installment, PlannedInstallment } from '../records/invoice.ts'
import { type Charge, feeChargeId, isPayable, lineOfCharge } from './charge.ts'

/** The part of a charge that one installment bills; never zero. */
export type InstallmentItem = { readonly charge: Charge; readonly amount: Money }

/**
 * The items of each installment of the plan, in the plan's order. The items of a charge over all installments
 * add up to it exactly, and none has the other sign. The plan is whole: installments already invoiced too.
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
  return isContinued(plan) ? items.map(joinedByCharge) : items
}

/** The rests that several installments left of a charge are one item of the installment in their place. */
function joinedByCharge(items: readonly InstallmentItem[]): InstallmentItem[] {
  const joined = new Map<string, InstallmentItem>()
  for (const item of items) {
    const known = joined.get(item.charge.id)
    joined.set(item.charge.id, known ? { ...known, amount: plus(known.amount, item.amount) } : item)
  }
  return [...joined.values()].filter(item => item.amount.minor !== 0)
}

/** The sum of each installment's items without commissions, in the plan's order. */
export function totalsDue(
  plan: readonly Installment[],
  charges: readonly Charge[],
  currency: CurrencyCode,
): Money[] {
  const totals = plan.map(() => zero(currency))
  const split = splitterOver(plan, charges)
  for (const charge of charges)
    if (isPayable(charge))
      for (const [index, amount] of split(charge).entries()) totals[index] = plus(totals[index]!, amount)
  return totals
}

/**
 * What is left of the charges to be billed by the installments of these numbers: of each charge the sum of their
 * items, for the stretch that they pay for. Charges with nothing left are left out.
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

/** As `restOf`, for each installment by itself, with its locator (`from`). */
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

/** The parts of each charge that the installments of these numbers bill; none of them is zero. */
function openParts(
  plan: readonly PlannedInstallment[],
  charges: readonly Charge[],
  numbers: ReadonlySet<number>,
) {
  const open = [...plan.entries()].filter(([, installment]) => numbers.has(installment.number))
  const split = splitterOver(plan, charges)
  return charges.map(charge => {
    const amounts = split(charge)
    const parts = open.map(([index, installment]) => ({ installment, amount: amounts[index]! }))
    return { charge, parts: parts.filter(({ amount }) => amount.minor !== 0) }
  })
}

/** The overlap of the spans; the first of them when there is none. */
function overlap(first: Span, second: Span): Span {
  const start = later(first.start, second.start)
  const end = earlier(first.end, second.end)
  return start < end ? { start, end } : first
}

/** Splits charges over the plan, each to its parts on the plan's installments, in their order. */
const splitterOver = (
  plan: readonly Installment[],
  charges: readonly Charge[],
): ((charge: Charge) => Money[]) => {
  if (isContinued(plan)) return splitContinued(plan, charges, splitByTime(plan))
  return plan.some(one => one.items) ? statedBy(plan) : splitByTime(plan)
}

/** The plan's items for each charge; none for a charge that it does not name. */
function statedBy(plan: readonly Installment[]): (charge: Charge) => Money[] {
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

/** Charges mostly share one span, and the weights of a span are found once. */
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
 * How much of a span each installment pays for: 1 for every whole billing period, and of a period that is cut,
 * by the span or by the end of coverage, the share of its milliseconds. Brought to a common denominator, so
 * that the weights are whole numbers. A span that lies on no period is paid with the first installment.
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

// How charges lie on a plan that continues what was planned (brief 4.5). Each of its installments stands in the place of
// some that were planned, and bills what they billed. What the transaction takes back of a premium, tax or fee it takes
// first from the installments that bill that very one for the time that is gone; the installment up to whose time it
// stays bears the rest, so that it bills what is left of what is in force. What no installment bills is given back at
// once. New charges of the transaction are spread by time.
//
// Amounts of issued invoices are derived by this formula whenever they are read: it may never change.
export const isContinued = (plan: readonly Installment[]): boolean =>
  plan.some(one => one.replans !== undefined)

/** Splits charges over the plan. `charges` are all that it bills, with the rests that it took over apart (`from`). */
function splitContinued(
  plan: readonly Installment[],
  charges: readonly Charge[],
  splitByTime: (charge: Charge) => Money[],
): (charge: Charge) => Money[] {
  const places = new Map(plan.flatMap(({ replans }, at) => (replans?.open ?? []).map(one => [one, at])))
  const planned = [...plan.keys()].filter(at => plan[at]!.replans?.bill === 'planned')
  const lastPlanned = planned.at(-1)
  const atOnce = plan.findIndex(one => one.replans?.bill === 'atOnce')
  // Where the plan has none, nothing lies on it.
  const orAtOnce = (at: number | undefined): number => at ?? (atOnce >= 0 ? atOnce : plan.length - 1)
  const placeOf = ({ from }: Charge): number => orAtOnce(places.get(from!))

  /**
   * What goes at once of a rest that gives back what a bill already made had charged (a dearer cover in the place of a
   * cheaper one): the part for time after the cover's end, whether the bill that gave it goes or only shrinks.
   */
  const freedOf = (charge: Charge): number => {
    if (charge.type === 'fee' || left.get(leftBy(charge))! >= 0 || firstOfLine.has(lineOfCharge(charge)))
      return 0
    const { open, freesAfter } = plan[placeOf(charge)]!.replans ?? {}
    const { minor } = charge.amount
    if (freesAfter === undefined) return open?.[0] === charge.from ? 0 : minor
    const { start, end } = charge.rest ?? charge
    if (end <= freesAfter) return 0
    if (start >= freesAfter) return minor
    return splitBy([BigInt(freesAfter - start), BigInt(end - freesAfter)])(charge.amount)[1]!.minor
  }

  /** What each installment would have billed of each line. */
  const left = new Map<string, number>()
  const leftBy = (charge: Charge): string => `${lineOfCharge(charge)} ${charge.from}`
  const restsOnPlan = new Map<string, number[]>()
  const firstOfLine = new Map<string, Charge>()
  for (const charge of charges) {
    const line = lineOfCharge(charge)
    if (charge.from !== undefined) {
      const rests = restsOnPlan.get(line) ?? plan.map(() => 0)
      const at = placeOf(charge)
      rests[at] = rests[at]! + charge.amount.minor
      left.set(leftBy(charge), (left.get(leftBy(charge)) ?? 0) + charge.amount.minor)
      restsOnPlan.set(line, rests)
    } else if (!firstOfLine.has(line)) firstOfLine.set(line, charge)
  }

  /** The installment that bears what a change leaves of a line which stays until then. */
  const bearerOf = (keptUntil: Instant): number => {
    const before = planned.findLast(at => plan[at]!.start < keptUntil)
    if (before !== undefined) return before
    return planned.length > 0 && plan[planned[0]!]!.start === keptUntil ? lastPlanned! : orAtOnce(undefined)
  }

  return charge => {
    const { currency, minor } = charge.amount
    const parts = plan.map(() => 0)
    const amounts = (): Money[] => parts.map(part => fromMinor(part, currency))
    const whole = (at: number): Money[] => {
      parts[at] = minor
      return amounts()
    }
    if (charge.from !== undefined) {
      const freed = freedOf(charge)
      const place = placeOf(charge)
      parts[orAtOnce(undefined)] = freed
      parts[place] = parts[place]! + minor - freed
      return amounts()
    }
    if (charge.type === 'holdback') return whole(orAtOnce(lastPlanned))
    const { keptUntil } = charge
    if (keptUntil === undefined) return isNewFee(charge) ? whole(orAtOnce(undefined)) : splitByTime(charge)
    const line = lineOfCharge(charge)
    const rests = restsOnPlan.get(line)
    if (!rests) return whole(orAtOnce(undefined))
    let rest = minor
    if (firstOfLine.get(line) === charge)
      for (const at of planned)
        if (plan[at]!.start >= keptUntil) {
          parts[at] = -rests[at]!
          rest += rests[at]!
        }
    const bearer = bearerOf(keptUntil)
    parts[bearer] = parts[bearer]! + rest
    return amounts()
  }
}

/** A fee that the transaction adds is asked for at once; one that comes back is spread like the premium. */
const isNewFee = (charge: Charge): boolean =>
  charge.type === 'fee' && charge.id === feeChargeId({ locator: charge.feeLocator })
