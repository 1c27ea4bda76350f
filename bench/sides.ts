// The service and its floor, each as something that operations can be carried out on.
import type { Service } from '../scripts/service.ts'
import { type Call, type Connection, connect } from './load.ts'
import { type Operation, planName, type SubjectKind, type World } from './operations.ts'
import { CONCURRENCY } from './options.ts'
import type { Plan } from './plan.ts'
import type { Records } from './world.ts'

export type Side = {
  connection: Connection
  /** Records that are read in turn. */
  records: Records
  call(operation: Operation, subject: string): Call
  /** What a later operation names the record by that this call was about. */
  subjectAfter(subject: string, answer: string): string
}

export const serviceSide = ({ origin }: Service, world: World, records: Records): Side => ({
  connection: connect(origin, CONCURRENCY),
  records,
  call: (operation, subject) => operation.call(world, subject),
  subjectAfter: (_, answer) => (JSON.parse(answer) as { locator: string }).locator,
})

/** The floor is sent the service's own requests, under paths that name the plan and the object. */
export async function floorSide(
  { origin }: Service,
  plans: ReadonlyMap<Operation, Plan>,
  world: World,
  records: Records,
): Promise<Side> {
  const connection = connect(origin, CONCURRENCY)
  for (const [operation, plan] of plans)
    await connection.send({
      method: 'PUT',
      path: `/plan/${planName(operation)}`,
      body: JSON.stringify(plan),
    })
  return {
    connection,
    records,
    call: (operation, subject) => ({
      ...operation.call(world, subject),
      path: `/run/${planName(operation)}/${subject}`,
    }),
    subjectAfter: subject => subject,
  }
}

/** Drafts and finalized policies that wait to be taken. */
export type Stock = Record<'draft' | 'finalized', string[]>

export const emptyStock = (): Stock => ({ draft: [], finalized: [] })

let made = 0

/** Subjects for an operation: endless but for what is in stock. */
export function* subjects(kind: SubjectKind, records: Records, stock: Stock): Generator<string, void> {
  if (kind === 'draft' || kind === 'finalized') {
    for (let next = stock[kind].shift(); next !== undefined; next = stock[kind].shift()) yield next
    return
  }
  for (let at = 0; ; at += 1) {
    made += 1
    yield kind === 'new' ? `new-${made}` : records[kind][at % records[kind].length]!
  }
}
