// Which rows of a constraint table say what a field may have, by the values beside and around it as they are filled in.
import type { Values } from '../field-values.ts'
import { session } from '../session.ts'
import type { Field } from '../wire.ts'
import { isThere } from './values.ts'

export type Constraint = NonNullable<Field['constraint']>
export type ScopeKind = NonNullable<Constraint['where'][number]['of']>

/** A list of fields with its values: `outer` is what it lies in, from a group out to the policyholder. */
export type Scope = {
  readonly kind: ScopeKind
  readonly fields: readonly Field[]
  readonly values: Values
  readonly outer?: Scope | undefined
}

/** When the tables have to be in force, by the basis that each declares, and the field that has the jurisdiction. */
export type Surroundings = {
  readonly times: Readonly<Partial<Record<Constraint['timeBasis'], number | undefined>>>
  readonly jurisdictionField?: string | undefined
}

const scopeOfKind = (scope: Scope | undefined, kind: ScopeKind | undefined): Scope | undefined => {
  for (let at = scope; at; at = at.outer) if (at.kind === kind) return at
  return undefined
}

/** Values of the field; none where its conditions do not hold; undefined where the form does not have it. */
export function valuesIn(scope: Scope | undefined, name: string): readonly string[] | undefined {
  const field = scope?.fields.find(one => one.name === name)
  if (!scope || !field) return undefined
  if (!isThere(field, scope.fields, scope.values)) return []
  return (scope.values[name] ?? []).filter(text => text.trim() !== '')
}

/** More combinations of values than these are not asked for. */
const MOST_COMBINATIONS = 8

/**
 * Addresses of the table's rows that count; undefined while a field on which the choices depend has no value, or is not
 * in the form. Several of them where a field has several values: any may hold.
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

/** Numbers that are equal are the same value: `2024` and `2024.0`. */
const plain = (text: string): string =>
  /^[+-]?\d+(\.\d*)?$/.test(text.trim())
    ? text
        .trim()
        .replace(/^\+/, '')
        .replace(/(\.\d*?)0+$/, '$1')
        .replace(/\.$/, '')
    : text

export const isAmong = (value: string, allowed: readonly string[], { type }: Pick<Field, 'type'>): boolean =>
  type === 'number' ? allowed.some(one => plain(one) === plain(value)) : allowed.includes(value)
