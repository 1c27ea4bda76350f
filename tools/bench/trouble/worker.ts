// The service with databases that can be made unavailable: `/trouble?dead=CONTROL` names the databases that fail from now on.
import service, {
  DeliveryObject as ServiceDelivery,
  DispatcherObject as ServiceDispatcher,
  MigrationObject as ServiceMigration,
  PolicyObject as ServicePolicy,
} from '../../../src/worker.ts'

export { ImpactObject, ReportObject } from '../../../src/worker.ts'

/** The Worker and its objects share an isolate here. */
let dead: ReadonlySet<string> = new Set()

/** The platform's error when a database cannot be reached. */
const LOST = 'D1_ERROR: Network connection lost.'

const wrapped = new Map<string, D1Database>()

function breakableDatabase(name: string, client: D1Database): D1Database {
  const runUnlessDead = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (dead.has(name)) throw new Error(LOST)
    return await work()
  }
  return {
    prepare: (text: string) => client.prepare(text),
    batch: (statements: D1PreparedStatement[]) => runUnlessDead(() => client.batch(statements)),
    withSession(from?: string) {
      const session = client.withSession(from)
      return {
        prepare: (text: string) => session.prepare(text),
        batch: (statements: D1PreparedStatement[]) => runUnlessDead(() => session.batch(statements)),
        getBookmark: () => session.getBookmark(),
      }
    },
  } as unknown as D1Database
}

/** Returns the same databases at each call, because the service keeps what it knows by the database. */
function envWithFailures(env: Env): Env {
  const databases = Object.keys(env).filter(name => name === 'CONTROL' || name.startsWith('TENANT_'))
  return {
    ...env,
    ...Object.fromEntries(
      databases.map(name => {
        const known =
          wrapped.get(name) ?? breakableDatabase(name, (env as unknown as Record<string, D1Database>)[name]!)
        wrapped.set(name, known)
        return [name, known]
      }),
    ),
  }
}

export class PolicyObject extends ServicePolicy {
  constructor(state: DurableObjectState, env: Env) {
    super(state, envWithFailures(env))
  }
}
export class DispatcherObject extends ServiceDispatcher {
  constructor(state: DurableObjectState, env: Env) {
    super(state, envWithFailures(env))
  }
}
export class DeliveryObject extends ServiceDelivery {
  constructor(state: DurableObjectState, env: Env) {
    super(state, envWithFailures(env))
  }
}
export class MigrationObject extends ServiceMigration {
  constructor(state: DurableObjectState, env: Env) {
    super(state, envWithFailures(env))
  }
}

export default {
  async fetch(request, env, context) {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/trouble') {
      dead = new Set(searchParams.getAll('dead'))
      return new Response()
    }
    return service.fetch(request, envWithFailures(env), context)
  },
  queue: (batch, env) => service.queue(batch, envWithFailures(env)),
  scheduled: (controller, env) => service.scheduled(controller, envWithFailures(env)),
} satisfies ExportedHandler<Env, unknown>
