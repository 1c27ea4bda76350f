// The plan of each operation, from the service with its databases watched (bench/recorder).
import type { Service } from '../scripts/service.ts'
import { OPERATIONS, type Operation, type World } from './operations.ts'
import { type Observation, type Plan, planOf, type Recording } from './plan.ts'
import { emptyStock, serviceSide, subjects } from './sides.ts'
import type { Records } from './world.ts'

/** Requests of each operation. */
const OBSERVED = 5

/**
 * One request after the other, so that what is recorded belongs to one; reads all of one record, since most
 * reads of a run find it in memory where it is kept there.
 */
export async function recordPlans(
  recorder: Service,
  world: World,
  records: Records,
): Promise<Map<Operation, Plan>> {
  const { connection, call, subjectAfter } = serviceSide(recorder, world, records)
  const stock = emptyStock()
  const first = { policyholder: records.policyholder.slice(0, 1), policy: records.policy.slice(0, 1) }
  const plans = new Map<Operation, Plan>()
  for (const operation of OPERATIONS) {
    const observations: Observation[] = []
    const source = subjects(operation.takes, first, stock)
    while (observations.length < OBSERVED) {
      const subject = source.next().value
      if (subject === undefined) break
      const { text, serverTiming } = await connection.send(call(operation, subject))
      const noted = await connection.send({ method: 'GET', path: '/recording' })
      observations.push({
        recording: JSON.parse(noted.text) as Recording,
        objectCalls: Number(/object;desc="(\d+)"/.exec(serverTiming)?.[1] ?? 0),
        answerBytes: text.length,
      })
      if (operation.leaves) stock[operation.leaves].push(subjectAfter(subject, text))
    }
    plans.set(operation, planOf(observations, operation.hashes ?? false))
  }
  connection.close()
  return plans
}
