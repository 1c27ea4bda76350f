// The entry point of the Worker. Modules that every request needs are loaded at the start, others on first use.
import { loadConsole, loadReference } from './bundles/load.ts'
import type { Instant } from './kernel/time.ts'
import type { Calls } from './platform/calls.ts'
import { consolePages } from './platform/http/console-page.ts'
import type { Door } from './platform/http/door.ts'
import { ADDRESS_PAGE, mount } from './platform/http/mount.ts'
import { referencePages } from './platform/http/reference/page.ts'
import { ROUTE_INDEX } from './route-index.mjs'
import { CALLERS } from './wiring.ts'

export { DeliveryObject } from '../durable/delivery.ts'
export { DispatcherObject } from '../durable/dispatcher.ts'
export { PolicyObject } from '../durable/policy.ts'
export { ImpactObject, MigrationObject, ReportObject } from '../durable/portions.ts'

/** Suffixes of queue names in wrangler.toml, after the name of each environment. */
const DOCUMENTS_QUEUE = '-documents'
const UPGRADES_QUEUE = '-upgrades'

/** Software agents (docs/agents.md). */
const AGENTS: Door = {
  path: '/mcp',
  metadata: '/.well-known/oauth-protected-resource',
  load: async () => (await import('./agents/door.ts')).answerAgent,
}

const app = mount(
  ROUTE_INDEX,
  [ADDRESS_PAGE, ...referencePages(loadReference), ...consolePages(loadConsole)],
  CALLERS,
  [AGENTS],
)

export default {
  fetch: (request, env, context) => app.fetch(request, env, context),
  queue: async (batch, env) => {
    if (batch.queue.endsWith(DOCUMENTS_QUEUE)) {
      const { consumeDocumentHints } = await import('./servicing/documents/job.ts')
      return await consumeDocumentHints(batch, env)
    }
    if (batch.queue.endsWith(UPGRADES_QUEUE)) {
      const { consumeUpgrades } = await import('./tenants/upgrades.ts')
      return await consumeUpgrades(batch, env)
    }
    const { consumeAnnouncements } = await import('./servicing/events/dispatch.ts')
    return await consumeAnnouncements(batch, env)
  },
  scheduled: async ({ scheduledTime }, env) => {
    const { measureShards, wakeTenants } = await import('./tenants/housekeeping.ts')
    const { upgradeDatabases } = await import('./tenants/upgrades.ts')
    const { wipeReturned } = await import('./tenants/wipe.ts')
    const { runTick } = await import('./platform/observation.ts')
    const at = scheduledTime as Instant
    const tasks = {
      upgradeDatabases,
      // Uses the minute for which the tick was scheduled. In a late tick, or after a long task, the clock shows another minute,
      // whose tenants have their own tick.
      wakeTenants: (env: Env, calls: Calls) => wakeTenants(env, calls, at),
      measureShards: (env: Env, calls: Calls) => measureShards(env, calls, at),
      wipeReturned,
    }
    await runTick(env, tasks)
  },
} satisfies ExportedHandler<Env, unknown>
