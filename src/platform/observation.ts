// What was done, for whoever runs the service: one line of JSON in the log, and one data point where a dataset is bound
// (docs/observability.md). Of every request, message, alarm and tick. Paths are shown as routes have them and tenants by
// locator: no line has a secret, or what a client sent.

import { now } from '../kernel/time.ts'
import { type Calls, noCalls } from './calls.ts'
import type { ShardName } from './tenancy.ts'

type Watched = Pick<Env, 'REQUEST_LOG' | 'ENVIRONMENT' | 'METRICS'>

/** A piece of work that was done. */
export type Observation = {
  readonly at: 'request' | 'queue' | 'alarm' | 'cron'
  /** `POST /policy/{policyLocator}/issue`, or the name of the queue, object or tick. */
  readonly operation: string
  /** Locator of the tenant that it was for, where there is one. */
  readonly tenant?: string | undefined
  readonly requestId?: string
  /** What the client calls the request, and the trace that it is part of. */
  readonly clientRequestId?: string | undefined
  readonly traceId?: string | undefined
  /** Of a request its HTTP status, of other work 200, or 500 when it failed. */
  readonly status: number
  /** Why a request was refused: a code of kernel/errors.ts. */
  readonly code?: string | undefined
  readonly durationMs: number
  readonly calls: Calls
}

/** Writes the line and the data point. `REQUEST_LOG = "off"` leaves the line out. */
export function observe(env: Watched, { calls, ...observation }: Observation): void {
  const { d1, object, r2, queue, rowsRead, rowsWritten } = calls
  if (env.REQUEST_LOG === 'on')
    console.log(JSON.stringify({ ...observation, d1, object, r2, queue, rowsRead, rowsWritten }))
  const { at, operation, tenant = '', status, code = '', durationMs } = observation
  env.METRICS?.writeDataPoint({
    indexes: [tenant],
    blobs: [at, operation, String(status), code, env.ENVIRONMENT],
    doubles: [durationMs, d1, object, r2, queue, rowsRead, rowsWritten],
  })
}

type Work = Pick<Observation, 'at' | 'operation' | 'tenant'>

const workOfShard =
  (at: Work['at']) =>
  (operation: string, { tenantLocator }: ShardName): Work => ({ at, operation, tenant: tenantLocator })

/** An alarm of the object of a shard. */
export const alarm = workOfShard('alarm')

/** A message about a shard. */
export const about = workOfShard('queue')

/** Does the work of a message, alarm or tick, and observes it; throws what the work throws. */
export async function observed<Result>(
  env: Watched,
  work: Work,
  carryOut: (calls: Calls) => Promise<Result>,
): Promise<Result> {
  const begun = now()
  const calls = noCalls()
  let status = 500
  try {
    const result = await carryOut(calls)
    status = 200
    return result
  } finally {
    observe(env, { ...work, status, durationMs: now() - begun, calls })
  }
}
