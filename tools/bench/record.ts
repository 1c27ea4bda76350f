// Records the plan of each operation, from a service whose calls of the platform are observed (tools/bench/recorder).
import type { Operation, World } from './operations.ts'
import { type Observation, type Plan, planOf, type Recording } from './plan.ts'
import { emptyStock, serviceSide, subjects } from './sides.ts'
import type { Worker } from './worker-process.ts'
import type { Records } from './world.ts'

/** Requests observed for each operation. */
const OBSERVED = 5

/**
 * Sends one request after the other, so that each recording belongs to one. All reads are of one record, because most reads in a
 * run find it in memory if the service keeps it there.
 */
export async function recordPlans(
  operations: readonly Operation[],
  recorder: Worker,
  world: World,
  records: Records,
): Promise<Map<Operation, Plan>> {
  const first = Object.fromEntries(Object.entries(records).map(([kind, all]) => [kind, all.slice(0, 1)]))
  const side = serviceSide(recorder, world, first as Records)
  const stock = emptyStock()
  const plans = new Map<Operation, Plan>()
  for (const operation of operations) {
    const observations: Observation[] = []
    const source = await subjects(side, operation, stock, OBSERVED)
    for (let next = source.next(); !next.done; next = source.next()) {
      const { text, serverTiming } = await side.connection.send(side.call(operation, next.value))
      const noted = await side.connection.send({ method: 'GET', path: '/recording' })
      observations.push({
        recording: JSON.parse(noted.text) as Recording,
        objectCalls: Number(/object;desc="(\d+)"/.exec(serverTiming)?.[1] ?? 0),
        answerBytes: text.length,
      })
      side.leave(stock, operation, next.value, text)
    }
    plans.set(operation, planOf(observations, operation.hashes ?? false))
  }
  side.connection.close()
  return plans
}
