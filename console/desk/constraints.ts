// Selects the rows of a constraint table that list the values allowed for a field, given the other values in the form.
import type { Values } from '../field-values.ts'
import { session } from '../session.ts'
import type { Field } from '../wire.ts'
import { isApplicable } from './values.ts'

export type Constraint = NonNullable<Field['constraint']>
export type ScopeKind = NonNullable<Constraint['where'][number]['of']>

/** A list of fields with their values. `outer` is the scope that contains it, from a group out to the policyholder. */
export type Scope = {
  readonly kind: ScopeKind
  readonly fields: readonly Field[]
  readonly values: Values
  readonly outer?: Scope | undefined
}

/**
 * The time at which a table must be in force, by the time basis that the table declares, and the field that has the jurisdiction.
 */
export type Surroundings = {
  readonly times: Readonly<Partial<Record<Constraint['timeBasis'], number | undefined>>>
  readonly jurisdictionField?: string | undefined
}

const scopeOfKind = (scope: Scope | undefined, kind: ScopeKind | undefined): Scope | undefined => {
  for (let at = scope; at; at = at.outer) if (at.kind === kind) return at
  return undefined
}

/** Returns the values of a field: none if its conditions do not hold, undefined if the form does not have it. */
export function valuesIn(scope: Scope | undefined, name: string): readonly string[] | undefined {
  const field = scope?.fields.find(one => one.name === name)
  if (!scope || !field) return undefined
  if (!isApplicable(field, scope.fields, scope.values)) return []
  return (scope.values[name] ?? []).filter(text => text.trim() !== '')
}

/** With more combinations of values than this, no rows are requested. */
const MOST_COMBINATIONS = 8

/**
 * Returns the addresses of the table's rows that apply, or undefined while a field on which the choices depend has no value or is
 * not in the form. There are several addresses if a field has several values: a choice may match any of them.
 */
export function rowsOf(
  { table, timeBasis, where }: Constraint,
  scope: Scope,
  { times, jurisdictionField }: Surroundings,
): readonly string[] | undefined {
  let filters: readonly (readonly string[])[] = [[]]
  for (const { column, field, of, values: fixed } of where) {
    const found = field === undefined ? [] : valuesIn(scopeOfKind(scope, of), field)
    if (found === undefined) return undefined
    const wanted = found.length > 0 ? found : fixed
    if (wanted.length === 0) return undefined
    filters = filters.flatMap(some => wanted.map(value => [...some, `${column}=${value}`]))
  }
  if (filters.length > MOST_COMBINATIONS) return undefined
  const time = times[timeBasis]
  const jurisdiction =
    jurisdictionField === undefined
      ? undefined
      : valuesIn(scopeOfKind(scope, 'policy'), jurisdictionField)?.[0]
  const tenant = encodeURIComponent(session()?.tenantLocator ?? '')
  const path = `/resource/${tenant}/constraints/${encodeURIComponent(table)}/record`
  return filters.map(keys => {
    const query = new URLSearchParams(keys.map(key => ['key', key]))
    if (time !== undefined) query.set('date', new Date(time).toISOString())
    if (jurisdiction !== undefined) query.set('jurisdiction', jurisdiction)
    return query.size === 0 ? path : `${path}?${query}`
  })
}

/** Normalizes a number, so that equal numbers are the same value: `2024` and `2024.0`. */
const normalizeNumber = (text: string): string =>
  /^[+-]?\d+(\.\d*)?$/.test(text.trim())
    ? text
        .trim()
        .replace(/^\+/, '')
        .replace(/(\.\d*?)0+$/, '$1')
        .replace(/\.$/, '')
    : text

export const isAmong = (value: string, allowed: readonly string[], { type }: Pick<Field, 'type'>): boolean =>
  type === 'number'
    ? allowed.some(one => normalizeNumber(one) === normalizeNumber(value))
    : allowed.includes(value)
