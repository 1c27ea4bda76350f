// The service with its databases, files and queues observed. The calls of a request are noted and can be read at /recording. For
// one request at a time; never used for measurements.
import service, { PolicyObject as ServicePolicyObject } from '../../../src/worker.ts'
import type { Batch, Recording } from '../plan.ts'
import { watchedFiles, watchedQueue } from './calls.ts'
import { observeDatabases } from './observed-databases.ts'

// All other objects of the service, which may be fewer in an earlier commit.
export * from '../../../src/worker.ts'

const nothing = (): Recording => ({ worker: [], object: [], files: [], messages: [] })

/** The Worker and its objects share an isolate here. */
let recording = nothing()

function observed(env: Env, note: (batch: Batch) => void): Env {
  return {
    ...observeDatabases(env, note),
    FILES: watchedFiles(env.FILES, call => recording.files.push(call)),
    ANNOUNCEMENTS: watchedQueue(env.ANNOUNCEMENTS, bytes => recording.messages.push(bytes)),
    DOCUMENTS: watchedQueue(env.DOCUMENTS, bytes => recording.messages.push(bytes)),
  }
}

export class PolicyObject extends ServicePolicyObject {
  constructor(state: DurableObjectState, env: Env) {
    super(
      state,
      observed(env, batch => recording.object.push(batch)),
    )
  }
}

export default {
  async fetch(request, env, context) {
    if (new URL(request.url).pathname === '/recording') return Response.json(recording)
    recording = nothing()
    return service.fetch(
      request,
      observed(env, batch => recording.worker.push(batch)),
      context,
    )
  },
  queue: service.queue,
  scheduled: service.scheduled,
} satisfies ExportedHandler<Env, unknown>
