// Long-lived tokens that an isolate has looked up, and those that it looked for in vain: trusted for 5 s, as tenants are.

import { type Instant, now } from '../../kernel/time.ts'
import { TENANT_TRUST_MS } from '../../platform/tenancy.ts'
import type { FoundToken } from './store.ts'

type Known = { readonly found: FoundToken | undefined; readonly readAt: Instant }

/** The one that was looked up first is forgotten first. */
const MOST_KNOWN = 1_000

const known = new Map<string, Known>()

/** What was looked up under the key less than 5 s ago, or is now. */
export async function knownAuthToken(
  key: string,
  lookUp: () => Promise<FoundToken | undefined>,
): Promise<FoundToken | undefined> {
  const before = known.get(key)
  if (before && now() - before.readAt < TENANT_TRUST_MS) return before.found
  const readAt = now()
  const found = await lookUp()
  known.delete(key)
  known.set(key, { found, readAt })
  if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!)
  return found
}

/** Called after a change of tokens or accounts; other isolates look again within 5 s. */
export const forgetAuthTokens = (): void => known.clear()
