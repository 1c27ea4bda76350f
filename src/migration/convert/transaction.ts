// What a migrated transaction does to the policy in the making: the same records that a live one leaves, so that whatever
// comes after it finds a policy like any other.
//
// What it says that it charges is the difference that it makes. Elements that it changes are cut at its time, and new runs
// take their place: a new run costs what lay there of the old one, by the fold's own share, and the difference. What it
// ends without a successor keeps what the difference leaves of it, as a split that was told (aggregate.ts, RunSplit), or
// where nothing of it lies before its time, as a holdback. So what the fold says that it charges is what was said, to the
// cent, and stays so whatever is done to the policy later.
//
// A gap ends segments and cuts no run, as a cancellation does; the very same coverage after it brings back what it ended, and any
// other has new runs.
import { chargesOf } from '../../billing/bill.ts'
import type { Charge } from '../../billing/charge.ts'
import type { ProductDefinition } from '../../configuration/configuration.ts'
import type {
  CancellationLocator,
  DisplayId,
  EndorsementLocator,
  LocatorSupply,
  Uuid,
} from '../../platform/locators.ts'
import {
  decimal,
  type Money,
  minus,
  negated,
  plus,
  RATE_PLACES,
  sum,
  toDecimal,
  zero,
} from '../../platform/money.ts'
import { earlier, type Instant, later, months, type Span } from '../../platform/time.ts'
import type {
  Exposure,
  ExposureRun,
  Fee,
  Holdback,
  Modification,
  ModificationKind,
  Peril,
  PerilPrice,
  PerilRun,
  PolicyAggregate,
  PolicySegment,
  Quote,
} from '../../policies/aggregate.ts'
import { type Amounts, minusAmounts } from '../../policies/fold/amounts.ts'
import { type FeeInForce, feeInForce } from '../../policies/fold/fees.ts'
import { type Line, lineOf, segmentsInForce } from '../../policies/fold/line.ts'
import { inForce, type Piece, piecesOf } from '../../policies/fold/pieces.ts'
import { premiumChangeOf } from '../../policies/fold/premium.ts'
import { endOfRun } from '../../policies/fold/run-end.ts'
import { standingCancellations } from '../../policies/standing-cancellations.ts'
import type { SaidCharge } from './charges.ts'
import { canonical, type ReadElement } from './elements.ts'
import { type Category, isCancellationName, type ReadTransaction } from './history.ts'
import { changedAmounts, changedPrice, hasOtherRate, hasPlace, keyOf, readKey, withPlace } from './places.ts'
import { shrunk } from './shrunk-fee.ts'

type Writable<T> = T extends ReadonlyMap<infer K, infer V> ? Map<K, V> : never

/** A policy in the making. */
export type Making = {
  policy: PolicyAggregate['policy']
} & { readonly [K in Exclude<keyof PolicyAggregate, 'policy'>]: Writable<PolicyAggregate[K]> }

/** Which records elements are by now. */
export type Known = {
  readonly exposures: Map<string, Uuid>
  /** By term and id: a renewal's perils are others, of the same group. */
  readonly perils: Map<string, Uuid>
  readonly renewalGroups: Map<string, Uuid>
  /** By term and id. */
  readonly runs: Map<string, { locator: Uuid; start: Instant; fingerprint: string }>
}

export const nothingKnown = (): Known => ({
  exposures: new Map(),
  perils: new Map(),
  renewalGroups: new Map(),
  runs: new Map(),
})

/** One thing that is charged, and all charges of the fold that it is made of. */
export type Billed = {
  readonly said: readonly SaidCharge[]
  readonly charges: readonly Charge[]
  readonly name: string
}

export type Carried = { readonly modification: Modification; readonly billed: readonly Billed[] }

const KINDS: Readonly<Record<Category, ModificationKind>> = {
  issuance: 'renewal',
  renewal: 'renewal',
  change: 'endorsement',
  reversal: 'endorsement',
  aggregate: 'endorsement',
  cancellation: 'cancellation',
  reinstatement: 'reinstatement',
}

/** Carries the transaction out. Takes two digits, and one for each exposure and each peril of a term that is new. */
export function carryOut(
  making: Making,
  quote: Quote,
  transaction: ReadTransaction,
  known: Known,
  product: ProductDefinition,
  supply: LocatorSupply,
): Carried {
  return new Carrying(making, quote, transaction, known, product, supply).carryOut()
}

class Carrying {
  readonly #making: Making
  readonly #quote: Quote
  readonly #transaction: ReadTransaction
  readonly #known: Known
  readonly #product: ProductDefinition
  readonly #supply: LocatorSupply
  readonly #before: Line
  readonly #isCreation: boolean
  readonly #by: Uuid
  readonly #made: { madeBy: Uuid; createdAt: Instant; updatedAt: Instant }
  #modification!: Modification
  /** New runs by the ids of their elements. */
  readonly #newRuns = new Map<string, Uuid>()
  /** Fees, as `#keyOf` names them, by what they charge. */
  readonly #feesFor = new Map<string, string>()

  constructor(
    making: Making,
    quote: Quote,
    transaction: ReadTransaction,
    known: Known,
    product: ProductDefinition,
    supply: LocatorSupply,
  ) {
    this.#making = making
    this.#quote = quote
    this.#transaction = transaction
    this.#known = known
    this.#product = product
    this.#supply = supply
    this.#isCreation = making.modifications.size === 0
    this.#before = this.#isCreation ? [] : lineOf(making, quote)
    this.#by = supply.uuid()
    const { issuedTime, createdAt } = transaction.request
    const at = earlier(createdAt ?? issuedTime, issuedTime)
    this.#made = { madeBy: this.#by, createdAt: at, updatedAt: issuedTime }
  }

  carryOut(): Carried {
    const { isGap, tree } = this.#transaction
    const standing = standingCancellations(this.#making).filter(one => this.#isInTerm(one.effectiveAt))
    const { replaced, covered } = this.#replaced()
    const endsGap = !isGap && tree !== undefined && standing.length > 0 && covered < this.#length()
    const kind = this.#kind(endsGap)
    const undone = kind === 'reinstatement' ? standing.findLast(one => this.#isUndone(one)) : undefined
    this.#record(kind, undone ? [undone] : standing)
    if (isGap) this.#cut(replaced, undefined)
    else if (tree && !(undone && this.#restores(undone))) {
      this.#cut(replaced, tree.root)
      this.#cover(covered)
    }
    this.#charge()
    const line = lineOf(this.#making, this.#quote)
    const end = segmentsInForce(line).at(-1)?.end ?? this.#transaction.from
    const policyEnd = this.#isCreation ? this.#transaction.term.endTime : end
    this.#making.policy = { ...this.#making.policy, effectiveEnd: policyEnd }
    this.#put({ ...this.#modification, policyEnd })
    this.#put({ ...this.#modification, premiumChange: this.#premiumChange() })
    return { modification: this.#modification, billed: this.#billed() }
  }

  #isInTerm(at: Instant): boolean {
    const { term } = this.#transaction
    return term.startTime <= at && at < term.endTime
  }

  #length(): number {
    return this.#transaction.term.endTime - this.#transaction.from
  }

  #kind(endsGap: boolean): ModificationKind {
    const { isGap, isFirstOfTerm, category, tree } = this.#transaction
    if (this.#isCreation) return 'creation'
    if (isFirstOfTerm) return 'renewal'
    if (isGap) return 'cancellation'
    if (endsGap) return 'reinstatement'
    const kind = KINDS[category]
    // A reinstatement of what is not cancelled, and what has no segment, change the policy like an endorsement.
    return kind === 'reinstatement' || kind === 'cancellation' || !tree ? 'endorsement' : kind
  }

  #put(modification: Modification): void {
    this.#modification = modification
    this.#making.modifications.set(modification.locator, modification)
  }

  /** The modification, and the record of the transaction that it carries out. */
  #record(kind: ModificationKind, standing: readonly Modification[]): void {
    this.#put(this.#recorded(kind, standing))
  }

  #recorded(kind: ModificationKind, standing: readonly Modification[]): Modification {
    const { request, from, term } = this.#transaction
    const { issuedTime: issuedAt, transactionType } = request
    const making = this.#making
    const dates = { createdAt: this.#made.createdAt, updatedAt: issuedAt, issuedAt }
    const modification: Modification = {
      locator: this.#by,
      kind,
      displayId: this.#supply.digits() as DisplayId,
      number: making.modifications.size,
      name: NAMES[kind] ?? transactionType,
      effectiveAt: from,
      policyEnd: kind === 'renewal' || kind === 'creation' ? term.endTime : making.policy.effectiveEnd,
      ...dates,
      acceptedAt: issuedAt,
    }
    const common = { modificationLocator: this.#by, ...dates }
    if (kind === 'creation') return { ...modification, quoteLocator: this.#quote.locator }
    if (kind === 'cancellation') {
      const locator = this.#supply.digits() as CancellationLocator
      making.cancellations.set(locator, {
        ...common,
        locator,
        name: transactionType,
        state: 'issued',
        effectiveAt: from,
        conflictHandling: 'block',
      })
      return {
        ...modification,
        transactionLocator: String(locator),
        ...(isCancellationName(transactionType, this.#product) && { cancellationName: transactionType }),
      }
    }
    if (kind === 'reinstatement') {
      const own = [...making.cancellations.values()].filter(one =>
        standing.some(cancellation => cancellation.locator === one.modificationLocator),
      )
      const records = own.map(one => ({
        ...common,
        locator: this.#supply.uuid(),
        cancellationLocator: one.locator,
        state: 'issued' as const,
        effectiveAt: from,
      }))
      for (const one of records) making.reinstatements.set(one.locator, one)
      return {
        ...modification,
        transactionLocator: records.at(-1)!.locator,
        undoes: standing.at(-1)!.locator,
      }
    }
    const locator = this.#supply.digits() as EndorsementLocator
    making.endorsements.set(locator, {
      ...common,
      kind: kind === 'renewal' ? 'renewal' : 'endorsement',
      locator,
      name: kind === 'renewal' ? 'renewal' : transactionType,
      state: 'issued',
      startAt: from,
      ...(kind === 'renewal' && { endAt: term.endTime }),
      changes: {},
      basedOn: making.modifications.size,
    })
    return { ...modification, transactionLocator: String(locator) }
  }

  /** Segments of the term that are in force from the transaction's time on, and how much of it they cover. */
  #replaced(): { replaced: PolicySegment[]; covered: number } {
    const { from } = this.#transaction
    const replaced = this.#transaction.isFirstOfTerm
      ? []
      : segmentsInForce(this.#before).filter(one => this.#isInTerm(one.start) && one.end > from)
    return { replaced, covered: replaced.reduce((all, one) => all + one.end - later(one.start, from), 0) }
  }

  /** Segments end at the time; where there is coverage after it, with other data. */
  #cut(replaced: readonly PolicySegment[], root: ReadElement | undefined): void {
    const { from, term } = this.#transaction
    const { segments } = this.#making
    const part = (span: Span, data: PolicySegment['data'], predecessor?: PolicySegment): void => {
      const segment: PolicySegment = {
        ...this.#made,
        ...span,
        locator: this.#supply.uuid(),
        quoteLocator: this.#quote.locator,
        data,
        ...(predecessor && { predecessor: predecessor.locator }),
      }
      segments.set(segment.locator, segment)
    }
    let end = from
    for (const segment of replaced) {
      segments.set(segment.locator, { ...segment, replacedBy: this.#by })
      if (segment.start < from) part({ start: segment.start, end: from }, segment.data, segment)
      if (!root) continue
      const start = later(segment.start, from)
      if (end < start) part({ start: end, end: start }, root.data)
      part({ start, end: segment.end }, root.data, segment)
      end = segment.end
    }
    if (root && end < term.endTime) part({ start: end, end: term.endTime }, root.data)
  }

  /** Whether the coverage that the transaction says is the very one that the cancellation ended. */
  #isUndone(cancellation: Modification): boolean {
    return this.#comingBack(cancellation) !== undefined && this.#isAsBefore(cancellation)
  }

  /**
   * A reinstatement of the very cover that its cancellation ended brings that back, as a live one does: the same segments
   * and runs. Nothing is done where what it charges is not what comes back.
   */
  #restores(cancellation: Modification): boolean {
    const back = this.#comingBack(cancellation)!
    const { segments } = this.#making
    for (const segment of back) segments.set(segment.locator, segment)
    if (this.#chargesWhatComesBack(back)) return true
    for (const { locator } of back) segments.delete(locator)
    return false
  }

  /** Whether what the cancellation ended is the very same elements, each with the same data at the same rate throughout. */
  #isAsBefore(cancellation: Modification): boolean {
    const { tree, from, term } = this.#transaction
    const { exposureRuns, perilRuns, policy } = this.#making
    const covers = new Map<string, number>()
    const isSame = (id: string, { start, end }: Span, test: (element: ReadElement) => boolean): boolean => {
      const element = tree!.elements.get(id)
      covers.set(id, (covers.get(id) ?? 0) + end - later(start, from))
      return element !== undefined && !element.isEnded && test(element)
    }
    const exposureIds = new Map([...this.#known.exposures].map(([id, locator]) => [locator, id]))
    const counted = new Set(this.#making.modifications.keys())
    for (const run of exposureRuns.values()) {
      const span = { start: run.start, end: endOfRun(run, counted) }
      if (run.end !== term.endTime || span.end <= later(from, span.start)) continue
      const data = canonical(run.data)
      if (!isSame(exposureIds.get(run.exposureLocator)!, span, one => canonical(one.data) === data))
        return false
    }
    const ids = this.#idsOfPerils()
    for (const run of perilRuns.values())
      for (const piece of piecesOf(run, this.#before, policy.timeZone)) {
        if (piece.replacedBy !== cancellation.locator || piece.end <= from) continue
        const content = canonical([run.data, run.amounts])
        const isLike = (element: ReadElement): boolean =>
          canonical([element.data, element.amounts]) === content && !hasOtherRate(run.price!, element)
        if (!isSame(ids.get(run.perilLocator)!, piece, isLike)) return false
      }
    const said = [...tree!.elements.values()].filter(one => one.level !== 'policy' && !one.isEnded)
    return said.every(({ id }) => covers.get(id) === term.endTime - from)
  }

  /** The segments that the cancellation ended, from the time on; undefined where they do not reach to the term's end. */
  #comingBack(cancellation: Modification): PolicySegment[] | undefined {
    const { from, term, tree } = this.#transaction
    const segments = [...this.#making.segments.values()]
    const data = canonical(tree!.root.data)
    const lost = segments
      .filter(one => one.replacedBy === cancellation.locator && one.end > from)
      .sort((a, b) => a.start - b.start)
    const back = lost.map((segment): PolicySegment => {
      const kept = segments.find(
        one => one.madeBy === cancellation.locator && one.predecessor === segment.locator,
      )
      return {
        ...segment,
        ...this.#made,
        replacedBy: undefined,
        locator: this.#supply.uuid(),
        start: later(kept?.end ?? segment.start, from),
        predecessor: segment.locator,
      }
    })
    let end = from
    for (const { start, end: next } of back) {
      if (start !== end) return undefined
      end = next
    }
    return end === term.endTime && lost.every(one => canonical(one.data) === data) ? back : undefined
  }

  /** Says of each run what does not come back, where that is another part than the fold's; false where it cannot be said. */
  #chargesWhatComesBack(back: readonly PolicySegment[]): boolean {
    const line = lineOf(this.#making, this.#quote)
    const splits: PerilRun[] = []
    const { timeZone } = this.#making.policy
    for (const [id, amounts] of this.#missing()) {
      const found = this.#runsOf(id)
        .map(run => ({ run, pieces: piecesOf(run, line, timeZone) }))
        .find(({ pieces }) => pieces.some(one => one.madeBy === this.#by && one.segment === back[0]))
      if (!found) return false
      const { run, pieces } = found
      if (amounts.some(({ key }) => !hasPlace(run.price!, readKey(key)))) return false
      const own = pieces.find(one => one.madeBy === this.#by && one.segment === back[0])
      const source = own && pieces.find(one => one.segment.locator === own.segment.predecessor)
      const kept = source && keptOf(pieces, source, source.replacedBy!)
      if (!own?.amounts || !source?.amounts || own.start === (kept?.end ?? source.start)) return false
      const taken = kept?.amounts ? minusAmounts(source.amounts, kept.amounts) : source.amounts
      const before = amounts.reduce(
        (all, { key, by }) => changedAmounts(all, run.price!, readKey(key), negated(by)),
        minusAmounts(taken, own.amounts),
      )
      const told = { by: this.#by, segment: source.segment.locator, at: own.start, before }
      splits.push({ ...run, splits: [...(run.splits ?? []), told] })
    }
    for (const run of splits) this.#making.perilRuns.set(run.locator, run)
    return true
  }

  #key(id: string): string {
    return `${this.#transaction.termAt} ${id}`
  }

  /** Runs of what the transaction says that is covered from its time on. */
  #cover(covered: number): void {
    const { from, term, tree, termAt } = this.#transaction
    const { exposureRuns, perilRuns } = this.#making
    const { runs } = this.#known
    const span = { start: from, end: term.endTime }
    // Across a gap no run of a peril goes on: what ended there has ended.
    const isWhole = covered === this.#length()
    const end = (key: string): void => {
      runs.delete(key)
      this.#end(idOf(key))
    }
    for (const element of tree!.elements.values()) {
      if (element.level === 'policy' || element.isEnded) continue
      const key = this.#key(element.id)
      const was = runs.get(key)
      if (
        was?.fingerprint === element.fingerprint &&
        (element.level === 'exposure' || (isWhole && !this.#isRepriced(was.locator, element))) &&
        (was.start <= from || this.#isSameThroughout(element))
      )
        continue
      end(key)
      const locator = this.#supply.uuid()
      const run = { ...this.#made, ...span, locator, data: element.data, cuts: [] }
      if (element.level === 'exposure')
        exposureRuns.set(locator, { ...run, exposureLocator: this.#exposure(element) } satisfies ExposureRun)
      else {
        perilRuns.set(locator, {
          ...run,
          perilLocator: this.#peril(element),
          amounts: element.amounts,
          price: this.#unpriced(element, was?.locator),
        } satisfies PerilRun)
        this.#newRuns.set(element.id, locator)
      }
      runs.set(key, { locator, start: from, fingerprint: element.fingerprint })
    }
    // All that the term ever had: an earlier run may still hold up to a later change.
    const ids = [...this.#known.perils.keys()].filter(key => key.startsWith(`${termAt} `)).map(idOf)
    for (const id of new Set([...this.#known.exposures.keys(), ...ids]))
      if (tree!.elements.get(id)?.isEnded ?? true) end(this.#key(id))
  }

  /** Cuts what of the element is in force from the transaction's time on: of several runs those that a change put there. */
  #end(id: string): void {
    const { from, term } = this.#transaction
    const { exposureRuns, perilRuns, policy } = this.#making
    const cut = { by: this.#by, from }
    const exposure = this.#known.exposures.get(id)
    if (exposure) {
      const counted = new Set(this.#making.modifications.keys())
      for (const run of exposureRuns.values())
        if (run.exposureLocator === exposure && run.end === term.endTime && endOfRun(run, counted) > from)
          exposureRuns.set(run.locator, { ...run, cuts: [...run.cuts, cut] })
      return
    }
    for (const run of this.#runsOf(id)) {
      if (this.#newRuns.get(id) === run.locator) continue
      const pieces = inForce(piecesOf(run, this.#before, policy.timeZone))
      if (pieces.some(piece => piece.end > from))
        perilRuns.set(run.locator, { ...run, cuts: [...run.cuts, cut] })
    }
  }

  /** Whether all that is in force of the element from the time on, put there by several changes, is what is said of it. */
  #isSameThroughout({ id, level, data, amounts }: ReadElement): boolean {
    const { from, term } = this.#transaction
    const { exposureRuns, policy } = this.#making
    let covered = 0
    const isSame = ({ start, end }: Span, own: unknown, other: unknown): boolean => {
      if (end <= from) return true
      covered += end - later(start, from)
      return canonical(own) === canonical(other)
    }
    if (level === 'exposure') {
      const counted = new Set(this.#before.map(step => step.modification.locator))
      const exposure = this.#known.exposures.get(id)
      for (const run of exposureRuns.values()) {
        const span = { start: run.start, end: endOfRun(run, counted) }
        if (run.exposureLocator !== exposure || run.end !== term.endTime || span.end <= span.start) continue
        if (!isSame(span, run.data, data)) return false
      }
    } else
      for (const run of this.#runsOf(id))
        for (const piece of inForce(piecesOf(run, this.#before, policy.timeZone)))
          if (!isSame(piece, [run.data, run.amounts], [data, amounts])) return false
    return covered === term.endTime - from
  }

  /** Whether it charges anything for the element, or says another rate of it. */
  #isRepriced(run: Uuid, { charges }: ReadElement): boolean {
    const price = this.#making.perilRuns.get(run)!.price!
    return charges.some(({ kind, amount, items, month }) => {
      if (kind === 'fee') return false
      if (items.some(item => item.amount.minor !== 0)) return true
      if (kind === 'premium') return month !== undefined && !decimal(month).eq(price.premium.month)
      if (kind !== 'technicalPremium') return false
      return month === undefined
        ? amount.minor !== 0
        : price.technicalPremium === undefined || !decimal(month).eq(price.technicalPremium.month)
    })
  }

  #exposure({ id, type }: ReadElement): Uuid {
    const found = this.#known.exposures.get(id)
    if (found) return found
    const { createdAt, updatedAt } = this.#made
    const exposure: Exposure = {
      locator: this.#supply.uuid(),
      displayId: this.#supply.digits() as DisplayId,
      quoteLocator: this.#quote.locator,
      name: type,
      ...{ createdAt, updatedAt },
    }
    this.#making.exposures.set(exposure.locator, exposure)
    this.#known.exposures.set(id, exposure.locator)
    return exposure.locator
  }

  #peril(element: ReadElement): Uuid {
    const { perils, renewalGroups, exposures } = this.#known
    const key = this.#key(element.id)
    const found = perils.get(key)
    if (found) return found
    const { createdAt, updatedAt } = this.#made
    const locator = this.#supply.uuid()
    const peril: Peril = {
      locator,
      displayId: this.#supply.digits() as DisplayId,
      exposureLocator: exposures.get(element.exposureId)!,
      name: element.type,
      renewalGroup: renewalGroups.get(element.id) ?? locator,
      ...{ createdAt, updatedAt },
    }
    this.#making.perils.set(locator, peril)
    perils.set(key, locator)
    renewalGroups.set(element.id, peril.renewalGroup)
    return locator
  }

  /** A price of nothing that has a place for all that is charged of the element. */
  #unpriced({ charges }: ReadElement, was: Uuid | undefined): PerilPrice {
    const none = zero(this.#making.policy.currency)
    const old = was && this.#making.perilRuns.get(was)!.price
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

  #modificationCharges(): Charge[] {
    return chargesOf(this.#making, this.#modification)
  }

  /** The element and the kind and name that a charge of the fold is of. */
  #keyOf(charge: Charge, ids: ReadonlyMap<Uuid, string>): string {
    if ('feeLocator' in charge) return `fee ${charge.feeLocator}`
    const id = ids.get(charge.perilLocator)!
    if ('commissionRecipient' in charge) return keyOf(id, 'commission', charge.commissionRecipient)
    if ('taxName' in charge && charge.taxName !== undefined) return keyOf(id, 'tax', charge.taxName)
    return keyOf(id, 'premium', '')
  }

  #idsOfPerils(): Map<Uuid, string> {
    return new Map([...this.#known.perils].map(([key, locator]) => [locator, idOf(key)]))
  }

  /** Makes what the fold says that it charges what was said. */
  #charge(): void {
    const { currency } = this.#making.policy
    const elements = [...(this.#transaction.tree?.elements.values() ?? [])]
    for (const element of elements)
      for (const [name, fees] of Map.groupBy(
        element.charges.filter(one => one.kind === 'fee'),
        one => one.name,
      ))
        this.#asFee(keyOf(element.id, 'fee', name), name, total(fees, currency))
    if (this.#transaction.isGap) this.#endFees()
    this.#technicalPremiums()
    for (const [id, amounts] of this.#missing()) {
      const run = this.#newRuns.get(id)
      if (run) this.#price(run, amounts)
      else this.#keep(id, amounts)
    }
    for (const [id, run] of this.#newRuns) this.#rate(run, this.#transaction.tree!.elements.get(id)!)
  }

  /** By element, how much more it is said to charge of each thing than the fold says. */
  #missing(): Map<string, { key: string; by: Money }[]> {
    const { currency } = this.#making.policy
    const elements = [...(this.#transaction.tree?.elements.values() ?? [])]
    const said = new Map<string, { element: ReadElement; charge: SaidCharge; amount: Money }>()
    for (const element of elements)
      for (const charge of element.charges) {
        if (charge.kind === 'fee' || charge.kind === 'technicalPremium') continue
        const key = keyOf(element.id, charge.kind, charge.name)
        const amount = plus(said.get(key)?.amount ?? zero(currency), charge.amount)
        said.set(key, { element, charge, amount })
      }
    const ids = this.#idsOfPerils()
    const net = new Map<string, Money>()
    for (const charge of this.#modificationCharges()) {
      if ('feeLocator' in charge) continue
      const key = this.#keyOf(charge, ids)
      net.set(key, plus(net.get(key) ?? zero(currency), charge.amount))
    }
    const missing = new Map<string, { key: string; by: Money }[]>()
    for (const key of new Set([...said.keys(), ...net.keys()])) {
      const by = minus(said.get(key)?.amount ?? zero(currency), net.get(key) ?? zero(currency))
      if (by.minor === 0) continue
      const { id } = readKey(key)
      missing.set(id, [...(missing.get(id) ?? []), { key, by }])
    }
    return missing
  }

  #price(locator: Uuid, amounts: readonly { key: string; by: Money }[]): void {
    const run = this.#making.perilRuns.get(locator)!
    const price = amounts.reduce((all, { key, by }) => changedPrice(all, readKey(key), by), run.price!)
    this.#making.perilRuns.set(locator, { ...run, price })
  }

  /** Rates a month that nothing was said of: what the amount is of the months. */
  #rate(locator: Uuid, { charges }: ReadElement): void {
    const run = this.#making.perilRuns.get(locator)!
    const count = months(run.start, run.end, this.#making.policy.timeZone)
    const rated = <R extends { month: string; amount: Money }>(one: R): R =>
      one.month !== ''
        ? one
        : {
            ...one,
            month: count.eq(0) ? '0' : toDecimal(one.amount).div(count).round(RATE_PLACES, 1).toFixed(),
          }
    const price = run.price!
    this.#making.perilRuns.set(locator, {
      ...run,
      price: {
        ...price,
        premium: rated(price.premium),
        // A tax that was charged before, and of which nothing is left or said.
        taxes: price.taxes.filter(
          tax => tax.amount.minor !== 0 || charges.some(one => one.kind === 'tax' && one.name === tax.name),
        ),
        ...(price.technicalPremium && { technicalPremium: rated(price.technicalPremium) }),
        commissions: price.commissions.map(rated),
      },
    })
  }

  /** A technical premium is charged of nobody: said as items it is a difference, as a rate the new run's own. */
  #technicalPremiums(): void {
    const line = lineOf(this.#making, this.#quote)
    const { currency, timeZone } = this.#making.policy
    for (const [id, locator] of this.#newRuns) {
      const run = this.#making.perilRuns.get(locator)!
      if (!run.price?.technicalPremium) continue
      const said = this.#transaction
        .tree!.elements.get(id)!
        .charges.filter(one => one.kind === 'technicalPremium')
      const isWhole = said.length > 0 && said.every(one => one.items.length === 0)
      let gone = zero(currency)
      if (!isWhole)
        for (const piece of this.#runsOf(id).flatMap(one =>
          one.locator === locator ? [] : piecesOf(one, line, timeZone),
        )) {
          const amount = piece.amounts?.technicalPremium
          if (!amount) continue
          if (piece.replacedBy === this.#by) gone = plus(gone, amount)
          else if (piece.madeBy === this.#by) gone = minus(gone, amount)
        }
      const technicalPremium = { ...run.price.technicalPremium, amount: plus(gone, total(said, currency)) }
      this.#making.perilRuns.set(locator, { ...run, price: { ...run.price, technicalPremium } })
    }
  }

  /** The runs of an element in the transaction's term. */
  #runsOf(id: string): PerilRun[] {
    const peril = this.#known.perils.get(this.#key(id))
    return [...this.#making.perilRuns.values()].filter(run => run.perilLocator === peril)
  }

  /**
   * What ends without a successor keeps so much more of what it cost: before the time, if any of it lies there; else it is
   * held back.
   */
  #keep(id: string, amounts: readonly { key: string; by: Money }[]): void {
    const { perilRuns } = this.#making
    const target = this.#split(id)?.run ?? this.#runsOf(id).at(-1)!
    const price = amounts.map(({ key }) => readKey(key)).reduce(withPlace, target.price!)
    perilRuns.set(target.locator, { ...target, price })
    const split = this.#split(id)
    if (split) {
      const { run, gone, kept } = split
      const before = amounts.reduce((all, { key, by }) => changedAmounts(all, price, readKey(key), by), kept)
      const told = { by: this.#by, segment: gone.segment.locator, at: this.#transaction.from, before }
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
    this.#put({ ...this.#modification, holdbacks: [...(this.#modification.holdbacks ?? []), ...held] })
  }

  /** The run of the element of which something lies before the time and something after it, with what is left of it. */
  #split(id: string): { run: PerilRun; gone: Piece; kept: Amounts } | undefined {
    const line = lineOf(this.#making, this.#quote)
    const { from } = this.#transaction
    for (const run of this.#runsOf(id)) {
      const pieces = piecesOf(run, line, this.#making.policy.timeZone)
      const gone = pieces.find(one => one.replacedBy === this.#by && one.start < from && from < one.end)
      const kept = gone && keptOf(pieces, gone, this.#by)?.amounts
      if (kept) return { run, gone, kept }
    }
    return undefined
  }

  #asFee(key: string, name: string, amount: Money): void {
    const fee = this.#fee(name, amount)
    if (fee) this.#feesFor.set(key, `fee ${fee}`)
  }

  /** The fee that is charged; one that is given back shrinks a fee of that name in the term, if there is so much of it. */
  #fee(name: string, amount: Money): Uuid | undefined {
    if (amount.minor === 0) return undefined
    const { fees } = this.#making
    const { from, term } = this.#transaction
    const taken = this.#feeTakenBack(name, amount)
    if (taken) return taken
    const known = amount.minor < 0 ? this.#feeOf(name, negated(amount)) : undefined
    if (known) {
      const { fee, parts } = known
      const change = { by: this.#by, ...shrunk(parts, negated(amount), from, this.#transaction.isGap) }
      fees.set(fee.locator, { ...fee, changes: [...fee.changes, change] })
      return fee.locator
    }
    const fee: Fee = {
      locator: this.#supply.uuid(),
      quoteLocator: this.#quote.locator,
      name,
      description: this.#product.fees.find(one => one.name === name)?.displayName ?? name,
      amount,
      madeBy: this.#by,
      start: from,
      end: term.endTime,
      changes: [],
    }
    fees.set(fee.locator, fee)
    return fee.locator
  }

  /** Of fees of which nothing is said to be given back, what is left lies before the time, but for those that are never split. */
  #endFees(): void {
    const { fees } = this.#making
    const { from } = this.#transaction
    const line = lineOf(this.#making, this.#quote)
    for (const fee of [...fees.values()]) {
      const isFlat = this.#product.fees.find(one => one.name === fee.name)?.proration === 'flat'
      if (!this.#isInTerm(fee.start) || fee.changes.some(change => change.by === this.#by)) continue
      if (isFlat && fee.start < from) continue
      const { parts } = feeInForce(fee, line)
      const change = shrunk(parts, zero(fee.amount.currency), from, true)
      if (change.removed.length > 0)
        fees.set(fee.locator, { ...fee, changes: [...fee.changes, { by: this.#by, ...change }] })
    }
  }

  /** A reinstatement brings back a fee that its cancellation took, if it took so much of it. */
  #feeTakenBack(name: string, amount: Money): Uuid | undefined {
    if (this.#modification.kind !== 'reinstatement' || amount.minor < 0) return undefined
    const undone = new Set(
      [...this.#making.reinstatements.values()].flatMap(one =>
        one.modificationLocator === this.#by
          ? [this.#making.cancellations.get(one.cancellationLocator)!.modificationLocator]
          : [],
      ),
    )
    const line = lineOf(this.#making, this.#quote)
    for (const fee of this.#making.fees.values()) {
      const removed = fee.changes.find(change => undone.has(change.by))?.removed ?? []
      if (fee.name !== name || total(removed, amount.currency).minor < amount.minor) continue
      if (fee.changes.some(change => change.by === this.#by)) continue
      const { from } = this.#transaction
      const { start, end } = removed[0]!
      const back = { start: later(start, from), end, amount }
      const parts = [...feeInForce(fee, line).parts, back].sort((a, b) => a.start - b.start)
      this.#making.fees.set(fee.locator, {
        ...fee,
        changes: [...fee.changes, { by: this.#by, parts, removed: [] }],
      })
      return fee.locator
    }
    return undefined
  }

  #feeOf(name: string, least: Money): FeeInForce | undefined {
    if (this.#isCreation) return undefined
    const line = lineOf(this.#making, this.#quote)
    return [...this.#making.fees.values()]
      .filter(
        fee =>
          fee.name === name &&
          fee.madeBy !== this.#by &&
          this.#isInTerm(fee.start) &&
          !fee.changes.some(change => change.by === this.#by),
      )
      .map(fee => feeInForce(fee, line))
      .findLast(({ amount }) => amount.minor >= least.minor)
  }

  #premiumChange(): Money {
    const { currency } = this.#making.policy
    if (!this.#isCreation) return premiumChangeOf(this.#making, this.#quote, this.#modification)
    return sum(
      [...this.#making.perilRuns.values()].map(run => run.price!.premium.amount),
      currency,
    )
  }

  /** What it charges, thing by thing. */
  #billed(): Billed[] {
    const ids = this.#idsOfPerils()
    const charges = Map.groupBy(this.#modificationCharges(), charge => this.#keyOf(charge, ids))
    const said = new Map<string, SaidCharge[]>()
    for (const element of this.#transaction.tree?.elements.values() ?? [])
      for (const charge of element.charges) {
        if (charge.kind === 'technicalPremium') continue
        const own = keyOf(element.id, charge.kind, charge.name)
        const key = this.#feesFor.get(own) ?? own
        said.set(key, [...(said.get(key) ?? []), charge])
      }
    const { currency } = this.#making.policy
    return [...new Set([...charges.keys(), ...said.keys()])].map(key => {
      const one = { said: said.get(key) ?? [], charges: charges.get(key) ?? [] }
      if (total(one.said, currency).minor !== total(one.charges, currency).minor)
        throw new Error(`${this.#transaction.path} does not charge of '${key}' what it says.`)
      return { ...one, name: one.said[0]?.name || 'premium' }
    })
  }
}

/** Names of what is no endorsement: of that, its type. */
const NAMES: Partial<Readonly<Record<ModificationKind, string>>> = {
  creation: 'modification.policy.create',
  renewal: 'modification.policy.renew',
  cancellation: 'modification.policy.cancel',
  reinstatement: 'modification.policy.reinstate',
}

/** The element's id in a key of `Known`. */
const idOf = (key: string): string => key.slice(key.indexOf(' ') + 1)

/** What a modification left of a piece before its time. */
const keptOf = (pieces: readonly Piece[], { segment, start }: Piece, by: Uuid): Piece | undefined =>
  pieces.find(one => one.madeBy === by && one.segment.predecessor === segment.locator && one.start === start)

const total = (list: readonly { amount: Money }[], currency: Money['currency']): Money =>
  sum(
    list.map(one => one.amount),
    currency,
  )
