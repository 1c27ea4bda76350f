// The log of deploys and repairs: what was done, found and rejected.

import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import type {
  DeploymentLogChangesResponse,
  DeploymentLogPageResponse,
  DeploymentLogResponse,
} from '../../src/tenants/deployment/log/contract.ts'
import { MOST_REFUSED } from '../../src/tenants/deployment/log/store.ts'
import { createTenant } from '../../src/tenants/service.ts'
import { type Answer, callApi } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import type { ArchiveFiles } from '../support/examples.ts'
import { roundTrips } from '../support/motor.ts'
import {
  administratorToken,
  boat,
  callsOf,
  deploy,
  insertPolicy,
  rowsOf,
  tenantNamed,
  users,
} from './deploying.ts'

const STUDIO = '/configuration/studio/deploy'
const REPAIR = '/configuration/studio/repair'

beforeAll(() => prepareDatabases({ tenants: 8 }))

const broken = (): ArchiveFiles => boat(100, { 'config.json': '{ "timezone": ' })

async function read<Body>(path: string, tenantName: string, token?: string) {
  const separator = path.includes('?') ? '&' : '?'
  return await callApi<Body>('GET', `${path}${separator}tenantName=${tenantName}`, {
    token: token ?? (await administratorToken()),
  })
}

const logOf = async (tenantName: string, query = '') =>
  (await read<DeploymentLogPageResponse>(`/deployments/log/list${query}`, tenantName)).body

const entryOf = async (tenantName: string, locator: string) =>
  (await read<DeploymentLogResponse>(`/deployments/log/${locator}`, tenantName)).body

describe('GET /deployments/log', () => {
  it('lists deployments newest first, with their account, route, steps and findings', async () => {
    const tenantName = 'logged'
    const files = boat(100, users('ida'))
    const first = await deploy(STUDIO, { tenantName }, files)
    expect(callsOf(first, 'd1')).toBe(4)
    const second = await deploy(STUDIO, { tenantName }, boat(120, users('ida')))
    expect(callsOf(second, 'd1')).toBe(3)
    await insertPolicy(tenantName, 2)
    const changed = boat(130, {
      ...users('ida', 'jan'),
      'products/boat/policy/policy.json': JSON.stringify({ fields: [] }),
      'remarks/notes.txt': 'nothing reads it',
    })
    const third = await deploy(STUDIO, { tenantName }, changed)
    expect(third.body.success).toBe(true)

    const { entries, pagingToken } = await logOf(tenantName)
    expect(pagingToken).toBeUndefined()
    expect(entries.map(({ version }) => version)).toEqual(['3', '2', '1'])
    const [newest] = entries
    expect(newest).toEqual({
      locator: expect.stringMatching(/^[0-9a-f-]{36}$/),
      timestamp: expect.stringMatching(/^\d{13}$/),
      kind: 'deploy',
      outcome: 'deployed',
      version: '3',
      route: 'POST /configuration/studio/deploy',
      username: 'administrator',
      accountLocator: expect.stringMatching(/^[0-9a-f-]{36}$/),
      requestId: third.headers.get('x-request-id'),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      errors: 0,
      warnings: expect.any(Number),
    })
    const entry = await entryOf(tenantName, newest!.locator)
    expect(entry).toMatchObject(newest!)
    expect(entry.steps).toEqual([
      { step: 'received', counts: { bytes: expect.any(Number) } },
      { step: 'checked', counts: { errors: 0, warnings: newest!.warnings } },
      { step: 'compiled', counts: { products: 1, tables: 0, templates: 0, scripts: 0 } },
      { step: 'compared', counts: { incompatible: 1 } },
      { step: 'accounts', counts: { set: 1, removed: 0 } },
      { step: 'activated', counts: { version: 3 } },
    ])
    // The findings are those of the log in the deploy's response, line by line.
    const lines = third.body.logfile.split('\n').slice(1, -1)
    expect(lines).toHaveLength(entry.findings.length)
    for (const { severity, path, code, message } of entry.findings)
      expect(lines).toContainEqual(
        expect.stringMatching(
          new RegExp(`^${severity} ${path.replaceAll('.', '\\.')}\\S* ${code} ${message.slice(0, 20)}`),
        ),
      )
    expect(entry.findings.map(({ code }) => code)).toContain('fieldRemoved')
    const changes = (
      await read<DeploymentLogChangesResponse>(`/deployments/log/${newest!.locator}/changes`, tenantName)
    ).body
    expect(changes.changes.map(({ subject }) => subject)).toContain("field 'harbour'")
    const ofFirst = await read(`/deployments/log/${entries[2]!.locator}/changes`, tenantName)
    expect(ofFirst.body).toEqual({ count: 0, breaks: 0, binds: 0, changes: [] })
  })

  it('shows what a repair changed, and why another one was rejected', async () => {
    const tenantName = 'repaired'
    await deploy(STUDIO, { tenantName }, boat(100, users('ida')))
    await deploy(REPAIR, { tenantName, version: '1' }, boat(150, users('ida')))
    await insertPolicy(tenantName, 1)
    const gone = boat(150, { 'products/boat/policy/policy.json': JSON.stringify({ fields: [] }) })
    const refused = await deploy(REPAIR, { tenantName, version: '1' }, gone)
    expect(refused.body.success).toBe(false)
    const { entries } = await logOf(tenantName)
    expect(entries.map(({ kind, outcome, version }) => [kind, outcome, version])).toEqual([
      ['repair', 'refused', '1'],
      ['repair', 'deployed', '1'],
      ['deploy', 'deployed', '1'],
    ])
    const why = await entryOf(tenantName, entries[0]!.locator)
    expect([why.hash, why.errors, why.route]).toEqual([undefined, 1, 'POST /configuration/studio/repair'])
    expect(why.findings).toMatchObject([{ severity: 'ERROR', code: 'fieldRemoved' }])
    const changed = await read<DeploymentLogChangesResponse>(
      `/deployments/log/${entries[1]!.locator}/changes`,
      tenantName,
    )
    expect(JSON.stringify(changed.body.changes)).toContain('{{ 150 | set_year_premium }}')
    expect((await logOf(tenantName, '?version=1')).entries.map(({ outcome }) => outcome)).toEqual([
      'deployed',
      'deployed',
    ])
  })

  it('keeps only the newest rejected attempts, and none of a tenant that was not created', async () => {
    const tenantName = 'refusing'
    expect((await deploy(STUDIO, { tenantName }, broken())).body.success).toBe(false)
    expect(await tenantNamed(tenantName)).toBeUndefined()
    await createTenant(env, { name: tenantName, type: 'test', versioned: true })
    const before = (await tenantNamed(tenantName))!
    await boundDatabase(before.shards[0]!)
      .prepare(
        `with recursive number(n) as (select 1 union all select n + 1 from number where n < ?)
         insert into deployment_log (locator, created_at, kind, summary, steps, findings)
         select printf('00000000-0000-4000-8000-%012d', n), n, 'deploy', '{}', '[]', '[]' from number`,
      )
      .bind(MOST_REFUSED)
      .run()
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    for (let time = 0; time < 2; time += 1) {
      const answer = await deploy(STUDIO, { tenantName, recreate: 'true' }, broken(), { headers })
      expect([answer.status, answer.body.success]).toEqual([200, false])
    }
    expect((await tenantNamed(tenantName))!.generation).toBe(before.generation)
    const [count] = await rowsOf<{ n: number; oldest: number }>(
      tenantName,
      'select count(*) as n, min(created_at) as oldest from deployment_log',
    )
    expect(count).toEqual({ n: MOST_REFUSED, oldest: 3 })
    const page = await logOf(tenantName, '?refused=true&pageSize=2')
    expect(page.entries.map(({ outcome, username }) => [outcome, username])).toEqual([
      ['refused', 'administrator'],
      ['refused', 'administrator'],
    ])
    const entry = await entryOf(tenantName, page.entries[0]!.locator)
    expect(entry.steps.map(({ step }) => step)).toEqual(['received', 'checked'])
    expect(entry.findings[0]).toMatchObject({ severity: 'ERROR', path: 'config.json' })
    expect((await deploy(STUDIO, { tenantName })).body.success).toBe(true)
    expect((await logOf(tenantName, '?refused=false&pageSize=1')).entries[0]!.outcome).toBe('deployed')
  })

  it('keeps at most 1,000 findings and about 100 kB, and counts all of them', async () => {
    const tenantName = 'noisy'
    await deploy(STUDIO, { tenantName })
    const fields = Array.from({ length: 1_500 }, (_, at) => ({
      name: `kind_${at}`,
      title: 'Kind',
      type: 'select',
    }))
    const files = boat(100, { 'products/boat/policy/policy.json': JSON.stringify({ fields }) })
    expect((await deploy(STUDIO, { tenantName }, files)).body.success).toBe(false)
    const { locator, errors } = (await logOf(tenantName)).entries[0]!
    const { findings } = await entryOf(tenantName, locator)
    expect(findings.length).toBeLessThanOrEqual(1_000)
    expect(JSON.stringify(findings).length).toBeLessThanOrEqual(101_001)
    expect([errors, findings.length > 100]).toEqual([1_500, true])
  })

  it('reads each page in one round trip to the tenant, through an index', async () => {
    const tenantName = 'logged'
    const all = (await logOf(tenantName)).entries
    const seen: DeploymentLogPageResponse['entries'] = []
    for (let token: string | undefined = ''; token !== undefined; ) {
      const answer: Answer<DeploymentLogPageResponse> = await read(
        `/deployments/log/list?pageSize=1${token && `&pagingToken=${token}`}`,
        tenantName,
      )
      // One for the tenant, and one for its entries.
      expect(roundTrips(answer)).toEqual({ d1: 2, object: 0, r2: 0, queue: 0 })
      seen.push(...answer.body.entries)
      token = answer.body.pagingToken
    }
    expect(seen).toEqual(all)
    for (const [where, name] of [
      ['(created_at, locator) < (1, ?1)', 'deployment_log_created'],
      ['version = 1 and (created_at, locator) < (1, ?1)', 'deployment_log_version'],
      ['version is null and (created_at, locator) < (1, ?1)', 'deployment_log_version'],
    ]) {
      const { results } = await boundDatabase(poolBinding(1))
        .prepare(
          `explain query plan select locator from deployment_log where ${where}
           order by created_at desc, locator desc limit 3`,
        )
        .bind('a')
        .all<{ detail: string }>()
      expect(results.map(({ detail }) => detail)).toEqual([expect.stringContaining(`INDEX ${name}`)])
    }
  })

  it('returns 404 for an unknown entry or another tenant, and 503 while the table is missing', async () => {
    const tenantName = 'logged'
    const [entry] = (await logOf(tenantName)).entries
    for (const locator of ['x', '00000000-0000-4000-8000-000000000001'])
      for (const more of ['', '/changes'])
        expect((await read(`/deployments/log/${locator}${more}`, tenantName)).status).toBe(404)
    expect((await read(`/deployments/log/${entry!.locator}`, 'repaired')).status).toBe(404)
    expect((await read('/deployments/log/list', 'nobody')).status).toBe(404)
    expect((await read('/deployments/log/list?pagingToken=x', tenantName)).status).toBe(400)
    const tenant = (await tenantNamed(tenantName))!
    const asBefore = (migration: string) =>
      env.CONTROL.prepare('update pool_database set migration = ? where binding = ?')
        .bind(migration, tenant.shards[0])
        .run()
    await asBefore('0014_roles')
    expect((await read('/deployments/log/list', tenantName)).status).toBe(503)
    expect((await deploy(STUDIO, { tenantName }, boat(140))).body.success).toBe(true)
    expect((await deploy(STUDIO, { tenantName }, broken())).body.success).toBe(false)
    await asBefore('0015_deployment_log')
    expect((await logOf(tenantName)).entries[0]).toEqual(entry)
  })
})
