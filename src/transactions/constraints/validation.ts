// Reports values that constraint tables do not allow (resources brief 3). Products without constraints skip it.

import type { Uuid } from '../../kernel/locators.ts'
import { containsTime, type Instant, type TimeZone } from '../../kernel/time.ts'
import type { ReportedProblems } from '../../policy/draft/draft.ts'
import { endOfRun, type Line, lineUpTo, segmentsInForce } from '../../policy/fold/line.ts'
import {
  type ExposureRun,
  type Modification,
  type PerilRun,
  type PolicyAggregate,
  type Quote,
  quoteParts,
} from '../../policy/records/aggregate.ts'
import { selectionBasis } from '../../policy/selection-basis.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import type { Policyholder } from '../../policyholders/values.ts'
import type { Configuration, FieldDefinition, ProductDefinition } from '../../product/configuration.ts'
import { graphOfProduct, type ScopeKind } from '../../product/constraint-graph.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import {
  type FieldError,
  type FieldErrors,
  fieldError,
  fieldErrors,
  joinFieldErrors,
  valuesOf,
} from '../../product/fields/values.ts'
import type { SelectionBasis } from '../../product/resources.ts'
import { type Attempt, assertValid, NOTHING_REPORTED } from '../../rating/rate.ts'
import { breachesOf, fieldsInUse } from '../../reference/constraints/answers.ts'
import type { ConstrainedField, Element } from '../../reference/constraints/evaluation.ts'
import type { ReadTables } from '../../reference/constraints/force.ts'

type Transaction = {
  readonly aggregate: PolicyAggregate
  readonly quote: Quote
  readonly modification: Modification
  readonly owner: string
}

/** Adds the findings of constraint tables to `assertValid`. */
export async function assertQuoteValid(
  aggregate: PolicyAggregate,
  quote: Quote,
  loaded: Loaded,
  attempt: Attempt,
  requireMissing: boolean,
  reported: ReportedProblems = NOTHING_REPORTED,
): Promise<void> {
  const { modification, segment } = quoteParts(aggregate, quote)
  const transaction = { aggregate, quote, modification, owner: segment.locator }
  const found = await withConstraints(transaction, loaded, attempt, requireMissing, reported)
  assertValid(aggregate, quote, loaded, attempt, requireMissing, found)
}

/**
 * Adds the problems that constraints find, both in content that the transaction creates and in unchanged values that this content
 * governs. Takes one round trip and reads the table files, but only if a field to be checked has a constraint. `requireMissing`
 * also reports a table without a version in force, since its allowed values are unknown.
 */
export async function withConstraints(
  { aggregate, quote, modification, owner }: Transaction,
  loaded: Loaded,
  { now, readTables }: Attempt,
  requireMissing: boolean,
  reported: ReportedProblems,
): Promise<ReportedProblems> {
  const surroundings = surroundingsOf(loaded)
  const { product, configuration } = surroundings
  if (!readTables || graphOfProduct(configuration, product).tables.length === 0) return reported
  const line = lineUpTo(aggregate, quote, modification)
  // New business has no earlier line.
  const earlier = line.filter(step => step.modification.locator !== modification.locator)
  const { timeZone } = aggregate.policy
  const checked = startsOf(aggregate, modification).flatMap(at => {
    const before = elementsAt(aggregate, earlier, at, surroundings)
    return fieldsToCheck(elementsAt(aggregate, line, at, surroundings), before, modification, timeZone)
  })
  const basis = selectionBasis({ aggregate, product }, modification, now)
  return await withBreaches(checked, { configuration, basis, readTables, requireMissing }, reported, owner)
}

type Tables = {
  readonly configuration: Configuration
  readonly basis: SelectionBasis
  readonly readTables: ReadTables
  readonly requireMissing: boolean
}

/** Adds the breaches of the checked fields. Problems of the policy's own data are reported under `owner`. */
export async function withBreaches(
  checked: readonly ConstrainedField[],
  { configuration, basis, readTables, requireMissing }: Tables,
  reported: ReportedProblems,
  owner: string,
): Promise<ReportedProblems> {
  if (checked.length === 0) return reported
  const names = [...new Set(checked.map(({ table }) => table))]
  const tables = await readTables(configuration, names, basis)
  const problems = new Map<ConstrainedField, readonly FieldError[]>()
  const lacking = checked.filter(({ table }) => !tables.has(table))
  if (requireMissing) for (const one of lacking) problems.set(one, [missingTableError(one)])
  for (const [one, errors] of await breachesOf(checked, tables)) problems.set(one, errors)
  return problems.size === 0 ? reported : withProblems(reported, problems, owner)
}

/** Returns the times at which the transaction changes content. */
function startsOf(
  { segments, exposureRuns, perilRuns }: PolicyAggregate,
  { locator, effectiveAt }: Modification,
): Instant[] {
  const starts = [...segments.values(), ...exposureRuns.values(), ...perilRuns.values()]
    .filter(({ madeBy, start }) => madeBy === locator && start >= effectiveAt)
    .map(({ start }) => start)
  return [...new Set(starts)].sort((a, b) => a - b)
}

/** Returns only fields that the transaction set, or whose governing fields it changed. */
function fieldsToCheck(
  elements: readonly PolicyElement[],
  before: readonly PolicyElement[],
  { locator }: Modification,
  timeZone: TimeZone,
): ConstrainedField[] {
  const earlier = new Map(before.map(one => [one.locator, one]))
  const isMade = (element: Element): boolean => (element as PolicyElement).madeBy === locator
  const isOther = ({ element, field }: { element: Element; field: FieldDefinition }): boolean => {
    const was = earlier.get(element.locator)
    const [now, then] = [valuesOf(element.values, field.name), valuesOf(was?.values ?? {}, field.name)]
    return now.length !== then.length || now.some((value, at) => value !== then[at])
  }
  return fieldsInUse(elements, timeZone).filter(
    one =>
      isMade(one.element) ||
      one.where.some(({ governor }) => governor && isMade(governor.element) && isOther(governor)),
  )
}

const missingTableError = ({ field, table }: ConstrainedField): FieldError =>
  fieldError(
    field.name,
    'INVALID_VALUE',
    `cannot be checked because no constraint table '${table}' is in force; upload one, and add it to a resource group that has begun`,
  )

/** Merges errors of the same owner and group, without duplicates. */
function withProblems(
  reported: ReportedProblems,
  problems: ReadonlyMap<ConstrainedField, readonly FieldError[]>,
  policyOwner: string,
): ReportedProblems {
  const byOwner = new Map(reported.byOwner)
  const reportedFields = new Set<string>()
  for (const [{ element, field }, errors] of problems) {
    const same = `${element.locator}\u0000${field.name}`
    if (reportedFields.has(same)) continue
    reportedFields.add(same)
    const around = element.kind === 'group' ? element.outer! : element
    const owner = around.kind === 'policy' ? policyOwner : around.locator
    const found = element.kind === 'group' ? errorsInGroup(element, errors) : fieldErrors([...errors])
    byOwner.set(owner, joinFieldErrors(byOwner.get(owner) ?? fieldErrors([]), found))
  }
  return { ...reported, byOwner }
}

function errorsInGroup({ locator, outer }: Element, errors: readonly FieldError[]): FieldErrors {
  const field = outer!.fields.find(one => valuesOf(outer!.values, one.name).includes(locator))
  const fieldName = field?.name ?? ''
  const index = valuesOf(outer!.values, fieldName).indexOf(locator)
  return fieldErrors([], [{ fieldName, errors: [...errors], locator, index }])
}

/** `madeBy`: the modification that its values come from. */
type PolicyElement = Element & { readonly madeBy: Uuid }

type Surroundings = {
  readonly product: ProductDefinition
  readonly policyholder: Policyholder
  readonly configuration: Configuration
}

export const surroundingsOf = ({ product, policyholder, configuration }: Loaded): Surroundings => ({
  product,
  policyholder,
  configuration: configuration.configuration,
})

/** Returns the account's element, which is the parent of its policies' elements. */
export const policyholderElement = (
  { locator, entity }: Policyholder,
  fields: readonly FieldDefinition[],
): Element => ({ kind: 'policyholder', locator, fields, values: entity.values })

/**
 * Returns the policy, its exposures and their perils, each followed by its groups. `name` is the policy's own static locator;
 * `names` are those of other elements that go by another locator than their own.
 */
export function elementsAt(
  aggregate: PolicyAggregate,
  line: Line,
  at: Instant,
  { product, policyholder, configuration }: Surroundings,
  name = String(aggregate.policy.locator),
  names: ReadonlyMap<string, string> = new Map(),
): PolicyElement[] {
  const segment = segmentsInForce(line).find(one => containsTime(one, at))
  if (!segment) return []
  const counted = new Set(line.map(({ modification }) => modification.locator))
  const isInForce = (run: ExposureRun | PerilRun): boolean =>
    counted.has(run.madeBy) && run.start <= at && at < endOfRun(run, counted)
  const elements: PolicyElement[] = []
  const taken = new Set<string>()
  const staticLocator = (own: string): string => {
    const other = names.get(own)
    const locator = other === undefined || taken.has(other) ? own : other
    taken.add(locator)
    return locator
  }
  const add = (
    kind: ScopeKind,
    locator: string,
    fields: readonly FieldDefinition[],
    { values, groups }: FieldData,
    madeBy: Uuid,
    outer: Element,
  ): Element => {
    const element = { kind, locator: staticLocator(locator), fields, values, outer, madeBy }
    elements.push(element)
    for (const group of groups) {
      const inside = fields.find(one => one.name === group.fieldName)?.fields ?? []
      const { values } = group
      elements.push({
        kind: 'group',
        locator: staticLocator(group.locator),
        fields: inside,
        values,
        outer: element,
        madeBy,
      })
    }
    return element
  }
  const holder = policyholderElement(policyholder, configuration.policyholderFields)
  const policy = add('policy', name, product.fields, segment.data, segment.madeBy, holder)
  const perilRuns = Map.groupBy(
    [...aggregate.perilRuns.values()].filter(isInForce),
    run => aggregate.perils.get(run.perilLocator)?.exposureLocator,
  )
  for (const run of aggregate.exposureRuns.values()) {
    const exposure = aggregate.exposures.get(run.exposureLocator)
    const definition = exposure && product.exposures.find(one => one.name === exposure.name)
    if (!definition || !isInForce(run)) continue
    const around = add('exposure', exposure.locator, definition.fields, run.data, run.madeBy, policy)
    for (const perilRun of perilRuns.get(exposure.locator) ?? []) {
      const { name } = aggregate.perils.get(perilRun.perilLocator)!
      const fields = definition.perils.find(one => one.name === name)?.fields ?? []
      add('peril', perilRun.perilLocator, fields, perilRun.data, perilRun.madeBy, around)
    }
  }
  return elements
}
