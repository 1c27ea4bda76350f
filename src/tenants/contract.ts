// The clock of a test tenant.
import { z } from '@hono/zod-openapi'
import {
  Flag,
  Integer,
  OptionalTimestamp,
  optionalRecord,
  requestInteger,
  Timestamp,
} from '../platform/wire.ts'
import { breaks } from '../platform/wire-problem.ts'

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
