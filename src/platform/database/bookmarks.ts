// Bookmarks of D1 (`x-d1-bookmark`): a client that sends what its last answer had reads what it wrote, from whichever copy of
// the database is next to it. Without one every read is the primary's. Writes always are: what is decided rests on what is so.
import { invalidParameter } from '../../kernel/errors.ts'
import { type Calls, laterBookmark } from '../calls.ts'
import type { Tenant } from '../tenancy.ts'

export const BOOKMARK_HEADER = 'x-d1-bookmark'

const FORM = /^([0-9a-f]{8}\.\d{1,9})\.(\d{1,2}=[\w-]{1,128}(?:,\d{1,2}=[\w-]{1,128})*)$/

/** A tenant's databases, until it is recreated. */
const scopeOf = ({ locator, generation }: Tenant): string => `${locator.slice(0, 8)}.${generation}`

/**
 * By binding what the client brought. Empty for a bookmark of another tenant or of one that was recreated since: the primary
 * has come at least as far. 400 for text that no answer had.
 */
export function readBookmarks(header: string | null, tenant: Tenant): Readonly<Record<string, string>> {
  if (header === null) return {}
  const [, scope, list] = FORM.exec(header.trim()) ?? []
  if (scope === undefined || list === undefined)
    throw invalidParameter(
      'X-D1-Bookmark must be that of an earlier answer, as it was sent; or leave it out.',
    )
  if (scope !== scopeOf(tenant)) return {}
  const brought: Record<string, string> = {}
  for (const one of list.split(',')) {
    const [shard, bookmark] = one.split('=') as [string, string]
    const binding = tenant.shards[Number(shard)]
    if (binding !== undefined) brought[binding] = bookmark
  }
  return brought
}

/** What the answer has: of each shard the later of what was brought and what was seen. Undefined where there is neither. */
export function writeBookmarks({ brought = {}, bookmarks = {} }: Calls, tenant: Tenant): string | undefined {
  const each = tenant.shards.flatMap((binding, shard) => {
    const latest = laterBookmark(brought[binding], bookmarks[binding])
    return latest === undefined ? [] : [`${shard}=${latest}`]
  })
  return each.length === 0 ? undefined : `${scopeOf(tenant)}.${each.join(',')}`
}
