// Whether a transaction leaves an element as it is.
import { decimal } from '../../../../kernel/money.ts'
import { later, type Span } from '../../../../kernel/time.ts'
import { endOfRun } from '../../../../policy/fold/line.ts'
import { inForce, piecesOf } from '../../../../policy/fold/pieces.ts'
import type { PerilPrice } from '../../../../policy/records/aggregate.ts'
import { canonical, type ReadElement } from '../elements.ts'
import type { Known } from '../making.ts'
import { type Carrying, runsOf } from './carrying.ts'

type KnownRun = NonNullable<ReturnType<Known['runs']['get']>>

/** `isWhole`: all of the term from the time on is covered already. */
export function goesOn(carrying: Carrying, was: KnownRun, element: ReadElement, isWhole: boolean): boolean {
  if (was.fingerprint !== element.fingerprint) return false
  if (element.level !== 'exposure') {
    const { price } = carrying.making.perilRuns.get(was.locator)!
    if (!isWhole || isRepriced(price!, element)) return false
  }
  return was.start <= carrying.transaction.from || isSameThroughout(carrying, element)
}

/** Whether all that is in force of the element from the time on, put there by several changes, is what is said of it. */
function isSameThroughout(carrying: Carrying, { id, level, data, amounts }: ReadElement): boolean {
  const { transaction, making, known, before } = carrying
  const { from, term } = transaction
  let covered = 0
  const isSame = ({ start, end }: Span, own: unknown, other: unknown): boolean => {
    if (end <= from) return true
    covered += end - later(start, from)
    return canonical(own) === canonical(other)
  }
  if (level === 'exposure') {
    const counted = new Set(before.map(step => step.modification.locator))
    const exposure = known.exposures.get(id)
    const own = (exposure && known.exposureRuns.get(exposure)) ?? []
    for (const run of own.map(locator => making.exposureRuns.get(locator)!)) {
      const span = { start: run.start, end: endOfRun(run, counted) }
      if (run.end !== term.endTime || span.end <= span.start) continue
      if (!isSame(span, run.data, data)) return false
    }
  } else
    for (const run of runsOf(carrying, id))
      for (const piece of inForce(piecesOf(run, before, making.policy.timeZone)))
        if (!isSame(piece, [run.data, run.amounts], [data, amounts])) return false
  return covered === term.endTime - from
}

/** Whether it charges anything for the element, or says another rate of it. */
const isRepriced = (price: PerilPrice, { charges }: ReadElement): boolean =>
  charges.some(({ kind, amount, items, month }) => {
    if (kind === 'fee') return false
    if (items.some(item => item.amount.minor !== 0)) return true
    if (kind === 'premium') return month !== undefined && !decimal(month).eq(price.premium.month)
    if (kind !== 'technicalPremium') return false
    return month === undefined
      ? amount.minor !== 0
      : price.technicalPremium === undefined || !decimal(month).eq(price.technicalPremium.month)
  })
