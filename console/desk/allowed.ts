// The values allowed for constrained fields. They are requested while the form is filled in, after a pause, one request at a
// time.
import { createContext } from 'preact'
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { get, Problem } from '../api.ts'
import { type Child, part, type View } from '../element.ts'
import { type Constraint, rowsOf, type Scope, type Surroundings } from './constraints.ts'

const Outer = createContext<Scope | undefined>(undefined)
const Around = createContext<Surroundings>({ times: {} })

export const useOuterScope = (): Scope | undefined => useContext(Outer)

/** Puts the fields of the children into the scope. */
export const scopeProvider = (scope: Scope | undefined, ...children: Child[]): View =>
  part(Outer.Provider, { value: scope, children })

export const withSurroundings = (surroundings: Surroundings, ...children: Child[]): View =>
  part(Around.Provider, { value: surroundings, children })

type Rows = Readonly<Record<string, readonly (string | boolean | null)[]>>

/** How long rows are reused before they are requested again. */
const KEPT_MS = 60_000
const MOST_KEPT = 200
const kept = new Map<string, { readonly at: number; readonly rows: Rows | undefined }>()

const keptRows = (path: string): { readonly rows: Rows | undefined } | undefined => {
  const found = kept.get(path)
  return found && Date.now() - found.at < KEPT_MS ? found : undefined
}

let line: Promise<unknown> = Promise.resolve()

/**
 * Reads rows, one request at a time, and skips a request that nobody waits for any more. Resolves to undefined if no table limits
 * the field.
 */
function rowsInTurn(path: string, isWanted: () => boolean): Promise<Rows | undefined> {
  const turn = line.then(async () => {
    const known = keptRows(path)
    if (known || !isWanted()) return known?.rows
    const rows = await get<Rows>(path).catch((failure: unknown) => {
      // No table is in force, or the account may not read it. Only the service decides.
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

/** Returns each value of a column once, in the order of the rows. The column's name matches in any case. */
function valuesOf(all: readonly (Rows | undefined)[], column: string): readonly string[] | undefined {
  if (all.includes(undefined)) return undefined
  const found = all.flatMap(rows => {
    const name = Object.keys(rows!).find(one => one.toLowerCase() === column.toLowerCase())
    return name === undefined ? [] : rows![name]!
  })
  return [...new Set(found.flatMap(one => (one === null || one === '' ? [] : [String(one)])))]
}

export type Allowed = {
  /** Undefined if any value is allowed or the values are not known. While a request is pending, the values of the previous one. */
  readonly values: readonly string[] | undefined
  readonly isAsking: boolean
  /** Whether the request for the choices failed. */
  readonly hasFailed: boolean
  /** Whether the values on which the choices depend are still the ones with which the form was opened. */
  readonly isAsOpened: boolean
}

type Answer = {
  /** Undefined if nothing can be requested. */
  readonly question: string | undefined
  readonly values?: readonly string[] | undefined
  readonly hasFailed?: boolean
}

/** The values are requested once typing pauses for this long. */
const PAUSE_MS = 300

/** Returns the values that the field may have now. The last question counts, in whatever order the responses arrive. */
export function useAllowed(constraint: Constraint, scope: Scope): Allowed {
  const paths = rowsOf(constraint, scope, useContext(Around))
  const question = paths?.join('\n')
  const [answer, show] = useState<Answer>({ question: undefined })
  const opened = useRef(question)
  opened.current ??= question
  useLayoutEffect(() => {
    if (paths === undefined) {
      show({ question })
      return
    }
    let isWanted = true
    const showAnswer = (all: readonly (Rows | undefined)[]): void => {
      if (isWanted) show({ question, values: valuesOf(all, constraint.column) })
    }
    const failed = (): void => {
      if (isWanted) show({ question, hasFailed: true })
    }
    const known = paths.map(keptRows)
    const ask = (): void => {
      Promise.all(paths.map(path => rowsInTurn(path, () => isWanted))).then(showAnswer, failed)
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    if (known.every(one => one !== undefined)) showAnswer(known.map(one => one.rows))
    else timer = setTimeout(ask, PAUSE_MS)
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [question])
  const isAsking = answer.question !== question
  return {
    values: answer.values,
    isAsking,
    isAsOpened: question === opened.current,
    hasFailed: !isAsking && answer.hasFailed === true,
  }
}
