// What a transaction says that is covered from its time on: elements that it changes are cut there, and new runs take their
// place.
import type { Uuid } from '../../../../kernel/locators.ts'
import { endOfRun } from '../../../../policy/fold/line.ts'
import { inForce, piecesOf } from '../../../../policy/fold/pieces.ts'
import type { ExposureRun, PerilRun } from '../../../../policy/records/aggregate.ts'
import type { ReadElement } from '../elements.ts'
import { idOf } from '../making.ts'
import { type Carrying, keyOfElement, lengthOf, runsOf } from './carrying.ts'
import { exposureOf, perilOf } from './insured.ts'
import { unpriced } from './prices.ts'
import { reachNew } from './reach.ts'
import { goesOn } from './unchanged.ts'

/** `covered`: how much of its term is covered without it from its time on, in milliseconds. */
export function cover(carrying: Carrying, covered: number): void {
  const { transaction, known } = carrying
  const { tree, termAt, from } = transaction
  // Across a gap no run of a peril goes on: what ended there has ended.
  const isWhole = covered === lengthOf(carrying)
  const end = (id: string): void => {
    known.runs.delete(keyOfElement(carrying, id))
    endElement(carrying, id)
  }
  for (const element of tree!.elements.values()) {
    if (element.level === 'policy' || element.isEnded) continue
    const { id, fingerprint } = element
    const key = keyOfElement(carrying, id)
    const was = known.runs.get(key)
    if (was && goesOn(carrying, was, element, isWhole)) continue
    end(id)
    known.runs.set(key, { locator: beginRun(carrying, element, was?.locator), start: from, fingerprint })
  }
  // All that the term ever had: an earlier run may still hold up to a later change.
  const ids = [...known.perils.keys()].filter(key => key.startsWith(`${termAt} `)).map(idOf)
  for (const id of new Set([...known.exposures.keys(), ...ids]))
    if (tree!.elements.get(id)?.isEnded ?? true) end(id)
}

/** `was`: the run before it. */
function beginRun(carrying: Carrying, element: ReadElement, was: Uuid | undefined): Uuid {
  const { transaction, making, known, made, supply, newRuns } = carrying
  const { from, term } = transaction
  const locator = supply.uuid()
  const run = { ...made, start: from, end: term.endTime, locator, data: element.data, cuts: [] }
  if (element.level === 'exposure') {
    const exposureLocator = exposureOf(carrying, element)
    making.exposureRuns.set(locator, { ...run, exposureLocator } satisfies ExposureRun)
    known.exposureRuns.set(exposureLocator, [...(known.exposureRuns.get(exposureLocator) ?? []), locator])
    return locator
  }
  reachNew(carrying, {
    ...run,
    perilLocator: perilOf(carrying, element),
    amounts: element.amounts,
    price: unpriced(carrying, element, was),
  } satisfies PerilRun)
  newRuns.set(element.id, locator)
  return locator
}

/** Cuts what of the element is in force from the transaction's time on: of several runs those that a change put there. */
function endElement(carrying: Carrying, id: string): void {
  const { transaction, making, known, by, before, newRuns } = carrying
  const { from, term } = transaction
  const { exposureRuns, perilRuns, policy } = making
  const cut = { by, from }
  const exposure = known.exposures.get(id)
  if (exposure) {
    const counted = new Set(making.modifications.keys())
    const own = known.exposureRuns.get(exposure) ?? []
    for (const run of own.map(locator => exposureRuns.get(locator)!))
      if (run.end === term.endTime && endOfRun(run, counted) > from)
        exposureRuns.set(run.locator, { ...run, cuts: [...run.cuts, cut] })
    return
  }
  for (const run of runsOf(carrying, id)) {
    if (newRuns.get(id) === run.locator) continue
    const pieces = inForce(piecesOf(run, before, policy.timeZone))
    if (pieces.some(piece => piece.end > from))
      perilRuns.set(run.locator, { ...run, cuts: [...run.cuts, cut] })
  }
}
