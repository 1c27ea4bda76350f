// The service, with the platform calls of its migration objects recorded, which /recording returns. Never used for measurements.
import service, { MigrationObject as ServiceMigrationObject } from '../../../src/worker.ts'
import { observeDatabases } from '../recorder/observed-databases.ts'
import type { MigrationRecording } from './recording.ts'

export {
  DeliveryObject,
  DispatcherObject,
  ImpactObject,
  PolicyObject,
  ReportObject,
} from '../../../src/worker.ts'

/** The Worker and its objects share an isolate here. */
const recording: MigrationRecording = {
  batches: [],
  rowsRead: 0,
  rowsWritten: 0,
  r2: 0,
  queue: 0,
  object: 0,
}

/** Returns the same binding, with its calls counted. */
function countBindingCalls<T extends object>(binding: T, names: readonly string[], count: () => void): T {
  return new Proxy(binding, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        if (names.includes(String(name))) count()
        return (value as (...given: unknown[]) => unknown).apply(target, given)
      }
    },
  })
}

function observeEnv(env: Env): Env {
  const seen = observeDatabases(env, (batch, rows) => {
    recording.batches.push(batch)
    recording.rowsRead += rows.read
    recording.rowsWritten += rows.written
  })
  return {
    ...seen,
    FILES: countBindingCalls(env.FILES, ['get', 'put', 'list', 'delete', 'head'], () => {
      recording.r2 += 1
    }),
    ANNOUNCEMENTS: countBindingCalls(env.ANNOUNCEMENTS, ['send', 'sendBatch'], () => {
      recording.queue += 1
    }),
    // Each call gets the object again, so calls of `get` are counted.
    DISPATCHER: countBindingCalls(env.DISPATCHER, ['get'], () => {
      recording.object += 1
    }),
  }
}

export class MigrationObject extends ServiceMigrationObject {
  constructor(state: DurableObjectState, env: Env) {
    super(state, observeEnv(env))
  }
}

export default {
  fetch: (request, env, context) =>
    new URL(request.url).pathname === '/recording'
      ? Response.json(recording)
      : service.fetch(request, env, context),
  queue: service.queue,
  scheduled: service.scheduled,
} satisfies ExportedHandler<Env, unknown>
