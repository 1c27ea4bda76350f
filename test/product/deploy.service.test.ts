import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, test } from 'vitest'
import { createTenant, deleteTenant } from '../../src/tenants/service.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { archiveOf, type DeployAnswer, deployExample, deployForm } from '../support/examples.ts'
import {
  administratorToken,
  boat,
  callsOf,
  deploy,
  deploymentsOf,
  freeDatabases,
  insertPolicy,
  rowsOf,
  tenantNamed,
  users,
} from './deploying.ts'

const STUDIO = '/configuration/studio/deploy'
const PRODUCTION = '/configuration/deploy'
const LEGACY = '/configuration/deployTest'
const OLDER = '/assets/v1/deploy'

beforeAll(() => prepareDatabases({ tenants: 48 }))

const production = (name: string) => createTenant(env, { name, type: 'production' })

/** An archive with two errors. */
const broken = boat(100, {
  'products/boat/policy/policy.json': JSON.stringify({
    fields: [{ name: 'kind', title: 'Kind', type: 'select' }],
  }),
  'config.json': '{ "timezone": ',
})

describe('POST /configuration/studio/deploy', () => {
  test('creates the test tenant that it names, and numbers its versions', async () => {
    const first = await deploy(STUDIO, { tenantName: 'boats' })
    expect(first.status).toBe(200)
    const tenant = await tenantNamed('boats')
    expect(first.body).toEqual({
      success: true,
      hostname: 'boats.co.local.bindery.test',
      tenantName: 'boats',
      tenantLocator: tenant!.locator,
      logfile: expect.stringMatching(/\nDeployed version 1 to boats\.co\.local\.bindery\.test$/),
    })
    expect(tenant).toMatchObject({ type: 'test', versioned: true })
    const second = await deploy(STUDIO, { tenantName: 'boats' }, boat(200))
    expect(second.body.logfile).toContain('Deployed version 2 to')
    const same = await deploy(STUDIO, { tenantName: 'boats' }, boat(200))
    expect(same.body.logfile).toContain('Deployed version 3 to')
    expect(await deploymentsOf('boats')).toEqual(['deploy 1', 'deploy 2', 'deploy 3'])
  })

  test('makes three D1 round trips, and one more for the fence of a new tenant', async () => {
    const first = await deploy(STUDIO, { tenantName: 'counted' })
    expect([callsOf(first, 'd1'), callsOf(first, 'r2'), callsOf(first, 'object')]).toEqual([4, 2, 0])
    const second = await deploy(STUDIO, { tenantName: 'counted' }, boat(200))
    expect(callsOf(second, 'd1')).toBe(3)
    // The previous configuration, unless the isolate has it, and the two files.
    expect(callsOf(second, 'r2')).toBeLessThanOrEqual(3)
  })

  test('returns 200 with the whole log for an archive with errors, and creates no tenant', async () => {
    const before = await freeDatabases()
    const { status, body } = await deploy(STUDIO, { tenantName: 'never-made' }, broken)
    expect(status).toBe(200)
    expect(body).toEqual({
      success: false,
      hostname: 'never-made.co.local.bindery.test',
      tenantName: 'never-made',
      logfile: expect.stringMatching(/^2 errors, .*\nERROR config\.json:1:.*\nDeployment failed: 2 errors$/s),
    })
    expect(body.logfile).toContain('selectWithoutValues')
    expect(await tenantNamed('never-made')).toBeUndefined()
    expect(await freeDatabases()).toBe(before)
  })

  test('keeps the running version when the next archive has errors', async () => {
    await deploy(STUDIO, { tenantName: 'careful' })
    const { body } = await deploy(STUDIO, { tenantName: 'careful' }, broken)
    expect(body).toMatchObject({ success: false, tenantLocator: (await tenantNamed('careful'))!.locator })
    expect(await deploymentsOf('careful')).toEqual(['deploy 1'])
  })

  test('returns 200 with success false for a file that is not a zip', async () => {
    const body = deployForm(new Uint8Array(Buffer.from('not a zip')), { tenantName: 'no-zip' })
    const answer = await callApi<DeployAnswer>('POST', STUDIO, { token: await administratorToken(), body })
    expect([answer.status, answer.body.success]).toEqual([200, false])
    expect(answer.body.logfile).toContain('ERROR (archive) notAZip')
  })

  test('accepts form parts in any order and flags in several spellings, and returns 400 for other flags', async () => {
    for (const recreate of ['false', 'FALSE', '0', 'true', 'True', '1']) {
      const form = new FormData()
      form.set('zipFile', new Blob([archiveOf(boat())]), 'x.zip')
      form.set('recreate', recreate)
      form.set('tenantName', 'any-order')
      const { status, body } = await callApi<DeployAnswer>('POST', STUDIO, {
        token: await administratorToken(),
        body: form,
      })
      expect([recreate, status, body.success]).toEqual([recreate, 200, true])
    }
    const wrong = await deploy(STUDIO, { tenantName: 'any-order', recreate: 'maybe' })
    expect(wrong.status).toBe(400)
  })

  test('with recreate, starts at version 1 in a database without the old data, and revokes old tokens', async () => {
    const fields = { tenantName: 'phoenix' }
    const files = boat(100, users('ida'))
    await deploy(STUDIO, fields, files)
    await deploy(STUDIO, fields, files)
    const before = (await tenantNamed('phoenix'))!
    const signIn = () =>
      callApi<{ authorizationToken: string }>('POST', '/account/authenticate', {
        body: { username: 'ida', password: 'pw of ida', tenantName: 'phoenix' },
      })
    const token = (await signIn()).body.authorizationToken
    const { body } = await deploy(STUDIO, { ...fields, recreate: 'true' }, files)
    expect(body.logfile).toContain('Deployed version 1 to')
    expect(body.tenantLocator).toBe(before.locator)
    const after = (await tenantNamed('phoenix'))!
    expect(after.generation).toBe(before.generation + 1)
    expect(after.shards).not.toEqual(before.shards)
    expect((await callApi('GET', '/products', { token })).status).toBe(401)
    expect((await signIn()).status).toBe(200)
  })

  test('records who created and recreated a tenant in the administration trail, which recreate keeps', async () => {
    const fields = { tenantName: 'told' }
    await deploy(STUDIO, fields)
    const again = await deploy(STUDIO, { ...fields, recreate: 'true' })
    await deploy(STUDIO, fields)
    const { body } = await callApi<{ entries: object[] }>(
      'GET',
      '/audit/administration/list?subject=told&action=tenants.write',
      { token: await administratorToken() },
    )
    expect(body.entries).toMatchObject([
      { username: 'administrator', details: { made: true } },
      {
        username: 'administrator',
        details: { recreated: true },
        requestId: again.headers.get('x-request-id'),
      },
    ])
  })

  test('with recreate, leaves the tenant unchanged when the archive has errors', async () => {
    await deploy(STUDIO, { tenantName: 'kept' })
    const before = await tenantNamed('kept')
    await deploy(STUDIO, { tenantName: 'kept', recreate: 'true' }, broken)
    expect(await tenantNamed('kept')).toEqual(before)
  })

  test.each(['Boats', 'a b', '../x', "x' or 1=1--", 'x.co', 'x%00', '-x', '名前', 'x'.repeat(64), ' '])(
    'rejects the tenant name %j with 400',
    async tenantName => {
      const { status, body } = await deploy(STUDIO, { tenantName })
      expect([status, (body as unknown as { code: string }).code]).toEqual([400, 'invalidRequest'])
    },
  )

  test('rejects a production tenant with 400', async () => {
    await production('serious')
    const { status, body } = await deploy(STUDIO, { tenantName: 'serious', recreate: 'true' })
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({ code: 'tenantTypeMismatch', httpStatus: '400' }),
    ])
    expect(await tenantNamed('serious')).toMatchObject({ generation: 1 })
  })

  test('gives each of six concurrent deploys its own version number', async () => {
    const answers = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(premium => deploy(STUDIO, { tenantName: 'busy' }, boat(premium))),
    )
    const versions = answers.map(({ body }) => Number(/version (\d+) to/.exec(body.logfile)?.[1]))
    expect(versions.sort()).toEqual([1, 2, 3, 4, 5, 6])
    expect((await deploymentsOf('busy')).length).toBe(6)
    const hashes = await rowsOf<{ hash: string }>('busy', 'select distinct hash from configuration_version')
    expect(hashes).toHaveLength(6)
  })

  test('deploys once for one Idempotency-Key, and returns 409 when the key comes with another archive', async () => {
    const headers = { 'idempotency-key': 'deploy-once' }
    const send = (premium: number, more = {}) =>
      deploy(STUDIO, { tenantName: 'once', ...more }, boat(premium), { headers })
    const first = await send(1)
    expect((await send(1)).body).toEqual(first.body)
    expect(await deploymentsOf('once')).toEqual(['deploy 1'])
    expect((await send(2)).status).toBe(409)
  })

  test('recreates a tenant once when the request is repeated with the same Idempotency-Key', async () => {
    await deploy(STUDIO, { tenantName: 'wiped-once' })
    const headers = { 'idempotency-key': 'recreate-once' }
    const send = () => deploy(STUDIO, { tenantName: 'wiped-once', recreate: 'true' }, boat(), { headers })
    const first = await send()
    expect((await send()).body).toEqual(first.body)
    expect(await tenantNamed('wiped-once')).toMatchObject({ generation: 2 })
  })

  test('shortens a log of more than 64 KiB when the request is repeated with the same Idempotency-Key', async () => {
    const files = boat()
    for (let at = 0; at < 700; at += 1) files[`unknown_${at}_${'x'.repeat(80)}.txt`] = ''
    const headers = { 'idempotency-key': 'long-log' }
    const first = await deploy(STUDIO, { tenantName: 'long-log' }, files, { headers })
    expect(first.body.logfile.length).toBeGreaterThan(65_536)
    const again = await deploy(STUDIO, { tenantName: 'long-log' }, files, { headers })
    expect(again.body).toMatchObject({ success: true, tenantLocator: first.body.tenantLocator })
    expect(again.body.logfile).toMatch(/Deployed version 1 to/)
  })

  test('warns when it removes a field that policies of earlier versions use', async () => {
    await deploy(STUDIO, { tenantName: 'shrinking' })
    const without = boat(100, { 'products/boat/policy/policy.json': '{}' })
    const unused = await deploy(STUDIO, { tenantName: 'shrinking' }, without)
    expect(unused.body.logfile).not.toContain('fieldRemoved')
    await deploy(STUDIO, { tenantName: 'shrinking' })
    await insertPolicy('shrinking', 1)
    const { body } = await deploy(STUDIO, { tenantName: 'shrinking' }, without)
    expect(body.success).toBe(true)
    expect(body.logfile).toContain(
      "WARNING products/boat/policy/policy.json fieldRemoved The field 'harbour' is missing.",
    )
  })
})

describe('permission to deploy and repair', () => {
  test('is limited to administration accounts: others get 403, and 401 without a token', async () => {
    const { token } = await deployExample(boat(100, users('eve')), 'who')
    const fields = { tenantName: 'administrator-who', version: '1' }
    const repairs = ['/configuration/repair', '/configuration/studio/repair']
    for (const path of [STUDIO, PRODUCTION, LEGACY, OLDER, ...repairs]) {
      const body = deployForm(archiveOf(boat()), fields)
      const statuses = [
        (await deploy(path, fields, boat(), { token })).status,
        (await callApi('POST', path, { body })).status,
      ]
      expect([path, ...statuses]).toEqual([path, 403, 401])
    }
  })

  test('is denied with 403 to the administration account when it is signed in to a tenant', async () => {
    await deploy(STUDIO, { tenantName: 'inside' })
    const { body } = await callApi<{ authorizationToken: string }>('POST', '/account/authenticateAdmin', {
      body: {
        username: 'administrator',
        password: 'correct horse battery staple',
        tenantName: 'inside',
      },
    })
    const answer = await deploy(STUDIO, { tenantName: 'inside' }, boat(), { token: body.authorizationToken })
    expect(answer.status).toBe(403)
  })
})

describe('deployment forms', () => {
  test('of nearly 32 MB are accepted', async () => {
    const noise = new Uint8Array(31 * 1024 * 1024)
    for (let at = 0; at < noise.length; at += 65_536) crypto.getRandomValues(noise.subarray(at, at + 65_536))
    const files = boat(1, { 'products/boat/policy/static_documents/book.pdf': noise })
    const { status, body } = await deploy(STUDIO, { tenantName: 'large' }, files)
    expect([status, body.success, body.logfile]).toEqual([200, true, expect.stringContaining('version 1')])
  })

  test('over 32 MB are rejected with 413', async () => {
    const zip = new Uint8Array(33 * 1024 * 1024)
    const { status, body } = await callApi<{ code: string }>('POST', STUDIO, {
      token: await administratorToken(),
      body: deployForm(zip, { tenantName: 'huge' }),
    })
    expect([status, body.code]).toEqual([413, 'tooLarge'])
  })

  test('without an archive or a name are rejected with 400, and other bodies with 415', async () => {
    const token = await administratorToken()
    const onlyName = new FormData()
    onlyName.set('tenantName', 'x')
    const onlyZip = deployForm(archiveOf(boat()), {})
    expect((await callApi('POST', STUDIO, { token, body: onlyName })).status).toBe(400)
    expect((await callApi('POST', STUDIO, { token, body: onlyZip })).status).toBe(400)
    expect((await callApi('POST', STUDIO, { token, body: { tenantName: 'x' } })).status).toBe(415)
  })
})

describe('POST /configuration/deploy', () => {
  test('returns 404 for a tenant that does not exist, even if the name is not valid', async () => {
    for (const tenantName of ['nobody', 'No Body', '../../etc', 'x'.repeat(200)])
      expect((await deploy(PRODUCTION, { tenantName })).status).toBe(404)
  })

  test('deploys to a production tenant, without the users of the archive', async () => {
    await production('insurer')
    const { body } = await deploy(PRODUCTION, { tenantName: 'insurer' }, boat(100, users('eve')))
    expect(body).toMatchObject({ success: true, tenantName: 'insurer' })
    expect(await rowsOf('insurer', 'select * from account')).toEqual([])
    expect(await deploymentsOf('insurer')).toEqual(['deploy 1'])
  })

  test('rejects test tenants, and recreate, with 400', async () => {
    await deploy(STUDIO, { tenantName: 'toy' })
    expect((await deploy(PRODUCTION, { tenantName: 'toy' })).status).toBe(400)
    await production('keeper')
    expect((await deploy(PRODUCTION, { tenantName: 'keeper', recreate: 'true' })).status).toBe(400)
    expect((await deploy(PRODUCTION, { tenantName: 'keeper', recreate: 'false' })).status).toBe(200)
  })

  test('returns 404 for a deleted tenant', async () => {
    await production('former')
    await deleteTenant(env, 'former')
    expect((await deploy(PRODUCTION, { tenantName: 'former' })).status).toBe(404)
  })
})

describe('POST /configuration/deployTest', () => {
  test('creates the tenant named by the administrator and the suffix, which is configeditor by default', async () => {
    const named = await deploy(LEGACY, { tenantNameSuffix: 'boats-2' })
    expect(named.body).toMatchObject({
      success: true,
      tenantName: 'administrator-boats-2',
      hostname: 'administrator-boats-2.co.local.bindery.test',
    })
    const unnamed = await deploy(LEGACY, {})
    expect(unnamed.body.tenantName).toBe('administrator-configeditor')
    expect((await deploy(LEGACY, { tenantNameSuffix: '' })).body.success).toBe(true)
    expect(await tenantNamed('administrator-configeditor')).toMatchObject({ versioned: false })
  })

  test('replaces the only version, and rejects an archive that removes what policies need', async () => {
    const tenantNameSuffix = 'replaced'
    await deploy(LEGACY, { tenantNameSuffix })
    await insertPolicy('administrator-replaced', 1)
    const changed = await deploy(LEGACY, { tenantNameSuffix }, boat(200))
    expect(changed.body.logfile).toContain('Deployed version 1 to')
    // The three of a deploy, and one for the latest version, which is to be replaced.
    expect(callsOf(changed, 'd1')).toBe(4)
    const without = boat(200, { 'products/boat/policy/policy.json': '{}' })
    const refused = await deploy(LEGACY, { tenantNameSuffix }, without)
    expect(refused.body).toMatchObject({
      success: false,
      logfile: expect.stringMatching(
        /ERROR products\/boat\/policy\/policy\.json fieldRemoved The field 'harbour' is missing\. Policies need it, and the tenant keeps only one version/,
      ),
    })
    expect(await deploymentsOf('administrator-replaced')).toEqual(['deploy 1', 'repair 1'])
  })

  test.each(['UP', 'a b', 'a.b', 'x'.repeat(41), 'a/../b', 'end-'])(
    'rejects the suffix %j with 400',
    async suffix => {
      expect((await deploy(LEGACY, { tenantNameSuffix: suffix })).status).toBe(400)
    },
  )

  test('returns 400 for a tenant that is versioned', async () => {
    const versioned = boat(100, {
      'config.json': JSON.stringify({
        timezone: 'Europe/Berlin',
        currency: 'EUR',
        features: { 'property.product.versioning.m2.enabled': true },
      }),
    })
    expect((await deploy(LEGACY, { tenantNameSuffix: 'switch' })).status).toBe(200)
    expect((await deploy(LEGACY, { tenantNameSuffix: 'switch' }, versioned)).status).toBe(200)
    const { status, body } = await deploy(LEGACY, { tenantNameSuffix: 'switch' })
    expect([status, body]).toEqual([400, expect.objectContaining({ code: 'tenantTypeMismatch' })])
    await deploy(LEGACY, { tenantNameSuffix: 'studio' })
    await deploy(STUDIO, { tenantName: 'administrator-studio' })
    expect((await deploy(LEGACY, { tenantNameSuffix: 'studio' })).status).toBe(400)
  })

  test('keeps the accounts of two tenants apart', async () => {
    const [a, b] = await Promise.all([
      deployExample(boat(1, users('ann')), 'one'),
      deployExample(boat(2, users('bob')), 'two'),
    ])
    expect(a.tenantLocator).not.toBe(b.tenantLocator)
    const usernames = await rowsOf<{ username: string }>(a.tenantName, 'select username from account')
    expect(usernames).toEqual([{ username: 'ann' }])
  })
})

describe('POST /assets/v1/deploy', () => {
  test('deploys the first version of a versioned tenant, and repairs the latest one after that', async () => {
    await production('older')
    expect((await deploy(OLDER, { tenantName: 'older' })).body.logfile).toContain('Deployed version 1 to')
    expect((await deploy(OLDER, { tenantName: 'older' }, boat(2))).body.logfile).toContain('version 1 to')
    expect(await deploymentsOf('older')).toEqual(['deploy 1', 'repair 1'])
    expect((await deploy(OLDER, { tenantName: 'nobody' })).status).toBe(404)
    await deploy(STUDIO, { tenantName: 'toy-2' })
    expect((await deploy(OLDER, { tenantName: 'toy-2' })).status).toBe(400)
  })
})

test('a deploy that finds the pool empty returns 503 and names the command that grows the pool', async () => {
  await env.CONTROL.prepare(`update pool_database set state = 'claimed' where state = 'free'`).run()
  const { status, headers, body } = await deploy(STUDIO, { tenantName: 'too-many' })
  expect([status, body]).toEqual([
    503,
    expect.objectContaining({
      code: 'poolEmpty',
      message: expect.stringContaining('npm run pool -- grow N'),
    }),
  ])
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await tenantNamed('too-many')).toBeUndefined()
})
