// Data out: everything as it is now, and what changes, while others write.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import type { ExportResponse } from '../../src/reporting/export/contract.ts'
import { callApi, callOk } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

type Line = {
  kind: string
  record: Record<string, unknown>
  pagingToken?: string
  cursor?: string
  isCompleted?: boolean
}

let motor: Motor
let token: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('export')
  token = await motor.signIn('anna.admin')
  await env.CONTROL.batch([
    env.CONTROL.prepare('insert into shard (tenant_locator, number, binding) values (?, 1, ?)').bind(
      motor.tenantLocator,
      poolBinding(2),
    ),
    env.CONTROL.prepare(`update pool_database set state = 'taken' where binding = ?`).bind(poolBinding(2)),
  ])
  // Each database has the versions of the configuration.
  const { results } = await boundDatabase(poolBinding(1)).prepare('select * from configuration_version').all()
  for (const row of results)
    await boundDatabase(poolBinding(2))
      .prepare(
        `insert into configuration_version (${Object.keys(row).join(', ')}) values (${Object.keys(row)
          .map(() => '?')
          .join(', ')})`,
      )
      .bind(...Object.values(row))
      .run()
  for (let at = 0; at < 7; at += 1) await sold()
})

async function sold(): Promise<string> {
  const policyholderLocator = await motor.newPolicyholder()
  const { body } = await motor.createPolicy({ policyholderLocator })
  await motor.post(`/policy/${body.locator}/issue`)
  return body.locator
}

async function linesOf(path: string): Promise<Line[]> {
  const { status, body, headers } = await callApi<string>('GET', path, { token })
  expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
  return body
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Line)
}

/** All records of the kind; `between` runs after each page. */
async function exported(
  kind: string,
  pageSize: number,
  between = async (): Promise<void> => {},
): Promise<Line[]> {
  const all: Line[] = []
  let query = `?pageSize=${pageSize}`
  for (;;) {
    const lines = await linesOf(`/export/${kind}/records${query}`)
    const last = lines.pop()!
    expect(lines.length).toBeLessThanOrEqual(pageSize)
    all.push(...lines)
    if (last.kind === 'end') return all
    expect(last.kind).toBe('page')
    query = `?pageSize=${pageSize}&pagingToken=${last.pagingToken}`
    await between()
  }
}

const byLocator = (lines: readonly Line[]): Map<string, string> =>
  new Map(lines.map(({ record }) => [String(record.locator), withoutAddresses(record)]))

/** Addresses of files differ from answer to answer. */
const withoutAddresses = (record: object): string =>
  JSON.stringify(record, (name, value) => (/^url/.test(name) ? undefined : value))

it('gives every record once, in pages of any size', async () => {
  const { kinds } = await callOk<ExportResponse>('GET', '/export', { token })
  for (const { kind, records } of kinds.filter(one => one.kind !== 'events')) {
    const whole = await exported(kind, 1_000)
    const paged = await exported(kind, 2)
    expect([kind, whole.length]).toEqual([kind, records])
    expect(paged.map(withoutAddresses)).toEqual(whole.map(withoutAddresses))
  }
  const [policy] = await exported('policies', 1)
  const { locator } = policy!.record
  const asked = await callOk<Record<string, unknown>>('GET', `/policy/${locator}`, { token })
  for (const name of ['invoices', 'modifications', 'exposures', 'characteristics', 'grossFees'])
    expect([name, withoutAddresses({ at: policy!.record[name] })]).toEqual([
      name,
      withoutAddresses({ at: asked[name] }),
    ])
  const events = await exported('events', 3)
  expect(new Set(events.map(one => one.record.locator)).size).toBe(events.length)
  expect(events.map(one => one.record.type)).toContain('policy.issue')
})

it('brings an export that was made while others wrote up to date by what changed since', async () => {
  const { cursor } = await callOk<ExportResponse>('GET', '/export', { token })
  let written = 0
  const write = async (): Promise<void> => {
    if (written++ > 4) return
    const locator = await sold()
    const { body } = await motor.get(`/policy/${locator}`)
    await motor.post(`/invoice/${body.invoices[0]!.locator}/pay`, { fieldValues: { method: 'card' } })
  }
  const policies = byLocator(await exported('policies', 2, write))
  const holders = byLocator(await exported('policyholders', 1, write))
  const journal = new Map(
    (await exported('journal', 5, write)).map(one => [withoutAddresses(one.record), true]),
  )
  await motor.post(`/policies/${[...policies.keys()][0]}/endorsements`, {
    ...{ endorsementName: 'change_of_risk', state: 'issued', fieldValues: { claims_free_years: 9 } },
    startTimestamp:
      Number((await motor.get(`/policy/${[...policies.keys()][0]}`)).body.originalContractStartTimestamp) +
      86_400_000,
  })
  let next: string | undefined = cursor
  for (let isCompleted = false; !isCompleted; ) {
    const lines = await linesOf(`/export/changes?cursor=${next}`)
    const last = lines.pop()!
    for (const { kind, record } of lines)
      if (kind === 'policy') policies.set(String(record.locator), withoutAddresses(record))
      else if (kind === 'policyholder') holders.set(String(record.locator), withoutAddresses(record))
      else journal.set(withoutAddresses(record), true)
    next = last.cursor
    isCompleted = last.isCompleted!
  }
  const sorted = (map: Map<string, string>) => [...map].sort()
  expect(sorted(policies)).toEqual(sorted(byLocator(await exported('policies', 50))))
  expect(sorted(holders)).toEqual(sorted(byLocator(await exported('policyholders', 50))))
  const rows = (await exported('journal', 500)).map(one => withoutAddresses(one.record))
  expect([...journal.keys()].sort()).toEqual(rows.sort())
  const [nothing] = await linesOf(`/export/changes?cursor=${next}`)
  expect(nothing).toEqual({ kind: 'cursor', cursor: next, isCompleted: true })
  expect(written).toBeGreaterThan(3)
})

it('gives no value that was overwritten, in records, changes and journal', async () => {
  const locator = String((await exported('policyholders', 1))[0]!.record.locator)
  const before = withoutAddresses(
    (await exported('policyholders', 1_000)).find(one => one.record.locator === locator)!,
  )
  const name = /"last_name":\["?([^"\]]+)/.exec(before)![1]!
  await callOk('PATCH', `/policyholder/${locator}/overwriteData`, {
    token,
    body: { overwrites: { last_name: 'ERASED' } },
  })
  const after = withoutAddresses(
    (await exported('policyholders', 1_000)).find(one => one.record.locator === locator)!,
  )
  expect(after).not.toContain(name)
  expect(after).toContain('ERASED')
  for (const row of await exported('journal', 1_000)) expect(withoutAddresses(row)).not.toContain(name)
})

it.each([
  ['/export/policy/records', 404, /There are: policyholders, policies/],
  ['/export/policies/records?pagingToken=x', 400, /pagingToken/],
  ['/export/policies/records?pagingToken=9-1', 400, /pagingToken/],
  ['/export/changes?cursor=1', 400, /cursor/],
  ['/export/changes?cursor=0.0_0.0_0.0', 400, /cursor/],
])('%s is refused', async (path, status, message) => {
  const answer = await callApi<{ message: string }>('GET', path, { token })
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)])
})
