// Applies a request to a draft's content. Nothing here throws: problems are collected by owner, and validation.ts judges them
// together.
import type { LocatorSupply, Uuid } from '../../kernel/locators.ts'
import type { TimeZone } from '../../kernel/time.ts'
import type { ExposureDefinition, ProductDefinition } from '../../product/configuration.ts'
import { changeFields, type FieldChanges, type FieldData } from '../../product/fields/groups.ts'
import type { FieldErrors } from '../../product/fields/values.ts'
import { fieldErrors, joinFieldErrors, normaliseFieldData } from '../../product/fields/values.ts'
import type {
  Exposure,
  ExposureRun,
  Modification,
  Peril,
  PerilRun,
  PolicyAggregate,
  PolicySegment,
  Quote,
} from '../records/aggregate.ts'
import { putRecords, quoteParts } from '../records/aggregate.ts'
import type { DraftChanges, ExposureCreate, ExposureUpdate, PerilUpdate } from '../records/transactions.ts'
import type { AddedPeril, AdditionContext } from './additions.ts'
import { addedExposure, addedPeril, updatePerilAmounts } from './additions.ts'
import type { DraftContext, DraftResult, ReportedProblems } from './draft.ts'

/** Applies removals, then updates of exposures that are not removed, then additions. */
export function changeDraft(
  aggregate: PolicyAggregate,
  quote: Quote,
  changes: DraftChanges,
  context: DraftContext,
): DraftResult {
  const draft = new Draft(aggregate, quote, context)
  draft.changePolicyData(changes)
  draft.removeExposures(changes.removeExposures ?? [])
  const removed = new Set(changes.removeExposures ?? [])
  for (const [index, update] of (changes.updateExposures ?? []).entries())
    if (!removed.has(update.exposureLocator)) draft.updateExposure(update, index)
  for (const [index, creation] of (changes.addExposures ?? []).entries()) draft.addExposure(creation, index)
  return { aggregate: draft.result(), reported: draft.reported }
}

/** A draft while it is changed. Maps are copied once; records are replaced, never mutated. */
class Draft {
  readonly reported: ReportedProblems = { byOwner: new Map(), strays: [], added: new Map(), names: new Map() }
  readonly #before: PolicyAggregate
  readonly #quote: Quote
  readonly #context: AdditionContext
  readonly #modification: Modification
  #segment: PolicySegment
  readonly #exposures: Map<Uuid, Exposure>
  readonly #exposureRuns: Map<Uuid, ExposureRun>
  readonly #perils: Map<Uuid, Peril>
  readonly #perilRuns: Map<Uuid, PerilRun>
  readonly #runOfExposure: Map<string, ExposureRun>
  readonly #runsOfPerils: Map<string, PerilRun>

  constructor(aggregate: PolicyAggregate, quote: Quote, context: DraftContext) {
    const parts = quoteParts(aggregate, quote)
    this.#before = aggregate
    this.#quote = quote
    this.#context = { ...context, quoteLocator: quote.locator, reported: this.reported }
    this.#modification = parts.modification
    this.#segment = parts.segment
    this.#exposures = new Map(aggregate.exposures)
    this.#exposureRuns = new Map(aggregate.exposureRuns)
    this.#perils = new Map(aggregate.perils)
    this.#perilRuns = new Map(aggregate.perilRuns)
    this.#runOfExposure = new Map(parts.exposureRuns.map(run => [run.exposureLocator, run]))
    this.#runsOfPerils = new Map(parts.perilRuns.map(run => [run.perilLocator, run]))
  }

  changePolicyData(changes: FieldChanges): void {
    const { product } = this.#context
    const { locator, data: current } = this.#segment
    const data = applyFieldChanges(locator, product.fields, current, changes, this.#context)
    if (data) this.#segment = { ...this.#segment, data, updatedAt: this.#context.now }
  }

  addExposure(creation: ExposureCreate, index: number): void {
    const added = addedExposure(creation, index, this.#context)
    if (!added) return
    const { exposure, data, perils } = added
    const run: ExposureRun = { ...this.#newRun(), exposureLocator: exposure.locator, data }
    this.#exposures.set(exposure.locator, exposure)
    this.#exposureRuns.set(run.locator, run)
    for (const peril of perils) this.#addPeril(peril)
  }

  updateExposure(update: ExposureUpdate, index: number): void {
    const run = this.#runOfExposure.get(update.exposureLocator)
    const exposure = run && this.#exposures.get(run.exposureLocator)
    const definition = exposure && this.#context.product.exposures.find(one => one.name === exposure.name)
    if (!exposure || !definition) {
      this.#strayExposure(update.exposureLocator, index)
      return
    }
    const data = applyFieldChanges(exposure.locator, definition.fields, run.data, update, this.#context)
    if (data) this.#exposureRuns.set(run.locator, { ...run, data, updatedAt: this.#context.now })
    const removed = new Set(update.removePerils ?? [])
    for (const locator of removed) this.#removePeril(exposure, locator, index)
    for (const peril of update.updatePerils ?? [])
      if (!removed.has(peril.perilLocator)) this.#updatePeril(exposure, definition, peril, index)
    for (const peril of update.addPerils ?? []) {
      const added = addedPeril(exposure, definition, peril, index, this.#context)
      if (added) this.#addPeril(added)
    }
  }

  removeExposures(locators: readonly string[]): void {
    const removed = new Set<string>()
    for (const [index, locator] of locators.entries()) {
      const run = this.#runOfExposure.get(locator)
      if (!run || !this.#exposures.delete(run.exposureLocator)) this.#strayExposure(locator, index)
      else {
        this.#exposureRuns.delete(run.locator)
        removed.add(locator)
      }
    }
    if (removed.size === 0) return
    for (const [locator, peril] of this.#perils)
      if (removed.has(peril.exposureLocator)) {
        this.#perils.delete(locator)
        const run = this.#runsOfPerils.get(locator)
        if (run) this.#perilRuns.delete(run.locator)
      }
  }

  result(): PolicyAggregate {
    return {
      ...this.#before,
      segments:
        this.#before.segments.get(this.#segment.locator) === this.#segment
          ? this.#before.segments
          : putRecords(this.#before.segments, [this.#segment]),
      exposures: this.#exposures,
      exposureRuns: this.#exposureRuns,
      perils: this.#perils,
      perilRuns: this.#perilRuns,
    }
  }

  #addPeril({ peril, data, amounts }: AddedPeril): void {
    const run: PerilRun = { ...this.#newRun(), perilLocator: peril.locator, data, amounts }
    this.#perils.set(peril.locator, peril)
    this.#perilRuns.set(run.locator, run)
  }

  #updatePeril(exposure: Exposure, definition: ExposureDefinition, update: PerilUpdate, index: number): void {
    const run = this.#runOfPeril(exposure, update.perilLocator)
    const name = run && this.#perils.get(run.perilLocator)!.name
    const peril = definition.perils.find(one => one.name === name)
    if (!run || !peril) {
      this.#strayPeril(exposure, update.perilLocator, index)
      return
    }
    const data = applyFieldChanges(run.perilLocator, peril.fields, run.data, update, this.#context)
    const { amounts, problems } = updatePerilAmounts(run.amounts, update)
    addFieldErrors(this.reported, run.perilLocator, fieldErrors(problems))
    this.#perilRuns.set(run.locator, {
      ...run,
      data: data ?? run.data,
      amounts,
      updatedAt: this.#context.now,
    })
  }

  #removePeril(exposure: Exposure, locator: string, index: number): void {
    const run = this.#runOfPeril(exposure, locator)
    if (!run) {
      this.#strayPeril(exposure, locator, index)
      return
    }
    this.#perils.delete(run.perilLocator)
    this.#perilRuns.delete(run.locator)
  }

  /** Returns the peril's run; undefined if the exposure does not have the peril, or no longer has it. */
  #runOfPeril(exposure: Exposure, locator: string): PerilRun | undefined {
    const run = this.#runsOfPerils.get(locator)
    const peril = run && this.#perils.get(run.perilLocator)
    return peril?.exposureLocator === exposure.locator ? run : undefined
  }

  #strayExposure(locator: string, index: number): void {
    this.reported.strays.push({
      exposureName: '',
      exposureLocator: locator,
      index,
      message: `The draft has no exposure '${locator}'; send the locator of one of its exposures.`,
    })
  }

  #strayPeril(exposure: Exposure, locator: string, index: number): void {
    this.reported.strays.push({
      exposureName: exposure.name,
      exposureLocator: exposure.locator,
      index,
      perilName: locator,
      message: `Exposure '${exposure.locator}' has no peril '${locator}'; send the locator of one of its perils.`,
    })
  }

  #newRun() {
    const { now, supply } = this.#context
    return {
      locator: supply.uuid(),
      madeBy: this.#modification.locator,
      createdAt: now,
      updatedAt: now,
      start: this.#quote.contractStart,
      end: this.#quote.contractEnd,
      cuts: [],
    }
  }
}

/** Where problems are reported, and the source of locators for new groups. */
export type ChangeContext = {
  readonly timeZone: TimeZone
  readonly supply: LocatorSupply
  readonly reported: ReportedProblems
}

/**
 * Returns the data after the changes, as stored; undefined if the request does not change it. Reports problems under `owner`.
 * `nextGroup` supplies the locators of added groups.
 */
export function applyFieldChanges(
  owner: string,
  fields: ProductDefinition['fields'],
  data: FieldData,
  changes: FieldChanges,
  { timeZone, supply, reported }: ChangeContext,
  nextGroup: () => Uuid = () => supply.uuid(),
): FieldData | undefined {
  const silent =
    Object.keys(changes.fieldValues ?? {}).length === 0 &&
    !changes.addFieldGroups?.length &&
    !changes.updateFieldGroups?.length &&
    !changes.removeFieldGroups?.length
  if (silent) return undefined
  const changed = changeFields(data, changes, addition => noteName(reported, nextGroup(), addition))
  addFieldErrors(reported, owner, changed.reported)
  return normaliseFieldData(fields, changed.data, timeZone)
}

/** Notes the locator that the request gives an addition, and returns that of the record created from it. */
export function noteName<Locator extends string>(
  { names }: ReportedProblems,
  created: Locator,
  { locator }: { readonly locator?: string },
): Locator {
  if (locator) names.set(created, locator)
  return created
}

/** Adds the errors to those of the same owner. `owner` is its locator. */
export function addFieldErrors({ byOwner }: ReportedProblems, owner: string, found: FieldErrors): void {
  if (!found.hasErrors) return
  const earlier = byOwner.get(owner)
  byOwner.set(owner, earlier ? joinFieldErrors(earlier, found) : found)
}
