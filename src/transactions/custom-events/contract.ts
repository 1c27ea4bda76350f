// Schedules of custom events (resources brief 8.3). No contract defines their shapes.
import { z } from '@hono/zod-openapi'
import {
  component,
  DateTime,
  Flag,
  Integer,
  OptionalLocator,
  OptionalText,
  offsetUpTo,
  PageSize,
  Text,
} from '../../platform/wire.ts'

export const LARGEST_OFFSET = 10_000

export const ScheduleListQuery = z.object({
  offset: offsetUpTo(LARGEST_OFFSET),
  count: PageSize,
  policyLocator: OptionalLocator.describe('Returns only schedules of this policy.'),
})
export type ScheduleListQuery = z.infer<typeof ScheduleListQuery>

export const EventScheduleResponse = component('EventScheduleResponse', {
  locator: Text,
  policyLocator: Text,
  type: Text,
  state: z.enum(['active', 'failed']),
  nextTimestamp: DateTime.optional().describe(
    'When the event is due next. For a failed schedule: the time that was missed. Absent if the event is never due again.',
  ),
  failures: Integer.describe('Number of failed attempts for that time.'),
  problem: OptionalText,
  createdAt: DateTime,
})
export type EventScheduleResponse = z.infer<typeof EventScheduleResponse>

export const EventScheduleListResponse = component('EventScheduleListResponse', {
  listCompleted: Flag,
  items: z.array(EventScheduleResponse),
})
export type EventScheduleListResponse = z.infer<typeof EventScheduleListResponse>
