// Sends batches to a D1 database: each in one round trip, counted, within a session, and only while the database serves the tenant
// that the caller expects.
import { type Calls, noteBookmark } from '../calls.ts'
import {
  type CheckedToken,
  type Fence,
  type FencedTenant,
  type FenceRow,
  guardFence,
  isFenceTripped,
  matchesFence,
  readFence,
  tokenFor,
} from '../tenancy/fence.ts'

export type SqlText = { readonly sql: string; readonly params: readonly unknown[] }

/** Whether the statement is a plain SELECT. One that begins with WITH counts as a write. */
export const isReading = ({ sql: text }: SqlText): boolean => /^[\s(]*select\b/i.test(text)

/** Sends the statements as one atomic batch in one round trip. */
export type Send = (statements: readonly SqlText[]) => Promise<D1Result[]>

/**
 * Returns a connection. `binding` is the name of the database's bookmarks; `fence` is for a tenant's database.
 *
 * It uses a session, so that read replicas can be enabled: reads with a client's bookmark may go to a copy that has reached it,
 * and everything else goes to the primary.
 */
export function connectionTo(client: D1Database, calls: Calls, binding?: string, fence?: Fence): Send {
  const send = sessionOf(client, calls, binding)
  return fence ? statements => sendFenced(send, fence, statements, calls) : send
}

function sessionOf(client: D1Database, calls: Calls, binding: string | undefined): Send {
  let from = binding !== undefined && calls.isRead ? calls.clientBookmarks?.[binding] : undefined
  let session = client.withSession(from ?? 'first-primary')
  const send: Send = async statements => {
    calls.d1 += 1
    calls.statements = (calls.statements ?? 0) + statements.length
    const results = await session.batch(
      statements.map(({ sql: text, params }) => session.prepare(text).bind(...params)),
    )
    const bookmark = session.getBookmark()
    if (binding !== undefined && bookmark) noteBookmark(calls, binding, bookmark)
    return results
  }
  // A restored database may never have had the bookmark. The primary answers then.
  return statements =>
    send(statements).catch(problem => {
      if (from === undefined) throw problem
      from = undefined
      session = client.withSession('first-primary')
      return send(statements)
    })
}

/** Sends until the fence is as the caller expects, or until `resolveMismatch` throws the error for the caller. */
async function sendFenced(
  send: Send,
  fence: Fence,
  statements: readonly SqlText[],
  calls: Calls,
): Promise<D1Result[]> {
  const token = tokenFor(fence, calls)
  const attempt = statements.every(isReading) ? readFenced : writeFenced
  for (;;) {
    const outcome = await attempt(send, fence.tenant, statements, token)
    if ('results' in outcome) return outcome.results
    await fence.resolveMismatch(outcome.row)
  }
}

/** Returns the results, or the fence's row if it differs from what the caller expects. */
type Attempt = (
  send: Send,
  tenant: FencedTenant,
  statements: readonly SqlText[],
  token: CheckedToken,
) => Promise<{ results: D1Result[] } | { row: FenceRow | undefined }>

const readFenced: Attempt = async (send, tenant, statements, token) => {
  const [read, ...results] = await send([readFence(token), ...statements])
  const [row] = read!.results as FenceRow[]
  return matchesFence(row, tenant) ? { results } : { row }
}

const writeFenced: Attempt = async (send, tenant, statements, token) => {
  try {
    const [, ...results] = await send([guardFence(tenant, token), ...statements])
    return { results }
  } catch (problem) {
    if (!isFenceTripped(problem)) throw problem
    const [read] = await send([readFence(token)])
    return { row: read!.results[0] as FenceRow | undefined }
  }
}
