// Where to continue an export: tokens of pages, and cursors of changes.
import { invalidParameter, Refusal } from '../../kernel/errors.ts'
import type { Tenant } from '../../platform/tenancy.ts'

/** The 400 for a token or cursor that this service did not issue. */
export const wrongToken = (name: 'pagingToken' | 'cursor'): Refusal =>
  invalidParameter(
    `'${name}' was not issued by this service. Send the one from the previous response, or none to begin.`,
  )

/** Returns the token that continues in a shard after a record; '' means at its beginning. */
export const pageToken = (shard: number, after: string): string => `${shard}-${after}`

/** Reads a token; no token means the beginning. Throws 400 for a malformed one, or one of a shard that does not exist. */
export function readPageToken(token: string | undefined, shards: number): { shard: number; after: string } {
  if (token === undefined) return { shard: 0, after: '' }
  const [, shard, after = ''] = /^(\d{1,2})-([\w-]{0,4096})$/.exec(token) ?? []
  if (shard === undefined || Number(shard) >= shards) throw wrongToken('pagingToken')
  return { shard: Number(shard), after }
}

/**
 * For each shard, the last row of events and of the journal. With `policy`, that row of events changed a policyholder, and its
 * policies up to this one are done. Without it, all of them are.
 */
export type Cursor = readonly (readonly [event: number, journal: number, policy?: number])[]

type Restorable = Pick<Tenant, 'shards' | 'restores'>

/** After the numbers follows how often the tenant has been restored, if ever. */
export const cursorText = (cursor: Cursor, { restores = [] }: Restorable): string =>
  cursor.map(one => one.join('.')).join('_') + (restores.length > 0 ? `-${restores.length}` : '')

/**
 * Shards that were added since begin at their start. Rejects with 409 `exportRestored` a cursor from before a restore: records
 * that were exported with it are undone, no change reports this, and the journal reuses row numbers.
 */
export function readCursor(text: string | undefined, { shards, restores = [] }: Restorable): Cursor {
  const [numbers = '', count = '0', ...more] = text?.split('-') ?? []
  const parts = text === undefined ? [] : numbers.split('_')
  const isOne =
    more.length === 0 &&
    /^\d{1,6}$/.test(count) &&
    parts.every(part => /^\d{1,15}\.\d{1,15}(?:\.\d{1,15})?$/.test(part))
  if (parts.length > shards.length || !isOne) throw wrongToken('cursor')
  if (text !== undefined && Number(count) < restores.length)
    throw new Refusal(
      'exportRestored',
      "The tenant was restored to an earlier time after this 'cursor' was issued, so some exported changes are undone. Get a new cursor from GET /export, and export everything again.",
    )
  return Array.from(shards, (_, shard) => {
    const [event = 0, journal = 0, policy] = (parts[shard] ?? '0.0').split('.').map(Number)
    return policy === undefined ? [event, journal] : [event, journal, policy]
  })
}
