// Where an export goes on: tokens of pages, and cursors of changes.
import { invalidParameter, type Refusal } from '../../kernel/errors.ts'

export const wrongToken = (name: 'pagingToken' | 'cursor'): Refusal =>
  invalidParameter(
    `'${name}' is not one that an answer gave; send the one of the answer before, or none to begin.`,
  )

export const pageToken = (shard: number, after: string): string => `${shard}-${after}`

export function readPageToken(token: string | undefined, shards: number): { shard: number; after: string } {
  if (token === undefined) return { shard: 0, after: '' }
  const [, shard, after = ''] = /^(\d{1,2})-([\w-]{0,4096})$/.exec(token) ?? []
  if (shard === undefined || Number(shard) >= shards) throw wrongToken('pagingToken')
  return { shard: Number(shard), after }
}

/** Of each shard: the last event and the last row of the journal. */
export type Cursor = readonly (readonly [event: number, journal: number])[]

export const cursorText = (cursor: Cursor): string => cursor.map(one => one.join('.')).join('_')

/** Shards that came since begin at their start. */
export function readCursor(text: string | undefined, shards: number): [number, number][] {
  const parts = text === undefined ? [] : text.split('_')
  if (parts.length > shards || parts.some(part => !/^\d{1,15}\.\d{1,15}$/.test(part)))
    throw wrongToken('cursor')
  return Array.from({ length: shards }, (_, shard) => {
    const [event = 0, journal = 0] = (parts[shard] ?? '0.0').split('.').map(Number)
    return [event, journal]
  })
}
