// What constrained fields may have, by the values beside and around them as they are filled in.
import { createContext } from 'preact'
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { get, Problem } from '../api.ts'
import { type Child, part, type View } from '../element.ts'
import { session } from '../session.ts'
import type { Field } from '../wire.ts'
import { isThere, type Values } from './values.ts'

type Constraint = NonNullable<Field['constraint']>
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

const Outer = createContext<Scope | undefined>(undefined)
const Around = createContext<Surroundings>({ times: {} })

export const useOuter = (): Scope | undefined => useContext(Outer)

/** Fields in it lie within the scope. */
export const within = (scope: Scope | undefined, ...children: Child[]): View =>
  part(Outer.Provider, { value: scope, children })

export const surrounded = (surroundings: Surroundings, ...children: Child[]): View =>
  part(Around.Provider, { value: surroundings, children })

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

type Rows = Readonly<Record<string, readonly (string | boolean | null)[]>>

/** Rows that were read are not asked for again so soon. */
const KEPT_MS = 60_000
const MOST_KEPT = 200
const kept = new Map<string, { readonly at: number; readonly rows: Rows | undefined }>()

const keptRows = (path: string): { readonly rows: Rows | undefined } | undefined => {
  const found = kept.get(path)
  return found && Date.now() - found.at < KEPT_MS ? found : undefined
}

let line: Promise<unknown> = Promise.resolve()

/** One at a time; none that nobody waits for any more. Undefined: no table limits the field. */
function rowsInTurn(path: string, isWanted: () => boolean): Promise<Rows | undefined> {
  const turn = line.then(async () => {
    const known = keptRows(path)
    if (known || !isWanted()) return known?.rows
    const rows = await get<Rows>(path).catch((failure: unknown) => {
      // No table is in force, or the account may not read it: the service alone decides.
      if (failure instanceof Problem && (failure.status === 404 || failure.status === 403)) return undefined
      throw failure
    })
    if (kept.size >= MOST_KEPT) kept.clear()
    kept.set(path, { at: Date.now(), rows })
    return rows
  })
  line = turn.catch(() => {})
  return turn
}

/** Each once, in the order of the rows; the column's name in any case. */
function valuesOf(all: readonly (Rows | undefined)[], column: string): readonly string[] | undefined {
  if (all.includes(undefined)) return undefined
  const found = all.flatMap(rows => {
    const name = Object.keys(rows!).find(one => one.toLowerCase() === column.toLowerCase())
    return name === undefined ? [] : rows![name]!
  })
  return [...new Set(found.flatMap(one => (one === null || one === '' ? [] : [String(one)])))]
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

export type Allowed = {
  /** Undefined: any, or not known. */
  readonly values: readonly string[] | undefined
  readonly isAsking: boolean
  /** The choices could not be had. */
  readonly hasFailed: boolean
}

/** Typing goes on: what the values mean is asked once it pauses. */
const PAUSE_MS = 300

const NONE: Allowed = { values: undefined, isAsking: false, hasFailed: false }

/** What the field may have now; the last question counts, whichever answer comes last. */
export function useAllowed(constraint: Constraint, scope: Scope): Allowed {
  const around = useContext(Around)
  const paths = rowsOf(constraint, scope, around)
  const [allowed, show] = useState<Allowed>(NONE)
  const last = useRef(0)
  const question = paths?.join('\n')
  useLayoutEffect(() => {
    last.current += 1
    const mine = last.current
    const isWanted = (): boolean => mine === last.current
    const leave = (): void => {
      if (isWanted()) last.current += 1
    }
    if (paths === undefined) {
      show(NONE)
      return leave
    }
    const answered = (all: readonly (Rows | undefined)[]): void => {
      if (isWanted()) show({ ...NONE, values: valuesOf(all, constraint.column) })
    }
    const known = paths.map(keptRows)
    if (known.every(one => one !== undefined)) {
      answered(known.map(one => one.rows))
      return leave
    }
    show(before => ({ ...before, isAsking: true, hasFailed: false }))
    const timer = setTimeout(() => {
      Promise.all(paths.map(path => rowsInTurn(path, isWanted))).then(answered, () => {
        if (isWanted()) show({ ...NONE, hasFailed: true })
      })
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      leave()
    }
  }, [question])
  return allowed
}
