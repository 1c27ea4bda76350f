// Requests filled in by external services, through HTTP with a real server as the service, and the operations registered for
// them.
import { beforeAll, describe, expect, it } from 'vitest'
import type {
  AutofillCallResponse,
  AutofillIntegrationResponse,
  IntegrationCallPageResponse,
} from '../../src/extension/integrations/contract.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { autofilled } from '../support/autofilled.ts'
import { afterBatches } from '../support/between-batches.ts'
import { prepareDatabases } from '../support/databases.ts'
import { archiveOf, type DeployAnswer, deployForm, motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'
import { openRater, type Rater, register } from '../support/rater.ts'
import { administrator } from '../support/sign-in.ts'

const AUTOFILL = `
exports.getDataAutofill = data => {
  socotraApi.setAuxData('global', 'autofillInput', JSON.stringify(data))
  return { fieldValues: { claims_free_years: 3, contact_phone: '+49 30 1111111' } }
}`

/** A tenant whose product has the plugin, and one whose product does not. */
let both: Motor
let bare: Motor
let register1: Rater
let register2: Rater

const service = { type: 'data_autofill' }

const tokens = new Map<Motor, Promise<string>>()

/** Returns an administrator's token. It is kept, because signing in takes work. */
function adminOf(tenant: Motor): Promise<string> {
  const token = tokens.get(tenant) ?? tenant.signIn('anna.admin')
  tokens.set(tenant, token)
  return token
}

beforeAll(async () => {
  await prepareDatabases({ tenants: 5 })
  both = await motorTenant('autofill-services', autofilled(AUTOFILL))
  bare = await motorTenant('autofill-bare', motorWithoutPapers())
  register1 = await openRater()
  register2 = await openRater()
  for (const tenant of [both, bare]) {
    await register(tenant, 'vehicles', register1, service)
    await register(tenant, 'drivers', register2, service)
  }
})

const { policy: plain } = plainYear().request
const DAY = 86_400_000

const answering = (rater: Rater, answer: unknown, status = 200) =>
  rater.answers({ status, text: JSON.stringify(answer) })

const valuesOf = (policy: PolicyResponse) => policy.characteristics[0]!.fieldValues

const message = (answer: { body: unknown }) => (answer.body as { message: string }).message

const admin = async <Body = AutofillCallResponse & { message: string }>(
  of: Motor,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer<Body>> => callApi<Body>(method, path, { token: await adminOf(of), body })

const registered = async (of: Motor, operation: string, callSequence: string[]) => {
  const answer = await admin(of, 'PUT', '/integrations/autofill', { operation, callSequence })
  expect([answer.status, answer.body.message]).toEqual([200, undefined])
  return answer.body
}

const clear = async (of: Motor) => {
  const { body } = await admin<AutofillIntegrationResponse>(of, 'GET', '/integrations/autofill')
  for (const { locator } of body.calls)
    expect((await admin(of, 'DELETE', `/integrations/autofill/${locator}`)).status).toBe(200)
}

/** Returns how often the service has been called since. */
const callsSince = async (rater: Rater, before: number) => (await rater.calls()).length - before

describe('a service', () => {
  it('receives the same input as the plugin, and its response is filled in, even if it has scalars', async () => {
    await answering(register1, {
      fieldValues: { region_class: 'R5', claims_free_years: 12 },
      unknown: 'ignored',
    })
    const { status, body: policy } = await both.createPolicy({
      finalize: false,
      autofill: ['internal', 'vehicles'],
    })
    expect(status).toBe(200)
    expect(valuesOf(policy)).toMatchObject({
      region_class: ['R5'],
      claims_free_years: ['12'],
      contact_phone: ['+49 30 1111111'],
    })
    const ofPlugin = JSON.parse(
      (await both.get<{ value: string }>('/auxData/global/autofillInput')).body.value,
    )
    const [call] = (await register1.calls()).slice(-1)
    // The service sees what the plugin filled in.
    expect(JSON.parse(call!.body)).toEqual({
      ...ofPlugin,
      updates: {
        ...ofPlugin.updates,
        fieldValues: {
          ...ofPlugin.updates.fieldValues,
          claims_free_years: ['3'],
          contact_phone: ['+49 30 1111111'],
        },
      },
    })
    expect(ofPlugin).toMatchObject({ operation: 'newBusiness', operationType: 'create' })
    expect(call!.headers['idempotency-key']).toMatch(/\w/)
  })

  it('fills in endorsements and renewals when they are created and updated', async () => {
    await answering(register1, { fieldValues: { region_class: 'R6' } }, 201)
    const { body: policy } = await bare.createPolicy()
    const { locator } = policy
    expect((await bare.post(`/policy/${locator}/issue`)).status).toBe(200)
    const before = (await register1.calls()).length
    const autofill = ['vehicles']
    const applied = await bare.post<EndorsementResponse>(`/policies/${locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: plain.policyStartTimestamp + 40 * DAY,
      autofill,
    })
    expect(applied.body.fieldValues).toEqual({ region_class: ['R6'] })
    const patched = await callApi<EndorsementResponse>('PATCH', `/endorsements/${applied.body.locator}`, {
      token: bare.token,
      body: { endorsementUpdate: { fieldValues: { region_class: 'R1' }, autofill } },
    })
    expect(patched.body.fieldValues).toEqual({ region_class: ['R6'] })
    const renewed = await bare.post<EndorsementResponse>(`/policies/${locator}/renewals`, {
      renewalEndTimestamp: plain.policyEndTimestamp + 365 * DAY,
      autofill,
    })
    expect(renewed.body.fieldValues).toEqual({ region_class: ['R6'] })
    const legacy = await bare.post(`/policy/${locator}/endorse`, {
      endorsementName: 'change_of_risk',
      startTimestamp: plain.policyStartTimestamp + 50 * DAY,
      updatePolicy: { autofill },
    })
    expect(legacy.status).toBe(200)
    const calls = (await register1.calls()).slice(before).map(call => JSON.parse(call.body))
    expect(calls.map(call => [call.operation, call.operationType, call.policyLocator])).toEqual([
      ['endorsement', 'create', locator],
      ['endorsement', 'update', locator],
      ['renewal', 'create', locator],
      ['endorsement', 'create', locator],
    ])
    const log = await callOk<IntegrationCallPageResponse>(
      'GET',
      `/integrations/vehicles/calls?policyLocator=${locator}`,
      {
        token: await adminOf(bare),
      },
    )
    expect(log.calls.map(call => [call.operation, call.status, call.failure])).toEqual([
      ['endorsement.create', 201, undefined],
      ['endorsement.update', 201, undefined],
      ['renewal.create', 201, undefined],
      ['endorsement.create', 201, undefined],
    ])
  })

  const wrong: [what: string, answer: unknown, status: number, refused: number, message: RegExp][] = [
    [
      'fails',
      { error: 'closed on Sundays' },
      500,
      502,
      /^Service 'drivers' failed: it responded with 500: closed on Sundays\.$/,
    ],
    ['answers text', 'made', 200, 502, /'drivers' failed: its response is invalid: must be an object/],
    ['answers a list', [{}], 200, 502, /its response is invalid: must be an object/],
    [
      'adds what is no exposure',
      { addExposures: [{}] },
      200,
      502,
      /its response is invalid: 'addExposures\[0\]\.exposureName' is missing/,
    ],
    ['refuses', { exceptionMessage: 'This driver is unknown.' }, 200, 409, /^This driver is unknown\.$/],
    [
      'knows fields that the product does not',
      { fieldValues: { horns: 2 } },
      200,
      400,
      /horns.* Completed by service 'drivers': fieldValues\.horns\.$/,
    ],
    [
      'names fields by megabytes',
      { fieldValues: { ['n'.repeat(3_000_000)]: 2 } },
      200,
      400,
      /^.{0,200} Completed by service 'drivers': fieldValues\.n{80}…\.$/,
    ],
    [
      'names very many fields',
      { fieldValues: Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`f${at}`, 2])) },
      200,
      400,
      /: (fieldValues\.f\d+, ){19}fieldValues\.f19 and 4980 more\.$/,
    ],
  ]
  it.each(wrong)(
    'that %s makes the request fail, and nothing is stored',
    async (_what, answer, status, refused, text) => {
      await answering(register2, answer, status)
      const { body: policy } = await bare.createPolicy({ finalize: false })
      const updated = await bare.post(`/policy/${policy.locator}/update`, {
        finalize: false,
        fieldValues: { region_class: 'R1' },
        autofill: ['drivers'],
      })
      expect(message(updated)).toMatch(text)
      expect(updated.status).toBe(refused)
      expect(valuesOf((await bare.get(`/policy/${policy.locator}`)).body)).toMatchObject({
        region_class: ['R3'],
      })
      await answering(register2, {})
      const again = await bare.post(`/policy/${policy.locator}/update`, {
        finalize: false,
        fieldValues: { region_class: 'R1' },
        autofill: ['drivers'],
      })
      expect(again.status).toBe(200)
    },
  )

  it('is called once for a request, no matter how often the policy is read for it', async () => {
    const vehicles = Array.from({ length: 60 }, () => plain.exposures[0]!)
    const { body: policy } = await bare.createPolicy({ exposures: vehicles })
    const { locator, exposures } = policy
    await bare.post(`/policy/${locator}/issue`)
    // For a large policy, the part that the request names is read first. What is filled in needs more.
    await answering(register1, {
      updateExposures: [{ exposureLocator: exposures[9]!.locator, fieldValues: { annual_mileage_km: 777 } }],
    })
    const before = (await register1.calls()).length
    const endorsed = await bare.post<EndorsementResponse>(`/policies/${locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: plain.policyStartTimestamp + 40 * DAY,
      updateExposures: [{ exposureLocator: exposures[3]!.locator, fieldValues: { annual_mileage_km: 555 } }],
      autofill: ['vehicles'],
    })
    expect(endorsed.status).toBe(200)
    expect(await callsSince(register1, before)).toBe(1)
    // Its refusal is returned, and it is not called again.
    await answering(register1, { exceptionMessage: 'no' })
    const { body: other } = await bare.createPolicy({ finalize: false })
    const denied = await bare.post(`/policy/${other.locator}/update`, { autofill: ['vehicles'] })
    expect(denied.status).toBe(409)
    expect(await callsSince(register1, before)).toBe(2)
    // A refusal that is based on what the object remembers is tried again on what is stored.
    await answering(register1, { fieldValues: { horns: 2 } })
    const { body: small } = await bare.createPolicy({ finalize: false })
    const refused = await bare.post(`/policy/${small.locator}/update`, { autofill: ['vehicles'] })
    expect(refused.status).toBe(400)
    expect(await callsSince(register1, before)).toBe(3)
  })
})

describe('a registered operation', () => {
  it('fills in requests that do not name anything, and the one that fits best is used', async () => {
    await clear(bare)
    const fill = async (rater: Rater, region_class: string) =>
      answering(rater, { fieldValues: { region_class } })
    await fill(register1, 'R1')
    await fill(register2, 'R2')
    const region = async (changes: object = {}) => {
      const answer = await bare.createPolicy({ finalize: false, ...changes })
      expect([answer.status, message(answer)]).toEqual([200, undefined])
      return valuesOf(answer.body).region_class![0]
    }
    expect(await region()).toBe('R3')
    await registered(bare, '*.*.*', ['vehicles'])
    expect(await region()).toBe('R1')
    expect(await region({ autofill: [] })).toBe('R3')
    expect(await region({ autofill: ['drivers'] })).toBe('R2')
    await registered(bare, 'private_motor.*.*', ['drivers'])
    expect(await region()).toBe('R2')
    await registered(bare, 'private_motor.newBusiness.*', ['drivers', 'vehicles'])
    expect(await region()).toBe('R1')
    await registered(bare, 'private_motor.newBusiness.create', [])
    expect(await region()).toBe('R3')
    // Nothing is registered for updates alone, so what is registered for both is used.
    const { body: draft } = await bare.createPolicy({ finalize: false })
    const updated = await bare.post(`/policy/${draft.locator}/update`, { finalize: false })
    expect(valuesOf(updated.body).region_class).toEqual(['R1'])
    await clear(bare)
    expect(await region()).toBe('R3')
  })

  it('may name the plugin, which is omitted for products without one, or replace it', async () => {
    await answering(register1, { fieldValues: { region_class: 'R1' } })
    const years = async () => valuesOf((await both.createPolicy({ finalize: false })).body)
    expect(await years()).toMatchObject({ claims_free_years: ['3'], region_class: ['R3'] })
    await registered(both, '*.*.*', ['vehicles'])
    expect(await years()).toMatchObject({ claims_free_years: ['8'], region_class: ['R1'] })
    await registered(both, '*.*.*', ['internal', 'vehicles'])
    expect(await years()).toMatchObject({ claims_free_years: ['3'], region_class: ['R1'] })
    await clear(both)
    await registered(bare, '*.*.*', ['internal', 'vehicles'])
    expect(valuesOf((await bare.createPolicy({ finalize: false })).body)).toMatchObject({
      claims_free_years: ['8'],
      region_class: ['R1'],
    })
    await clear(bare)
  })

  it('makes no more round trips if it calls no external service', async () => {
    await clear(both)
    const trips = async () => {
      await both.createPolicy({ finalize: false })
      return roundTrips(await both.createPolicy({ finalize: false }))
    }
    const before = await trips()
    await registered(both, 'private_motor.newBusiness.create', ['internal'])
    expect(await trips()).toEqual(before)
    await clear(both)
  })
})

describe('the register of operations', () => {
  it('is written, read, changed and emptied by administrators', async () => {
    await clear(bare)
    const first = await registered(bare, 'private_motor.endorsement.create', ['vehicles', 'internal'])
    expect(first).toEqual({
      locator: expect.stringMatching(/^[0-9a-f-]{36}$/),
      operation: 'private_motor.endorsement.create',
      callSequence: ['vehicles', 'internal'],
    })
    const second = await registered(bare, '*.*.*', [])
    const changed = await registered(bare, 'private_motor.endorsement.create', ['drivers'])
    expect(changed).toEqual({ ...first, callSequence: ['drivers'] })
    const all = await admin<AutofillIntegrationResponse>(bare, 'GET', '/integrations/autofill')
    expect(all.body).toEqual({ calls: [second, changed] })
    const path = `/integrations/autofill/${first.locator}`
    expect((await admin(bare, 'GET', path)).body).toEqual(changed)
    expect((await admin(bare, 'DELETE', path)).status).toBe(200)
    for (const method of ['GET', 'DELETE']) expect((await admin(bare, method, path)).status).toBe(404)
    await clear(bare)
    expect(
      (await admin<AutofillIntegrationResponse>(bare, 'GET', '/integrations/autofill')).body.calls,
    ).toEqual([])
    for (const method of ['GET', 'PUT'])
      expect(
        (
          await callApi(method, '/integrations/autofill', {
            token: bare.token,
            body: method === 'PUT' ? {} : undefined,
          })
        ).status,
      ).toBe(403)
  })

  it('rejects operations that cannot match, and names without an integration of the type data_autofill', async () => {
    await register(bare, 'rates', await openRater())
    const put = (operation: unknown, callSequence: unknown) =>
      admin(bare, 'PUT', '/integrations/autofill', { operation, callSequence })
    for (const operation of ['private_motor', '*.newBusiness.create', 'private_motor.sale.create', '', 7])
      expect((await put(operation, [])).status).toBe(400)
    expect(message(await put('*.newBusiness.*', []))).toMatch(/must be <product>\.<newBusiness\|endorsement/)
    for (const name of ['nobody', 'rates']) {
      const answer = await put('*.*.*', ['vehicles', name])
      expect([answer.status, answer.body.message]).toEqual([
        400,
        `There is no integration of type data_autofill named '${name}'; register it with POST /integrations first, or use the plugin: 'internal'.`,
      ])
    }
    expect((await put('*.*.*', Array(11).fill('internal'))).status).toBe(413)
    expect((await put('*.*.*', null)).status).toBe(400)
  })

  it('blocks the removal of integrations that it names, and reserves the names internal and autofill', async () => {
    await registered(bare, 'private_motor.renewal.*', ['drivers'])
    const refused = await admin(bare, 'DELETE', '/integrations/drivers')
    expect(refused.status).toBe(409)
    expect(refused.body.message).toMatch(/'drivers' completes the operation 'private_motor\.renewal\.\*'/)
    await clear(bare)
    await register(bare, 'short-lived', register1, service)
    expect((await admin(bare, 'DELETE', '/integrations/short-lived')).status).toBe(200)
    const url = 'https://example.com/'
    for (const name of ['internal', 'autofill'])
      expect((await admin(bare, 'POST', '/integrations', { name, url, ...service })).status).toBe(400)
  })

  it('never names an integration that is removed at the same time', async () => {
    const put = () =>
      admin(bare, 'PUT', '/integrations/autofill', { operation: 'raced.*.*', callSequence: ['raced'] })
    const remove = () => admin(bare, 'DELETE', '/integrations/raced')
    const url = 'https://example.com/'
    const outcomes = new Set<string>()
    for (const [one, other] of [
      [put, remove],
      [remove, put],
    ] as const) {
      let moments = 0
      for (; moments < 20; moments += 1) {
        await clear(bare)
        await remove()
        expect((await admin(bare, 'POST', '/integrations', { name: 'raced', url, ...service })).status).toBe(
          200,
        )
        const both = await afterBatches(moments, one, other)
        if (!both) break
        const { calls } = (await admin<AutofillIntegrationResponse>(bare, 'GET', '/integrations/autofill'))
          .body
        const isThere = (await remove()).status !== 404
        expect([calls.length === 1, both.sent.status, both.acted.status], `after ${moments} batches`).toEqual(
          isThere
            ? [true, one === put ? 200 : 409, one === put ? 409 : 200]
            : [false, one === put ? 400 : 200, one === put ? 200 : 400],
        )
        outcomes.add(`${one.name} ${isThere}`)
      }
      expect(moments).toBeGreaterThan(2)
    }
    expect([...outcomes].sort()).toEqual(['put false', 'put true', 'remove true'])
    await clear(bare)
    await remove()
  })

  it('has room for 50 operations, and rejects another with 413', async () => {
    for (let at = 0; at < 50; at += 1) await registered(bare, `product-${at}.*.*`, [])
    const one = { operation: 'one-more.*.*', callSequence: [] }
    expect((await admin(bare, 'PUT', '/integrations/autofill', one)).status).toBe(413)
    await registered(bare, 'product-7.*.*', ['internal'])
    await clear(bare)
  })

  it('is empty after the tenant is recreated', async () => {
    const again = await motorTenant('autofill-again', motorWithoutPapers())
    await registered(again, '*.*.*', ['internal'])
    const deployed = await callOk<DeployAnswer>('POST', '/configuration/studio/deploy', {
      token: await administrator(),
      body: deployForm(archiveOf(motorWithoutPapers()), {
        tenantName: again.tenantName,
        recreate: 'true',
      }),
    })
    expect(deployed.success).toBe(true)
    tokens.delete(again)
    const { body } = await admin<AutofillIntegrationResponse>(again, 'GET', '/integrations/autofill')
    expect(body.calls).toEqual([])
  })
})
