// The Worker's entry: requests, announcements, housekeeping; and the Durable Objects.
import { createApp } from './app.ts'
import { consumeAnnouncements } from './events/delivery/consume.ts'
import { wipeReturned } from './tenants/service.ts'

export { DispatcherObject } from '../durable/dispatcher.ts'
export { PolicyObject } from '../durable/policy.ts'

const app = createApp()

export default {
  fetch: (request, env, context) => app.fetch(request, env, context),
  queue: (batch, env) => consumeAnnouncements(batch, env),
  scheduled: async (_controller, env) => {
    await wipeReturned(env)
  },
} satisfies ExportedHandler<Env, unknown>
