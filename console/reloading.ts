// Reading the record of an open dialog again after a conflict. What the user has entered stays.
import { createContext } from 'preact'
import { useContext, useLayoutEffect, useRef } from 'preact/hooks'
import { type Child, part, type View } from './element.ts'

export type Reloading = {
  /** How often the record was read again since the dialog opened. */
  readonly count: number
  readonly isBusy: boolean
  /** Why the last attempt failed. */
  readonly failure?: unknown
  reload(): void
}

const Context = createContext<Reloading | undefined>(undefined)

/** Undefined in forms that are not in a dialog. */
export const useReloading = (): Reloading | undefined => useContext(Context)

export const withReloading = (reloading: Reloading, ...children: Child[]): View =>
  part(Context.Provider, { value: reloading, children })

/** Reads the page again, for dialogs without entries and for those that keep them in a draft. They close. */
export const PAGE_RELOAD: Reloading = {
  count: 0,
  isBusy: false,
  reload: () => void dispatchEvent(new Event('bindery:reload')),
}

/** Calls `after` each time the record was read again. */
export function useAfterReload(after: () => void): void {
  const count = useReloading()?.count ?? 0
  useLayoutEffect(() => {
    if (count > 0) after()
  }, [count])
}

/** Calls `rebase` when another record takes the place of the one with which the form began. */
export function useRebase<Base>(base: Base, rebase: (before: Base, now: Base) => void): void {
  const last = useRef(base)
  useLayoutEffect(() => {
    const before = last.current
    last.current = base
    if (before !== base) rebase(before, base)
  }, [base])
}
