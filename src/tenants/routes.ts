import { z } from '@hono/zod-openapi'
import { type Route, tenantRoute } from '../platform/http/route.ts'
import {
  Flag,
  Integer,
  OptionalTimestamp,
  optionalRecord,
  requestInteger,
  Timestamp,
} from '../platform/wire.ts'
import { breaks } from '../platform/wire-problem.ts'
import { moveClock } from './clock.ts'

// The clock of a test tenant.
/** A span of the calendar in the tenant's zone; of the units, at most what lies within the limits of a move. */
export const ClockAdvance = z
  .object({
    amount: requestInteger(1, 1_000_000_000),
    unit: z.enum(['second', 'minute', 'hour', 'day', 'week', 'month', 'year']),
  })
  .openapi('ClockAdvance')
export type ClockAdvance = z.infer<typeof ClockAdvance>

/** To when the clock moves: exactly one of the two. */
export const ClockRequest = z
  .object({ timestamp: OptionalTimestamp, advance: optionalRecord(ClockAdvance) })
  .check(ctx => {
    const { timestamp, advance } = ctx.value
    if ((timestamp === undefined) === (advance === undefined))
      breaks(ctx, "must have exactly one of 'timestamp' and 'advance'")
  })
  .openapi('ClockRequest')
export type ClockRequest = z.infer<typeof ClockRequest>

/** The time to which the clock was moved, and runs on from; all that was due until then has been tried. */
export const ClockResponse = z
  .object({
    timestamp: Timestamp,
    /** Where the move ends; not reached yet unless `completed`. */
    targetTimestamp: Timestamp,
    completed: Flag,
    /** Of what fell due: what could not be done, and is tried again a minute after the target. */
    failed: Integer,
  })
  .openapi('ClockResponse')
export type ClockResponse = z.infer<typeof ClockResponse>

export const tenantRoutes: readonly Route[] = [
  tenantRoute({
    method: 'post',
    path: '/test/clock',
    summary: "Move a test tenant's clock forward",
    description:
      "To `timestamp`, or by `advance` in the calendar of the tenant's time zone; at most 10 years a call, and never back. What falls due on the way (invoices, reminders, ends of policies) happens before the answer, in its order and each at its time; then the clock runs on. Tokens, links and deliveries to webhooks go by the real time. With `completed` false there was more to do than one call does: the clock stands at `timestamp`; send `targetTimestamp` as `timestamp` to go on. Other requests know of the new time within 5 seconds. Not for production tenants.",
    tags: ['Test tenants'],
    permission: 'tenants.clock',
    body: { schema: ClockRequest, required: true },
    answer: { schema: ClockResponse, description: 'Where the clock stands.' },
    handle: ({ body }, context) => moveClock(body, context),
  }),
]
