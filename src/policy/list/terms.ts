// What a policy is found by: values of searchable fields of the policy, its exposures and its perils, wherever they
// hold in some part of its term. Other quotes than the selected one are not searched.

import type { Uuid } from '../../kernel/locators.ts'
import { memoByObject } from '../../kernel/maps.ts'
import type { Instant, TimeZone } from '../../kernel/time.ts'
import type { SearchTerm } from '../../platform/search/matching.ts'
import type { FieldDefinition, ProductDefinition } from '../../product/configuration.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import { valuesOf } from '../../product/fields/values.ts'
import { termsOf } from '../../product/search-terms.ts'
import { type Cut, type PolicyAggregate, selectedQuoteIfAny } from '../records/aggregate.ts'

/** What a change makes of a policy's terms. `all`: it has `added` and no other. */
export type TermChange = {
  readonly all: boolean
  readonly added: readonly SearchTerm[]
  readonly removed: readonly SearchTerm[]
}

/** Names of fields that policies of the product are found by. */
export function searchableNames(product: ProductDefinition): string[] {
  const { policy, exposures, perils } = searchableFields(product)
  const fields = [policy, ...exposures.values(), ...perils.values()].flat()
  const names = fields.flatMap(field => [
    ...(field.searchable ? [field.name] : []),
    ...(field.fields ?? []).filter(one => one.searchable).map(one => one.name),
  ])
  return [...new Set(names)]
}

/**
 * How the terms change from `before` to `after`. What both share is not looked at, unless the policy has another
 * version of the configuration now: then other fields may be searchable.
 */
export function termChange(
  product: ProductDefinition,
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
): TermChange {
  const searchable = searchableFields(product)
  const zone = after.policy.timeZone
  const current = searchableData(after, searchable)
  const distinct = (data: Iterable<Searched>): Map<string, SearchTerm> =>
    new Map([...data].flatMap(one => dataTerms(one, zone)).map(term => [JSON.stringify(term), term] as const))
  if (before?.policy.configVersion !== after.policy.configVersion)
    return { all: true, added: [...distinct(current.values()).values()], removed: [] }

  const former = searchableData(before, searchable)
  const added = distinct(without(current, former))
  const gone = distinct(without(former, current))
  for (const key of added.keys()) gone.delete(key)
  if (gone.size > 0) for (const key of distinct(current.values()).keys()) gone.delete(key)
  return { all: false, added: [...added.values()], removed: [...gone.values()] }
}

const without = (some: ReadonlyMap<FieldData, Searched>, others: ReadonlyMap<FieldData, Searched>) =>
  [...some.values()].filter(({ data }) => !others.has(data))

type Fields = readonly FieldDefinition[]

/** The searchable fields, and the groups with some in them; kinds of records without any are left out. */
type SearchableFields = {
  readonly policy: Fields
  readonly exposures: ReadonlyMap<string, Fields>
  /** By `perilKey`: perils of two exposures may bear one name. */
  readonly perils: ReadonlyMap<string, Fields>
}

const perilKey = (exposure: string, peril: string): string => JSON.stringify([exposure, peril])

const searchableFields = memoByObject(findSearchable)

function findSearchable({ fields, exposures }: ProductDefinition): SearchableFields {
  const of = (all: Fields) =>
    all.filter(field => field.searchable || field.fields?.some(one => one.searchable))
  const some = <T>([, found]: readonly [T, Fields]): boolean => found.length > 0
  return {
    policy: of(fields),
    exposures: new Map(exposures.map(({ name, fields }) => [name, of(fields)] as const).filter(some)),
    perils: new Map(
      exposures
        .flatMap(exposure =>
          exposure.perils.map(({ name, fields }) => [perilKey(exposure.name, name), of(fields)] as const),
        )
        .filter(some),
    ),
  }
}

type Searched = { readonly data: FieldData; readonly fields: Fields }

/** The data that a policy is found by, with the fields to look at. Records that share their data count once. */
function searchableData(aggregate: PolicyAggregate, searchable: SearchableFields): Map<FieldData, Searched> {
  const { exposures, perils } = aggregate
  const found = new Map<FieldData, Searched>()
  const holds = holding(aggregate)
  const look = (data: FieldData, fields: Fields): void => {
    found.set(data, { data, fields })
  }
  if (searchable.policy.length > 0)
    for (const segment of aggregate.segments.values())
      if (holds(segment)) look(segment.data, searchable.policy)
  if (searchable.exposures.size > 0)
    for (const run of aggregate.exposureRuns.values()) {
      const fields = searchable.exposures.get(exposures.get(run.exposureLocator)?.name ?? '')
      if (fields && holds(run)) look(run.data, fields)
    }
  if (searchable.perils.size > 0)
    for (const run of aggregate.perilRuns.values()) {
      const peril = perils.get(run.perilLocator)
      const exposure = peril && exposures.get(peril.exposureLocator)
      const fields = exposure && searchable.perils.get(perilKey(exposure.name, peril.name))
      if (fields && holds(run)) look(run.data, fields)
    }
  return found
}

/**
 * Whether a record is of the selected quote or a later transaction that stands, and not replaced from its start on by an issued
 * one. What was cancelled stays: the policy is found by what it covered.
 */
export function holding(aggregate: PolicyAggregate) {
  const { modifications } = aggregate
  const selected = selectedQuoteIfAny(aggregate)?.locator
  const replaces = (by: Uuid): boolean => {
    const modification = modifications.get(by)
    if (modification?.issuedAt === undefined) return false
    return (
      modification.kind !== 'cancellation' &&
      modification.kind !== 'withdrawal' &&
      modification.kind !== 'lapse'
    )
  }
  return ({ madeBy, replacedBy, cuts = [], start }: Replaceable): boolean => {
    const { quoteLocator = selected, invalidatedAt } = modifications.get(madeBy) ?? {}
    if (quoteLocator !== selected || invalidatedAt !== undefined) return false
    if (replacedBy !== undefined && replaces(replacedBy)) return false
    return !cuts.some(cut => cut.from <= start && replaces(cut.by))
  }
}

type Replaceable = {
  readonly madeBy: Uuid
  readonly start: Instant
  readonly replacedBy?: Uuid
  readonly cuts?: readonly Cut[]
}

function dataTerms({ data, fields }: Searched, zone: TimeZone): SearchTerm[] {
  return fields.flatMap(field => [
    ...(field.searchable ? termsOf(field, valuesOf(data.values, field.name), zone) : []),
    ...(field.fields ?? [])
      .filter(inner => inner.searchable)
      .flatMap(inner => {
        const groups = data.groups.filter(group => group.fieldName === field.name)
        return groups.flatMap(group => termsOf(inner, valuesOf(group.values, inner.name), zone))
      }),
  ])
}
