// The policy's records that its object keeps between operations: a cache, never the truth (docs/design.md, section 5).
import type { PolicyLocator } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { loadPart, loadPolicy } from '../../policy/store/loading.ts'
import type { Loaded, Part } from '../../policy/surroundings.ts'

/** The object's memory of its policy between operations; any error drops it. */
export type PolicyMemory = { loaded?: Loaded; readAt?: Instant }

/** How long a price may rest on memory: for this long it may miss a repair of the configuration. */
const PRICE_TRUST_MS = 2_000

/** Records whose rows an object keeps in memory: about 256 KiB (docs/design.md, section 5). */
const MOST_REMEMBERED_RECORDS = 250

/** The policy from memory, or read. Guards protect what is stored; what is only shown trusts memory for 2 s. */
export async function remembered(
  context: RequestContext,
  database: Database,
  memory: PolicyMemory,
  locator: PolicyLocator,
  use: 'guarded' | 'unguarded',
  part: Part | undefined,
): Promise<Loaded> {
  const age = now() - (memory.readAt ?? 0)
  if (memory.loaded && (use === 'guarded' || age < PRICE_TRUST_MS)) return memory.loaded
  const loaded = part
    ? await loadPart(context, database, locator, part)
    : await loadPolicy(context, database, { locator })
  remember(memory, loaded)
  return loaded
}

export function remember(memory: PolicyMemory, loaded: Loaded): void {
  const { aggregate, unread } = loaded
  const records = aggregate.exposures.size + aggregate.perils.size + aggregate.modifications.size
  const small = !unread && records <= MOST_REMEMBERED_RECORDS
  memory.loaded = small ? loaded : undefined
  memory.readAt = small ? now() : undefined
}

export function forget(memory: PolicyMemory): void {
  memory.loaded = undefined
  memory.readAt = undefined
}
