// What constrained fields may have, asked while the form is filled in: after a pause, one question at a time.
import { createContext } from 'preact'
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { get, Problem } from '../api.ts'
import { type Child, part, type View } from '../element.ts'
import { type Constraint, rowsOf, type Scope, type Surroundings } from './constraints.ts'

const Outer = createContext<Scope | undefined>(undefined)
const Around = createContext<Surroundings>({ times: {} })

export const useOuter = (): Scope | undefined => useContext(Outer)

/** Fields in it lie within the scope. */
export const within = (scope: Scope | undefined, ...children: Child[]): View =>
  part(Outer.Provider, { value: scope, children })

export const surrounded = (surroundings: Surroundings, ...children: Child[]): View =>
  part(Around.Provider, { value: surroundings, children })

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

export type Allowed = {
  /** Undefined: any, or not known. While it is being asked, those of the question before. */
  readonly values: readonly string[] | undefined
  readonly isAsking: boolean
  /** The choices could not be had. */
  readonly hasFailed: boolean
  /** The values on which they depend are those with which the form was opened. */
  readonly isAsOpened: boolean
}

type Answer = {
  /** Undefined: nothing can be asked. */
  readonly question: string | undefined
  readonly values?: readonly string[] | undefined
  readonly hasFailed?: boolean
}

/** Typing goes on: what the values mean is asked once it pauses. */
const PAUSE_MS = 300

/** What the field may have now; the last question counts, whichever answer comes last. */
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
    const answered = (all: readonly (Rows | undefined)[]): void => {
      if (isWanted) show({ question, values: valuesOf(all, constraint.column) })
    }
    const failed = (): void => {
      if (isWanted) show({ question, hasFailed: true })
    }
    const known = paths.map(keptRows)
    const ask = (): void => {
      Promise.all(paths.map(path => rowsInTurn(path, () => isWanted))).then(answered, failed)
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    if (known.every(one => one !== undefined)) answered(known.map(one => one.rows))
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
