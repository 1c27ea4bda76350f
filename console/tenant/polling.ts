// Polls a value that changes by itself, with increasing pauses after failures, and only while the page is visible.
import { useLayoutEffect, useState } from 'preact/hooks'
import { Problem, SignedOut } from '../api.ts'

export type Watched<Value> = {
  readonly value: Value
  /** Why the last request failed. */
  readonly failure: unknown
}

/** After this many consecutive failures, the pause no longer doubles. */
const MOST_DOUBLED = 5

/** Whether a retry would get the same error. */
const isLasting = (failure: unknown): boolean =>
  failure instanceof Problem && failure.status >= 400 && failure.status < 500 && failure.status !== 429

/**
 * `pauseMs` returns the time until the next request, or undefined once the value no longer changes. Hidden pages send no
 * requests.
 */
export function usePolling<Value>(
  first: Value,
  ask: () => Promise<Value>,
  pauseMs: (value: Value) => number | undefined,
): Watched<Value> {
  const [shown, show] = useState<Watched<Value>>({ value: first, failure: undefined })
  useLayoutEffect(() => {
    let isHere = true
    let isAsking = false
    let timer: ReturnType<typeof setTimeout> | undefined
    let value = first
    let misses = 0

    const plan = (): void => {
      clearTimeout(timer)
      const pause = pauseMs(value)
      if (!isHere || pause === undefined || document.hidden) return
      timer = setTimeout(() => void look(), pause * 2 ** Math.min(misses, MOST_DOUBLED))
    }
    const look = async (): Promise<void> => {
      if (isAsking) return
      isAsking = true
      try {
        value = await ask()
        misses = 0
        if (isHere) show({ value, failure: undefined })
      } catch (failure) {
        misses += 1
        if (!isHere) return
        if (failure instanceof SignedOut) return void dispatchEvent(new Event('bindery:reload'))
        show({ value, failure })
        if (isLasting(failure)) return
      } finally {
        isAsking = false
      }
      plan()
    }
    const seen = (): void => {
      clearTimeout(timer)
      if (isHere && !document.hidden && pauseMs(value) !== undefined) void look()
    }
    document.addEventListener('visibilitychange', seen)
    plan()
    return () => {
      isHere = false
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', seen)
    }
  }, [])
  return shown
}
