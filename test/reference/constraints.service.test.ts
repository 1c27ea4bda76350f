import { exports } from 'cloudflare:workers'
import { unzipSync } from 'fflate'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyholderResponse } from '../../src/policyholders/contract.ts'
import type {
  ConstraintRecordResponse,
  DependencyResponse,
  EvaluationResponse,
} from '../../src/reference/constraints/contract.ts'
import type { BasicResourceResponse } from '../../src/reference/contract.ts'
import type { QuickQuoteResponse } from '../../src/servicing/quick-quotes/contract.ts'
import type { FieldResponse, ProductDetailResponse } from '../../src/tenants/deployment/product-contract.ts'
import { type Answer, callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { noteExchange } from '../support/exchanges/note.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'
import { size } from '../support/sizes.ts'

const POLICY = 'products/private_motor/policy/'

/** The motor example, with a vehicle's model constrained by its make, its year by both, and a city by its post code. */
function constrainedMotor() {
  const files = motorWithoutPapers()
  const change = <Content>(path: string, changed: (content: Content) => unknown): void => {
    const file = files[path]!
    const text = typeof file === 'string' ? file : new TextDecoder().decode(file)
    files[path] = JSON.stringify(changed(JSON.parse(text)))
  }
  const field = (name: string, more: object = {}) => ({ name, type: 'string', optional: true, ...more })
  const constraint = (column: string, where: object, table = 'vehicles') => ({
    constraint: { table, column, where },
  })
  change<object>('config.json', config => ({
    ...config,
    constraintTables: {
      vehicles: {
        columns: {
          make: { dataType: 'string', makeDistinct: true },
          model: { dataType: 'string' },
          year: { dataType: 'int', makeDistinct: true },
        },
        selectionTimeBasis: 'policyStartTime',
      },
    },
  }))
  change<{ fields: object[] }>(`${POLICY}exposures/vehicle/exposure.json`, vehicle => ({
    ...vehicle,
    fields: [
      ...vehicle.fields,
      field('make'),
      field('model', constraint('model', { make: { key: 'make' } })),
      field('year', {
        type: 'number',
        ...constraint('year', { make: { key: 'make' }, model: { key: 'exposure.model' } }),
      }),
    ],
  }))
  change<{ fields: { name: string; fields?: object[] }[] }>(`${POLICY}policy.json`, policy => ({
    ...policy,
    fields: policy.fields.map(one =>
      one.name !== 'named_drivers'
        ? one
        : {
            ...one,
            fields: [
              ...one.fields!,
              field('country'),
              field('licence', constraint('licence', { country: { key: 'country' } }, 'licences')),
            ],
          },
    ),
  }))
  change<{ fields: object[] }>(`${POLICY}exposures/vehicle/perils/glass.json`, glass => ({
    ...glass,
    fields: [
      ...(glass.fields ?? []),
      field('zone', constraint('zone', { region: { key: 'policy.region_class' } }, 'zones')),
    ],
  }))
  change<{ fields: object[] }>('policyholder/policyholder.dictionary.json', ({ fields }) => ({
    fields: fields.map(one =>
      (one as { name: string }).name === 'city'
        ? { ...one, ...constraint('city', { postcode: { key: 'postcode' } }, 'places') }
        : one,
    ),
  }))
  return files
}

let motor: Motor
let root = ''

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('constraints', constrainedMotor())
  motor = { ...motor, token: await motor.signIn('anna.admin') }
  root = `/resource/${motor.tenantLocator}`
})

const call = <Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> =>
  callApi(method, path, { token: motor.token, body })

const formOf = (content: string): FormData => {
  const form = new FormData()
  form.set('file', new Blob([content]), 'table.csv')
  return form
}

const upload = <Body = BasicResourceResponse>(
  name: string,
  staticName: string,
  content: string,
): Promise<Answer<Body>> =>
  call('POST', `${root}/constraints?name=${name}&staticName=${staticName}`, formOf(content))

const YEAR_2026 = Date.UTC(2026, 0)

const group = (name: string, selectionStartTime: number, ...resourceNames: string[]) =>
  call('POST', `${root}/groups`, { name, selectionStartTime, resourceNames })

const VEHICLES = `make,model,year
VW,Golf,2024
Ford,Fiesta,2022
VW,Polo,2023
VW,Golf,2023
Ford,Focus,2021
`

describe('constraint tables', () => {
  it('are uploaded, get a new locator with each content, and are downloaded byte for byte', async () => {
    const { status, body } = await upload('vehicles_2026', 'vehicles', VEHICLES)
    expect([status, body.resourceType, body.staticName]).toEqual([200, 'constraintTable', 'vehicles'])
    expect(body.constraintTableLocator).toEqual(expect.any(String))
    const request = new Request(`http://bindery.test${root}/constraints/vehicles_2026`, {
      headers: { authorization: `Bearer ${motor.token}` },
    })
    noteExchange({
      method: 'GET',
      path: `${root}/constraints/vehicles_2026`,
      body: undefined,
      status: 200,
      answer: 'PK',
    })
    const zip = unzipSync(new Uint8Array(await (await exports.default.fetch(request)).arrayBuffer()))
    expect(Object.keys(zip)).toEqual(['vehicles_2026.csv'])
    expect(new TextDecoder().decode(zip['vehicles_2026.csv'])).toBe(VEHICLES)
    const replaced = await call<BasicResourceResponse>(
      'PATCH',
      `${root}/constraints/vehicles_2026`,
      formOf(VEHICLES),
    )
    expect(replaced.body.constraintTableLocator).not.toBe(body.constraintTableLocator)
    expect({ ...replaced.body, constraintTableLocator: '' }).toEqual({ ...body, constraintTableLocator: '' })
    const again = await upload<{ code: string }>('vehicles_2026', 'vehicles', VEHICLES)
    expect([again.status, again.body.code]).toEqual([409, 'alreadyExists'])
  })

  it('return the typed column values of the matching rows, without duplicates where that is declared', async () => {
    await group('from 2026', YEAR_2026, 'vehicles_2026')
    const record = async (query: string) =>
      (await call<ConstraintRecordResponse>('GET', `${root}/constraints/vehicles/record${query}`)).body
    expect(await record('')).toEqual({
      make: ['VW', 'Ford'],
      model: ['Golf', 'Fiesta', 'Polo', 'Golf', 'Focus'],
      year: [2024, 2022, 2023, 2021],
    })
    const golfs = { make: ['VW'], model: ['Golf', 'Golf'], year: [2024, 2023] }
    expect(await record('?key=VW&key=Golf')).toEqual(golfs)
    expect(await record('?key=model%3DGolf')).toEqual(golfs)
    expect(await record('?model=Golf')).toEqual(golfs)
    expect(await record('?year=2023.0')).toEqual({ make: ['VW'], model: ['Polo', 'Golf'], year: [2023] })
    expect(await record('?key=Lada')).toEqual({ make: [], model: [], year: [] })
    const before = await call<{ code: string }>(
      'GET',
      `${root}/constraints/vehicles/record?date=2025-12-31T23:59:59Z`,
    )
    expect([before.status, before.body.code]).toEqual([404, 'resourceNotInForce'])
    const own = await call(
      'GET',
      `${root}/constraints/vehicles_2026/record?byStaticName=false&date=2025-01-01`,
    )
    expect(own.status).toBe(200)
  })

  it('are rejected with each problem and its line, and then nothing changes', async () => {
    type Problem = { code: string; tableErrors: { line: number; message: string }[] }
    const { status, body } = await call<Problem>(
      'PATCH',
      `${root}/constraints/vehicles_2026`,
      formOf('make,model,year\nVW,Golf\nVW,Golf,old\n'),
    )
    expect([status, body.code]).toEqual([400, 'invalidTable'])
    expect(body.tableErrors.map(one => one.line)).toEqual([2, 3])
    const missing = await upload<Problem>('places_bad', 'places', 'city,country\nBerlin,DE\n')
    expect(missing.status).toBe(400)
    expect(missing.body.tableErrors.map(one => one.message)).toEqual([
      "The column 'postcode', which the constraint of the field 'policyholder.city' uses, is missing; add it.",
    ])
    const kept = await call<ConstraintRecordResponse>('GET', `${root}/constraints/vehicles/record?key=Ford`)
    expect(kept.body.model).toEqual(['Fiesta', 'Focus'])
    expect((await call('GET', `${root}/constraints/places_bad`)).status).toBe(404)
  })
})

/** A vehicle of the motor example with other field values, such as make, model and year. */
const vehicle = (values: object) => {
  const [plain] = plainYear().request.policy.exposures as { fieldValues: object }[]
  return { ...plain!, fieldValues: { ...plain!.fieldValues, ...values } }
}

const draft = async (values: object, more: object = {}): Promise<PolicyResponse> => {
  const answer = await motor.createPolicy({ finalize: false, exposures: [vehicle(values)], ...more })
  expect(answer.status).toBe(200)
  return answer.body
}

const quoteOf = async ({ locator }: PolicyResponse): Promise<string> =>
  (await motor.get<{ locator: string }[]>(`/policies/${locator}/quotes`)).body[0]!.locator

const policyRoot = () => `/policy/${motor.tenantLocator}`

const evaluate = (path: string, body?: object) =>
  call<EvaluationResponse>('POST', `${policyRoot()}/${path}/constraints/evaluate`, body)

const dependency = (path: string) =>
  call<DependencyResponse>('GET', `${policyRoot()}/${path}/constraints/dependency`)

describe('the fields of GET /products/{productName}', () => {
  it('state their constraints, and the fields next to or around them that govern these', async () => {
    const { status, body } = await motor.get<ProductDetailResponse>('/products/private_motor')
    expect(status).toBe(200)
    const constraintOf = (fields: readonly FieldResponse[], name: string) =>
      fields.find(one => one.name === name)!.constraint
    const car = body.exposures.find(({ name }) => name === 'vehicle')!
    const make = { column: 'make', field: 'make', of: 'exposure', values: [] }
    const vehicles = { table: 'vehicles', timeBasis: 'policyStartTime' }
    expect(constraintOf(car.fields, 'model')).toEqual({ ...vehicles, column: 'model', where: [make] })
    expect(constraintOf(car.fields, 'year')).toEqual({
      ...vehicles,
      column: 'year',
      where: [make, { column: 'model', field: 'model', of: 'exposure', values: [] }],
    })
    expect(constraintOf(car.fields, 'make')).toBeUndefined()
    const drivers = body.fields.find(({ name }) => name === 'named_drivers')!
    expect(constraintOf(drivers.fields!, 'licence')).toEqual({
      table: 'licences',
      column: 'licence',
      timeBasis: 'transactionEffectiveTime',
      where: [{ column: 'country', field: 'country', of: 'group', values: [] }],
    })
    const glass = car.perils.find(({ name }) => name === 'glass')!
    expect(constraintOf(glass.fields, 'zone')!.where).toEqual([
      { column: 'region', field: 'region_class', of: 'policy', values: [] },
    ])
    expect(constraintOf(body.policyholderFields, 'city')!.where).toEqual([
      { column: 'postcode', field: 'postcode', of: 'policyholder', values: [] },
    ])
    expect(glass.defaults).toEqual({ indemnityPerItem: '2500', deductible: '0' })
  })
})

describe('constraints of a quote', () => {
  it('return the options of its vehicles for the stored values, or for assumed ones', async () => {
    const policy = await draft({ make: 'VW', model: 'Golf' })
    const quote = await quoteOf(policy)
    const car = policy.exposures[0]!.locator
    const all = await evaluate(`quotes/${quote}`, { [car]: {} })
    expect([all.status, all.body]).toEqual([
      200,
      { [car]: { model: ['Golf', 'Polo'], year: ['2024', '2023'] } },
    ])
    expect(roundTrips(all)).toMatchObject({ d1: 2, object: 0, r2: 0 })
    const asked = { [car]: { model: { make: 'Ford' }, year: {} } }
    expect((await evaluate(`quotes/${quote}`, asked)).body).toEqual({
      [car]: { model: ['Fiesta', 'Focus'], year: ['2022', '2021'] },
    })
    const one = { [car]: { year: { model: 'Polo' } } }
    expect((await evaluate(`transactions/${quote}/elements`, one)).body).toEqual({
      [car]: { year: ['2023'] },
    })
    const none = { [car]: { year: { make: 'Lada' } } }
    expect((await evaluate(`quotes/${quote}`, none)).body).toEqual({ [car]: { year: [] } })
    expect((await motor.get<PolicyResponse>(`/policy/${policy.locator}`)).body.exposures).toEqual(
      policy.exposures,
    )
  })

  it('list the governing field of each column, with its values', async () => {
    const policy = await draft({ make: 'VW' })
    const quote = await quoteOf(policy)
    const car = policy.exposures[0]!.locator
    const make = { staticLocator: car, fieldName: 'make', values: ['VW'] }
    const model = { staticLocator: car, fieldName: 'model', values: [] }
    const expected = {
      [car]: {
        model: { table: 'vehicles', column: 'model', where: { make } },
        year: { table: 'vehicles', column: 'year', where: { make, model } },
      },
    }
    const answer = await dependency(`quotes/${quote}`)
    expect([answer.status, answer.body]).toEqual([200, expect.objectContaining(expected)])
    expect(roundTrips(answer)).toMatchObject({ d1: 1, object: 0 })
    expect((await dependency(`transactions/${quote}/elements`)).body).toMatchObject(expected)
  })

  it('are rejected for unknown elements, fields and columns, and the message names them', async () => {
    const policy = await draft({ make: 'VW' })
    const quote = await quoteOf(policy)
    const car = policy.exposures[0]!.locator
    const asked: [object, string][] = [
      [{ nobody: {} }, "There is no element 'nobody' here"],
      [{ [car]: { wheels: {} } }, "There is no field 'wheels'"],
      [{ [car]: { make: {} } }, "The field 'make' of"],
      [{ [car]: { model: { colour: 'red' } } }, "The constraint of the field 'model' does not use 'colour'"],
    ]
    for (const [body, message] of asked) {
      const { status, body: problem } = await call<{ message: string }>(
        'POST',
        `${policyRoot()}/quotes/${quote}/constraints/evaluate`,
        body,
      )
      expect([status, problem.message]).toEqual([400, expect.stringContaining(message)])
    }
    expect((await evaluate('quotes/1')).status).toBe(404)
    expect((await evaluate('transactions/1/elements')).status).toBe(404)
    expect((await dependency(`transactions/${crypto.randomUUID()}/elements`)).status).toBe(404)
  })
})

describe('constraints of a transaction', () => {
  it('use the policy as an endorsement or renewal would leave it, whether applied for, quoted or issued', async () => {
    const { body } = await motor.createPolicy({
      exposures: [vehicle({ make: 'VW', model: 'Golf', year: 2024 })],
    })
    const policy = (await motor.post(`/policy/${body.locator}/issue`)).body
    const car = policy.exposures[0]!.locator
    const asked = {
      endorsementName: 'change_of_risk',
      startTimestamp: Number(policy.originalContractStartTimestamp) + 90 * 86_400_000,
      updateExposures: [{ exposureLocator: car, fieldValues: { make: 'Ford', model: 'Focus', year: 2021 } }],
    }
    const applied = await motor.post<{ locator: string }>(`/policies/${body.locator}/endorsements`, asked)
    const ofFord = { [car]: { model: ['Fiesta', 'Focus'], year: ['2021'] } }
    const path = `transactions/${applied.body.locator}/elements`
    expect((await evaluate(path, { [car]: {} })).body).toEqual(ofFord)
    const quoted = await motor.post<{ locator: string }>(`/policies/${body.locator}/endorsements`, {
      ...asked,
      state: 'quoted',
    })
    expect((await evaluate(`transactions/${quoted.body.locator}/elements`, { [car]: {} })).body).toEqual(
      ofFord,
    )
    const renewal = await motor.post<{ locator: string }>(`/policies/${body.locator}/renewals`, {
      renewalEndTimestamp: Number(policy.originalContractEndTimestamp) + 365 * 86_400_000,
    })
    const first = { [car]: { model: ['Golf', 'Polo'], year: ['2024', '2023'] } }
    expect((await evaluate(`transactions/${renewal.body.locator}/elements`, { [car]: {} })).body).toEqual(
      first,
    )
    expect(
      (await evaluate(`transactions/${policy.modifications[0]!.locator}/elements`, { [car]: {} })).body,
    ).toEqual(first)
    expect((await dependency(path)).body[car]!.year!.where.make!.values).toEqual(['Ford'])
  })
})

type Refused = {
  code: string
  message: string
  policyFieldErrors?: {
    exposureValidationErrors: {
      exposureFieldErrors?: { errors: { fieldName: string; code: string; message: string }[] }
    }[]
  }
}

const errorsOf = ({ policyFieldErrors }: Refused) =>
  policyFieldErrors?.exposureValidationErrors.flatMap(one => one.exposureFieldErrors?.errors ?? []) ?? []

describe('a stored value that the table in force does not allow', () => {
  it('is a field error with the allowed values when a policy is created or updated', async () => {
    const made = await callApi<Refused>('POST', '/policy', {
      token: motor.token,
      body: {
        ...plainYear().request.policy,
        policyholderLocator: await motor.newPolicyholder(),
        exposures: [vehicle({ make: 'VW', model: 'Focus', year: 2024 })],
      },
    })
    expect(made.status).toBe(400)
    expect(errorsOf(made.body)).toEqual([
      {
        fieldName: 'model',
        code: 'INVALID_VALUE',
        message:
          "Field 'model' must be a value that the table 'vehicles' permits: 'Golf', 'Polo'; choose one of them.",
      },
      {
        fieldName: 'year',
        code: 'INVALID_VALUE',
        message:
          "Field 'year' has no value that the table 'vehicles' permits with the values of 'make' and 'model'; change those values, or remove this one.",
      },
    ])
    const policy = await draft({ make: 'VW', model: 'Golf', year: '2024.0' })
    const car = policy.exposures[0]!.locator
    const wrong = await call<Refused>('POST', `/policy/${policy.locator}/update`, {
      finalize: false,
      updateExposures: [{ exposureLocator: car, fieldValues: { make: 'Ford' } }],
    })
    expect([wrong.status, errorsOf(wrong.body).map(one => one.fieldName)]).toEqual([400, ['model', 'year']])
    const quote = await quoteOf(policy)
    const quoted = await call('PATCH', `/quotes/${quote}/quote`)
    expect(quoted.status).toBe(200)
  })

  it('is an error in an endorsement, for changed fields and for the fields that they govern', async () => {
    const { body } = await motor.createPolicy({
      exposures: [vehicle({ make: 'VW', model: 'Golf', year: 2024 })],
    })
    const policy = (await motor.post(`/policy/${body.locator}/issue`)).body
    const endorse = (fieldValues: object, more: object = {}) =>
      motor.post<Refused & { state: string }>(`/policies/${body.locator}/endorsements`, {
        endorsementName: 'change_of_risk',
        startTimestamp: Number(policy.originalContractStartTimestamp) + 90 * 86_400_000,
        updateExposures: [{ exposureLocator: policy.exposures[0]!.locator, fieldValues }],
        ...more,
      })
    const wrong = await endorse({ make: 'Ford' })
    expect([wrong.status, errorsOf(wrong.body).map(one => one.fieldName)]).toEqual([400, ['model', 'year']])
    const right = await endorse({ make: 'Ford', model: 'Fiesta', year: 2022 }, { state: 'quoted' })
    expect([right.status, right.body.state]).toEqual([200, 'quoted'])
  })

  it('is an error in an endorsement that changes only the governing field', async () => {
    expect((await upload('zones_2026', 'zones', 'region,zone\nR3,inner\nR3,outer\nR5,outer\n')).status).toBe(
      200,
    )
    await group('zones', YEAR_2026, 'zones_2026')
    const car = vehicle({})
    const perils = (zone: string) => [{ name: 'liability' }, { name: 'glass', fieldValues: { zone } }]
    const { body } = await motor.createPolicy({ exposures: [{ ...car, perils: perils('inner') }] })
    const policy = (await motor.post(`/policy/${body.locator}/issue`)).body
    const move = (region: string) =>
      motor.post<Refused & { locator: string }>(`/policies/${body.locator}/endorsements`, {
        endorsementName: 'change_of_risk',
        startTimestamp: Number(policy.originalContractStartTimestamp) + 90 * 86_400_000,
        fieldValues: { region_class: region },
      })
    const moved = await move('R5')
    expect([moved.status, moved.body.message]).toEqual([
      400,
      "Exposure 'vehicle': peril 'glass': Field 'zone' must be a value that the table 'zones' permits: 'outer'; choose one of them.",
    ])
    const glass = policy.exposures[0]!.perils.find(one => one.name === 'glass')!.locator
    const same = await move('R3')
    const path = `transactions/${same.body.locator}/elements`
    expect((await evaluate(path, { [glass]: { zone: { region_class: 'R5' } } })).body).toEqual({
      [glass]: { zone: ['outer'] },
    })
    expect((await dependency(path)).body[glass]!.zone!.where).toEqual({
      region: { staticLocator: policy.locator, fieldName: 'region_class', values: ['R3'] },
    })
  })

  it('is reported with its field group, and groups are evaluated by their locators', async () => {
    const licences = `country,licence\n${Array.from({ length: 25 }, (_, at) => `DE,B${at}`).join('\n')}\nFR,A\n`
    expect((await upload('licences_2026', 'licences', licences)).status).toBe(200)
    await group('licences', YEAR_2026, 'licences_2026')
    const [driver] = plainYear().request.policy.fieldGroups as { fieldValues: object }[]
    const driving = (licence: string) => ({
      fieldGroups: [{ ...driver!, fieldValues: { ...driver!.fieldValues, country: 'DE', licence } }],
    })
    const wrong = await callApi<
      Refused & { policyFieldErrors: { policyFieldErrors: { fieldGroupErrors: object[] } } }
    >('POST', '/policy', {
      token: motor.token,
      body: {
        ...plainYear().request.policy,
        policyholderLocator: await motor.newPolicyholder(),
        ...driving('A'),
      },
    })
    expect(wrong.status).toBe(400)
    expect(wrong.body.policyFieldErrors.policyFieldErrors.fieldGroupErrors).toEqual([
      expect.objectContaining({
        fieldName: 'named_drivers',
        index: 0,
        errors: [
          {
            fieldName: 'licence',
            code: 'INVALID_VALUE',
            message: expect.stringMatching(/'B0', 'B1', .*'B19' or one of 5 more; choose one of them/),
          },
        ],
      }),
    ])
    const policy = await draft({}, driving('B7'))
    const [locator] = policy.characteristics[0]!.fieldValues.named_drivers!
    const asked = { [locator!]: { licence: { country: 'FR' } } }
    expect((await evaluate(`quotes/${await quoteOf(policy)}`, asked)).body).toEqual({
      [locator!]: { licence: ['A'] },
    })
  })

  it('names what an application adds by the locators of its response, and perils of a renewal by those they renew', async () => {
    const { body } = await motor.createPolicy({
      exposures: [{ ...vehicle({}), perils: [{ name: 'liability' }, { name: 'glass' }] }],
    })
    const policy = (await motor.post(`/policy/${body.locator}/issue`)).body
    const [driver] = plainYear().request.policy.fieldGroups as { fieldName: string; fieldValues: object }[]
    type Added = { locator: string }
    const applied = await motor.post<{
      locator: string
      addFieldGroups: Added[]
      addExposures: (Added & { perils: (Added & { name: string })[] })[]
    }>(`/policies/${body.locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: Number(policy.originalContractStartTimestamp) + 90 * 86_400_000,
      addExposures: [{ ...vehicle({ make: 'Ford' }), perils: [{ name: 'liability' }, { name: 'glass' }] }],
      addFieldGroups: [{ ...driver!, fieldValues: { ...driver!.fieldValues, country: 'DE' } }],
    })
    const [car, licensee] = [applied.body.addExposures[0]!, applied.body.addFieldGroups[0]!.locator]
    const glass = car.perils.find(one => one.name === 'glass')!.locator
    const path = `transactions/${applied.body.locator}/elements`
    const added = {
      [car.locator]: expect.anything(),
      [licensee]: expect.anything(),
      [glass]: expect.anything(),
    }
    const [first, second] = [await dependency(path), await dependency(path)]
    expect([first.body, second.body]).toEqual([expect.objectContaining(added), first.body])
    const assumed = {
      [car.locator]: { model: { make: 'VW' }, year: {} },
      [licensee]: { licence: { country: 'FR' } },
      [glass]: { zone: { region_class: 'R5' } },
    }
    expect((await evaluate(path, assumed)).body).toEqual({
      [car.locator]: { model: ['Golf', 'Polo'], year: ['2024', '2023'] },
      [licensee]: { licence: ['A'] },
      [glass]: { zone: ['outer'] },
    })
    const renewal = await motor.post<Added>(`/policies/${body.locator}/renewals`, {
      renewalEndTimestamp: Number(policy.originalContractEndTimestamp) + 365 * 86_400_000,
    })
    const renewed = policy.exposures[0]!.perils.find(one => one.name === 'glass')!.locator
    const zones = await evaluate(`transactions/${renewal.body.locator}/elements`, { [renewed]: {} })
    expect(zones.body).toEqual({ [renewed]: { zone: ['inner', 'outer'] } })
  })

  it('costs one more D1 round trip to check, and none if no constrained field has a value', async () => {
    const d1Of = async (values: object): Promise<number> => {
      const answer = await motor.createPolicy({ finalize: false, exposures: [vehicle(values)] })
      expect(answer.status).toBe(200)
      return roundTrips(answer).d1!
    }
    await d1Of({})
    const plain = await d1Of({ make: 'VW' })
    expect(await d1Of({ make: 'VW', model: 'Golf' })).toBe(plain + 1)
  })

  it('is not found before any table is in force: a draft is accepted, and quoting it returns 400', async () => {
    const before = { policyStartTimestamp: Date.UTC(2025, 11, 1), policyEndTimestamp: Date.UTC(2026, 11, 1) }
    const policy = await draft({ make: 'VW', model: 'Golf' }, before)
    const quoted = await call<Refused>('PATCH', `/quotes/${await quoteOf(policy)}/quote`)
    expect([quoted.status, errorsOf(quoted.body)[0]?.message]).toEqual([
      400,
      expect.stringContaining("no constraint table 'vehicles' is in force"),
    ])
  })
})

describe('quick quotes', () => {
  const body = async (values: object, more: object = {}) => ({
    ...plainYear().request.policy,
    policyholderLocator: await motor.newPolicyholder(),
    exposures: [vehicle(values)],
    ...more,
  })
  const quick = async (values: object, headers: Record<string, string> = {}) =>
    callApi<QuickQuoteResponse>('POST', `${policyRoot()}/quickquotes`, {
      token: motor.token,
      headers,
      body: await body(values),
    })

  it('have the price of the policy, create no policy, and are returned unchanged later', async () => {
    const { status, body: made, headers } = await quick({ make: 'VW' })
    expect(status).toBe(200)
    expect(roundTrips({ headers })).toMatchObject({ d1: 2 })
    const policy = await motor.createPolicy({ exposures: [vehicle({ make: 'VW' })] })
    const price = await motor.get<{ totalDue: number }>(`/policy/${policy.body.locator}/price`)
    expect(made.price!.total).toBe(price.body.totalDue)
    expect(made.price!.total).toBeGreaterThan(0)
    expect(made.exposures.map(one => [one.name, one.perils.length])).toEqual([['vehicle', 4]])
    expect(Number(made.expiresTimestamp) - Number(made.createdTimestamp)).toBe(30 * 86_400_000)
    const again = await call<QuickQuoteResponse>('GET', `${policyRoot()}/quickquotes/${made.locator}`)
    expect(again.body).toEqual(made)
    const policies = await motor.get<unknown[]>(`/policyholder/${made.policyholderLocator}/policies`)
    expect(policies.body).toEqual([])
  })

  it('are evaluated by the locators in their response', async () => {
    const { body: made } = await quick({ make: 'VW' })
    const car = made.exposures[0]!.locator
    const path = `quickquotes/${made.locator}`
    const answer = await evaluate(path, { [car]: { model: { make: 'Ford' } } })
    expect([answer.status, answer.body]).toEqual([200, { [car]: { model: ['Fiesta', 'Focus'] } }])
    expect(roundTrips(answer)).toMatchObject({ d1: 3, object: 0 })
    expect((await evaluate(path, { [car]: {} })).body).toEqual({
      [car]: { model: ['Golf', 'Polo'], year: ['2024', '2023'] },
    })
    expect((await dependency(path)).body[car]!.model!.where).toEqual({
      make: { staticLocator: car, fieldName: 'make', values: ['VW'] },
    })
  })

  it('accept values that no policy could have, and say why there is no price', async () => {
    const wrong = await quick({ make: 'VW', model: 'Focus', vehicle_kind: 'tank' })
    expect([wrong.status, wrong.body.exposures[0]!.fieldValues.vehicle_kind]).toEqual([200, ['tank']])
    const lost = await callApi<QuickQuoteResponse>('POST', `${policyRoot()}/quickquotes`, {
      token: motor.token,
      body: await body({}, { fieldValues: { region_class: 'R9' } }),
    })
    expect([lost.status, lost.body.price, lost.body.problem?.code]).toEqual([
      200,
      undefined,
      expect.any(String),
    ])
    const stray = await callApi<{ message: string }>('POST', `${policyRoot()}/quickquotes`, {
      token: motor.token,
      body: await body({}, { exposures: [{ exposureName: 'boat', perils: [] }] }),
    })
    expect([stray.status, stray.body.message]).toEqual([400, expect.stringContaining("no exposure 'boat'")])
  })

  it('are gone after the data of their policyholder is overwritten', async () => {
    const { body: made } = await quick({ make: 'VW' })
    const overwritten = await call('PATCH', `/policyholder/${made.policyholderLocator}/overwriteData`, {
      overwrites: { last_name: 'gone' },
    })
    expect(overwritten.status).toBe(200)
    expect((await call('GET', `${policyRoot()}/quickquotes/${made.locator}`)).status).toBe(404)
  })

  it('are created once for an Idempotency-Key, and are gone after 30 days', async () => {
    const sent = await body({ make: 'VW' })
    const post = () =>
      callApi<QuickQuoteResponse>('POST', `${policyRoot()}/quickquotes`, {
        token: motor.token,
        headers: { 'idempotency-key': 'quick' },
        body: sent,
      })
    const first = await post()
    expect((await post()).body).toEqual(first.body)
    await motor.post('/test/clock', { timestamp: Number(first.body.expiresTimestamp) })
    expect((await call('GET', `${policyRoot()}/quickquotes/${first.body.locator}`)).status).toBe(404)
    expect((await evaluate(`quickquotes/${first.body.locator}`)).status).toBe(404)
  })
})

describe('passes over a table of 100,000 rows', () => {
  it('are limited in each isolate: of 20 concurrent ones some get 503 with Retry-After', async () => {
    const rows = Array.from({ length: 100_000 }, (_, at) => `m${at},x,1`)
    expect((await upload('vehicles_2050', 'vehicles', `make,model,year\n${rows.join('\n')}\n`)).status).toBe(
      200,
    )
    const ask = (make: string) =>
      call<ConstraintRecordResponse & { code: string }>(
        'GET',
        `${root}/constraints/vehicles_2050/record?byStaticName=false&make=${make}`,
      )
    expect((await ask('m7')).body.make).toEqual(['m7'])
    // Independent of the speed of the computer: everything begins at the present time.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now())
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => ask(`m${at}`)))
    vi.restoreAllMocks()
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThan(20)
    for (const { status, body, headers } of refused)
      expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'overloaded', '3'])
    expect((await ask('m8')).body.make).toEqual(['m8'])
  })
})

describe('a constraint table too long for memory', () => {
  it('is read in pieces, and allows the same values as a short one', async () => {
    const padding = 'x'.repeat(size(90, 40))
    const rows = Array.from(
      { length: size(45_000, 999_998) },
      (_, at) => `make ${at % 1000},model ${at} ${padding},${at % 7}`,
    )
    const long = `make,model,year\nVW,Up,2020\n${rows.join('\n')}\nVW,ID.3,2027\n`
    expect(long.length).toBeGreaterThan(4 * 1_048_576)
    const made = await upload('vehicles_2028', 'vehicles', long)
    expect(made.status).toBe(200)
    await group('from 2028', Date.UTC(2028, 0), 'vehicles_2028')
    const policy = await draft(
      { make: 'VW' },
      { policyStartTimestamp: Date.UTC(2028, 1, 1), policyEndTimestamp: Date.UTC(2029, 1, 1) },
    )
    const car = policy.exposures[0]!.locator
    const quote = await quoteOf(policy)
    const asked = async (body: object) => {
      const answer = await evaluate(`quotes/${quote}`, body)
      return { body: answer.body, r2: roundTrips(answer).r2! }
    }
    // Creating the policy evaluated nothing, because neither model nor year has a value.
    const first = await asked({ [car]: {} })
    expect(first.body).toEqual({ [car]: { model: ['Up', 'ID.3'], year: ['2020', '2027'] } })
    expect(first.r2).toBeGreaterThan(0)
    // An answered question is cached; another one reads the file again.
    expect(await asked({ [car]: {} })).toEqual({ body: first.body, r2: 0 })
    expect(await asked({ [car]: { model: {} } })).toEqual({
      body: { [car]: { model: ['Up', 'ID.3'] } },
      r2: 0,
    })
    const other = await asked({ [car]: { model: { make: 'make 7' } } })
    expect(other.r2).toBeGreaterThan(0)
    expect(other.body[car]!.model!.length).toBeGreaterThanOrEqual(45)
    const record = await call<ConstraintRecordResponse>(
      'GET',
      `${root}/constraints/vehicles/record?date=2028-02-01&key=VW`,
    )
    expect(record.body).toEqual({ make: ['VW'], model: ['Up', 'ID.3'], year: [2020, 2027] })
  })
})

describe('constraints of a policyholder', () => {
  it('use its stored values, and the request has no level of locators', async () => {
    const holder = await motor.newPolicyholder()
    const missing = await call<{ code: string }>(
      'POST',
      `${policyRoot()}/accounts/${holder}/constraints/evaluate`,
      {},
    )
    expect([missing.status, missing.body.code]).toEqual([404, 'resourceNotInForce'])
    const places = 'postcode,city\n10115,Berlin\n14467,Potsdam\n14467,Babelsberg\n'
    expect((await upload('places_2026', 'places', places)).status).toBe(200)
    await group('places', YEAR_2026, 'places_2026')
    expect((await evaluate(`accounts/${holder}`)).body).toEqual({ [holder]: { city: ['Berlin'] } })
    expect((await evaluate(`accounts/${holder}`, { city: { postcode: '14467' } })).body).toEqual({
      [holder]: { city: ['Potsdam', 'Babelsberg'] },
    })
    expect((await dependency(`accounts/${holder}`)).body).toEqual({
      [holder]: {
        city: {
          table: 'places',
          column: 'city',
          where: { postcode: { staticLocator: holder, fieldName: 'postcode', values: ['10115'] } },
        },
      },
    })
    expect((await evaluate(`accounts/${crypto.randomUUID()}`)).status).toBe(404)
  })

  type Refused = {
    code: string
    fieldErrors: { ontologyUri: string; validatorUri: string; message: string }[]
  }
  const NOT_BERLIN =
    "Field 'city' must be a value that the table 'places' permits: 'Potsdam', 'Babelsberg'; choose one of them."

  it('are enforced when it is completed or changed, but not while it is a draft', async () => {
    const create = (completed: boolean, values: object) =>
      call<PolicyholderResponse & Refused>('POST', '/policyholder/create', { completed, values })
    const update = ({ locator, version }: PolicyholderResponse, completed: boolean, values: object) =>
      call<PolicyholderResponse & Refused>('POST', '/policyholder/update', {
        locator,
        version,
        completed,
        values,
        addSubEntities: [],
        updateSubEntities: [],
        deleteSubEntities: [],
      })
    const refused = await create(true, { postcode: '14467', city: 'Berlin' })
    expect([refused.status, refused.body.code]).toEqual([400, 'policyholderValidation'])
    expect(refused.body.fieldErrors).toEqual([
      { code: 4, ontologyUri: 'city', validatorUri: 'validator.value', message: NOT_BERLIN },
    ])
    const draft = await create(false, { postcode: '14467', city: 'Berlin' })
    expect(draft.status).toBe(200)
    expect((await update(draft.body, true, {})).body.fieldErrors.map(one => one.message)).toEqual([
      NOT_BERLIN,
    ])
    const completed = await update(draft.body, true, { city: 'Potsdam' })
    expect([completed.status, roundTrips(completed)]).toEqual([200, expect.objectContaining({ d1: 3 })])
    const moved = await update(completed.body, true, { postcode: '10115' })
    expect([moved.status, moved.body.fieldErrors.map(one => one.ontologyUri)]).toEqual([400, ['city']])
    const named = await update(completed.body, true, { first_name: 'Erika' })
    expect([named.status, roundTrips(named)]).toEqual([200, expect.objectContaining({ d1: 2 })])
    const unset = await create(true, { postcode: '14467' })
    expect([unset.status, roundTrips(unset)]).toEqual([200, expect.objectContaining({ d1: 2 })])
    const made = await create(true, { postcode: '14467', city: 'Potsdam' })
    expect([made.status, roundTrips(made)]).toEqual([200, expect.objectContaining({ d1: 3 })])
    const erased = await call('PATCH', `/policyholder/${made.body.locator}/overwriteData`, {
      overwrites: { city: 'erased' },
    })
    expect(erased.status).toBe(200)
  })

  it('are enforced for a migrated account, which fails with the same message', async () => {
    const account = (id: string, data: object) => ({ accountData: { id, data } })
    const migrations = `/migration/${motor.tenantLocator}/migrations`
    const { body } = await call<{ locator: string }>('POST', migrations, [
      account('in-potsdam', { postcode: '14467', city: 'Potsdam' }),
      account('not-berlin', { postcode: '14467', city: 'Berlin' }),
    ])
    const ended = async (): Promise<string> => {
      for (let tries = 0; tries < 1_000; tries += 1) {
        const { migrationState } = (
          await call<{ migrationState: string }>('GET', `${migrations}/${body.locator}`)
        ).body
        if (!['submitted', 'processing'].includes(migrationState)) return migrationState
        await new Promise(resolve => setTimeout(resolve, 10))
      }
      throw new Error('The migration does not end.')
    }
    await ended()
    const failures = await call<{ items: object[] }>('GET', `${migrations}/${body.locator}/failures/list`)
    expect(failures.body.items).toHaveLength(1)
    expect(JSON.stringify(failures.body.items)).toContain(NOT_BERLIN)
  })
})
