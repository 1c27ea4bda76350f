import { env, exports } from 'cloudflare:workers'
import { beforeAll, describe, expect, test } from 'vitest'
import { newUuid } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { linkToken, readLinkToken } from '../../src/platform/http/file-links.ts'
import { fileKey } from '../../src/platform/tenancy.ts'
import {
  ConfigurationUnreadable,
  compiledKey,
  loadConfiguration,
  MOST_CACHED_CHARACTERS,
} from '../../src/product/cache.ts'
import type {
  DeploymentResponse,
  DeploymentStatusResponse,
  ProductResponse,
} from '../../src/tenants/deployment/contract.ts'
import type { ProductDetailResponse } from '../../src/tenants/deployment/product-contract.ts'
import { createTenant } from '../../src/tenants/service.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type DeployedTenant, deployExample } from '../support/examples.ts'
import { roundTrips } from '../support/motor.ts'
import { madeToken } from '../support/test-tokens.ts'
import { administratorToken, boat, callsOf, deploy, rowsOf, tenantNamed, users } from './deploying.ts'

const files = (premium: number) => boat(premium, users('ann'))

let own: DeployedTenant
let other: DeployedTenant
/** Tokens of administrators of the two tenants. */
let ownAdmin: string
let otherAdmin: string

const administratorOf = ({ tenantLocator }: DeployedTenant): Promise<string> =>
  madeToken({ accountLocator: newUuid(0), accountType: 'account.tenant.admin', tenantLocator })

beforeAll(async () => {
  await prepareDatabases({ tenants: 8 })
  own = await deployExample(files(1), 'own')
  other = await deployExample(files(2), 'other')
  ownAdmin = await administratorOf(own)
  otherAdmin = await administratorOf(other)
  await deploy('/configuration/studio/deploy', { tenantName: own.tenantName }, files(3))
  await deploy('/configuration/studio/repair', { tenantName: own.tenantName, version: '1' }, files(4))
})

describe('GET /deployments/versions', () => {
  test('lists deploys and repairs, with the version as text', async () => {
    const answer = await callApi('GET', '/deployments/versions', { token: own.token })
    expect(answer.body).toEqual(
      ['1', '2', '1'].map((version, at) => ({
        version,
        deployedTimestamp: expect.stringMatching(/^\d{13}$/),
        kind: at === 2 ? 'repair' : 'deploy',
        username: expect.any(String),
      })),
    )
    expect(callsOf(answer, 'd1')).toBeLessThanOrEqual(2)
  })

  test('requires an administration account to name the tenant', async () => {
    const token = await administratorToken()
    const path = '/deployments/versions'
    expect((await callApi('GET', path, { token })).status).toBe(400)
    expect((await callApi('GET', `${path}?tenantName=nobody`, { token })).status).toBe(404)
    const list = await callOk<unknown[]>('GET', `${path}?tenantName=${other.tenantName}`, { token })
    expect(list).toHaveLength(1)
  })

  test('returns 404 to a tenant that names another one', async () => {
    const of = async (tenantName: string) =>
      (await callApi('GET', `/deployments/versions?tenantName=${tenantName}`, { token: own.token })).status
    expect(await of(own.tenantName)).toBe(200)
    expect(await of(other.tenantName)).toBe(404)
    expect(await of('nobody')).toBe(404)
    expect((await callApi('GET', '/deployments/versions')).status).toBe(401)
  })
})

test('GET /deployments/status returns the status of a version, which is INPROGRESS for the next one', async () => {
  const of = (query: string) =>
    callApi<DeploymentStatusResponse>('GET', `/deployments/status?${query}`, { token: own.token })
  const deployed = (version: string) => ({
    deploymentStatus: 'DEPLOYED',
    deploymentTimestamp: expect.stringMatching(/^\d{13}$/),
    version,
  })
  expect((await of('')).body).toEqual(deployed('2'))
  expect((await of(`tenantName=${own.tenantName}&version=1`)).body).toEqual(deployed('1'))
  expect((await of('version=3')).body).toEqual({ deploymentStatus: 'INPROGRESS' })
  expect((await of('version=4')).status).toBe(404)
  expect((await of('version=x')).status).toBe(400)
  expect((await of(`tenantName=${other.tenantName}`)).status).toBe(404)
  await createTenant(env, { name: 'empty', type: 'test' })
  const path = '/deployments/status?tenantName=empty'
  const empty = await callOk('GET', path, { token: await administratorToken() })
  expect(empty).toEqual({ deploymentStatus: 'INPROGRESS' })
})

describe('GET /deployments/{configVersion}', () => {
  const read = (version: string, token = ownAdmin) =>
    callApi<DeploymentResponse>('GET', `/deployments/${version}`, { token })

  test('returns the archive in force, and what the version was before', async () => {
    const { body } = await read('1')
    expect(body.tenantAssets.map(({ kind }) => kind)).toEqual(['repair', 'deploy'])
    expect(new Set(body.tenantAssets.map(({ hash }) => hash)).size).toBe(2)
    expect(Number(body.expiresTimestamp) - Date.now()).toBeGreaterThan(29 * 60_000)
    expect(body.url).toMatch(/^http:\/\/bindery\.test\/files\//)
    const zip = await fetched(body.url)
    expect(zip.status).toBe(200)
    expect(zip.headers.get('content-type')).toBe('application/zip')
    expect(zip.headers.get('content-disposition')).toContain('administrator-own-1.zip')
    expect(await sha256(await zip.arrayBuffer())).toBe(body.tenantAssets[0]!.hash)
  })

  test('requires the permission deployments.download, because the archive has passwords of its users', async () => {
    const refused = await callApi<{ message: string }>('GET', '/deployments/1', { token: own.token })
    expect([refused.status, refused.body.message]).toEqual([
      403,
      expect.stringMatching(/lacks the permission deployments\.download\.$/),
    ])
    const token = await administratorToken()
    expect((await callApi('GET', `/deployments/1?tenantName=${own.tenantName}`, { token })).status).toBe(200)
  })

  test('returns 404 for a version that does not exist', async () => {
    for (const version of ['3', '0', '-1', 'x', '1.0', '1e0', '99999999999999999999'])
      expect([version, (await read(version)).status]).toEqual([version, 404])
    expect((await read('2', otherAdmin)).status).toBe(404)
  })
})

const sha256 = async (bytes: ArrayBuffer): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')

const fetched = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  exports.default.fetch(new Request(url, { headers }))

describe('GET /files/{token}', () => {
  const address = async () =>
    (await callOk<DeploymentResponse>('GET', '/deployments/2', { token: ownAdmin })).url

  test('answers conditional requests and range requests', async () => {
    const url = await address()
    const whole = await fetched(url)
    const bytes = new Uint8Array(await whole.arrayBuffer())
    const etag = whole.headers.get('etag')!
    expect((await fetched(url, { 'if-none-match': etag })).status).toBe(304)
    expect((await fetched(url, { 'if-none-match': '"other"' })).status).toBe(200)
    expect((await fetched(url, { 'if-match': '"other"' })).status).toBe(412)
    const part = async (range: string) => {
      const response = await fetched(url, { range })
      const content = new Uint8Array(await response.arrayBuffer())
      return { status: response.status, range: response.headers.get('content-range'), content }
    }
    const size = bytes.length
    expect(await part('bytes=0-3')).toEqual({
      status: 206,
      range: `bytes 0-3/${size}`,
      content: bytes.slice(0, 4),
    })
    expect(await part('bytes=10-')).toMatchObject({ status: 206, content: bytes.slice(10) })
    expect(await part('bytes=-5')).toMatchObject({ status: 206, content: bytes.slice(-5) })
    expect(await part(`bytes=${size - 2}-99999999`)).toMatchObject({ status: 206, content: bytes.slice(-2) })
    expect(await part('bytes=-99999999')).toMatchObject({ content: bytes })
    for (const range of [`bytes=${size}-`, 'bytes=99999999-', 'bytes=-0'])
      expect([range, await part(range)]).toEqual([
        range,
        { status: 416, range: `bytes */${size}`, content: new Uint8Array() },
      ])
    for (const range of ['bytes=5-2', 'bytes=0-1,4-5', 'lines=0-1', 'bytes=', 'bytes=-'])
      expect([range, (await part(range)).status]).toEqual([range, 200])
  })

  test('returns 404 once the token is changed or expired, or its tenant is another', async () => {
    const url = new URL(await address())
    const token = url.pathname.slice('/files/'.length)
    const link = readLinkToken(env.TOKEN_SECRET, token, Date.now() as Instant)!
    const status = async (path: string) => (await callApi('GET', path)).status
    const signed = (change: object) => `/files/${linkToken(env.TOKEN_SECRET, { ...link, ...change })}`
    expect((await fetched(url.href)).status).toBe(200)
    expect(await status(signed({ generation: 2 }))).toBe(404)
    expect(await status(signed({ tenantLocator: other.tenantLocator }))).toBe(404)
    expect(await status(signed({ expiresAt: Date.now() - 1 }))).toBe(404)
    const forged = Buffer.from(JSON.stringify(['x', 1, [], '', 9e12])).toString('base64url')
    for (const wrong of [
      `${token}x`,
      token.slice(0, -2),
      `${forged}.${token.split('.')[1]}`,
      'x',
      'x.y',
      own.token,
    ])
      expect([wrong, await status(`/files/${wrong}`)]).toEqual([wrong, 404])
    expect((await callApi('POST', url.pathname)).status).toBe(405)
  })
})

test('GET /products lists the products of the latest version', async () => {
  const products = await callOk<ProductResponse[]>('GET', '/products', { token: own.token })
  expect(products).toEqual([
    {
      locator: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'boat',
      displayName: expect.any(String),
      configVersion: 2,
      exposures: [
        { name: 'hull', displayName: 'Hull', perils: [{ name: 'sinking', displayName: expect.any(String) }] },
      ],
      paymentSchedules: [expect.objectContaining({ type: 'total' })],
    },
  ])
  expect((await callApi('GET', '/products', { token: await administratorToken() })).status).toBe(403)
})

test('GET /products/{productName} returns the product with its fields, also for a given version', async () => {
  const read = (path: string) => callApi('GET', path, { token: own.token })
  const answer = await read('/products/boat')
  expect(roundTrips(answer)).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
  expect(answer.body).toMatchObject({
    name: 'boat',
    configVersion: 2,
    exposures: [
      { name: 'hull', displayName: 'Hull', perils: [{ name: 'sinking', fields: expect.any(Array) }] },
    ],
    paymentSchedules: [{ type: 'total' }],
    policyholderFields: expect.any(Array),
    paymentFields: expect.any(Array),
  })
  expect((await read('/products/boat?configVersion=2')).body).toEqual(answer.body)
  expect((await read('/products/boat?configVersion=9')).status).toBe(404)
  expect((await read('/products/boat?configVersion=0')).status).toBe(400)
  expect((await read('/products/ship')).status).toBe(404)
  expect((await read('/products/constructor')).status).toBe(404)
})

test('the fields of a product contain what a form needs to know', async () => {
  const tenant = await deployExample('motor', 'fields')
  const product = await callOk<ProductDetailResponse>('GET', '/products/private_motor', {
    token: tenant.token,
  })
  const named = (name: string, fields = product.fields) => fields.find(field => field.name === name)
  expect(named('broker_code')).toEqual({
    name: 'broker_code',
    title: 'Broker code',
    type: 'string',
    isOptional: false,
    isRepeatable: false,
    isConstrained: false,
    conditions: [{ field: 'channel', values: ['broker'] }],
    regex: 'BRK-[0-9]{4}',
  })
  // As examples/motor/configuration/policyholder/policyholder.form.json orders, labels and requires them.
  expect(
    product.policyholderFields.map(({ name, title, isOptional }) => [name, title, isOptional]).slice(0, 5),
  ).toEqual([
    ['salutation', 'Salutation', false],
    ['company_name', 'Company', true],
    ['first_name', 'First name', false],
    ['last_name', 'Last name', false],
    ['date_of_birth', 'Date of birth', true],
  ])
  expect(named('company_name', product.policyholderFields)!.conditions).toEqual([
    { field: 'salutation', values: ['Firma'] },
  ])
  expect(named('claims_free_years')).toMatchObject({ minimum: '0', maximum: '35', decimalPlaces: 0 })
  const drivers = named('named_drivers')!
  expect([drivers.isRepeatable, drivers.maximumCount, drivers.fields!.map(({ type }) => type)]).toEqual([
    true,
    8,
    ['string', 'date', 'date', 'select'],
  ])
  expect(named('birth_date', drivers.fields)).toMatchObject({
    precision: 'day',
    latestOffset: { unit: 'year', amount: -16 },
  })
  const [vehicle] = product.exposures.filter(({ name }) => name === 'vehicle')
  expect(named('vehicle_type', vehicle!.fields)!.choices).toContainEqual({
    value: '0005-CPG',
    displayName: 'BMW 320d Touring 2022',
  })
  expect(product.endorsements.map(({ name, reprice }) => [name, reprice])).toContainEqual([
    'change_of_risk',
    'always',
  ])
  expect(product.cancellations.find(({ name }) => name === 'customer_request')).toEqual({
    name: 'customer_request',
    displayName: "At the customer's request",
    categories: ['vehicle_sold', 'change_of_insurer', 'other'],
    isReinstatable: true,
  })
  // This type says nothing of reinstatement and sets no deadline for it. PATCH …/reinstate accepts it all the same.
  expect(product.cancellations.find(({ name }) => name === 'insurer_notice')).toMatchObject({
    isReinstatable: true,
  })
  expect(named('method', product.paymentFields)!.choices!.map(({ value }) => value)).toEqual([
    'direct_debit',
    'bank_transfer',
    'card',
  ])
})

describe('the configuration in memory', () => {
  const tenantAndHash = async () => {
    const tenant = (await tenantNamed(own.tenantName))!
    const [row] = await rowsOf<{ hash: string }>(
      tenant.name,
      'select hash from configuration_version where version = 2',
    )
    return { tenant, hash: row!.hash }
  }

  test('is loaded once, and compiles each template once', async () => {
    const { tenant, hash } = await tenantAndHash()
    const calls = noCalls()
    const first = await loadConfiguration(env, tenant, hash, calls)
    expect(await loadConfiguration(env, tenant, hash, calls)).toBe(first)
    expect(calls.r2).toBeLessThanOrEqual(1)
    const source = first.configuration.products.boat!.exposures[0]!.perils[0]!.premium!
    expect(first.template(source)).toBe(first.template(source))
    expect(first.lookup('boat')('constructor', 'x')).toBe('noSuchTable')
  })

  test('is compiled again from the archive if its compiled form is not stored', async () => {
    const { tenant, hash } = await tenantAndHash()
    const { configuration } = await loadConfiguration(env, tenant, hash, noCalls())
    // Another generation is another place in R2, where there is only the archive.
    const moved = { ...tenant, generation: 77 }
    const zip = await env.FILES.get(fileKey(tenant, 'archives', `${hash}.zip`))
    await env.FILES.put(fileKey(moved, 'archives', `${hash}.zip`), await zip!.arrayBuffer())
    const calls = noCalls()
    expect((await loadConfiguration(env, moved, hash, calls)).configuration).toEqual(configuration)
    expect(calls.r2).toBe(3)
    expect(await env.FILES.head(compiledKey(moved, hash))).not.toBeNull()
  })

  test('throws ConfigurationUnreadable if it is not stored', async () => {
    const { tenant } = await tenantAndHash()
    const missing = loadConfiguration(env, tenant, 'f'.repeat(64), noCalls())
    await expect(missing).rejects.toThrow(ConfigurationUnreadable)
  })

  test('is evicted when others need the room', async () => {
    const { tenant, hash } = await tenantAndHash()
    const { configuration } = await loadConfiguration(env, tenant, hash, noCalls())
    const first = await loadConfiguration(env, tenant, hash, noCalls())
    const large = { ...configuration, scripts: { 'large.js': 'x'.repeat(MOST_CACHED_CHARACTERS / 2) } }
    for (const name of ['a', 'b'])
      await env.FILES.put(compiledKey(tenant, name), JSON.stringify({ ...large, tables: {} }))
    const calls = noCalls()
    const a = await loadConfiguration(env, tenant, 'a', calls)
    const b = await loadConfiguration(env, tenant, 'b', calls)
    expect(calls.r2).toBe(2)
    expect(await loadConfiguration(env, tenant, 'b', calls)).toBe(b)
    expect(calls.r2).toBe(2)
    expect(await loadConfiguration(env, tenant, 'a', calls)).not.toBe(a)
    expect(await loadConfiguration(env, tenant, hash, noCalls())).not.toBe(first)
  })
})

test('a version that can no longer be read can be replaced by a deploy or a repair', async () => {
  await deploy('/configuration/studio/deploy', { tenantName: 'lost' })
  await rowsOf('lost', `update configuration_version set hash = 'lost' returning 1`)
  const { body } = await deploy('/configuration/studio/deploy', { tenantName: 'lost' })
  expect(body).toMatchObject({ success: true })
  const repaired = await deploy('/configuration/studio/repair', { tenantName: 'lost', version: '1' })
  expect(repaired.body).toMatchObject({ success: true })
})
