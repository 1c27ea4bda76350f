// Paging tokens of the stream: where a reader stands and what it reads, sealed so that it cannot be changed. They never
// expire, so they are sealed with the keys that are kept for good: the first of SEALING_KEY seals, and each of them opens
// what it sealed once. Other keys of access tokens end sessions, and no reading.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../../../kernel/errors.ts'
import type { Tenant } from '../../../platform/tenancy.ts'
import type { Positions } from './merge.ts'
import type { StreamFilter } from './store.ts'

/** Whose token it is: one of the stream says nothing to the events interface. */
export type View = 'stream' | 'events'

/** All that the next call needs; the token never expires. */
export type Reading = { filter: StreamFilter; pageSize: number; positions: Positions }

/** Start, end, and type of the filter (the older name, or either), rows of a page, positions. */
type Sealed = [start: number | null, end: number | null, type: string | null, size: number, at: number[]]

/** Over the tenant too: another's token does not fit. */
const sealOf = (key: string, view: View, tenant: Tenant, text: string): Buffer =>
  createHmac('sha256', key)
    .update(`paging of ${view}\n${tenant.locator}/${tenant.generation}\n${text}`)
    .digest()

function keysOf(keys: string | undefined): string[] {
  if (!keys) throw new Error('SEALING_KEY must be set.')
  return keys.split(',').map(key => key.trim())
}

/** `keys`: as in SEALING_KEY, several with commas in between. */
export function writeToken(
  keys: string,
  view: View,
  tenant: Tenant,
  { filter, pageSize, positions }: Reading,
): string {
  const { start, end, type, name } = filter
  const sealed: Sealed = [start ?? null, end ?? null, type ?? name ?? null, pageSize, [...positions]]
  const text = Buffer.from(JSON.stringify(sealed)).toString('base64url')
  return `${text}.${sealOf(keysOf(keys)[0]!, view, tenant, text).toString('base64url')}`
}

/** What the token says; a Refusal `invalidParameter` when it is not one of this tenant's and of this view. */
export function readToken(keys: string, view: View, tenant: Tenant, token: string): Reading {
  const [text = '', seal = ''] = token.split('.')
  const given = Buffer.from(seal, 'base64url')
  const fits = keysOf(keys).some(key => {
    const right = sealOf(key, view, tenant, text)
    return given.length === right.length && timingSafeEqual(given, right)
  })
  if (!fits)
    throw new Refusal(
      'invalidParameter',
      "'pagingToken' is not one that this service gave out here; send it as it came, or begin again without it.",
    )
  const [start, end, type, pageSize, positions] = JSON.parse(
    Buffer.from(text, 'base64url').toString('utf8'),
  ) as Sealed
  return {
    filter: {
      start: start ?? undefined,
      end: end ?? undefined,
      [view === 'stream' ? 'type' : 'name']: type ?? undefined,
    } as StreamFilter,
    pageSize,
    positions,
  }
}
