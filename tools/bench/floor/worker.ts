// The smallest Worker that calls the platform as an operation of the service does: with the same number of D1 batches,
// statements, rows and bytes from the same place, the same calls of R2, and the same messages to a queue. It reads the request
// and responds with as many bytes.
// PUT /plan/<name> stores a plan; /run/<name>/<object> carries it out.
import { DurableObject } from 'cloudflare:workers'
import { hashPassword } from '../../../src/access/passwords.ts'
import type { Batch, FileCall, Plan, Statement } from '../plan.ts'

type FloorEnv = {
  DATABASE: D1Database
  FILES: R2Bucket
  MESSAGES: Queue<string>
  OBJECT: DurableObjectNamespace<FloorObject>
}

type Query = { sql: string; parameters: unknown[] }
type Ready = {
  hashes: boolean
  worker: Query[][]
  object: Query[][] | undefined
  files: FileCall[]
  messages: string[]
  answer: string
}

/** The Worker and its objects share an isolate here. */
const plans = new Map<string, Ready>()

const SCHEMA = [
  'create table if not exists record (key integer primary key, owner integer not null, data text not null)',
  'create index if not exists record_owner on record (owner)',
]
const READ = 'select key, owner, data from record where owner = ?'
const WRITE = 'insert into record (owner, data) select ?, value from json_each(?)'
const WRITE_NOTHING = 'insert into record (owner, data) select 0, ? where 0'

/** Bytes of a row as JSON, without its data. */
const EMPTY_ROW_BYTES = JSON.stringify({ key: 1_000_000, owner: 1_000, data: '' }).length

let owners = 0

const text = (bytes: number): string => 'x'.repeat(Math.max(1, Math.round(bytes)))

const rowsJson = (rows: number, bytes: number): string =>
  JSON.stringify(Array.from({ length: rows }, () => text(bytes / rows - 3)))

/** Returns a statement of the plan, and writes the rows that it will read. */
async function ready({ kind, rows, bytes }: Statement, database: D1Database): Promise<Query> {
  owners += 1
  if (kind === 'write' && rows === 0) return { sql: WRITE_NOTHING, parameters: [text(bytes)] }
  if (kind === 'write') return { sql: WRITE, parameters: [owners, rowsJson(rows, bytes)] }
  const data = rowsJson(rows, bytes - rows * EMPTY_ROW_BYTES)
  await database.prepare(WRITE).bind(owners, data).run()
  return { sql: READ, parameters: [owners] }
}

async function readyBatches(batches: Batch[], database: D1Database): Promise<Query[][]> {
  const made: Query[][] = []
  for (const batch of batches) {
    const queries: Query[] = []
    for (const statement of batch) queries.push(await ready(statement, database))
    made.push(queries)
  }
  return made
}

async function takePlan(name: string, plan: Plan, { DATABASE: database, FILES }: FloorEnv): Promise<void> {
  await database.batch(SCHEMA.map(sql => database.prepare(sql)))
  for (const { bytes } of (plan.files ?? []).filter(({ kind }) => kind === 'get'))
    await FILES.put(`got-${bytes}`, text(bytes))
  plans.set(name, {
    hashes: plan.hashes,
    worker: await readyBatches(plan.worker, database),
    object: plan.object && (await readyBatches(plan.object, database)),
    files: plan.files ?? [],
    messages: (plan.messages ?? []).map(text),
    answer: text(plan.answerBytes),
  })
}

async function send(batches: Query[][], database: D1Database): Promise<void> {
  for (const queries of batches)
    await database.batch(queries.map(({ sql, parameters }) => database.prepare(sql).bind(...parameters)))
}

let filesPut = 0

async function callFiles(calls: FileCall[], files: R2Bucket): Promise<void> {
  for (const { kind, bytes } of calls) {
    filesPut += 1
    if (kind === 'put') await files.put(`put-${filesPut}`, text(bytes))
    else if (kind === 'get') await (await files.get(`got-${bytes}`))?.arrayBuffer()
    else await files.head('none')
  }
}

const planNamed = (name: string): Ready => {
  const plan = plans.get(name)
  if (!plan) throw new Error(`There is no plan ${name}.`)
  return plan
}

export class FloorObject extends DurableObject<FloorEnv> {
  async execute(name: string, _body: string): Promise<string> {
    const { object, answer } = planNamed(name)
    await send(object!, this.env.DATABASE)
    return answer
  }
}

export default {
  async fetch(request, env, context) {
    const [, verb, name = '', subject = ''] = new URL(request.url).pathname.split('/')
    if (verb === 'health') return new Response('ok')
    if (verb === 'plan') {
      await takePlan(name, await request.json<Plan>(), env)
      return new Response('ok')
    }
    const body = await request.text()
    const { hashes, worker, object, files, messages, answer } = planNamed(name)
    if (hashes) await hashPassword(body, 'pepper')
    await send(worker, env.DATABASE)
    await callFiles(files, env.FILES)
    for (const message of messages) context.waitUntil(env.MESSAGES.send(message))
    const { OBJECT } = env
    const text = object ? await OBJECT.get(OBJECT.idFromName(subject)).execute(name, body) : answer
    return new Response(text, { headers: { 'content-type': 'application/json' } })
  },
  // Messages are received and ignored.
  async queue() {},
} satisfies ExportedHandler<FloorEnv, string>
