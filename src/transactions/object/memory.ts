// What a policy's object keeps of its policy between operations: a cache, never the truth (docs/design.md, section 5).
import type { PolicyLocator } from '../../kernel/locators.ts'
import { type Instant, now } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { loadPart, loadPolicy } from '../../policy/store/loading.ts'
import type { Loaded, Part } from '../../policy/surroundings.ts'

/** What an object remembers of its policy between operations; dropped on any error. */
export type PolicyMemory = { loaded?: Loaded; readAt?: Instant }

/** How long a price may rest on what an object remembers: so long a repair may be unseen by it. */
const PRICE_TRUST_MS = 2_000

/** Records whose rows an object keeps in memory: about 256 KiB (docs/design.md, section 5). */
const MOST_REMEMBERED_RECORDS = 250

/** The policy from memory, or read. What is stored has guards; what is only shown trusts memory for 2 s. */
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
