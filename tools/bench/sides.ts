// The service and its floor, in the form in which operations run on them.
import { type Call, type Connection, connect } from './load.ts'
import {
  type Operation,
  planName,
  type StockKind,
  type Subject,
  type SubjectKind,
  type World,
} from './operations.ts'
import { CONCURRENCY } from './options.ts'
import type { Plan } from './plan.ts'
import type { Worker } from './worker-process.ts'
import type { Records } from './world.ts'

export type Side = {
  connection: Connection
  /** Records that are read in turn. */
  records: Records
  /** CPU milliseconds of its processes so far. Undefined if the machine does not report them. */
  cpuMs(): number | undefined
  call(operation: Operation, subject: Subject): Call
  /** Completes the subjects with what only a request can find out. */
  found(operation: Operation, subjects: Subject[]): Promise<Subject[]>
  /** Adds the records that the call leaves behind to the stock. */
  leave(stock: Stock, operation: Operation, subject: Subject, answer: string): void
}

export function serviceSide(service: Worker, world: World, records: Records): Side {
  const connection = connect(service.origin, CONCURRENCY)
  return {
    connection,
    records,
    cpuMs: service.cpuMs,
    call: (operation, subject) => operation.call(world, subject),
    async found({ find }, subjects) {
      if (!find) return subjects
      const all: Subject[] = []
      for (const subject of subjects) {
        const { text } = await connection.send(find.call(world, subject))
        all.push(find.read(subject, JSON.parse(text) as never))
      }
      return all
    },
    leave(stock, { leaves = {} }, subject, text) {
      const answer = JSON.parse(text)
      for (const [kind, nameOf] of Object.entries(leaves))
        stock[kind as StockKind].push(nameOf(subject, answer))
    },
  }
}

/** Sends the service's own requests to the floor, under paths that name the plan and the object. */
export async function floorSide(
  floor: Worker,
  plans: ReadonlyMap<Operation, Plan>,
  world: World,
  records: Records,
): Promise<Side> {
  const connection = connect(floor.origin, CONCURRENCY)
  for (const [operation, plan] of plans)
    await connection.send({
      method: 'PUT',
      path: `/plan/${planName(operation)}`,
      body: JSON.stringify(plan),
    })
  return {
    connection,
    records,
    cpuMs: floor.cpuMs,
    call: (operation, subject) => ({
      ...operation.call(world, subject),
      path: `/run/${planName(operation)}/${subject.split('~')[0]}`,
    }),
    found: async (_, subjects) => subjects,
    leave(stock, { leaves = {} }, subject) {
      for (const kind of Object.keys(leaves)) stock[kind as StockKind].push(subject)
    },
  }
}

/** Records that later operations will use. */
export type Stock = Record<StockKind, Subject[]>

export const emptyStock = (): Stock => ({
  unquoted: [],
  quoted: [],
  priced: [],
  finalized: [],
  issued: [],
  endorsed: [],
  renewed: [],
  billed: [],
})

let made = 0

const isStocked = (kind: SubjectKind, stock: Stock): kind is StockKind => kind in stock

/**
 * Returns at most `most` subjects for an operation. Subjects of a stock are removed from it, and `warmed` ones are requested
 * first.
 */
export async function subjects(
  side: Side,
  operation: Operation,
  stock: Stock,
  most: number,
): Promise<Iterator<Subject, undefined>> {
  const { takes } = operation
  if (isStocked(takes, stock))
    return (await side.found(operation, stock[takes].splice(0, most))).values() as Iterator<
      Subject,
      undefined
    >
  if (takes === 'new') return generateSubjects(undefined, most)
  if (!operation.warmed) return generateSubjects(side.records[takes], most)
  const few = side.records[takes].slice(0, CONCURRENCY)
  await Promise.all(few.map(subject => side.connection.send(side.call(operation, subject))))
  return generateSubjects(few, most)
}

function* generateSubjects(
  records: readonly string[] | undefined,
  most: number,
): Generator<Subject, undefined> {
  for (let at = 0; at < most; at += 1) {
    made += 1
    yield records ? records[at % records.length]! : `new-${made}`
  }
  return undefined
}
