// One JSON log line, and one data point where a dataset is bound, for every request, message, alarm and tick
// (docs/observability.md). Paths are route templates and tenants are locators: no line contains secrets or client data.

import { now } from '../kernel/time.ts'
import { type Calls, noCalls } from './calls.ts'
import type { ShardName } from './tenancy.ts'

type ObservedEnv = Pick<Env, 'REQUEST_LOG' | 'ENVIRONMENT' | 'METRICS'>

export type Observation = {
  readonly at: 'request' | 'queue' | 'alarm' | 'cron'
  /** `POST /policy/{policyLocator}/issue`, or the name of the queue, object or tick. */
  readonly operation: string
  readonly tenant?: string | undefined
  readonly requestId?: string
  /** The request id that the client sent. */
  readonly clientRequestId?: string | undefined
  readonly traceId?: string | undefined
  /** The HTTP status of a request. For other work 200, or 500 after a failure. */
  readonly status: number
  /** For a rejected request: a code of kernel/errors.ts. */
  readonly code?: string | undefined
  readonly durationMs: number
  readonly calls: Calls
}

/** Records an observation. `REQUEST_LOG = "off"` omits the log line. */
export function observe(env: ObservedEnv, { calls, ...observation }: Observation): void {
  const { d1, control, object, r2, queue, rowsRead, rowsWritten } = calls
  if (env.REQUEST_LOG === 'on')
    console.log(JSON.stringify({ ...observation, d1, control, object, r2, queue, rowsRead, rowsWritten }))
  const { at, operation, tenant = '', status, code = '', durationMs } = observation
  env.METRICS?.writeDataPoint({
    indexes: [tenant],
    blobs: [at, operation, String(status), code, env.ENVIRONMENT],
    doubles: [durationMs, d1, object, r2, queue, rowsRead, rowsWritten, control],
  })
}

type Work = Pick<Observation, 'at' | 'operation' | 'tenant'>

const workOfShard =
  (at: Work['at']) =>
  (operation: string, { tenantLocator }: ShardName): Work => ({ at, operation, tenant: tenantLocator })

export const alarmWork = workOfShard('alarm')

export const queueWork = workOfShard('queue')

/**
 * Runs and observes a message, alarm or tick. Throws what `carryOut` throws. `statements` is the number that the invocation sent
 * before: it counts towards the limit of divided work (calls.ts).
 */
export async function runObserved<Result>(
  env: ObservedEnv,
  work: Work,
  carryOut: (calls: Calls) => Promise<Result>,
  statements = 0,
): Promise<Result> {
  const startedAt = now()
  const calls: Calls = { ...noCalls(), statements }
  let status = 500
  try {
    const result = await carryOut(calls)
    status = 200
    return result
  } finally {
    observe(env, { ...work, status, durationMs: now() - startedAt, calls })
  }
}

type Task<E> = (env: E, calls: Calls) => Promise<unknown>

/**
 * Runs and observes the tasks of a tick, one after the other, by name. Each counts the statements that those before it sent,
 * because they share what one invocation may send. One that fails does not stop the others; its problem is thrown at the end.
 */
export async function runTick<E extends ObservedEnv>(
  env: E,
  tasks: Readonly<Record<string, Task<E>>>,
): Promise<void> {
  const problems: unknown[] = []
  let statements = 0
  for (const [operation, task] of Object.entries(tasks)) {
    const run = async (calls: Calls): Promise<void> => {
      try {
        await task(env, calls)
      } finally {
        statements = calls.statements!
      }
    }
    await runObserved(env, { at: 'cron', operation }, run, statements).catch(problem =>
      problems.push(problem),
    )
  }
  if (problems.length > 0) throw problems[0]
}
