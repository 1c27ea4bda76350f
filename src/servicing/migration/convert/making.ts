// A policy in the making: its records so far, and which of them the elements of its transactions became.
import type { Uuid } from '../../../kernel/locators.ts'
import type { Instant } from '../../../kernel/time.ts'
import type { PolicyAggregate } from '../../../policy/records/aggregate.ts'

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
  /** Runs of exposures by their exposures. */
  readonly exposureRuns: Map<Uuid, Uuid[]>
  readonly reach: Reach
}

/** Where runs of perils lie (transaction/reach.ts). */
type Reach = {
  /** By the segments that something of them ever lay in. */
  readonly bySegment: Map<Uuid, Set<Uuid>>
  /** In which order they were made. */
  readonly numbers: Map<Uuid, number>
  /** By perils, the last one that was made. */
  readonly lastOf: Map<Uuid, Uuid>
  /** Those of which something was ever held back. */
  readonly held: Set<Uuid>
}

export const nothingKnown = (): Known => ({
  exposures: new Map(),
  perils: new Map(),
  renewalGroups: new Map(),
  runs: new Map(),
  exposureRuns: new Map(),
  reach: { bySegment: new Map(), numbers: new Map(), lastOf: new Map(), held: new Set() },
})

/** An element's key in `perils` and `runs`. */
export const keyInTerm = (termAt: number, id: string): string => `${termAt} ${id}`

/** The element's id in such a key. */
export const idOf = (key: string): string => key.slice(key.indexOf(' ') + 1)
