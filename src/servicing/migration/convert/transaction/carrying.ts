// A transaction that is being carried out, as all that has a part in it sees it.

import type { LocatorSupply, Uuid } from '../../../../kernel/locators.ts'
import { type Money, sum } from '../../../../kernel/money.ts'
import { earlier, type Instant } from '../../../../kernel/time.ts'
import { chargesOf } from '../../../../policy/bills/amounts-due.ts'
import type { Charge } from '../../../../policy/bills/charge.ts'
import { type Line, lineOf } from '../../../../policy/fold/line.ts'
import type { Piece } from '../../../../policy/fold/pieces.ts'
import type { Modification, PerilRun, Quote } from '../../../../policy/records/aggregate.ts'
import type { ProductDefinition } from '../../../../product/configuration.ts'
import type { ReadTransaction } from '../history.ts'
import { idOf, type Known, keyInTerm, type Making } from '../making.ts'
import { inReach } from './reach.ts'

/** What is given of it; what is in the maps is written into. */
export type Given = {
  readonly making: Making
  readonly quote: Quote
  readonly transaction: ReadTransaction
  readonly known: Known
  readonly product: ProductDefinition
  readonly supply: LocatorSupply
}

export type Carrying = Given & {
  /** The line as it was before it. */
  readonly before: Line
  readonly isCreation: boolean
  /** Of its modification. */
  readonly by: Uuid
  readonly made: { madeBy: Uuid; createdAt: Instant; updatedAt: Instant }
  /** New runs by the ids of their elements. */
  readonly newRuns: Map<string, Uuid>
  /** Charges of fees in the fold (`keyOfCharge`), by what the transaction says of them. */
  readonly feesFor: Map<string, string>
  /** Its runs in reach by their perils (reach.ts). */
  readonly reached: Map<Uuid, Uuid[]>
}

/** Takes a UUID. */
export function beginCarrying(given: Given): Carrying {
  const { making, quote, transaction, supply } = given
  const isCreation = making.modifications.size === 0
  const by = supply.uuid()
  const { issuedTime, createdAt } = transaction.request
  return {
    ...given,
    ...{ isCreation, by },
    before: isCreation ? [] : lineOf(making, quote),
    made: { madeBy: by, createdAt: earlier(createdAt ?? issuedTime, issuedTime), updatedAt: issuedTime },
    newRuns: new Map(),
    feesFor: new Map(),
    reached: new Map(),
  }
}

/** The line with the transaction, as far as it is carried out. */
export const lineNow = ({ making, quote }: Carrying): Line => lineOf(making, quote)

export const modificationOf = ({ making, by }: Carrying): Modification => making.modifications.get(by)!

export function changeModification(carrying: Carrying, change: Partial<Modification>): void {
  carrying.making.modifications.set(carrying.by, { ...modificationOf(carrying), ...change })
}

/** What the fold says that it charges, as far as it is carried out. */
export const chargesNow = (carrying: Carrying): Charge[] =>
  chargesOf(inReach(carrying), modificationOf(carrying))

export function isInTerm({ transaction: { term } }: Carrying, at: Instant): boolean {
  return term.startTime <= at && at < term.endTime
}

/** From its time to the end of its term, in milliseconds. */
export const lengthOf = ({ transaction: { term, from } }: Carrying): number => term.endTime - from

/** The element's key in what is known of the term. */
export const keyOfElement = ({ transaction }: Carrying, id: string): string =>
  keyInTerm(transaction.termAt, id)

export const idsOfPerils = ({ known }: Carrying): Map<Uuid, string> =>
  new Map([...known.perils].map(([key, locator]) => [locator, idOf(key)]))

/** The runs of an element in the transaction's term that are in its reach. */
export function runsOf(carrying: Carrying, id: string): PerilRun[] {
  const peril = carrying.known.perils.get(keyOfElement(carrying, id))
  const runs = peril === undefined ? undefined : carrying.reached.get(peril)
  return (runs ?? []).map(run => carrying.making.perilRuns.get(run)!)
}

/** The last run that was made of an element in the transaction's term. */
export function lastRunOf({ making, known, transaction }: Carrying, id: string): PerilRun {
  const peril = known.perils.get(keyInTerm(transaction.termAt, id))!
  return making.perilRuns.get(known.reach.lastOf.get(peril)!)!
}

/** What a modification left of a piece before its time. */
export const keptOf = (pieces: readonly Piece[], { segment, start }: Piece, by: Uuid): Piece | undefined =>
  pieces.find(one => one.madeBy === by && one.segment.predecessor === segment.locator && one.start === start)

export const totalOf = (list: readonly { amount: Money }[], currency: Money['currency']): Money =>
  sum(
    list.map(one => one.amount),
    currency,
  )
