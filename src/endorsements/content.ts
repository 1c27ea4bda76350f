// The content of a policy under an endorsement: which runs are cut, and which stand in their place.
import type {
  ExposureDefinition,
  PerilDefinition,
  ProductDefinition,
} from '../configuration/configuration.ts'
import { type FieldErrors, fieldErrors, joinFieldErrors } from '../platform/fields/errors.ts'
import { changeFields, type FieldChanges, type FieldData, NO_FIELD_DATA } from '../platform/fields/groups.ts'
import { normaliseFieldData } from '../platform/fields/normalise.ts'
import type { DisplayId, LocatorSupply, Uuid } from '../platform/locators.ts'
import { earlier, type Instant, later, type Span } from '../platform/time.ts'
import {
  type Cut,
  type Exposure,
  type ExposureRun,
  type Modification,
  type Peril,
  type PerilPrice,
  type PerilRun,
  type PolicyAggregate,
  type PolicySegment,
  type Quote,
  withRecords,
} from '../policies/aggregate.ts'
import { createPerilAmounts, updatePerilAmounts } from '../policies/draft/peril-amounts.ts'
import type { ExposureCreate, PerilCreate, PerilUpdate, ReportedProblems } from '../policies/draft/request.ts'
import type { Line } from '../policies/fold/line.ts'
import { inForce, type Piece, piecesOf } from '../policies/fold/pieces.ts'
import type { EndorsedExposure, EndorsementChanges } from './changes.ts'

export type EndorsementContext = { product: ProductDefinition; now: Instant; supply: LocatorSupply }

/** Whether runs that go on after the endorsement are rated anew: never, if their data changed, or all (brief 2.5). */
export type Repricing = 'never' | 'changed' | 'all'

/** What an endorsement asks of one peril, beside what changes around it. */
type Asked = { update?: PerilUpdate; ended: boolean; exposureChanged: boolean }

export class Content {
  readonly reported: ReportedProblems = { byOwner: new Map(), strays: [], added: new Map() }
  readonly #before: PolicyAggregate
  readonly #quote: Quote
  readonly #line: Line
  readonly #modification: Modification
  readonly #end: Instant
  readonly #context: EndorsementContext
  readonly #counted: ReadonlySet<Uuid>
  readonly #exposures: Exposure[] = []
  readonly #perils: Peril[] = []
  readonly #exposureRuns: ExposureRun[] = []
  readonly #perilRuns: PerilRun[] = []
  /** Stretches that the policy covers from the endorsement's time on; what lies between them was cancelled. */
  #covered: readonly Span[] = []
  /** Perils that are covered then, by locator, with their runs' pieces there as they are without changes. */
  #going: ReadonlyMap<PerilRun, readonly Piece[]> = new Map()
  /** Locators of groups that the request adds: the same in every segment. */
  readonly #groups = new Map<string, Uuid[]>()
  #policyChanged = false

  constructor(
    before: PolicyAggregate,
    quote: Quote,
    line: Line,
    modification: Modification,
    end: Instant,
    context: EndorsementContext,
  ) {
    this.#before = before
    this.#quote = quote
    this.#line = line
    this.#modification = modification
    this.#end = end
    this.#context = context
    this.#counted = new Set(line.map(step => step.modification.locator))
  }

  /** A segment's data with the changes. */
  policyData(segment: PolicySegment, changes: FieldChanges): FieldData {
    const data = this.#changed(
      'policy',
      this.#modification.locator,
      this.#context.product.fields,
      segment.data,
      changes,
    )
    if (data !== segment.data) this.#policyChanged = true
    return data
  }

  /** Cuts and makes runs; `segments` are the policy's from the endorsement's time on. */
  change(changes: EndorsementChanges, segments: readonly PolicySegment[], repricing: Repricing): void {
    const { product } = this.#context
    this.#covered = stretchesOf(segments)
    this.#going = this.#goingOn(segments)
    const asked = new Map<string, Asked>()
    const ended = new Set(changes.endExposures ?? [])
    for (const locator of ended)
      if (!this.#exposure(locator)) this.#stray(locator, changes.endExposures!.indexOf(locator))
    for (const [index, update] of (changes.updateExposures ?? []).entries())
      this.#updateExposure(update, index, asked, segments)
    for (const locator of ended) {
      const exposure = this.#exposure(locator)
      if (exposure) for (const run of this.#runsOf(exposure)) this.#replaceExposure(run, undefined)
    }
    for (const [run, pieces] of this.#going) {
      const peril = this.#before.perils.get(run.perilLocator)
      const exposure = peril && this.#before.exposures.get(peril.exposureLocator)
      if (!peril || !exposure) continue
      const definition = product.exposures
        .find(one => one.name === exposure.name)
        ?.perils.find(one => one.name === peril.name)
      if (!definition) continue
      const isEnded = ended.has(exposure.locator) || asked.get(peril.locator)?.ended === true
      if (isEnded) this.#perilRuns.push(this.#cut(run))
      else this.#continue(run, pieces, definition, asked.get(peril.locator), repricing)
    }
    for (const [index, creation] of (changes.addExposures ?? []).entries())
      this.#addExposure(creation, index, segments)
  }

  records(): Pick<PolicyAggregate, 'exposures' | 'exposureRuns' | 'perils' | 'perilRuns'> {
    return {
      exposures: withRecords(this.#before.exposures, this.#exposures),
      exposureRuns: withRecords(this.#before.exposureRuns, this.#exposureRuns),
      perils: withRecords(this.#before.perils, this.#perils),
      perilRuns: withRecords(this.#before.perilRuns, this.#perilRuns),
    }
  }

  #updateExposure(
    update: EndorsedExposure,
    index: number,
    asked: Map<string, Asked>,
    segments: readonly PolicySegment[],
  ): void {
    const exposure = this.#exposure(update.exposureLocator)
    const definition = exposure && this.#context.product.exposures.find(one => one.name === exposure.name)
    if (!exposure || !definition) {
      this.#stray(update.exposureLocator, index)
      return
    }
    let exposureChanged = false
    const runs = this.#runsOf(exposure).map(run => ({ ...run, ...this.#remaining(run) }))
    for (const run of this.#runsOf(exposure)) {
      const data = this.#changed(exposure.locator, exposure.locator, definition.fields, run.data, update)
      if (data === run.data) continue
      exposureChanged = true
      this.#replaceExposure(run, data)
    }
    const perils = [...this.#before.perils.values()]
      .filter(one => one.exposureLocator === exposure.locator)
      .sort((a, b) => a.displayId - b.displayId)
    const covered = new Set([...this.#going.keys()].map(run => String(run.perilLocator)))
    const known = new Set(perils.map(one => String(one.locator)).filter(locator => covered.has(locator)))
    const updates = new Map((update.updatePerils ?? []).map(one => [one.perilLocator, one]))
    const ends = new Set(update.endPerils ?? [])
    for (const locator of [...updates.keys(), ...ends])
      if (!known.has(locator)) this.#strayPeril(exposure, locator, index, ' that is covered then')
    for (const peril of perils) {
      // What is asked of a peril is asked of those that renew it, unless they are named themselves.
      const named = perils.findLast(
        one =>
          one.renewalGroup === peril.renewalGroup &&
          one.displayId <= peril.displayId &&
          (updates.has(one.locator) || ends.has(one.locator)),
      )
      asked.set(peril.locator, {
        exposureChanged,
        update: named && updates.get(named.locator),
        ended: named !== undefined && ends.has(named.locator),
      })
    }
    // The exposure may begin later than the endorsement, or have ended again.
    const here = segments.filter(({ start }) => runs.some(run => run.start <= start && start < run.end))
    for (const creation of update.addPerils ?? []) this.#addPeril(exposure, definition, creation, index, here)
  }

  /** A run that goes on: untouched, with other data at its old price, or to be rated anew. */
  #continue(
    run: PerilRun,
    pieces: readonly Piece[],
    definition: PerilDefinition,
    asked: Asked | undefined,
    repricing: Repricing,
  ): void {
    const own = asked?.update && this.#updatedPeril(run, definition, asked.update)
    const changed = own !== undefined || asked?.exposureChanged === true || this.#policyChanged
    const rated = repricing === 'all' || (repricing === 'changed' && changed)
    if (!rated && own === undefined) return
    this.#perilRuns.push(this.#cut(run))
    for (const piece of pieces)
      this.#perilRuns.push({
        ...run,
        ...this.#made({ start: piece.start, end: piece.end }),
        ...(own ?? {}),
        price: rated ? undefined : prorated(run.price, piece),
      })
  }

  /**
   * Runs that have pieces in force from the endorsement's time on, with those pieces, cut to the new segments, at
   * what they cost if nothing changes. What a cancellation took from a run is no piece of it, until it is reinstated.
   */
  #goingOn(segments: readonly PolicySegment[]): ReadonlyMap<PerilRun, readonly Piece[]> {
    const step = { modification: this.#modification, made: segments, replaced: this.#replacedBy(segments) }
    const line = [...this.#line, step]
    const here = new Set(segments.map(segment => segment.locator))
    const going = new Map<PerilRun, readonly Piece[]>()
    for (const run of this.#before.perilRuns.values()) {
      const pieces = inForce(piecesOf(run, line, this.#before.policy.timeZone)).filter(piece =>
        here.has(piece.segment.locator),
      )
      if (pieces.length > 0) going.set(run, pieces)
    }
    return going
  }

  /** The segments in force that the new ones continue. */
  #replacedBy(segments: readonly PolicySegment[]): PolicySegment[] {
    const predecessors = new Set(segments.map(segment => segment.predecessor))
    return [...this.#before.segments.values()].filter(segment => predecessors.has(segment.locator))
  }

  #updatedPeril(run: PerilRun, definition: PerilDefinition, update: PerilUpdate) {
    const data = this.#changed(run.perilLocator, run.perilLocator, definition.fields, run.data, update)
    const { amounts, problems } = updatePerilAmounts(run.amounts, update)
    this.#report(run.perilLocator, fieldErrors(problems))
    const same = data === run.data && JSON.stringify(amounts) === JSON.stringify(run.amounts)
    return same ? undefined : { data, amounts }
  }

  #addExposure(creation: ExposureCreate, index: number, segments: readonly PolicySegment[]): void {
    const { product, now, supply } = this.#context
    const definition = product.exposures.find(one => one.name === creation.exposureName)
    if (!definition) {
      const known = product.exposures.map(one => `'${one.name}'`).join(', ')
      this.reported.strays.push({
        exposureName: creation.exposureName,
        index,
        message: `Product '${product.name}' has no exposure '${creation.exposureName}'; it has ${known || 'none'}.`,
      })
      return
    }
    const exposure: Exposure = {
      locator: supply.uuid(),
      displayId: supply.digits() as DisplayId,
      quoteLocator: this.#quote.locator,
      name: definition.name,
      createdAt: now,
      updatedAt: now,
    }
    this.reported.added.set(exposure.locator, index)
    this.#exposures.push(exposure)
    const span = { start: this.#modification.effectiveAt, end: this.#end }
    this.#exposureRuns.push({
      ...this.#made(span),
      exposureLocator: exposure.locator,
      data: this.#created(exposure.locator, definition, creation),
    })
    for (const peril of creation.perils ?? []) this.#addPeril(exposure, definition, peril, index, segments)
  }

  #addPeril(
    exposure: Exposure,
    definition: ExposureDefinition,
    creation: PerilCreate,
    index: number,
    segments: readonly PolicySegment[],
  ): void {
    const { now, supply } = this.#context
    const kind = definition.perils.find(one => one.name === creation.name)
    if (!kind) {
      this.#strayPeril(exposure, creation.name, index)
      return
    }
    const locator = supply.uuid()
    this.#perils.push({
      locator,
      displayId: supply.digits() as DisplayId,
      exposureLocator: exposure.locator,
      name: kind.name,
      renewalGroup: locator,
      createdAt: now,
      updatedAt: now,
    })
    const { amounts, problems } = createPerilAmounts(kind.defaults, creation)
    this.#report(locator, fieldErrors(problems))
    const data = this.#created(locator, kind, creation)
    for (const { start, end } of segments)
      this.#perilRuns.push({ ...this.#made({ start, end }), perilLocator: locator, data, amounts })
  }

  #exposure(locator: string): Exposure | undefined {
    const exposure = this.#before.exposures.get(locator as Uuid)
    return exposure && this.#runsOf(exposure).length > 0 ? exposure : undefined
  }

  /** Runs of the exposure that hold where the policy is covered at the endorsement's time or later. */
  #runsOf(exposure: Exposure): ExposureRun[] {
    return [...this.#before.exposureRuns.values()].filter(run => {
      const span = run.exposureLocator === exposure.locator ? this.#remaining(run) : undefined
      return span !== undefined && this.#covered.some(one => one.start < span.end && span.start < one.end)
    })
  }

  /**
   * The run ends at the endorsement's time; where the policy is covered then, the exposure has the other data, or
   * none. Where it is cancelled it stays as it was: that is what a reinstatement brings back (brief 1.6).
   */
  #replaceExposure(run: ExposureRun, data: FieldData | undefined): void {
    const span = this.#remaining(run)!
    this.#exposureRuns.push(this.#cut(run))
    let from = span.start
    const upTo = (end: Instant, content: FieldData | undefined): void => {
      if (end <= from) return
      if (content) this.#exposureRuns.push({ ...run, ...this.#made({ start: from, end }), data: content })
      from = end
    }
    for (const stretch of this.#covered) {
      upTo(earlier(stretch.start, span.end), run.data)
      upTo(earlier(stretch.end, span.end), data)
    }
    upTo(span.end, run.data)
  }

  /** What is left of a run from the endorsement's time on; undefined when nothing is. */
  #remaining(run: Span & { madeBy: Uuid; cuts: readonly Cut[] }): Span | undefined {
    if (!this.#counted.has(run.madeBy)) return undefined
    const cuts = run.cuts.filter(cut => this.#counted.has(cut.by))
    const end = cuts.reduce((first, cut) => earlier(first, cut.from), run.end)
    const start = later(run.start, this.#modification.effectiveAt)
    return start < end ? { start, end } : undefined
  }

  #cut<T extends Span & { cuts: readonly Cut[] }>(run: T): T {
    const from = later(run.start, this.#modification.effectiveAt)
    return { ...run, cuts: [...run.cuts, { by: this.#modification.locator, from }] }
  }

  #made(span: Span) {
    const { now, supply } = this.#context
    return {
      ...span,
      locator: supply.uuid(),
      madeBy: this.#modification.locator,
      createdAt: now,
      updatedAt: now,
      replacedBy: undefined,
      cuts: [],
    }
  }

  #created(
    owner: string,
    { fields }: Pick<PerilDefinition, 'fields'>,
    creation: Pick<PerilCreate, 'fieldValues' | 'fieldGroups'>,
  ): FieldData {
    const changes = { fieldValues: creation.fieldValues, addFieldGroups: creation.fieldGroups }
    return this.#changed(owner, owner, fields, NO_FIELD_DATA, changes)
  }

  /** The data after the changes, as it is stored; the very same when they leave it as it is. */
  #changed(
    owner: string,
    reportedAs: string,
    fields: PerilDefinition['fields'],
    data: FieldData,
    changes: FieldChanges,
  ): FieldData {
    const silent =
      Object.keys(changes.fieldValues ?? {}).length === 0 &&
      !changes.addFieldGroups?.length &&
      !changes.updateFieldGroups?.length &&
      !changes.removeFieldGroups?.length
    if (silent) return data
    const locators = this.#groups.get(owner) ?? []
    this.#groups.set(owner, locators)
    let used = 0
    const next = (): Uuid => {
      locators[used] ??= this.#context.supply.uuid()
      return locators[used++]!
    }
    const changed = changeFields(data, changes, next)
    this.#report(reportedAs, changed.reported)
    const after = normaliseFieldData(fields, changed.data, this.#before.policy.timeZone)
    return isSameData(after, data) ? data : after
  }

  #report(owner: string, found: FieldErrors): void {
    if (!found.hasErrors) return
    const before = this.reported.byOwner.get(owner)
    this.reported.byOwner.set(owner, before ? joinFieldErrors(before, found) : found)
  }

  #stray(locator: string, index: number): void {
    this.reported.strays.push({
      exposureName: '',
      exposureLocator: locator,
      index,
      message: `The policy has no exposure '${locator}' that is covered then; send the locator of one of its exposures.`,
    })
  }

  #strayPeril(exposure: Exposure, name: string, index: number, more = ''): void {
    this.reported.strays.push({
      exposureName: exposure.name,
      exposureLocator: exposure.locator,
      index,
      perilName: name,
      message: `Exposure '${exposure.locator}' has no peril '${name}'${more}; send one of its perils.`,
    })
  }
}

/** The old price with the amounts of one piece of it. */
const prorated = (price: PerilPrice | undefined, piece: Piece | undefined): PerilPrice | undefined =>
  price &&
  piece?.amounts && {
    premium: { ...price.premium, amount: piece.amounts.premium },
    technicalPremium:
      price.technicalPremium && piece.amounts.technicalPremium
        ? { ...price.technicalPremium, amount: piece.amounts.technicalPremium }
        : undefined,
    taxes: price.taxes.map((tax, at) => ({ ...tax, amount: piece.amounts!.taxes[at]! })),
    commissions: price.commissions.map((one, at) => ({ ...one, amount: piece.amounts!.commissions[at]! })),
  }

/** Segments that follow one another without a gap, as one. They come in the order of time. */
function stretchesOf(segments: readonly PolicySegment[]): Span[] {
  const stretches: Span[] = []
  for (const { start, end } of segments) {
    const last = stretches.at(-1)
    if (last?.end === start) stretches[stretches.length - 1] = { start: last.start, end }
    else stretches.push({ start, end })
  }
  return stretches
}

/** Whether both have the same values and groups, in whatever order the values were said. */
const isSameData = (a: FieldData, b: FieldData): boolean =>
  JSON.stringify([ordered(a.values), a.groups.map(one => ({ ...one, values: ordered(one.values) }))]) ===
  JSON.stringify([ordered(b.values), b.groups.map(one => ({ ...one, values: ordered(one.values) }))])

const ordered = (values: FieldData['values']) =>
  Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1))
