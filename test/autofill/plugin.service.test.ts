// Requests filled in by the product's plugin, through HTTP: when it runs, what it receives, and what it may return.
import { beforeAll, describe, expect, it } from 'vitest'
import type { PluginLogPageResponse } from '../../src/extension/plugins/contract-log.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyPriceChangeResponse } from '../../src/rating/contract-change.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import type { PolicyPreviewResponse } from '../../src/transactions/preview/contract.ts'
import type { PolicyQuoteResponse } from '../../src/transactions/quotes/contract-quote.ts'
import type { RenewalResponse } from '../../src/transactions/renewals/contract.ts'
import { callApi } from '../support/api.ts'
import { autofilled } from '../support/autofilled.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'

/**
 * Does what the request says: the address in `contact_email` names the parts to return, up to the @. It stores its input as
 * auxiliary data, as published plugins do.
 */
const AUTOFILL = `
function valued(exposure) {
  // A number, where requests have lists of text; others of the same exposure stay.
  exposure.fieldValues.vehicle_value = 24500
  return exposure
}

const parts = {
  value: data => ({ addExposures: data.updates.addExposures.map(valued) }),
  region: data => ({ fieldValues: { region_class: 'R3', claims_free_years: 8 } }),
  post: data => ({ fieldValues: { document_delivery: 'post' } }),
  'post anyway': data => ({ fieldValues: { document_delivery: ['post'], contact_email: data.updates.fieldValues.contact_email } }),
  add: data => ({
    addExposures: [...data.updates.addExposures, {
      exposureName: 'trailer',
      fieldValues: { trailer_kind: 'cargo', gross_weight_t: 0.75, trailer_value: '1000' },
      perils: [{ name: 'trailer_liability' }],
    }],
  }),
  // Of whichever vehicle is asked about, the next one is driven as far.
  next: data => {
    const { exposures } = socotraApi.fetchByLocator(Policy, data.policyLocator)
    const [asked] = data.updates.updateExposures
    const at = exposures.findIndex(one => one.locator === asked.exposureLocator)
    return { updateExposures: [{ exposureLocator: exposures[at + 1].locator, fieldValues: asked.fieldValues }] }
  },
  none: () => ({}),
  nothing: () => undefined,
  'null': () => null,
  text: () => 'nothing of use',
  list: () => [1],
  'no list': () => ({ addExposures: 'one' }),
  'no exposure': () => ({ addExposures: [{ name: 'vehicle' }] }),
  'no value': () => ({ fieldValues: { region_class: { is: 'R3' } } }),
  // What it has nothing for, as services in typed languages say it.
  empty: () => ({ endorsementEffectiveTimestamp: '', policyStartTimestamp: '', policyEndTimestamp: '', paymentScheduleName: '', updateExposures: [], removeExposures: null }),
  'no time': () => ({ policyEndTimestamp: 'tomorrow' }),
  // Worked out of what the request leaves out.
  'lost time': data => ({ policyEndTimestamp: parseInt(data.updates.fieldValues.first_day) - 1 }),
  'unknown field': () => ({ fieldValues: { colour_of_roof: 'red' } }),
  'unknown schedule': () => ({ paymentScheduleName: 'sometimes' }),
  throws: () => { throw new Error('no data today') },
  refuses: () => ({ exceptionMessage: 'Not with this number plate.' }),
}

exports.getDataAutofill = data => {
  const { updates } = data
  socotraApi.setAuxData('global', 'autofillInput', JSON.stringify(data))
  console.log(data.operation, data.operationType)
  const said = updates.fieldValues.contact_email ? updates.fieldValues.contact_email[0].split('@')[0] : ''
  const answer = {}
  for (const name of said.split('.')) {
    const part = parts[name.replace('_', ' ')]
    if (!part) continue
    const made = part(data)
    if (made === null || typeof made !== 'object' || Array.isArray(made)) return made
    Object.assign(answer, made)
  }
  return answer
}`

let motor: Motor
let admin: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 4 })
  motor = await motorTenant('autofill-plugin', autofilled(AUTOFILL))
  admin = await motor.signIn('anna.admin')
})

const { policy: plain } = plainYear().request
const START = plain.policyStartTimestamp
const END = plain.policyEndTimestamp
const DAY = 86_400_000

/** Field values of a request that name the parts for the plugin to fill in. */
const filling = (...parts: string[]) => ({ contact_email: `${parts.join('.')}@example.com` })

const created = (parts: string[], changes: object = {}, fieldValues: object = {}) =>
  motor.createPolicy({
    fieldValues: { ...plain.fieldValues, ...filling(...parts), ...fieldValues },
    ...changes,
  })

const issued = async (): Promise<PolicyResponse> => {
  const { body } = await created(['none'])
  expect((await motor.post(`/policy/${body.locator}/issue`)).status).toBe(200)
  return body
}

/** Returns the latest input of the plugin. */
const given = async () =>
  JSON.parse((await motor.get<{ value: string }>('/auxData/global/autofillInput')).body.value)

/** Returns the plugin's calls for a policy in order, as `newBusiness create`. */
const callsFor = async (policy: string): Promise<string[]> => {
  const { body } = await callApi<PluginLogPageResponse>('GET', `/plugin/logs?policyLocator=${policy}`, {
    token: admin,
  })
  return body.logs.map(one => one.lines[0]!.text)
}

const message = (answer: { body: unknown }) => (answer.body as { message: string }).message

const valuesOf = (policy: PolicyResponse) => policy.characteristics[0]!.fieldValues

describe('a new policy', () => {
  it('keeps its values where the plugin returns empty text or nothing', async () => {
    const { status, body } = await created(['empty'], { paymentScheduleName: 'monthly', finalize: true })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      originalContractStartTimestamp: String(START),
      originalContractEndTimestamp: String(END),
      paymentScheduleName: 'monthly',
    })
  })

  it('loses a value whose condition the plugin ends; any other value against its condition is rejected', async () => {
    const { body } = await created(['post'], { finalize: true })
    expect(valuesOf(body)).toMatchObject({ document_delivery: ['post'], channel: ['direct'] })
    expect(valuesOf(body)).not.toHaveProperty('contact_email')
    for (const refused of [
      await created(['post_anyway'], { finalize: true }),
      await created(['region'], { finalize: true }, { document_delivery: 'post' }),
    ]) {
      expect(refused.status).toBe(400)
      expect(message(refused)).toContain("'contact_email' can have a value only while 'document_delivery'")
    }
  })

  it('is filled in before it is validated, and has the price of the complete request', async () => {
    const { vehicle_value: _, ...vehicle } = plain.exposures[0]!.fieldValues as Record<string, unknown>
    const {
      region_class: _region,
      claims_free_years: _years,
      ...rest
    } = plain.fieldValues as Record<string, unknown>
    const answer = await motor.createPolicy({
      fieldValues: { ...rest, ...filling('value', 'region') },
      exposures: [{ ...plain.exposures[0]!, fieldValues: vehicle }],
      finalize: true,
    })
    expect(answer.status).toBe(200)
    const policy = answer.body
    expect(valuesOf(policy)).toMatchObject({
      region_class: ['R3'],
      claims_free_years: ['8'],
      channel: ['direct'],
    })
    expect(policy.exposures).toHaveLength(1)
    expect(policy.exposures[0]!.characteristics[0]!.fieldValues).toMatchObject({
      vehicle_value: ['24500'],
      registration_plate: ['B-GL 1985'],
    })
    const price = await motor.get<PolicyPriceResponse>(`/policy/${policy.locator}/price`)
    expect(price.body).toMatchObject({ grossPremium: 671.17, grossTaxes: 127.52, grossFees: 12.5 })
    expect(await callsFor(policy.locator)).toEqual(['newBusiness create'])
  })

  it('gives the plugin the request in the form of an update, with numbers as text', async () => {
    const { body } = await created(['none'], { finalize: false })
    expect(await given()).toEqual({
      operation: 'newBusiness',
      operationType: 'create',
      productName: 'private_motor',
      policyholderLocator: body.policyholderLocator,
      tenantTimeZone: 'Europe/Berlin',
      updates: {
        policyStartTimestamp: String(START),
        policyEndTimestamp: String(END),
        fieldValues: {
          channel: ['direct'],
          document_delivery: ['email'],
          contact_email: ['none@example.com'],
          contact_phone: ['+49 30 1234567'],
          region_class: ['R3'],
          claims_free_years: ['8'],
          previous_insurer_cancelled: ['no'],
        },
        addFieldGroups: [
          {
            fieldName: 'named_drivers',
            fieldValues: {
              full_name: ['Greta Lindner'],
              birth_date: ['1985-06-15'],
              licence_withdrawn: ['no'],
            },
          },
        ],
        addExposures: [
          {
            exposureName: 'vehicle',
            fieldValues: {
              vehicle_type: ['0603-BTP'],
              registration_plate: ['B-GL 1985'],
              vehicle_kind: ['car'],
              usage: ['private'],
              parking: ['garage'],
              first_registration: ['2021-04-01'],
              vehicle_value: ['24500'],
              annual_mileage_km: ['12000'],
              anti_theft_devices: ['immobiliser'],
            },
            fieldGroups: [],
            perils: ['liability', 'own_damage', 'theft', 'glass'].map(name => ({
              name,
              fieldValues: {},
              fieldGroups: [],
            })),
          },
        ],
      },
    })
  })

  it('gets the exposures and perils that the plugin adds', async () => {
    const { status, body } = await created(['add'], { finalize: false })
    expect(status).toBe(200)
    expect(body.exposures.map(one => one.name)).toEqual(['vehicle', 'trailer'])
    expect(body.exposures[1]!.perils.map(one => one.name)).toEqual(['trailer_liability'])
  })

  it('is unchanged if the plugin fills nothing in', async () => {
    for (const part of ['none', 'null', 'nothing', 'unheard-of']) {
      const { body } = await created([part], { finalize: false })
      expect(valuesOf(body)).toMatchObject({ region_class: ['R3'] })
    }
  })

  const wrong: [part: string, status: number, message: RegExp][] = [
    [
      'text',
      422,
      /^Plugin getDataAutofill \(main\/\w+\.js\) returned an invalid answer: must be an object: a part of the update request\.$/,
    ],
    ['list', 422, /must be an object: a part of the update request/],
    [
      'no_list',
      422,
      /^Plugin getDataAutofill \(main\/\w+\.js\) returned an invalid answer: 'addExposures' must be a list, not text\.$/,
    ],
    ['no_exposure', 422, /returned an invalid answer: 'addExposures\[0\]\.exposureName' is missing/],
    ['no_value', 422, /'fieldValues\.region_class' must be a value or a list of values, not an object/],
    ['no_time', 422, /'policyEndTimestamp' must be a time in milliseconds/],
    ['throws', 422, /^Plugin getDataAutofill failed: main\/dataAutofill\.js:\d+: Error: no data today$/],
    ['refuses', 409, /^Not with this number plate\.$/],
    [
      'unknown_field',
      400,
      /colour_of_roof.* Completed by plugin getDataAutofill: fieldValues\.colour_of_roof\.$/,
    ],
    ['unknown_schedule', 400, /sometimes.* Completed by plugin getDataAutofill: paymentScheduleName\.$/],
  ]
  it.each(wrong)(
    'is rejected when the plugin returns %s, and nothing is stored',
    async (part, status, text) => {
      const before = await given()
      const answer = await created([part], { finalize: false })
      expect(message(answer)).toMatch(text)
      expect(answer.status).toBe(status)
      expect(await given()).toEqual(before)
    },
  )
})

describe('autofill in a request', () => {
  it('calls nothing if it is empty, and may name the plugin more than once', async () => {
    const none = await created(['add'], { finalize: false, autofill: [] })
    expect(none.body.exposures).toHaveLength(1)
    expect(await callsFor(none.body.locator)).toEqual([])
    const twice = await created(['add'], { finalize: false, autofill: ['internal', 'internal'] })
    expect(twice.body.exposures.map(one => one.name)).toEqual(['vehicle', 'trailer', 'trailer'])
    expect(await callsFor(twice.body.locator)).toEqual(['newBusiness create', 'newBusiness create'])
  })

  it('is rejected with 400 for an unknown name, and with 413 for more than 10 names', async () => {
    const unknown = await created(['add'], { autofill: ['internal', 'vin-service'] })
    expect(unknown.status).toBe(400)
    expect(message(unknown)).toMatch(
      /'vin-service' should complete the request, but no integration of type data_autofill has that name/,
    )
    expect((await created(['none'], { autofill: Array(11).fill('internal') })).status).toBe(413)
  })
})

describe('a draft', () => {
  it('keeps its end if the plugin returns NaN for it', async () => {
    const { body } = await created(['none'], { finalize: false })
    const updated = await motor.post(`/policy/${body.locator}/update`, {
      finalize: false,
      fieldValues: { ...filling('lost_time', 'region') },
    })
    expect(updated.status).toBe(200)
    expect(updated.body.originalContractEndTimestamp).toBe(body.originalContractEndTimestamp)
    expect(valuesOf(updated.body)).toMatchObject({ region_class: ['R3'] })
  })

  it('is filled in when it is updated, and not when it is priced, renamed, finalized or issued', async () => {
    const { body } = await created(['none'], { finalize: false })
    const { locator } = body
    const exposureLocator = body.exposures[0]!.locator
    const updated = await motor.post(`/policy/${locator}/update`, {
      finalize: false,
      fieldValues: { ...filling('region', 'add'), claims_free_years: 3 },
      updateExposures: [{ exposureLocator, fieldValues: { annual_mileage_km: 20_000 } }],
    })
    expect(updated.status).toBe(200)
    expect(valuesOf(updated.body)).toMatchObject({ region_class: ['R3'], claims_free_years: ['8'] })
    expect(updated.body.exposures.map(one => one.name)).toEqual(['vehicle', 'trailer'])
    expect(updated.body.exposures[0]!.characteristics[0]!.fieldValues.annual_mileage_km).toEqual(['20000'])
    expect(await given()).toMatchObject({
      operation: 'newBusiness',
      operationType: 'update',
      policyLocator: locator,
      updates: {
        fieldValues: { contact_email: ['region.add@example.com'], claims_free_years: ['3'] },
        updateExposures: [{ exposureLocator, fieldValues: { annual_mileage_km: ['20000'] } }],
        removeExposures: [],
      },
    })

    const [quote] = (await motor.get<PolicyQuoteResponse[]>(`/policies/${locator}/quotes`)).body
    const steps = [
      await motor.post(`/policy/${locator}/price`),
      await callApi('PATCH', `/quotes/${quote!.locator}`, { token: motor.token, body: { name: 'mine' } }),
      await motor.post(`/policy/${locator}/finalize`),
      await motor.post(`/policy/${locator}/issue`),
    ]
    expect(steps.map(step => step.status)).toEqual([200, 200, 200, 200])
    expect(await callsFor(locator)).toEqual(['newBusiness create', 'newBusiness update'])
  })

  it('that is already issued is rejected with 409 before the plugin is called', async () => {
    const { locator } = await issued()
    const refused = await motor.post(`/policy/${locator}/update`, { fieldValues: filling('region') })
    expect(refused.status).toBe(409)
    expect(await callsFor(locator)).toEqual(['newBusiness create'])
  })
})

describe('an endorsement', () => {
  it('is filled in when it is created and when it is updated', async () => {
    const policy = await issued()
    const { locator } = policy
    const applied = await motor.post<EndorsementResponse>(`/policies/${locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: START + 40 * DAY,
      fieldValues: { ...filling('region') },
    })
    expect(applied.status).toBe(200)
    expect(applied.body.fieldValues).toEqual({
      contact_email: ['region@example.com'],
      region_class: ['R3'],
      claims_free_years: ['8'],
    })
    expect(await given()).toMatchObject({
      operation: 'endorsement',
      operationType: 'create',
      policyLocator: locator,
      updates: { startTimestamp: String(START + 40 * DAY), endExposures: [] },
    })
    expect(await given()).not.toHaveProperty('endorsementLocator')

    const patch = (body: object) =>
      callApi<EndorsementResponse>('PATCH', `/endorsements/${applied.body.locator}`, {
        token: motor.token,
        body,
      })
    const updated = await patch({ endorsementUpdate: { fieldValues: filling('add') } })
    expect(updated.status).toBe(200)
    expect(updated.body.addExposures.map(one => one.exposureName)).toEqual(['trailer'])
    expect(await given()).toMatchObject({
      operation: 'endorsement',
      operationType: 'update',
      policyLocator: locator,
      endorsementLocator: applied.body.locator,
    })
    for (const action of ['quote', 'accept', 'issue']) expect((await patch({ action })).status).toBe(200)
    const refused = await patch({ endorsementUpdate: { fieldValues: filling('add') } })
    expect(refused.status).toBe(409)
    expect(await callsFor(locator)).toEqual([
      'newBusiness create',
      'endorsement create',
      'endorsement update',
    ])
    const after = (await motor.get(`/policy/${locator}`)).body
    expect(after.exposures.map(one => one.name)).toEqual(['vehicle', 'trailer'])
  })

  it('is rejected with the message of the plugin, and is not stored', async () => {
    const { locator } = await issued()
    const apply = (part: string) =>
      motor.post(`/policies/${locator}/endorsements`, {
        endorsementName: 'change_of_risk',
        fieldValues: filling(part),
      })
    expect((await apply('throws')).status).toBe(422)
    expect((await apply('refuses')).status).toBe(409)
    const unknown = await apply('unknown_field')
    expect(unknown.status).toBe(400)
    expect(message(unknown)).toMatch(/Completed by plugin getDataAutofill: fieldValues\.colour_of_roof\.$/)
    expect((await motor.get<unknown[]>(`/policies/${locator}/endorsements`)).body).toEqual([])
  })

  it('is filled in the same way when it is previewed, and then nothing is written', async () => {
    const policy = await issued()
    const { locator } = policy
    const request = {
      endorsementName: 'change_of_risk',
      startTimestamp: START + 40 * DAY,
      fieldValues: filling('add'),
    }
    const before = await given()
    const preview = await motor.post<PolicyPreviewResponse>(`/policies/${locator}/preview`, {
      endorsement: request,
    })
    expect(preview.status).toBe(200)
    expect(preview.body.policyWhenIssued.exposures.map(one => one.name)).toEqual(['vehicle', 'trailer'])
    const { endorsementName, startTimestamp, ...updatePolicy } = request
    const legacy = { endorsementName, startTimestamp, updatePolicy }
    const price = await motor.post<PolicyPriceChangeResponse>(
      `/policy/${locator}/previewEndorsementPrice`,
      legacy,
    )
    expect(price.body.grossPremiumChange).toBeGreaterThan(0)
    expect(price.body.grossPremiumChange).toBe(preview.body.price.grossPremiumChange)
    expect(await given()).toEqual(before)
    const endorsed = await motor.post(`/policy/${locator}/endorse`, legacy)
    expect(endorsed.status).toBe(200)
    expect(endorsed.body.exposures.map(one => one.name)).toEqual(['vehicle', 'trailer'])
    expect(endorsed.body.modifications.at(-1)!.premiumChange).toBe(price.body.grossPremiumChange)
    expect(await given()).toMatchObject({ operation: 'endorsement', operationType: 'create' })
  })
})

describe('a large policy', () => {
  it('is endorsed in an exposure that only the plugin names, although it is read in part', async () => {
    const vehicles = Array.from({ length: 60 }, () => plain.exposures[0]!)
    const { body: policy } = await created(['none'], { exposures: vehicles })
    const { locator, exposures } = policy
    expect((await motor.post(`/policy/${locator}/issue`)).status).toBe(200)
    const mileage = { annual_mileage_km: 30_000 }
    const endorsed = await motor.post<EndorsementResponse>(`/policies/${locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: START + 40 * DAY,
      fieldValues: filling('next'),
      updateExposures: [{ exposureLocator: exposures[7]!.locator, fieldValues: mileage }],
      state: 'issued',
    })
    expect(endorsed.status).toBe(200)
    expect(endorsed.body.updateExposures.map(one => one.exposureLocator)).toEqual([
      exposures[7]!.locator,
      exposures[8]!.locator,
    ])
    const { body: after } = await motor.get(`/policy/${locator}`)
    const mileages = after.exposures.map(one => one.characteristics.at(-1)!.fieldValues.annual_mileage_km![0])
    expect(mileages).toEqual(mileages.map((_, at) => (at === 7 || at === 8 ? '30000' : '12000')))
  })
})

describe('a renewal', () => {
  it('is filled in when it is created, updated, previewed or issued in one step', async () => {
    const { locator } = await issued()
    const applied = await motor.post<RenewalResponse>(`/policies/${locator}/renewals`, {
      renewalEndTimestamp: END + 365 * DAY,
      fieldValues: filling('region'),
    })
    expect(applied.status).toBe(200)
    expect(applied.body.fieldValues).toMatchObject({ region_class: ['R3'], claims_free_years: ['8'] })
    expect(await given()).toMatchObject({
      operation: 'renewal',
      operationType: 'create',
      policyLocator: locator,
      updates: { renewalEndTimestamp: String(END + 365 * DAY) },
    })
    const patch = (body: object) =>
      callApi<RenewalResponse>('PATCH', `/renewals/${applied.body.locator}`, { token: motor.token, body })
    const updated = await patch({ renewalUpdate: { fieldValues: filling('add') } })
    expect(updated.body.addExposures.map(one => one.exposureName)).toEqual(['trailer'])
    expect(await given()).toMatchObject({
      operation: 'renewal',
      operationType: 'update',
      policyLocator: locator,
      renewalLocator: applied.body.locator,
    })
    expect((await patch({ action: 'discard' })).status).toBe(200)

    const request = {
      renewalEndTimestamp: END + 365 * DAY,
      policyUpdateRequest: { fieldValues: filling('add') },
    }
    const price = await motor.post<PolicyPriceChangeResponse>(
      `/policy/${locator}/previewRenewalPrice`,
      request,
    )
    const renewed = await motor.post(`/policy/${locator}/issueRenewal`, request)
    expect(renewed.status).toBe(200)
    expect(renewed.body.exposures.map(one => one.name)).toEqual(['vehicle', 'trailer'])
    expect(renewed.body.modifications.at(-1)!.premiumChange).toBe(price.body.grossPremiumChange)
    expect(await callsFor(locator)).toEqual([
      'newBusiness create',
      'renewal create',
      'renewal update',
      'renewal create',
      'renewal create',
    ])
  })
})

describe('round trips', () => {
  it('are the same with the plugin as without it', async () => {
    const without = await motorTenant('autofill-without', motorWithoutPapers())
    const trips = async (tenant: Motor) => {
      await tenant.createPolicy()
      const first = await tenant.createPolicy({ finalize: false })
      const second = await tenant.post(`/policy/${first.body.locator}/update`, { fieldValues: {} })
      const third = await tenant.post(`/policy/${first.body.locator}/issue`)
      const fourth = await tenant.post(`/policies/${first.body.locator}/endorsements`, {
        endorsementName: 'change_of_risk',
        fieldValues: {},
      })
      const answers = [first, second, third, fourth]
      expect(answers.map(one => one.status)).toEqual([200, 200, 200, 200])
      return answers.map(roundTrips)
    }
    const plain = await trips(without)
    expect(plain.map(one => one.object)).toEqual([1, 1, 1, 1])
    expect(plain.reduce((sum, one) => sum + one.d1!, 0)).toBeLessThanOrEqual(5)
    // What a plugin prints is stored after the response, in a separate round trip. This one prints nothing.
    const silent = await motorTenant(
      'autofill-silent',
      autofilled(`exports.getDataAutofill = () => ({ fieldValues: { claims_free_years: 8 } })`),
    )
    expect(await trips(silent)).toEqual(plain)
  })
})

describe('a product without the plugin', () => {
  it('rejects a request that names the plugin with 400', async () => {
    const without = await motorTenant('autofill-none', motorWithoutPapers())
    const refused = await without.createPolicy({ autofill: ['internal'] })
    expect(refused.status).toBe(400)
    expect(message(refused)).toMatch(/getDataAutofill, but product 'private_motor' does not enable it/)
    expect((await without.createPolicy({ autofill: [] })).status).toBe(200)
  })
})
