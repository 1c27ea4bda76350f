// What somebody could build instead in a week: one Node process with Hono and a SQLite file, from quote to issue. It rates the
// motor example's vehicle by the same factors in plain code, and stores a policy as one row of JSON. The comparison measures what
// it lacks: validation, sign-in, tenants, configuration, idempotency, events, invoices, history, conflict detection between
// concurrent changes of a policy, and a copy of the data in case the disk fails.
// `node server.ts FILE PORT`
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { Hono } from 'hono'

type Policy = {
  locator: string
  state: 'draft' | 'finalized' | 'issued'
  exposures: { exposureName: string; fieldValues: Record<string, string>; perils: { name: string }[] }[]
  fieldValues: Record<string, string>
  price?: { perils: { peril: string; premium: number }[]; premium: number; tax: number; total: number }
}

const [file = ':memory:', port = '0'] = process.argv.slice(2)
const TABLES = 'examples/motor/configuration/products/private_motor/policy/tables'
const table = (name: string): Map<string, number> =>
  new Map(
    readFileSync(`${TABLES}/${name}.csv`, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map(line => line.split(',') as [string, string])
      .map(([key, value]) => [key, Number(value)]),
  )
const [base, rate, region, claimsFree] = [
  'liability_base',
  'own_damage_rate',
  'region_factor',
  'claims_free_factor',
].map(table) as [Map<string, number>, Map<string, number>, Map<string, number>, Map<string, number>]

const first = (values: Map<string, number>): number => values.values().next().value ?? 1
const cents = (amount: number): number => Math.round(amount * 100) / 100

function pricePolicy({ exposures, fieldValues }: Policy): Policy['price'] {
  const factor =
    (region.get(fieldValues.region_class ?? '') ?? 1) *
    (claimsFree.get(fieldValues.claims_free_years ?? '') ?? 1)
  const perils = exposures.flatMap(({ fieldValues: vehicle, perils: covers }) =>
    covers.map(({ name }) => {
      const sum =
        name === 'liability'
          ? (base.get(vehicle.vehicle_type ?? '') ?? first(base))
          : Number(vehicle.vehicle_value) * (rate.get(vehicle.vehicle_type ?? '') ?? 0.01)
      return { peril: name, premium: cents(sum * factor) }
    }),
  )
  const premium = cents(perils.reduce((sum, one) => sum + one.premium, 0))
  const tax = cents(premium * 0.19)
  return { perils, premium, tax, total: cents(premium + tax) }
}

const database = new DatabaseSync(file)
database.exec('pragma journal_mode = wal; pragma synchronous = full')
database.exec('create table if not exists policy (locator text primary key, body text not null)')
const insert = database.prepare('insert into policy (locator, body) values (?, ?)')
const update = database.prepare('update policy set body = ? where locator = ?')
const select = database.prepare('select body from policy where locator = ?')

const app = new Hono()
app.get('/health', context => context.json({}))
app.post('/policy', async context => {
  const policy: Policy = { ...(await context.req.json()), locator: crypto.randomUUID(), state: 'draft' }
  insert.run(policy.locator, JSON.stringify(policy))
  return context.json(policy)
})
app.post('/policy/:locator/:step', context => {
  const { locator, step } = context.req.param()
  const row = select.get(locator) as { body: string } | undefined
  if (!row) return context.json({ message: 'There is no such policy.' }, 404)
  const policy = JSON.parse(row.body) as Policy
  if (step === 'price') return context.json(pricePolicy(policy))
  const next: Policy =
    step === 'finalize'
      ? { ...policy, price: pricePolicy(policy), state: 'finalized' }
      : { ...policy, state: 'issued' }
  update.run(JSON.stringify(next), locator)
  return context.json(next)
})

createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = request.method === 'GET' ? null : Buffer.concat(chunks)
  const answer = await app.fetch(
    new Request(`http://localhost${request.url}`, { method: request.method ?? 'GET', body }),
  )
  response.writeHead(answer.status, { 'content-type': 'application/json' })
  response.end(await answer.text())
}).listen(Number(port), '127.0.0.1')
