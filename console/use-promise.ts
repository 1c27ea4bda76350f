// What a promise comes to, within a component.
import { useLayoutEffect, useState } from 'preact/hooks'

export type Awaited<Value> = {
  /** Undefined until it is there, and where it cannot be had. */
  readonly value: Value | undefined
  readonly isPending: boolean
}

/** Another promise at the same place is waited for in turn. */
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
