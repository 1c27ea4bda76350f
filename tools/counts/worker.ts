// The service with a count of what it does: every log line of a request, a message or an alarm, every file that is written, and
// every batch that writes rows, since the last call of `/counted`.
import service from '../../src/worker.ts'
import type { Counted } from './counted.ts'

export {
  DeliveryObject,
  DispatcherObject,
  ImpactObject,
  MigrationObject,
  PolicyObject,
  ReportObject,
} from '../../src/worker.ts'

const nothing = (): Counted => ({ lines: [], puts: 0, writes: 0 })

/** The Worker and its objects share an isolate here. */
let counted = nothing()

const log = console.log
console.log = (...words: unknown[]) => {
  const [text] = words
  if (typeof text === 'string' && text.startsWith('{"at":')) counted.lines.push(JSON.parse(text))
  else log(...words)
}

type Sending = { batch(statements: D1PreparedStatement[]): Promise<D1Result[]> }

let isCounting = false

/** Counts the batches of all databases, whose sessions share one prototype. */
function countBatches({ CONTROL }: Env): void {
  if (isCounting) return
  isCounting = true
  const sessions = Object.getPrototypeOf(CONTROL.withSession()) as Sending
  const { batch } = sessions
  sessions.batch = async function (this: Sending, statements) {
    const results = await batch.call(this, statements)
    if (results.some(({ meta }) => meta.rows_written > 0)) counted.writes += 1
    return results
  }
}

const withFiles = (env: Env): Env => ({
  ...env,
  REQUEST_LOG: 'on' as Env['REQUEST_LOG'],
  FILES: new Proxy(env.FILES, {
    get(bucket, name) {
      const value = Reflect.get(bucket, name) as unknown
      if (typeof value !== 'function') return value
      if (name === 'put')
        return (...given: Parameters<R2Bucket['put']>) => {
          counted.puts += 1
          return bucket.put(...given)
        }
      return value.bind(bucket)
    },
  }),
})

export default {
  async fetch(request, env, context) {
    countBatches(env)
    if (new URL(request.url).pathname !== '/counted') return service.fetch(request, withFiles(env), context)
    const seen = counted
    counted = nothing()
    return Response.json(seen)
  },
  queue: (batch, env) => service.queue(batch, withFiles(env)),
  scheduled: (controller, env) => service.scheduled(controller, withFiles(env)),
} satisfies ExportedHandler<Env, unknown>
