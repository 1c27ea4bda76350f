// A policy in the making: its records so far, and which of them the elements of its transactions became.
import type { Uuid } from '../../platform/locators.ts'
import type { Instant } from '../../platform/time.ts'
import type { PolicyAggregate } from '../../policies/aggregate.ts'

type Writable<T> = T extends ReadonlyMap<infer K, infer V> ? Map<K, V> : never

/** A policy in the making. */
export type Making = {
  policy: PolicyAggregate['policy']
} & { readonly [K in Exclude<keyof PolicyAggregate, 'policy'>]: Writable<PolicyAggregate[K]> }

/** Which records elements are by now. */
export type Known = {
  readonly exposures: Map<string, Uuid>
  /** By term and id: a renewal's perils are others, of the same group. */
  readonly perils: Map<string, Uuid>
  readonly renewalGroups: Map<string, Uuid>
  /** By term and id. */
  readonly runs: Map<string, { locator: Uuid; start: Instant; fingerprint: string }>
}

export const nothingKnown = (): Known => ({
  exposures: new Map(),
  perils: new Map(),
  renewalGroups: new Map(),
  runs: new Map(),
})

/** An element's key in `perils` and `runs`. */
export const keyInTerm = (termAt: number, id: string): string => `${termAt} ${id}`

/** The element's id in such a key. */
export const idOf = (key: string): string => key.slice(key.indexOf(' ') + 1)
