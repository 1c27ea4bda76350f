// The check of an archive before it is deployed, and the changes between versions. Neither writes anything.
import { beforeAll, describe, expect, test } from 'vitest'
import type {
  ConfigurationDifferenceResponse,
  ConfigurationValidationResponse,
  DeploymentResponse,
  VersionChangesResponse,
} from '../../src/tenants/deployment/contract.ts'
import { type Answer, callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type ArchiveFiles, archiveOf, deployExample, deployForm } from '../support/examples.ts'
import { roundTrips } from '../support/motor.ts'
import {
  administratorToken,
  boat,
  type DeployFields,
  deploymentsOf,
  freeDatabases,
  insertPolicy,
  rowsOf,
  users,
} from './deploying.ts'

const HULL = 'products/boat/policy/exposures/hull/exposure.json'
const TABLE = 'products/boat/policy/tables/rates.csv'
const STATIC = 'products/boat/policy/static_documents/terms.pdf'

const rates = (rows: number, rate: string): string =>
  `key,value\n${Array.from({ length: rows }, (_, at) => `k${at},${rate}`).join('\n')}\n`

/** Removes the field `length`, which policies use. */
const withoutLength: ArchiveFiles = {
  [HULL]: JSON.stringify({ name: 'hull', displayName: 'Hull', fields: [] }),
}

let tenantName: string

async function look<Body>(
  path: '/configuration/validate' | '/configuration/diff',
  files: ArchiveFiles,
  fields: DeployFields = {},
): Promise<Answer<Body>> {
  const token = await administratorToken()
  await callApi('GET', '/v1/ping/authorized', { token })
  return callApi('POST', path, { token, body: deployForm(archiveOf(files), fields) })
}

const validate = (files: ArchiveFiles, fields?: DeployFields) =>
  look<ConfigurationValidationResponse>('/configuration/validate', files, fields)

const diff = (files: ArchiveFiles, fields: DeployFields = { tenantName }) =>
  look<ConfigurationDifferenceResponse>('/configuration/diff', files, fields)

const changesOf = async (version: string, query = '') =>
  callApi<VersionChangesResponse>('GET', `/deployments/${version}/changes?tenantName=${tenantName}${query}`, {
    token: await administratorToken(),
  })

beforeAll(async () => {
  await prepareDatabases({ tenants: 6 })
  const tenant = await deployExample(
    { ...boat(100, users('ann')), [TABLE]: rates(150, '1'), [STATIC]: '%PDF-1.4 a' },
    'review',
  )
  tenantName = tenant.tenantName
  await insertPolicy(tenantName, 1)
}, 60_000)

describe('POST /configuration/validate', () => {
  test('reports that an archive can be deployed, and creates nothing', async () => {
    const free = await freeDatabases()
    const { status, body } = await validate(boat())
    expect([status, body.success, body.errors]).toEqual([200, true, 0])
    expect(body.findings.length).toBe(body.warnings)
    expect(await freeDatabases()).toBe(free)
  })

  test('makes no round trips for an archive alone, and two to D1 when it names a tenant', async () => {
    expect(roundTrips(await validate(boat()))).toEqual({ d1: 0, object: 0, r2: 0, queue: 0 })
    // This loads the configuration of the newest version into memory.
    expect((await validate(boat(), { tenantName })).body.success).toBe(true)
    expect(roundTrips(await validate(boat(), { tenantName }))).toEqual({ d1: 2, object: 0, r2: 0, queue: 0 })
  })

  test('lists errors with their file and line, as a deploy would', async () => {
    const files = boat(100, { [HULL]: '{ "name": "hull",\n  "displayName": }' })
    const { status, body } = await validate(files)
    expect([status, body.success]).toEqual([200, false])
    expect(body.errors).toBeGreaterThan(0)
    expect(body.findings.find(one => one.severity === 'ERROR')).toMatchObject({
      severity: 'ERROR',
      path: HULL,
      line: 2,
      code: expect.any(String),
    })
  })

  test('reports what the archive removes from a tenant: as a warning for a deploy, as an error for a repair', async () => {
    const files = { ...boat(), ...withoutLength }
    const deploying = await validate(files, { tenantName })
    expect(deploying.body).toMatchObject({ success: true, errors: 0 })
    const lost = { path: HULL, code: 'fieldRemoved' }
    expect(deploying.body.findings).toContainEqual(expect.objectContaining({ ...lost, severity: 'WARNING' }))
    const ofField = ({ body }: typeof deploying) =>
      body.findings.find(({ code }) => code === 'fieldRemoved')!.message
    expect(ofField(deploying)).toBe(
      "The field 'length' is missing. POST /configuration/deployTest replaces the only version and therefore rejects this. POST /configuration/studio/deploy keeps the version of each policy.",
    )
    const settings = {
      timezone: 'Europe/Berlin',
      currency: 'EUR',
      features: { 'property.product.versioning.m2.enabled': true },
    }
    const versioned = await validate({ ...files, 'config.json': JSON.stringify(settings) }, { tenantName })
    expect(ofField(versioned)).toBe(
      "The field 'length' is missing. Policies created with earlier versions keep those.",
    )
    const repairing = await validate(files, { tenantName, version: '1' })
    expect(repairing.body).toMatchObject({ success: false, errors: 1 })
    expect(repairing.body.findings).toEqual([expect.objectContaining({ ...lost, severity: 'ERROR' })])
    expect(await deploymentsOf(tenantName)).toEqual(['deploy 1'])
  })

  test('reports test users that were created through the interface, as a deploy does', async () => {
    await rowsOf(tenantName, `update account set source = 'interface' where username = 'ann'`)
    const { body } = await validate({ ...boat(), ...users('ann') }, { tenantName })
    expect(body.findings.map(one => one.code)).toContain('usernameTaken')
    await rowsOf(tenantName, `update account set source = 'archive' where username = 'ann'`)
  })

  test('returns 404 for an unknown tenant, 400 for invalid fields, and 200 with an error for a broken zip', async () => {
    const of = async (files: ArchiveFiles, fields: DeployFields) => {
      const { status, body } = await look<{ code: string }>('/configuration/validate', files, fields)
      return [status, body.code]
    }
    expect(await of(boat(), { tenantName: 'nobody' })).toEqual([404, 'notFound'])
    expect(await of(boat(), { tenantName, version: '7' })).toEqual([400, 'unknownConfigVersion'])
    expect(await of(boat(), { version: 'x' })).toEqual([400, 'invalidRequest'])
    expect(await of(boat(), { version: '1' })).toEqual([400, 'invalidRequest'])
    const token = await administratorToken()
    const none = await callApi<{ code: string }>('POST', '/configuration/validate', {
      token,
      body: new FormData(),
    })
    expect([none.status, none.body.code]).toEqual([400, 'invalidRequest'])
    const text = await callApi('POST', '/configuration/validate', {
      token,
      body: deployForm(new Uint8Array([1, 2, 3]), {}),
    })
    expect(text).toMatchObject({
      status: 200,
      body: { success: false, errors: 1, findings: [{ path: '(archive)' }] },
    })
  })
})

describe('POST /configuration/diff', () => {
  test('returns what a deploy would change, and the effect on policies in force', async () => {
    const changed = {
      ...boat(110, users('ann')),
      ...withoutLength,
      [TABLE]: rates(150, '2'),
      [STATIC]: '%PDF-1.4 b',
    }
    const answer = await diff(changed)
    const { success, fromVersion, count, breaks, binds, changes } = answer.body
    expect({ success, fromVersion, count, breaks, binds }).toEqual({
      success: true,
      fromVersion: '1',
      count: 4,
      breaks: 1,
      binds: 0,
    })
    expect(changes.map(({ kind, area, subject }) => [kind, area, subject])).toEqual([
      ['removed', 'fields', "field 'length' of exposure 'hull'"],
      ['changed', 'rates', expect.stringContaining('sinking')],
      ['changed', 'tables', "table 'rates'"],
      ['changed', 'documents', "static document 'terms.pdf'"],
    ])
    const [field, premium, table] = changes
    expect(field!.inForce?.effect).toBe('breaks')
    expect(premium!.hunks).toEqual([
      {
        oldLine: 1,
        newLine: 1,
        removed: ['{{ 100 | set_year_premium }}'],
        added: ['{{ 110 | set_year_premium }}'],
      },
    ])
    expect([table!.rows!.length, table!.moreRows]).toEqual([100, 50])
    expect(table!.rows![0]).toEqual({
      kind: 'changed',
      key: ['k0'],
      cells: [{ column: 'value', from: '1', to: '2', percent: 100 }],
    })
    expect(await deploymentsOf(tenantName)).toEqual(['deploy 1'])
    // The tenant and the version's row. In R2, its archive, and its compiled form unless that is in memory.
    const { d1, r2, object } = roundTrips(answer)
    expect([d1, object]).toEqual([2, 0])
    expect(r2).toBeLessThanOrEqual(2)
  })

  test('returns no changes for an equivalent archive or for one with errors', async () => {
    const same = { ...boat(100, users('ann')), [TABLE]: rates(150, '1'), [STATIC]: '%PDF-1.4 a' }
    expect((await diff(same)).body).toMatchObject({ fromVersion: '1', count: 0, changes: [] })
    const wrong = await diff({ ...same, [HULL]: '{' })
    expect(wrong.body).toMatchObject({ success: false, count: 0, changes: [] })
    expect(wrong.body.fromVersion).toBeUndefined()
  })

  test('shows at most 200 lines of a template, and counts the hunks that are left out', async () => {
    const lines = (mark: string) =>
      Array.from({ length: 400 }, (_, at) => (at % 4 === 0 ? `{% assign a${at} = ${mark} %}` : '')).join('\n')
    const path = 'products/boat/policy/exposures/hull/perils/sinking.premium.liquid'
    const long = (mark: string) => ({
      ...boat(100, users('bob')),
      [path]: `${lines(mark)}\n{{ 100 | set_year_premium }}`,
    })
    const { tenantName: own } = await deployExample(long('1'), 'longtemplate')
    const { body } = await diff(long('2'), { tenantName: own })
    const [change] = body.changes.filter(one => one.hunks)
    expect(change!.hunks!.length).toBe(100)
    expect(change!.moreHunks).toBeUndefined()
    const { body: all } = await diff(
      {
        ...boat(),
        [path]: `${lines('2').replaceAll('%}\n', '%}{% assign b = 1 %}\n{% assign c = 1 %}\n')}\n{{ 100 | set_year_premium }}`,
      },
      { tenantName: own },
    )
    const [cut] = all.changes.filter(one => one.hunks)
    const shown = cut!.hunks!.reduce((sum, { removed, added }) => sum + removed.length + added.length, 0)
    expect(shown).toBeLessThanOrEqual(200)
    expect(cut!.moreHunks).toBe(100 - cut!.hunks!.length)
  })

  test('returns 404 for an unknown tenant, and 400 for a missing tenant or an unknown version', async () => {
    expect((await diff(boat(), { tenantName: 'nobody' })).status).toBe(404)
    expect((await diff(boat(), {})).status).toBe(400)
    expect((await diff(boat(), { tenantName, version: '9' })).status).toBe(400)
  })
})

describe('GET /deployments/{configVersion}/changes', () => {
  test('compares a version with the one before it, or with an earlier one', async () => {
    const token = await administratorToken()
    for (const premium of [120, 130]) {
      const files = { ...boat(premium, users('ann')), [TABLE]: rates(150, '1'), [STATIC]: '%PDF-1.4 a' }
      const form = deployForm(archiveOf(files), { tenantName, recreate: 'false' })
      expect(
        (await callApi<{ success: boolean }>('POST', '/configuration/studio/deploy', { token, body: form }))
          .body.success,
      ).toBe(true)
    }
    const premiumOf = ({ body }: Answer<VersionChangesResponse>) => [
      body.fromVersion,
      body.toVersion,
      ...body.changes.flatMap(one => one.hunks ?? []).flatMap(({ removed, added }) => [...removed, ...added]),
    ]
    // The tenant, its versions, and both archives. Isolates keep configurations in memory, but not archives.
    expect((await changesOf('3')).status).toBe(200)
    expect(roundTrips(await changesOf('3'))).toEqual({ d1: 2, object: 0, r2: 2, queue: 0 })
    const line = (premium: number) => `{{ ${premium} | set_year_premium }}`
    expect(premiumOf(await changesOf('3'))).toEqual(['2', '3', line(120), line(130)])
    expect(premiumOf(await changesOf('latest', '&since=1'))).toEqual(['1', '3', line(100), line(130)])
    expect((await changesOf('1')).body).toEqual({
      toVersion: '1',
      count: 0,
      breaks: 0,
      binds: 0,
      changes: [],
    })
    const latest = await callApi<DeploymentResponse>('GET', `/deployments/latest?tenantName=${tenantName}`, {
      token,
    })
    expect(latest.body.tenantAssets.map(one => one.kind)).toEqual(['deploy'])
    expect(latest.body.url).toBeDefined()
  })

  test('returns 404 for versions that do not exist, and hides tenants from others', async () => {
    for (const [version, query] of [
      ['9', ''],
      ['0', ''],
      ['x', ''],
      ['2', '&since=2'],
      ['1', '&since=1'],
    ] as const)
      expect([version, query, (await changesOf(version, query)).status]).toEqual([version, query, 404])
    expect((await changesOf('2', '&since=x')).status).toBe(400)
    const other = await deployExample(boat(100, users('bob')), 'otherreview')
    const foreign = await callApi('GET', `/deployments/latest/changes?tenantName=${tenantName}`, {
      token: other.token,
    })
    expect([403, 404]).toContain(foreign.status)
  })
})
