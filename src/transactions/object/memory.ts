// What a policy's object remembers of its policy between operations: a cache of the records, never the source of truth
// (docs/design.md, section 5).
import { type Instant, now } from '../../kernel/time.ts'
import type { Tenant } from '../../platform/tenancy.ts'
import type { Loaded } from '../../policy/surroundings.ts'

/** The policy that the object remembers between operations. Any error drops it, since the memory itself may be wrong. */
export type PolicyMemory = {
  loaded?: Loaded
  readAt?: Instant
  /** The tenant's restores and token epoch. After a restore or a move, the same version may have other rows. */
  era?: string
}

const eraOf = ({ restores = [], tokenEpoch }: Tenant): string => `${restores.length}/${tokenEpoch}`

/** The remembered policy as it is sent to a reader, which finds the configuration by its hash. */
export type Recalled = Pick<Loaded, 'aggregate' | 'policyholder' | 'credit'> & {
  readonly configurationHash: string
}

/**
 * Returns the remembered policy if it has at least the given version. The policyholder may have changed since, so anything that
 * depends on it needs a guard.
 */
export function recallPolicy(
  { loaded, era }: PolicyMemory,
  tenant: Tenant,
  version: number,
): Recalled | undefined {
  if (!loaded || era !== eraOf(tenant) || loaded.aggregate.policy.version < version) return undefined
  const { aggregate, policyholder, credit, configuration } = loaded
  return { aggregate, policyholder, credit, configurationHash: configuration.hash }
}

/** An object keeps a policy of at most this many records in memory, about 256 KiB (docs/design.md, section 5). */
const MOST_REMEMBERED_RECORDS = 250

/** Forgets the policy if the tenant was restored or moved since it was read. */
export function forgetOtherEra(memory: PolicyMemory, tenant: Tenant): void {
  const era = eraOf(tenant)
  if (memory.era !== era) forgetPolicy(memory)
  memory.era = era
}

/** Remembers the policy as it was just read or written, unless it is large or was read in part. */
export function rememberPolicy(memory: PolicyMemory, loaded: Loaded): void {
  const { aggregate, unread } = loaded
  const records = aggregate.exposures.size + aggregate.perils.size + aggregate.modifications.size
  const small = !unread && records <= MOST_REMEMBERED_RECORDS
  memory.loaded = small ? loaded : undefined
  memory.readAt = small ? now() : undefined
}

/** Makes the next operation read the policy. */
export function forgetPolicy(memory: PolicyMemory): void {
  memory.loaded = undefined
  memory.readAt = undefined
}
