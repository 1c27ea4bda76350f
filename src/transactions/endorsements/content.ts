// The content of a policy under an endorsement. Runs are never changed in place: a run is cut at the endorsement's time and a new
// one continues it, so that an invalidation or a reinstatement restores the old content exactly.

import type { LocatorSupply, Uuid } from '../../kernel/locators.ts'
import { earlier, type Instant, later, type Span } from '../../kernel/time.ts'
import {
  type AddedPeril,
  type AdditionContext,
  addedExposure,
  addedPeril,
  updatePerilAmounts,
} from '../../policy/draft/additions.ts'
import { addFieldErrors, applyFieldChanges } from '../../policy/draft/changes.ts'
import type { ReportedProblems } from '../../policy/draft/draft.ts'
import { endOfRun, type Line } from '../../policy/fold/line.ts'
import { type Piece, piecesInForce, piecesOf } from '../../policy/fold/pieces.ts'
import type { Prorated } from '../../policy/fold/shares.ts'
import {
  type Cut,
  type Exposure,
  type ExposureRun,
  type Modification,
  type Peril,
  type PerilRun,
  type PolicyAggregate,
  type PolicySegment,
  putRecords,
  type Quote,
  recordsOfExposure,
} from '../../policy/records/aggregate.ts'
import type {
  EndorsedExposure,
  EndorsementChanges,
  ExposureCreate,
  PerilUpdate,
} from '../../policy/records/transactions.ts'
import type { PerilDefinition, ProductDefinition } from '../../product/configuration.ts'
import {
  changesOfStretch,
  type FieldChanges,
  type FieldData,
  type GroupsOverTime,
  groupsOverTime,
} from '../../product/fields/groups.ts'
import { fieldErrors } from '../../product/fields/values.ts'
import { mergeUpdates } from './joined-changes.ts'
import { extendPrice, proratePrice, type Repricing } from './repricing.ts'

export type EndorsementContext = {
  product: ProductDefinition
  now: Instant
  supply: LocatorSupply
  /** The plugin's answer for the amounts that are split. */
  prorated?: Prorated
}

/** The end of coverage before and after the endorsement. Equal if the policy's end does not change. */
export type Ends = { readonly old: Instant; readonly new: Instant }

/**
 * The rest of a run in force at the endorsement's time or later. Its pieces in the new segments have the unchanged price. There
 * are none if the policy now ends before them.
 */
type Continuation = { readonly end: Instant; readonly pieces: readonly Piece[] }

/** The request's changes of one peril, and whether its exposure changes. */
type PerilChange = { update?: PerilUpdate; ended: boolean; exposureChanged: boolean }

export class EndorsedContent {
  readonly reported: ReportedProblems = { byOwner: new Map(), strays: [], added: new Map(), names: new Map() }
  readonly #before: PolicyAggregate
  readonly #quote: Quote
  readonly #line: Line
  readonly #modification: Modification
  readonly #ends: Ends
  readonly #context: EndorsementContext
  readonly #counted: ReadonlySet<Uuid>
  readonly #exposures: Exposure[] = []
  readonly #perils: Peril[] = []
  readonly #exposureRuns: ExposureRun[] = []
  readonly #perilRuns: PerilRun[] = []
  /** The covered spans from the endorsement's time on. The gaps between them were cancelled. */
  #covered: readonly Span[] = []
  /** The runs in force at the endorsement's time or later, by run. */
  #continuations: ReadonlyMap<PerilRun, Continuation> = new Map()
  /** The perils that have one of these runs. */
  #covers: ReadonlySet<Uuid> = new Set()
  /** Field groups of perils from the endorsement's time on, by renewal group. Read when a peril is changed. */
  #perilGroups: ReadonlyMap<Uuid | undefined, GroupsOverTime> | undefined
  /** Locators of added groups, the same in every segment. */
  readonly #groups = new Map<string, Uuid[]>()
  #policyChanged = false

  constructor(
    before: PolicyAggregate,
    quote: Quote,
    line: Line,
    modification: Modification,
    ends: Ends,
    context: EndorsementContext,
  ) {
    this.#before = before
    this.#quote = quote
    this.#line = line
    this.#modification = modification
    this.#ends = ends
    this.#context = context
    this.#counted = new Set(line.map(step => step.modification.locator))
  }

  /** Returns the segment's data after the changes. `groups` are those of all segments that the changes reach. */
  policyData(segment: PolicySegment, changes: FieldChanges, groups: GroupsOverTime): FieldData {
    const { fields } = this.#context.product
    const changesHere = changesOfStretch(changes, segment.data, groups)
    const data = this.#changed('policy', this.#modification.locator, fields, segment.data, changesHere)
    if (data !== segment.data) this.#policyChanged = true
    return data
  }

  /** Cuts and creates runs. `segments` are the policy's from the endorsement's time on. */
  change(changes: EndorsementChanges, segments: readonly PolicySegment[], repricing: Repricing): void {
    this.#covered = stretchesOf(segments)
    this.#continuations = this.#findContinuations(segments)
    this.#covers = new Set([...this.#continuations.keys()].map(run => run.perilLocator))
    const perilChanges = new Map<string, PerilChange>()
    const ended = new Set(changes.endExposures ?? [])
    for (const locator of ended)
      if (!this.#exposure(locator))
        this.#reportUnknownExposure(locator, changes.endExposures!.indexOf(locator))
    for (const { update, index } of mergeUpdates(changes.updateExposures ?? []))
      if (!ended.has(update.exposureLocator)) this.#updateExposure(update, index, perilChanges, segments)
    for (const locator of ended) this.#endExposure(locator)
    this.#moveExposureEnds()
    for (const [run, continuation] of this.#continuations) {
      const known = this.#definitionOf(run)
      if (!known) continue
      const change = perilChanges.get(run.perilLocator)
      const isEnded = ended.has(known.exposure) || change?.ended === true
      if (isEnded || continuation.pieces.length === 0) this.#perilRuns.push(this.#cut(run))
      else this.#continue(run, continuation, known.definition, change, repricing)
    }
    for (const [index, creation] of (changes.addExposures ?? []).entries())
      this.#addExposure(creation, index, segments)
  }

  records(): Pick<PolicyAggregate, 'exposures' | 'exposureRuns' | 'perils' | 'perilRuns'> {
    return {
      exposures: putRecords(this.#before.exposures, this.#exposures),
      exposureRuns: putRecords(this.#before.exposureRuns, this.#exposureRuns),
      perils: putRecords(this.#before.perils, this.#perils),
      perilRuns: putRecords(this.#before.perilRuns, this.#perilRuns),
    }
  }

  #updateExposure(
    update: EndorsedExposure,
    index: number,
    perilChanges: Map<string, PerilChange>,
    segments: readonly PolicySegment[],
  ): void {
    const exposure = this.#exposure(update.exposureLocator)
    const definition = exposure && this.#context.product.exposures.find(({ name }) => name === exposure.name)
    if (!exposure || !definition) {
      this.#reportUnknownExposure(update.exposureLocator, index)
      return
    }
    let exposureChanged = false
    const runs = this.#runsOf(exposure)
    const groups = groupsOverTime(runs.map(run => run.data))
    for (const run of runs) {
      const here = changesOfStretch(update, run.data, groups)
      const data = this.#changed(exposure.locator, exposure.locator, definition.fields, run.data, here)
      if (data === run.data) continue
      exposureChanged = true
      this.#replaceExposure(run, data)
    }
    this.#collectPerilChanges(exposure, update, index, exposureChanged, perilChanges)
    // The exposure may end before the policy does.
    const spans = this.#runsOf(exposure).flatMap(run =>
      partsWithin(segments, this.#continuedSpan(this.#remaining(run)!)).map(({ part }) => part),
    )
    for (const creation of update.addPerils ?? []) {
      const added = addedPeril(exposure, definition, creation, index, this.#additionContext())
      if (added) this.#addPeril(added, spans)
    }
  }

  #endExposure(locator: string): void {
    const exposure = this.#exposure(locator)
    for (const run of exposure ? this.#runsOf(exposure) : []) this.#replaceExposure(run, undefined)
  }

  /** The locator of the peril's exposure and the product's definition of the peril. Undefined if it no longer has one. */
  #definitionOf({ perilLocator }: PerilRun): { exposure: string; definition: PerilDefinition } | undefined {
    const peril = this.#before.perils.get(perilLocator)
    const exposure = peril && this.#before.exposures.get(peril.exposureLocator)
    const definition = this.#context.product.exposures
      .find(({ name }) => name === exposure?.name)
      ?.perils.find(({ name }) => name === peril?.name)
    return exposure && definition && { exposure: exposure.locator, definition }
  }

  /** Collects changes of perils. A change also applies to the perils that renew its peril, unless the request names those. */
  #collectPerilChanges(
    exposure: Exposure,
    update: EndorsedExposure,
    index: number,
    exposureChanged: boolean,
    perilChanges: Map<string, PerilChange>,
  ): void {
    const { perils: all } = this.#before
    const perils = recordsOfExposure(all, exposure.locator).toSorted((a, b) => a.displayId - b.displayId)
    const known = new Set<string>(perils.map(one => one.locator).filter(one => this.#covers.has(one)))
    const updates = new Map((update.updatePerils ?? []).map(change => [change.perilLocator, change]))
    const ends = new Set(update.endPerils ?? [])
    for (const locator of [...updates.keys(), ...ends])
      if (!known.has(locator)) this.#reportUnknownPeril(exposure, locator, index)
    for (const { locator, renewalGroup, displayId } of perils) {
      const named = perils.findLast(
        peril =>
          peril.renewalGroup === renewalGroup &&
          peril.displayId <= displayId &&
          (updates.has(peril.locator) || ends.has(peril.locator)),
      )
      perilChanges.set(locator, {
        exposureChanged,
        update: named && updates.get(named.locator),
        ended: named !== undefined && ends.has(named.locator),
      })
    }
  }

  /**
   * Cuts exposures that the request does not name at an earlier policy end, so that later transactions find the policy as it now
   * ends. Extends them to a later end, from the endorsement's time.
   */
  #moveExposureEnds(): void {
    if (this.#ends.new === this.#ends.old) return
    const cutRuns = new Set(this.#exposureRuns.map(run => run.locator))
    for (const run of this.#before.exposureRuns.values()) {
      const span = this.#remaining(run)
      if (!span || cutRuns.has(run.locator)) continue
      if (span.end > this.#ends.new) this.#exposureRuns.push(this.#cut(run, this.#ends.new))
      else if (this.#extension(span)) this.#replaceExposure(run, run.data)
    }
  }

  /**
   * Ends the run at the endorsement's time and starts one with the new data wherever the policy is covered. A cancelled part
   * keeps its data, which a reinstatement restores (brief 1.6).
   */
  #replaceExposure(run: ExposureRun, data: FieldData | undefined): void {
    const remaining = this.#remaining(run)!
    const span = this.#ends.new === this.#ends.old ? remaining : this.#continuedSpan(remaining)
    this.#exposureRuns.push(this.#cut(run))
    let from = span.start
    const upTo = (end: Instant, content: FieldData | undefined): void => {
      if (end <= from) return
      if (content) this.#exposureRuns.push({ ...run, ...this.#newRun({ start: from, end }), data: content })
      from = end
    }
    for (const stretch of this.#covered) {
      upTo(earlier(stretch.start, span.end), run.data)
      upTo(earlier(stretch.end, span.end), data)
    }
    upTo(span.end, run.data)
  }

  /**
   * Cuts the run at an earlier end of the policy, continues it at its old price, or replaces it by runs to be rated again. At its
   * old price it continues beyond the old end as a separate run, so that an invalidation drops that run whole. That run costs its
   * month rates, or is rated as new if the endorsement rates changes.
   */
  #continue(
    run: PerilRun,
    { end, pieces }: Continuation,
    definition: PerilDefinition,
    change: PerilChange | undefined,
    repricing: Repricing,
  ): void {
    const { timeZone } = this.#before.policy
    const own = change?.update && this.#updatedPeril(run, definition, change.update)
    const changed = own !== undefined || change?.exposureChanged === true || this.#policyChanged
    const rated = repricing === 'all' || (repricing === 'changed' && changed)
    if (rated) {
      this.#perilRuns.push(this.#cut(run))
      for (const piece of pieces)
        this.#perilRuns.push({
          ...run,
          ...this.#newRun(this.#continuedSpan(piece)),
          ...own,
          price: undefined,
        })
      return
    }
    if (own !== undefined) {
      this.#perilRuns.push(this.#cut(run))
      for (const piece of pieces) {
        const span = { start: piece.start, end: piece.end }
        const price = proratePrice(run, piece, timeZone)
        this.#perilRuns.push({ ...run, ...this.#newRun(span), ...own, price })
      }
    } else if (end > this.#ends.new) this.#perilRuns.push(this.#cut(run, this.#ends.new))
    const more = this.#extension({ start: run.start, end })
    if (!more) return
    const price = repricing === 'never' ? extendPrice(run, more, timeZone) : undefined
    this.#perilRuns.push({ ...run, ...this.#newRun(more), ...own, price })
  }

  /** Finds the runs in force from the endorsement's time on. A cancelled part is not a piece of a run until it is reinstated. */
  #findContinuations(segments: readonly PolicySegment[]): ReadonlyMap<PerilRun, Continuation> {
    const { timeZone } = this.#before.policy
    const step = { modification: this.#modification, made: segments, replaced: this.#replacedBy(segments) }
    const line = [...this.#line, step]
    const newSegments = new Set(segments.map(segment => segment.locator))
    const continuations = new Map<PerilRun, Continuation>()
    for (const run of this.#before.perilRuns.values()) {
      const end = piecesInForce(piecesOf(run, this.#line, timeZone)).at(-1)?.end
      if (end === undefined || end <= this.#modification.effectiveAt) continue
      const pieces = piecesInForce(piecesOf(run, line, timeZone)).filter(piece =>
        newSegments.has(piece.segment.locator),
      )
      continuations.set(run, { end, pieces })
    }
    return continuations
  }

  /** Returns the segments in force that the new ones continue. */
  #replacedBy(segments: readonly PolicySegment[]): PolicySegment[] {
    const predecessors = new Set(segments.map(segment => segment.predecessor))
    return [...this.#before.segments.values()].filter(segment => predecessors.has(segment.locator))
  }

  #updatedPeril(run: PerilRun, definition: PerilDefinition, update: PerilUpdate) {
    const here = changesOfStretch(update, run.data, this.#groupsOfPeril(run))
    const data = this.#changed(run.perilLocator, run.perilLocator, definition.fields, run.data, here)
    const { amounts, problems } = updatePerilAmounts(run.amounts, update)
    addFieldErrors(this.reported, run.perilLocator, fieldErrors(problems))
    const same =
      problems.length === 0 && data === run.data && JSON.stringify(amounts) === JSON.stringify(run.amounts)
    return same ? undefined : { data, amounts }
  }

  /** Returns the field groups of the peril and of those that renew it. */
  #groupsOfPeril(run: PerilRun): GroupsOverTime {
    const renewalGroupOf = ({ perilLocator }: PerilRun) => this.#before.perils.get(perilLocator)?.renewalGroup
    this.#perilGroups ??= new Map(
      [...Map.groupBy(this.#continuations.keys(), renewalGroupOf)].map(([renewalGroup, runs]) => [
        renewalGroup,
        groupsOverTime(runs.map(one => one.data)),
      ]),
    )
    return this.#perilGroups.get(renewalGroupOf(run)) ?? new Map()
  }

  #addExposure(creation: ExposureCreate, index: number, segments: readonly PolicySegment[]): void {
    const added = addedExposure(creation, index, this.#additionContext())
    if (!added) return
    const { exposure, data, perils } = added
    const span = { start: this.#modification.effectiveAt, end: this.#ends.new }
    this.#exposures.push(exposure)
    this.#exposureRuns.push({ ...this.#newRun(span), exposureLocator: exposure.locator, data })
    for (const peril of perils) this.#addPeril(peril, segments)
  }

  #addPeril({ peril, data, amounts }: AddedPeril, spans: readonly Span[]): void {
    this.#perils.push(peril)
    for (const { start, end } of spans)
      this.#perilRuns.push({ ...this.#newRun({ start, end }), perilLocator: peril.locator, data, amounts })
  }

  #exposure(locator: string): Exposure | undefined {
    const exposure = this.#before.exposures.get(locator as Uuid)
    return exposure && this.#runsOf(exposure).length > 0 ? exposure : undefined
  }

  /** Returns the runs of the exposure that apply where the policy is covered, at the endorsement's time or later. */
  #runsOf(exposure: Exposure): ExposureRun[] {
    return recordsOfExposure(this.#before.exposureRuns, exposure.locator).filter(run => {
      const span = this.#remaining(run)
      return span && this.#covered.some(({ start, end }) => start < span.end && span.start < end)
    })
  }

  /** Returns the run from the endorsement's time on, or undefined when nothing is left of it. */
  #remaining(run: ExposureRun): Span | undefined {
    if (!this.#counted.has(run.madeBy)) return undefined
    const end = endOfRun(run, this.#counted)
    const start = later(run.start, this.#modification.effectiveAt)
    return start < end ? { start, end } : undefined
  }

  /** Returns the rest of a run, up to the policy's end after the endorsement. */
  #continuedSpan(span: Span): Span {
    return { start: span.start, end: this.#extension(span)?.end ?? earlier(span.end, this.#ends.new) }
  }

  /** Returns the span from the policy's old end to a later one, for runs that lasted up to the old one. */
  #extension({ end }: Span): Span | undefined {
    const { old, new: until } = this.#ends
    return end === old && until > old ? { start: old, end: until } : undefined
  }

  #cut<T extends Span & { cuts: readonly Cut[] }>(run: T, at: Instant = this.#modification.effectiveAt): T {
    return { ...run, cuts: [...run.cuts, { by: this.#modification.locator, from: later(run.start, at) }] }
  }

  #newRun(span: Span) {
    const { now, supply } = this.#context
    return {
      ...span,
      locator: supply.uuid(),
      madeBy: this.#modification.locator,
      createdAt: now,
      updatedAt: now,
      replacedBy: undefined,
      cuts: [],
      splits: undefined,
    }
  }

  /**
   * Returns the data after the changes, or the same object when nothing changes, so that callers can compare by identity. Changes
   * with problems also return new data, since only new data is checked and rejected.
   */
  #changed(
    owner: string,
    reportedAs: string,
    fields: PerilDefinition['fields'],
    data: FieldData,
    changes: FieldChanges,
  ): FieldData {
    const locators = this.#groups.get(owner) ?? []
    this.#groups.set(owner, locators)
    let used = 0
    const nextLocator = (): Uuid => {
      locators[used] ??= this.#context.supply.uuid()
      return locators[used++]!
    }
    const { byOwner } = this.reported
    const known = byOwner.get(reportedAs)
    const after = applyFieldChanges(reportedAs, fields, data, changes, this.#additionContext(), nextLocator)
    const hasProblems = byOwner.get(reportedAs) !== known
    return after && (hasProblems || !isSameData(after, data)) ? after : data
  }

  #additionContext(): AdditionContext {
    const { timeZone } = this.#before.policy
    return { ...this.#context, timeZone, quoteLocator: this.#quote.locator, reported: this.reported }
  }

  #reportUnknownExposure(exposureLocator: string, index: number): void {
    const message = `The policy has no exposure '${exposureLocator}' that is covered at that time; send the locator of one of its exposures.`
    this.reported.strays.push({ exposureName: '', exposureLocator, index, message })
  }

  #reportUnknownPeril(
    { name: exposureName, locator: exposureLocator }: Exposure,
    perilName: string,
    index: number,
  ): void {
    const message = `Exposure '${exposureLocator}' has no peril '${perilName}' that is covered at that time; send one of its perils.`
    this.reported.strays.push({ exposureName, exposureLocator, index, perilName, message })
  }
}

/** Merges adjacent segments. Expects them in order of time. */
function stretchesOf(segments: readonly PolicySegment[]): Span[] {
  const stretches: Span[] = []
  for (const { start, end } of segments) {
    const last = stretches.at(-1)
    if (last?.end === start) stretches[stretches.length - 1] = { start: last.start, end }
    else stretches.push({ start, end })
  }
  return stretches
}

/** Compares values and groups in any order. */
const isSameData = (a: FieldData, b: FieldData): boolean =>
  JSON.stringify([
    sortedEntries(a.values),
    a.groups.map(group => ({ ...group, values: sortedEntries(group.values) })),
  ]) ===
  JSON.stringify([
    sortedEntries(b.values),
    b.groups.map(group => ({ ...group, values: sortedEntries(group.values) })),
  ])

const sortedEntries = (values: FieldData['values']) =>
  Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1))

const partsWithin = (
  segments: readonly PolicySegment[],
  span: Span,
): { segment: PolicySegment; part: Span }[] =>
  segments.flatMap(segment => {
    const start = later(segment.start, span.start)
    const end = earlier(segment.end, span.end)
    return start < end ? [{ segment, part: { start, end } }] : []
  })
