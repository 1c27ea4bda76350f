// Changes of an endorsement or renewal as templates read them (brief 5.3).

import type {
  ExposureRun,
  Peril,
  PerilRun,
  PolicyAggregate,
  PolicySegment,
} from '../../policy/records/aggregate.ts'
import type { Endorsement, PerilAmounts } from '../../policy/records/transactions.ts'
import type { ExposureDefinition, FieldDefinition, ProductDefinition } from '../../product/configuration.ts'
import { type FieldData, NO_FIELD_DATA } from '../../product/fields/groups.ts'
import { type FieldValues, valuesOf } from '../../product/fields/values.ts'

type EndorsementEffect = 'unchanged' | 'updated' | 'added' | 'removed'

type FieldChange = {
  title: string
  old_value: string
  new_value: string
  endorsement_effect: EndorsementEffect
}

type FieldChanges = Record<string, FieldChange>
type GroupChange = {
  locator: string
  title: string
  endorsement_effect: EndorsementEffect
  updated_field_values: FieldChanges
}
type DataChange = {
  all_field_values: FieldChanges
  updated_field_values: FieldChanges
  /** Keyed by field name. */
  updated_field_groups: Record<string, GroupChange[]>
}
type PartChange = DataChange & {
  locator: string
  name: string
  display_name: string
  endorsement_effect: EndorsementEffect
}

/** The amounts of a peril by their names in the API, and in templates with their titles. */
const AMOUNTS = [
  ['deductible', 'deductible', 'Deductible'],
  ['lumpSumPayment', 'lump_sum_payment', 'Lump sum payment'],
  ['indemnityInAggregate', 'indemnity_in_aggregate', 'Indemnity in aggregate'],
  ['indemnityPerEvent', 'indemnity_per_event', 'Indemnity per event'],
  ['indemnityPerItem', 'indemnity_per_item', 'Indemnity per item'],
] as const satisfies readonly (readonly [keyof PerilAmounts, string, string])[]

/** An amount without a value before and after is absent. */
type PerilChange = PartChange & Partial<Record<(typeof AMOUNTS)[number][1], FieldChange>>

type ExposureChange = PartChange & {
  /** Keyed by peril name. */
  updated_perils: Record<string, PerilChange[]>
}

type PolicyUpdates = DataChange & {
  /** Keyed by exposure name. */
  updated_exposures: Record<string, ExposureChange[]>
}

/** Returns no changes until the endorsement is quoted. */
export function policyUpdates(
  aggregate: PolicyAggregate,
  { modificationLocator, startAt }: Endorsement,
  product: ProductDefinition,
): PolicyUpdates {
  const newSegments = [...aggregate.segments.values()]
    .filter(one => one.madeBy === modificationLocator && one.end > startAt)
    .sort((a, b) => a.start - b.start)
  const now = newSegments.find(one => one.start >= startAt)
  const was = now && segmentBefore(aggregate, now)
  return {
    ...dataChange(product.fields, was?.data ?? now?.data, now?.data),
    updated_exposures: exposureChanges(aggregate, modificationLocator, product),
  }
}

/** Returns the segment that this one continues. For a renewal, that is the one in force at its start when it was created. */
function segmentBefore(
  { segments, modifications }: PolicyAggregate,
  now: PolicySegment,
): PolicySegment | undefined {
  if (now.predecessor !== undefined) return segments.get(now.predecessor)
  const numberOf = (one: PolicySegment): number => modifications.get(one.madeBy)?.number ?? 0
  return [...segments.values()]
    .filter(one => one.quoteLocator === now.quoteLocator && one.end === now.start)
    .filter(one => numberOf(one) < numberOf(now))
    .sort((a, b) => numberOf(a) - numberOf(b))
    .at(-1)
}

function exposureChanges(
  aggregate: PolicyAggregate,
  modification: Endorsement['modificationLocator'],
  product: ProductDefinition,
): PolicyUpdates['updated_exposures'] {
  const changes: Record<string, ExposureChange[]> = {}
  if (modification === undefined) return changes
  const runsOf = Map.groupBy(aggregate.exposureRuns.values(), run => run.exposureLocator)
  const perilsOf = Map.groupBy(aggregate.perils.values(), peril => peril.exposureLocator)
  const perilRunsOf = Map.groupBy(aggregate.perilRuns.values(), run => run.perilLocator)
  for (const exposure of aggregate.exposures.values()) {
    const { was, now, effect } = changeOf(runsOf.get(exposure.locator) ?? [], modification)
    const definition = product.exposures.find(one => one.name === exposure.name)
    const perils = perilChanges(perilsOf.get(exposure.locator) ?? [], perilRunsOf, modification, definition)
    const after = effect === 'unchanged' ? was : now
    const data = dataChange(definition?.fields, was?.data, after?.data)
    // A renewal creates a run of every exposure that continues.
    const isSame = effect === 'unchanged' || (effect === 'updated' && !isChanged(data))
    if (isSame && Object.keys(perils).length === 0) continue
    addChange(changes, exposure.name, {
      locator: exposure.locator,
      name: exposure.name,
      display_name: definition?.displayName ?? exposure.name,
      endorsement_effect: effect === 'unchanged' ? 'updated' : effect,
      ...data,
      updated_perils: perils,
    })
  }
  return changes
}

/** Perils that renew one another count as one. Rerating alone is not a change. */
function perilChanges(
  perils: readonly Peril[],
  runsOf: ReadonlyMap<string, PerilRun[]>,
  modification: string,
  exposure: ExposureDefinition | undefined,
): ExposureChange['updated_perils'] {
  const changes: ExposureChange['updated_perils'] = {}
  for (const group of Map.groupBy(perils, peril => peril.renewalGroup).values()) {
    const runs = group.flatMap(peril => runsOf.get(peril.locator) ?? [])
    const { was, now, effect } = changeOf(runs, modification)
    const { locator, name } = group.at(-1)!
    const definition = exposure?.perils.find(one => one.name === name)
    const data = dataChange(definition?.fields, was?.data, now?.data)
    const isSame = !isChanged(data) && JSON.stringify(was?.amounts) === JSON.stringify(now?.amounts)
    if (effect === 'unchanged' || (effect === 'updated' && isSame)) continue
    const displayName = definition?.displayName ?? name
    addChange(changes, name, {
      locator,
      name,
      display_name: displayName,
      endorsement_effect: effect,
      ...data,
      ...amountChanges(was?.amounts, now?.amounts),
    })
  }
  return changes
}

function amountChanges(was: PerilAmounts = {}, now: PerilAmounts = {}): Partial<PerilChange> {
  const changes: Partial<PerilChange> = {}
  for (const [amount, name, title] of AMOUNTS) {
    const change = valueChange(title, was[amount] ?? '', now[amount] ?? '')
    if (change) changes[name] = change
  }
  return changes
}

const isChanged = ({ updated_field_values: values, updated_field_groups: groups }: DataChange): boolean =>
  Object.keys(values).length > 0 || Object.keys(groups).length > 0

function addChange<Change>(changes: Record<string, Change[]>, name: string, change: Change): void {
  const list = changes[name] ?? []
  changes[name] = list
  list.push(change)
}

type Run = Pick<ExposureRun, 'madeBy' | 'start' | 'replacedBy' | 'cuts'>

function changeOf<R extends Run>(runs: readonly R[], modification: string) {
  const now = runs.find(run => run.madeBy === modification)
  const was = runs.filter(run => run.madeBy !== modification && isBefore(run, now, modification)).at(-1)
  return { was: was ?? (now ? undefined : runs.at(-1)), now, effect: effectOf(was, now, modification) }
}

const isBefore = (run: Run, now: Run | undefined, modification: string): boolean =>
  now
    ? run.start < now.start || run.replacedBy === modification
    : run.cuts.some(cut => cut.by === modification)

function effectOf(was: Run | undefined, now: Run | undefined, modification: string): EndorsementEffect {
  if (now) return was ? 'updated' : 'added'
  return was?.cuts.some(cut => cut.by === modification) ? 'removed' : 'unchanged'
}

function dataChange(
  definitions: readonly FieldDefinition[] = [],
  was: FieldData = NO_FIELD_DATA,
  now: FieldData = NO_FIELD_DATA,
): DataChange {
  const all = fieldChanges(definitions, was.values, now.values)
  return {
    all_field_values: all,
    updated_field_values: changedOnly(all),
    updated_field_groups: groupChanges(definitions, was, now),
  }
}

const changedOnly = (changes: FieldChanges): FieldChanges =>
  Object.fromEntries(
    Object.entries(changes).filter(([, change]) => change.endorsement_effect !== 'unchanged'),
  )

function fieldChanges(
  definitions: readonly FieldDefinition[],
  was: FieldValues,
  now: FieldValues,
): FieldChanges {
  const changes: FieldChanges = {}
  for (const { name, title, type } of definitions) {
    if (type === 'group') continue
    const change = valueChange(title, valuesOf(was, name).join(', '), valuesOf(now, name).join(', '))
    if (change) changes[name] = change
  }
  return changes
}

/** Undefined when there is no value before and after. */
function valueChange(title: string, before: string, after: string): FieldChange | undefined {
  if (before === '' && after === '') return undefined
  return { title, old_value: before, new_value: after, endorsement_effect: effectOn(before, after) }
}

function effectOn(before: string, after: string): EndorsementEffect {
  if (before === after) return 'unchanged'
  if (before === '') return 'added'
  return after === '' ? 'removed' : 'updated'
}

function groupChanges(
  definitions: readonly FieldDefinition[],
  was: FieldData,
  now: FieldData,
): Record<string, GroupChange[]> {
  const changes: Record<string, GroupChange[]> = {}
  const locators = new Set([...was.groups, ...now.groups].map(group => group.locator))
  for (const locator of locators) {
    const [before, after] = [was, now].map(data => data.groups.find(group => group.locator === locator))
    const fieldName = (after ?? before)!.fieldName
    const definition = definitions.find(one => one.name === fieldName)
    const values = changedOnly(
      fieldChanges(definition?.fields ?? [], before?.values ?? {}, after?.values ?? {}),
    )
    if (before && after && Object.keys(values).length === 0) continue
    const lasting = after ? 'updated' : 'removed'
    addChange(changes, fieldName, {
      locator,
      title: definition?.title ?? fieldName,
      endorsement_effect: before ? lasting : 'added',
      updated_field_values: values,
    })
  }
  return changes
}
