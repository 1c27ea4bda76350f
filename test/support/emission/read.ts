import { env } from 'cloudflare:workers'
import { SYSTEM_CALLER } from '../../../src/platform/context.ts'
import type { EventType } from '../../../src/platform/events/catalogue.ts'
import { EVERY_EVENT } from '../../../src/platform/events/rows.ts'
import { isCustomEventType } from '../../../src/platform/events/types.ts'
import { CAUSES } from '../../../src/servicing/events/stream/causes.ts'
import { boundDatabase } from '../databases.ts'
import { callOf, isMadeUp } from './calls.ts'
import { causeOfCall, type Emitted, eventProblems, mayEmit } from './check.ts'

/** An event and its cause: a cause of the catalogue, `clock`, or a call that should not emit anything. */
export type Caused = Emitted & {
  readonly cause: string
  readonly requestId: string
  readonly username: string
}

type Row = {
  type: string
  newer_type: string | null
  data: string
  account_locator: string
  request_id: string
  username: string
}

/** Returns every event in the databases of the test file whose cause is known. */
export async function emitted(): Promise<Caused[]> {
  const bindings = await env.CONTROL.prepare(`select binding from pool_database where state = 'claimed'`)
    .all<{ binding: string }>()
    .catch(() => ({ results: [] }))
  const rows = await Promise.all(
    bindings.results.map(({ binding }) =>
      boundDatabase(binding)
        .prepare(
          `select type, newer_type, data, account_locator, request_id, username from ${EVERY_EVENT} order by sequence`,
        )
        .all<Row>(),
    ),
  )
  return rows.flatMap(({ results }) => results).flatMap(asCaused)
}

function asCaused({ type, newer_type, data, account_locator, request_id, username }: Row): Caused[] {
  if (isMadeUp(request_id)) return []
  const event = { type, newerType: newer_type, data: JSON.parse(data), requestId: request_id, username }
  const call = callOf(request_id)
  if (call !== undefined)
    return [{ ...event, cause: causeOfCall(call) ?? call.replace(/\/[0-9a-f-]{9,}/g, '/{…}') }]
  return account_locator === SYSTEM_CALLER.accountLocator ? [{ ...event, cause: 'clock' }] : []
}

/** Returns how the events deviate from the catalogue, each problem once. */
export function problemsOf(events: readonly Caused[]): string[] {
  const problems = events.flatMap(event => {
    const { cause, type } = event
    const own = eventProblems(event)
    if (isCustomEventType(type)) return own
    const known = cause === 'clock' || cause in CAUSES
    if (!known) return [...own, `${cause} emitted ${type}, and is not among the causes of the catalogue.`]
    return mayEmit(cause, type as EventType) ? own : [...own, `${cause} emitted ${type}.`]
  })
  return [...new Set(problems)]
}
