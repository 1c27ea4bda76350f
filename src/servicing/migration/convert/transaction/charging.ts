// Makes what the fold says that a transaction charges what was said. New runs cost what is missing; what ends without a
// successor keeps it.
import type { Uuid } from '../../../../kernel/locators.ts'
import { type Piece, piecesOf } from '../../../../policy/fold/pieces.ts'
import type { Amounts, Holdback, PerilRun } from '../../../../policy/records/aggregate.ts'
import { changedAmounts, changedPrice, readKey, withPlace } from '../places.ts'
import {
  type Carrying,
  changeModification,
  keptOf,
  lastRunOf,
  lineNow,
  modificationOf,
  runsOf,
} from './carrying.ts'
import { chargeFees } from './fees.ts'
import { type More, missingAmounts } from './missing.ts'
import { addTechnicalPremiums, rate } from './prices.ts'
import { reachHeld } from './reach.ts'

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

/**
 * What ends without a successor keeps so much more of what it cost: before the time, if any of it lies there; else it is
 * held back.
 */
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
