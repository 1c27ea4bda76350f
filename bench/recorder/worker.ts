// The service with its databases watched: what a request sends to D1 is noted, and read at /recording. For one
// request at a time; never measured.
import service, { PolicyObject as ServicePolicyObject } from '../../src/worker.ts'
import type { Batch, Recording, Statement } from '../plan.ts'

export { DispatcherObject } from '../../src/worker.ts'

/** The Worker and its objects share an isolate here. */
let recording: Recording = { worker: [], object: [] }

export class PolicyObject extends ServicePolicyObject {
  constructor(state: DurableObjectState, env: Env) {
    super(
      state,
      watched(env, batch => recording.object.push(batch)),
    )
  }
}

export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname === '/recording') return Response.json(recording)
    recording = { worker: [], object: [] }
    return service.fetch(
      request,
      watched(env, batch => recording.worker.push(batch)),
      context,
    )
  },
  queue: service.queue,
  scheduled: service.scheduled,
} satisfies ExportedHandler<Env, unknown>

type Note = (batch: Batch) => void

/** The environment, each database of it watched. */
function watched(env: Env, note: Note): Env {
  const bindings = Object.entries(env).map(([name, binding]: [string, unknown]) => [
    name,
    isDatabase(binding) ? { withSession: () => watchedSession(binding, note) } : binding,
  ])
  return Object.fromEntries(bindings) as Env
}

const isDatabase = (binding: unknown): binding is D1Database =>
  binding instanceof Object && binding.constructor.name === 'D1Database'

function watchedSession(client: D1Database, note: Note): Pick<D1DatabaseSession, 'prepare' | 'batch'> {
  const session = client.withSession('first-primary')
  const sent = new WeakMap<D1PreparedStatement, { writes: boolean; bytes: number }>()
  return {
    prepare(sql) {
      const statement = session.prepare(sql)
      const writes = !/^\s*(select|with)\b/i.test(sql)
      sent.set(statement, { writes, bytes: 0 })
      const bind = statement.bind.bind(statement)
      statement.bind = (...parameters) => {
        const bound = bind(...parameters)
        sent.set(bound, { writes, bytes: JSON.stringify(parameters).length })
        return bound
      }
      return statement
    },
    async batch<Row>(statements: D1PreparedStatement[]) {
      const results = await session.batch<Row>(statements)
      note(
        results.map(({ results: rows, meta }, at): Statement => {
          const { writes, bytes } = sent.get(statements[at]!)!
          return writes
            ? { kind: 'write', rows: meta.changes, bytes }
            : { kind: 'read', rows: rows.length, bytes: JSON.stringify(rows).length }
        }),
      )
      return results
    },
  }
}
