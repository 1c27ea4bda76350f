import { type Route, tenantRoute } from '../platform/http/route.ts'
import { moveClock } from './clock.ts'
import { ClockRequest, ClockResponse } from './contract.ts'

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
