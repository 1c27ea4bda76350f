// The state of a promise, as a hook for components.
import { useLayoutEffect, useState } from 'preact/hooks'

export type Awaited<Value> = {
  /** Undefined until the promise resolves, or if it rejects. */
  readonly value: Value | undefined
  readonly isPending: boolean
}

/** Waits for the promise. If another promise takes its place, waits for that one. */
export function usePromise<Value>(promise: Promise<Value> | undefined): Awaited<Value> {
  const [found, show] = useState<Awaited<Value>>({ value: undefined, isPending: promise !== undefined })
  useLayoutEffect(() => {
    let isHere = true
    promise?.then(
      value => isHere && show({ value, isPending: false }),
      () => isHere && show({ value: undefined, isPending: false }),
    )
    return () => {
      isHere = false
    }
  }, [promise])
  return found
}
