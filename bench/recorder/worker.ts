// The service with its databases watched: what a request sends to D1 is noted, and read at /recording. For one
// request at a time; never measured.
import service, { PolicyObject as ServicePolicyObject } from '../../src/worker.ts'
import type { Recording } from '../plan.ts'
import { watched } from './watched.ts'

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
