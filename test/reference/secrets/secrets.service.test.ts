// Secrets through HTTP: stored encrypted, never returned, and put into headers when these are sent.

import { env } from 'cloudflare:workers'
import { createHash } from 'node:crypto'
import { like } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Uuid } from '../../../src/kernel/locators.ts'
import { noCalls } from '../../../src/platform/calls.ts'
import { writes } from '../../../src/platform/tables.ts'
import { readTenant, shardDatabase } from '../../../src/platform/tenancy.ts'
import { secrets } from '../../../src/reference/tables.ts'
import { type Answer, callApi, callOk } from '../../support/api.ts'
import { prepareDatabases } from '../../support/databases.ts'
import { archiveOf, type DeployAnswer, deployForm, motorWithoutPapers } from '../../support/examples.ts'
import { type Motor, motorTenant } from '../../support/motor.ts'
import { externallyRated, openRater, type Rater } from '../../support/rater.ts'
import { openReceiver } from '../../support/receiver.ts'
import { administrator } from '../../support/sign-in.ts'

// biome-ignore lint/suspicious/noExplicitAny: refusals are read as what they are.
type Any = any

const MASK = '********'
const declared = {
  raterAccess: { items: { apiKey: { dataType: 'string' }, attempts: { dataType: 'int' } } },
}

const LAMBDA = `
exports.executeLambda = (operation, payload) => {
  const pin = socotraApi.getSecret('vault', 'pin')
  console.log('the pin is ' + pin)
  if (operation === 'fail') throw new Error('no ' + pin)
  return [pin === payload.pin, socotraApi.getSecret('vault', 'none'), socotraApi.getSecret('vault', 'list')]
}`

const withSecrets = (secrets: object) => {
  const files = { ...externallyRated('acme'), 'scripts/lambda/lambda.js': LAMBDA }
  const settings = JSON.parse(new TextDecoder().decode(motorWithoutPapers()['config.json'] as Uint8Array))
  return { ...files, 'config.json': JSON.stringify({ ...settings, secrets }) }
}

let motor: Motor
let admin: string
let rater: Rater
let groups = 0

beforeAll(async () => {
  await prepareDatabases({ tenants: 4 })
  rater = await openRater({ rates: { '*': { yearlyPremium: 100 } } })
  motor = await motorTenant('secrets', withSecrets(declared))
  admin = await motor.signIn('anna.admin')
})

const call = (
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer<Any>> => callApi(method, path, { token: admin, body, headers })

const at = (path = ''): string => `/resource/${motor.tenantLocator}/secrets${path}`
const create = (body: object, headers?: Record<string, string>) => call('POST', at(), body, headers)

/** Puts the resources in force from 2020. */
async function group(...resourceNames: string[]): Promise<void> {
  groups += 1
  await callOk('POST', `/resource/${motor.tenantLocator}/groups`, {
    token: admin,
    body: { name: `g${groups}`, selectionStartTime: '2020-01-01T00:00:00Z', resourceNames },
  })
}

const trail = async (subject: string) =>
  (await call('GET', `/audit/list?subject=${subject}`)).body.entries.map((one: Any) => [
    one.action,
    one.details,
  ])

const finalize = async () => {
  const { locator } = (await motor.createPolicy({ finalize: false })).body
  return motor.post<Any>(`/policy/${locator}/finalize`)
}

describe('a secret', () => {
  it('is returned with the names of its items and masked values, and is stored encrypted', async () => {
    const made = await create({
      name: 'bank 2027',
      staticName: 'bank',
      secret: { user: 'user-1', pin: 'geheim-4711' },
    })
    const shown = {
      resource: {
        name: 'bank 2027',
        resourceType: 'secret',
        staticName: 'bank',
        jurisdictions: [],
        createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
        createdBy: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
      secret: { user: MASK, pin: MASK },
    }
    expect([made.status, made.body]).toEqual([200, shown])
    expect((await call('GET', at('/bank%202027'))).body).toEqual(shown)
    const tenant = await readTenant(env, { locator: motor.tenantLocator as Uuid }, noCalls())
    const [rows] = await shardDatabase(env, tenant!, 0, noCalls()).batch([
      shardDatabase(env, tenant!, 0, noCalls()).build.select().from(secrets),
    ])
    const kept = JSON.stringify(rows)
    expect(kept).toContain('bank 2027')
    expect(kept).not.toContain('geheim-4711')
  })

  it('is changed item by item: null removes an item, the mask or leaving it out keeps it', async () => {
    await create({ name: 'patched', staticName: 'patched', secret: { a: 'one-1', b: 'two-2', c: 'three-3' } })
    const { body } = await call('PATCH', at('/patched'), { a: null, b: MASK, d: 'four-4' })
    expect(body.secret).toEqual({ b: MASK, c: MASK, d: MASK })
    const refused = await call('PATCH', at('/patched'), { a: MASK })
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining("'a'")])
    expect(await trail('patched')).toEqual([
      ['secrets.write', { staticName: 'patched', items: ['a', 'b', 'c'] }],
      ['secrets.write', { staticName: 'patched', items: ['b', 'd'], removed: ['a'] }],
    ])
  })

  it('has exactly the items that the configuration declares, with their types', async () => {
    const of = (secret: object) => create({ name: 'typed', staticName: 'raterAccess', secret })
    expect((await of({ apiKey: 'k-4711' })).body.message).toContain("'secret.attempts' is missing")
    expect((await of({ apiKey: 'k-4711', attempts: 'many' })).body.message).toContain(
      "'attempts' is not of type int",
    )
    expect((await of({ apiKey: 'k-4711', attempts: 3, more: 1 })).body.message).toContain(
      "'more' is not an item",
    )
    const made = await of({ apiKey: 'k-4711', attempts: 3 })
    expect([made.status, made.body.secret]).toEqual([200, { apiKey: MASK, attempts: MASK }])
    expect((await call('PATCH', at('/typed'), { attempts: 2.5 })).status).toBe(400)
    for (const item of ['apiKey', 'attempts']) {
      const taken = await call('PATCH', at('/typed'), { [item]: null })
      expect([taken.status, taken.body.message]).toEqual([400, expect.stringContaining(`'${item}' is null`)])
    }
  })

  it('has texts of any length, such as a short user name, and numbers for items declared as such', async () => {
    const short = await create({ name: 'short', staticName: 'short', secret: { user: 'sa', pin: '1' } })
    expect([short.status, short.body.secret]).toEqual([200, { user: MASK, pin: MASK }])
    expect((await call('PATCH', at('/short'), { user: 'ops' })).status).toBe(200)
    expect((await call('PATCH', at('/typed'), { attempts: 7 })).status).toBe(200)
  })

  it('has a unique name, is created once for an idempotency key, and is accessible only to administrators', async () => {
    const body = { name: 'once', staticName: 'once', secret: { a: 'one-1' } }
    const key = { 'idempotency-key': 'secret-once' }
    const made = await create(body, key)
    expect((await create(body, key)).body).toEqual(made.body)
    const otherSecret = await create({ ...body, secret: { a: 'two-2' } }, key)
    expect([otherSecret.status, otherSecret.body.code]).toEqual([409, 'idempotencyConflict'])
    const again = await create(body)
    expect([again.status, again.body.code]).toEqual([409, 'alreadyExists'])
    const agent = await callApi('GET', at('/once'), { token: motor.token })
    expect([agent.status, (agent.body as Any).code]).toEqual([403, 'forbidden'])
    expect((await create({ ...body, name: 'no', staticName: 'not a name' })).status).toBe(400)
    expect((await call('GET', at('/unheard'))).status).toBe(404)
    expect((await call('DELETE', at('/unheard'))).status).toBe(404)
  })

  it('cannot be guessed from what is stored for a request with an Idempotency-Key', async () => {
    const body = { name: 'guess', staticName: 'guess', secret: { pin: '0815' } }
    const made = await create(body, { 'idempotency-key': 'guessed' })
    expect(made.status).toBe(200)
    const tenant = (await readTenant(env, { locator: motor.tenantLocator as Uuid }, noCalls()))!
    const database = shardDatabase(env, tenant, 0, noCalls())
    const [rows] = await database.batch([
      database.build.select().from(writes).where(like(writes.key, '%:guessed')),
    ])
    const plain = createHash('sha256').update(`POST ${at()}\n`).update(JSON.stringify(body)).digest('hex')
    expect(rows.map(row => row.bodyHash)).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)])
    expect(rows[0]!.bodyHash).not.toBe(plain)
  })

  it('is found by static name and jurisdiction while its group is in force', async () => {
    await create({ name: 'ca', staticName: 'place', secret: { a: 'one-1' }, jurisdictions: ['CA'] })
    await call('POST', at('?jurisdiction=NY&jurisdiction=TX'), {
      name: 'ny',
      staticName: 'place',
      secret: { a: 'two-2' },
    })
    expect((await call('GET', at('/place?byStaticName=true&jurisdiction=TX'))).body.code).toBe(
      'resourceNotInForce',
    )
    await group('ca', 'ny')
    expect((await call('GET', at('/place?byStaticName=true&jurisdiction=TX'))).body.resource.name).toBe('ny')
    expect((await call('GET', at('/place?byStaticName=true&date=2019-01-01'))).status).toBe(404)
  })
})

describe('headers that reference secrets', () => {
  it('of an integration are sent with the value in force, which no response or log contains', async () => {
    await create({ name: 'acmeKey', staticName: 'acmeAccess', secret: { key: 'first-value-of-it' } })
    await group('acmeKey')
    const added = await call('POST', '/integrations', {
      name: 'acme',
      url: rater.url,
      headers: {
        Authorization: 'Bearer {{secret:acmeAccess.key}}',
        'X-Plain': 'of {{secret:acmeAccess.key}}',
      },
    })
    expect(added.body.externalServiceIntegrations[0].headers).toEqual({
      Authorization: 'Bearer {{secret:acmeAccess.key}}',
      'X-Plain': 'of {{secret:acmeAccess.key}}',
    })
    expect((await finalize()).status).toBe(200)
    expect((await rater.calls()).at(-1)!.headers).toMatchObject({
      authorization: 'Bearer first-value-of-it',
      'x-plain': 'of first-value-of-it',
    })
    await call('PATCH', at('/acmeKey'), { key: 'second-value-of-it' })
    await rater.answers({ status: 500, answer: { error: 'not second-value-of-it' } })
    const failed = await finalize()
    expect((await rater.calls()).at(-1)!.headers).toMatchObject({
      authorization: 'Bearer second-value-of-it',
    })
    expect(failed.body.message).toContain(`not ${MASK}`)
    const log = await call('GET', '/integrations/acme/calls')
    expect(JSON.stringify([failed.body, log.body])).not.toContain('value-of-it')
    await rater.answers({ rates: { '*': { yearlyPremium: 100 } } })
  })

  it('of an integration are not sent without a valid value, and the error names what is missing', async () => {
    const before = (await rater.calls()).length
    await call('PUT', '/integrations/acme', { url: rater.url, headers: { A: '{{secret:acmeAccess.none}}' } })
    const failed = await finalize()
    expect([failed.status, failed.body.code]).toEqual([502, 'externalRaterFailed'])
    expect(failed.body.message).toContain('acmeAccess.none')
    await call('PATCH', at('/acmeKey'), { none: 'two\nlines' })
    expect((await finalize()).body.message).toContain('acmeAccess.none')
    expect((await rater.calls()).length).toBe(before)
    await call('PATCH', at('/acmeKey'), { none: 'one line' })
    expect((await finalize()).status).toBe(200)
    expect((await rater.calls()).at(-1)!.headers).toMatchObject({ a: 'one line' })
  })

  it('of a webhook are sent with the value, and malformed references are rejected with 400', async () => {
    await create({ name: 'hookKey', staticName: 'hookAccess', secret: { token: 'of-the-hook' } })
    await group('hookKey')
    const receiver = await openReceiver()
    const hook = {
      name: 'hook',
      enabled: true,
      eventTypes: ['policy.create'],
      endpoint: { url: receiver.url, headers: { 'X-Token': ['{{secret:hookAccess.token}}'] } },
    }
    const refused = await call('POST', `/event/${motor.tenantLocator}/webhooks`, {
      ...hook,
      endpoint: { ...hook.endpoint, headers: { A: '{{ secret:hookAccess.token }}' } },
    })
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('staticName.item')])
    const made = await call('POST', `/event/${motor.tenantLocator}/webhooks`, hook)
    expect(made.body.endpoint.headers).toEqual({ 'X-Token': ['{{secret:hookAccess.token}}'] })
    await motor.createPolicy({ finalize: false })
    const [got] = await receiver.wait(1)
    expect(got!.headers).toMatchObject({ 'x-token': 'of-the-hook' })
  })
})

describe('DELETE /resource/{tenantLocator}/secrets/{name}', () => {
  it('returns 409 while a webhook, an integration or the configuration uses the secret, unless forced', async () => {
    const usage = async (name: string) => (await call('GET', at(`/${name}/usage`))).body
    expect(await usage('hookKey')).toMatchObject({
      webhooks: [{ name: 'hook' }],
      integrations: [],
      isNeeded: true,
    })
    expect(await usage('acmeKey')).toMatchObject({ webhooks: [], integrations: ['acme'], isNeeded: true })
    expect(await usage('typed')).toMatchObject({ configVersion: 1, isNeeded: true })
    for (const [name, who] of [
      ['hookKey', "the webhook 'hook'"],
      ['acmeKey', "the integration 'acme'"],
      ['typed', 'configuration version 1'],
    ] as const) {
      const refused = await call('DELETE', at(`/${name}`))
      expect([refused.status, refused.body.code]).toEqual([409, 'wrongState'])
      expect(refused.body.message).toContain(who)
    }
    const forced = await call('DELETE', at('/typed?force=true'))
    expect([forced.status, forced.body]).toEqual([200, ''])
    expect((await call('GET', at('/typed'))).status).toBe(404)
    expect((await trail('typed')).at(-1)).toEqual([
      'secrets.delete',
      { staticName: 'raterAccess', force: true },
    ])
  })

  it('removes the secret from its groups; one in no group is not needed next to another in force', async () => {
    await create({ name: 'acmeKeyNext', staticName: 'acmeAccess', secret: { key: 'third' } })
    expect((await call('GET', at('/acmeKeyNext/usage'))).body.isNeeded).toBe(false)
    expect((await call('DELETE', at('/acmeKeyNext'))).status).toBe(200)
    await create({ name: 'loose', staticName: 'loose', secret: { a: 'one-1' } })
    await group('loose')
    expect((await call('DELETE', at('/loose'))).status).toBe(200)
    const { items } = (await call('GET', `/resource/${motor.tenantLocator}/groups/list`)).body
    expect(items.flatMap((one: Any) => one.resourceNames)).not.toContain('loose')
  })
})

it('a plugin reads the secret in force, the audit trail records it, and no log contains the value', async () => {
  await create({ name: 'vault1', staticName: 'vault', secret: { pin: 'geheim-0815', list: [1, { a: 'b' }] } })
  await group('vault1')
  expect((await call('GET', at('/vault1/usage'))).body).toMatchObject({ configVersion: 1, isNeeded: true })
  const called = await call('POST', '/lambda/read', { pin: 'geheim-0815' })
  expect([called.status, called.body]).toEqual([200, [true, null, [1, { a: 'b' }]]])
  const failed = await call('POST', '/lambda/fail', {})
  expect([failed.status, failed.body.message]).toEqual([422, expect.stringContaining(`no ${MASK}`)])
  const logs = JSON.stringify((await call('GET', '/plugin/logs')).body)
  expect(logs).toContain(`the pin is ${MASK}`)
  expect(logs + JSON.stringify(failed.body)).not.toContain('geheim')
  const read = (items: string[]) => ['secrets.read', { staticName: 'vault', items, plugin: 'executeLambda' }]
  // Reads of one request have the same time, and so no order.
  const readings = await trail('vault')
  expect(readings.slice(0, 2)).toEqual(expect.arrayContaining([read(['pin']), read(['list'])]))
  expect(readings.slice(2)).toEqual([read(['pin'])])
})

it('declarations of secrets are checked by a deploy', async () => {
  const form = deployForm(
    archiveOf(withSecrets({ 'no name': { items: {} }, x: { items: { a: { dataType: 'blob' } } } })),
    {
      tenantNameSuffix: 'secrets-declared',
    },
  )
  const { success, logfile } = await callOk<DeployAnswer>('POST', '/configuration/deployTest', {
    token: await administrator(),
    body: form,
  })
  expect(success).toBe(false)
  expect(logfile).toContain("'no name' is not a static name")
  expect(logfile).toContain('secrets.x.items.a.dataType')
})
