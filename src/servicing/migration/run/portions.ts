// Which accounts go into one batch: several small ones, or one that is large, or that was begun before.
import type { Migration, MigrationAccount } from '../store.ts'

/** Accounts that are recorded in one batch. */
export type Portion = readonly MigrationAccount[]

const MOST_ACCOUNTS = 16
const MOST_ITEMS = 600
/** Of what was sent of them. */
const MOST_BYTES = 1_048_576

/**
 * Accounts in their order, in portions. One that was begun before is a portion by itself: whatever cut it off is told from its
 * neighbours so, and holds them up no longer.
 */
export function portionsOf(accounts: readonly MigrationAccount[], mostItems: number): Portion[] {
  const portions: MigrationAccount[][] = []
  let [items, bytes, all] = [0, 0, 0]
  for (const account of accounts) {
    if (all > mostItems) break
    const portion = portions.at(-1)
    items += account.totalItems
    bytes += account.length
    all += account.totalItems
    const isAlone = account.tries > 0 || (portion?.[0]?.tries ?? 0) > 0
    if (portion && !isAlone && portion.length < MOST_ACCOUNTS && items <= MOST_ITEMS && bytes <= MOST_BYTES) {
      portion.push(account)
      continue
    }
    portions.push([account])
    items = account.totalItems
    bytes = account.length
  }
  return portions
}

/**
 * The accounts before a second one of an id of which nothing was migrated: whether the first was made has to be read again. So
 * no two of a portion have the same id.
 */
export function beforeTwin(
  accounts: readonly MigrationAccount[],
  { type }: Pick<Migration, 'type'>,
  claimedBy: ReadonlyMap<string, string>,
): readonly MigrationAccount[] {
  if (type !== 'fullMigration') return accounts
  const seen = new Set<string>()
  const twin = accounts.findIndex(({ originalId }) => {
    if (claimedBy.has(originalId)) return false
    if (seen.has(originalId)) return true
    seen.add(originalId)
    return false
  })
  return twin < 0 ? accounts : accounts.slice(0, twin)
}
