// Paging tokens of the stream: where a reader stands and what it reads, sealed so that it cannot be changed.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Refusal } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenancy.ts'
import type { Positions } from './merge.ts'
import type { StreamFilter } from './store.ts'

/** All that the next call needs; the token never expires. */
export type Reading = { filter: StreamFilter; pageSize: number; positions: Positions }

/** Start, end and type of the filter, rows of a page, positions. */
type Sealed = [start: number | null, end: number | null, type: string | null, size: number, at: number[]]

/** Over the tenant too: another's token does not fit. */
const sealOf = (secret: string, tenant: Tenant, text: string): Buffer =>
  createHmac('sha256', secret).update(`eventstream\n${tenant.locator}/${tenant.generation}\n${text}`).digest()

export function writeToken(secret: string, tenant: Tenant, { filter, pageSize, positions }: Reading): string {
  const { start, end, type } = filter
  const sealed: Sealed = [start ?? null, end ?? null, type ?? null, pageSize, [...positions]]
  const text = Buffer.from(JSON.stringify(sealed)).toString('base64url')
  return `${text}.${sealOf(secret, tenant, text).toString('base64url')}`
}

/** What the token says; a Refusal `invalidParameter` when it is not one of this tenant's. */
export function readToken(secret: string, tenant: Tenant, token: string): Reading {
  const [text = '', seal = ''] = token.split('.')
  const given = Buffer.from(seal, 'base64url')
  const right = sealOf(secret, tenant, text)
  if (given.length !== right.length || !timingSafeEqual(given, right))
    throw new Refusal(
      'invalidParameter',
      "'pagingToken' is not one that this service gave out; send it as it came, or begin again with a filter.",
    )
  const [start, end, type, pageSize, positions] = JSON.parse(
    Buffer.from(text, 'base64url').toString('utf8'),
  ) as Sealed
  return {
    filter: { start: start ?? undefined, end: end ?? undefined, type: type ?? undefined } as StreamFilter,
    pageSize,
    positions,
  }
}
