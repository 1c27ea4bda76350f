// How charges lie on a plan that continues what was planned (brief 4.5). Each of its installments stands in the place of
// some that were planned, and bills what they billed. What the transaction takes back of a premium, tax or fee it takes
// first from the installments that bill that very one for the time that is gone; the installment up to whose time it
// stays bears the rest, so that it bills what is left of what is in force. What no installment bills is given back at
// once. What the transaction charges anew is spread by time.
//
// Amounts of issued invoices are derived by this formula whenever they are read: it may never change.
import { fromMinor, type Money } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import type { Installment } from '../records/installment.ts'
import { type Charge, feeChargeId, lineOfCharge } from './charge.ts'
import { splitBy } from './split.ts'

export const isContinued = (plan: readonly Installment[]): boolean =>
  plan.some(one => one.replans !== undefined)

/** Splits charges over the plan. `charges` are all that it bills, with the rests that it took over apart (`from`). */
export function splitContinued(
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
