// The Worker's entry: requests, announcements, housekeeping; and the Durable Objects.
import { createApp } from './app.ts'
import { consumeAnnouncements } from './events/delivery/consume.ts'
import { wipeReturned } from './tenants/service.ts'

export { DispatcherObject } from '../durable/dispatcher.ts'
export { PolicyObject } from '../durable/policy.ts'

/** As wrangler.toml names it. */
const DOCUMENTS_QUEUE = 'bindery-documents'

const app = createApp()

export default {
  fetch: (request, env, context) => app.fetch(request, env, context),
  queue: async (batch, env) => {
    if (batch.queue !== DOCUMENTS_QUEUE) return await consumeAnnouncements(batch, env)
    // Making documents is much code, which requests never need.
    const { consumeDocumentHints } = await import('./documents/job/consume.ts')
    return await consumeDocumentHints(batch, env)
  },
  scheduled: async (_controller, env) => {
    await wipeReturned(env)
  },
} satisfies ExportedHandler<Env, unknown>
