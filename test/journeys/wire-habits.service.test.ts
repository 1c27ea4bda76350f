// What clients written for the reference platform send and read (brief 0). Each of these habits was observed, and each must work.
import { beforeAll, describe, expect, it } from 'vitest'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'

type Json = Record<string, unknown>
type Page = { events: { id: string; timestamp: string; type: string }[]; pagingToken: string }
type Failure = { httpStatus: unknown; referenceId: string }

const DIGITS = /^[1-9]\d{8,15}$/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

let motor: Motor
let policyholderLocator: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('habits')
  policyholderLocator = await motor.newPolicyholder()
}, 120_000)

const draft = (changes: object = {}) => motor.createPolicy({ finalize: false, ...changes })

const newDraft = async (): Promise<string> => {
  const { status, body } = await draft()
  expect(status).toBe(200)
  return body.locator
}

describe('Paths and headers of existing clients', () => {
  it('a path may have a trailing slash', async () => {
    const user = { username: 'alice.agent', password: 'password' }
    const { tenantName } = motor
    const inBody = await callApi('POST', '/account/authenticate/', { body: { ...user, tenantName } })
    expect(inBody.status).toBe(200)
    const inQuery = await callApi('POST', `/account/authenticate/?tenantName=${tenantName}`, { body: user })
    expect(inQuery.status).toBe(200)
    const request = { ...plainYear().request.policy, policyholderLocator, finalize: false }
    const { body: policy } = await motor.post('/policy/', request)
    expect((await motor.get(`/policy/${policy.locator}/`)).body.locator).toBe(policy.locator)
    expect((await motor.get<Page>('/eventstream/events/?startTimestamp=0')).status).toBe(200)
    expect((await motor.get<Json>(`/policy/locator/?displayId=${policy.displayId}`)).body).toEqual({
      locator: policy.locator,
    })
  })

  it.each(['', 'Bearer ', 'bearer ', 'BEARER ', 'JWT ', 'jwt '])(
    'the token is accepted after the scheme "%s"',
    async scheme => {
      const { status, body } = await callApi('GET', '/v1/ping/authorized', {
        headers: { authorization: `${scheme}${motor.token}` },
      })
      expect(status).toBe(200)
      expect(body).toBe('api')
    },
  )

  it('GET / returns the text "api" with 200', async () => {
    for (const path of ['/', '']) {
      const { status, body, headers } = await callApi<string>('GET', path)
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(body).toBe('api')
    }
  })

  it('unknown headers are ignored', async () => {
    const headers = { 'x-unheard-of': 'yes', accept: 'text/html', 'if-none-match': '*', range: 'bytes=0-1' }
    const { status, body } = await callApi('GET', '/v1/ping', { headers })
    expect(status).toBe(200)
    expect(body).toBe('api')
  })

  it('a token has the claims that clients read, under their names', () => {
    const payload = motor.token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')
    expect(JSON.parse(atob(payload))).toMatchObject({
      'account.name': 'Alice Brandt',
      'account.type': 'account.tenant.employee',
      'account.uuid': expect.stringMatching(UUID),
      'tenant.name': motor.tenantName,
      'tenant.timezone': 'Europe/Berlin',
      'tenant.type': 'test',
      'tenant.uuid': motor.tenantLocator,
      sub: 'alice.agent',
      iat: expect.any(Number),
      exp: expect.any(Number),
    })
  })
})

describe('Values from existing clients', () => {
  it('a single value may be sent without a list at every level, and responses have lists of text', async () => {
    const worked = plainYear().request.policy as { fieldValues: Json; exposures: { fieldValues: Json }[] }
    const vehicle = worked.exposures[0]!
    const { status, body } = await draft({
      fieldValues: { ...worked.fieldValues, claims_free_years: 8, region_class: ['R3'] },
      fieldGroups: [
        {
          fieldName: 'named_drivers',
          fieldValues: { full_name: 'Greta Lindner', birth_date: ['1985-06-15'], licence_withdrawn: 'no' },
        },
      ],
      exposures: [
        {
          ...vehicle,
          fieldValues: { ...vehicle.fieldValues, vehicle_value: 24500.5, anti_theft_devices: 'immobiliser' },
          perils: [{ name: 'glass', fieldValues: { original_parts: 'yes' } }],
        },
      ],
    })
    expect(status).toBe(200)
    const [terms] = body.characteristics
    expect(terms?.fieldValues).toMatchObject({ claims_free_years: ['8'], region_class: ['R3'] })
    expect(Object.values(terms?.fieldGroupsByLocator ?? {})).toEqual([
      { full_name: ['Greta Lindner'], birth_date: ['487634400000'], licence_withdrawn: ['no'] },
    ])
    const [exposure] = body.exposures
    expect(exposure?.characteristics[0]?.fieldValues).toMatchObject({
      vehicle_value: ['24500.5'],
      anti_theft_devices: ['immobiliser'],
    })
    expect(exposure?.perils[0]?.characteristics[0]?.fieldValues).toEqual({ original_parts: ['yes'] })
  })

  it('values of a policyholder may be scalars, numbers, null and empty', async () => {
    const { entity } = await callOk<{ entity: { values: Json } }>('POST', '/policyholder/create', {
      token: motor.token,
      body: {
        completed: true,
        values: {
          first_name: 'Greta',
          last_name: ['Lindner'],
          children: 3,
          phone: null,
          city: [],
          street: '',
        },
      },
    })
    expect(entity.values).toEqual({ first_name: ['Greta'], last_name: ['Lindner'], children: ['3'] })
  })

  it('null means the same as an absent property, and unknown properties are ignored', async () => {
    const created = await draft({
      paymentScheduleName: null,
      premiumReportName: null,
      configVersion: null,
      fieldGroups: plainYear().request.policy.fieldGroups,
      policyLocator: '4711',
      somethingElse: { deep: [1] },
    })
    expect(created.status).toBe(200)
    const { locator } = created.body
    const absent = Object.fromEntries(
      `addFieldGroups updateFieldGroups removeFieldGroups addExposures updateExposures removeExposures fieldValues
      paymentScheduleName policyStartTimestamp policyEndTimestamp effectiveContractEndTimestamp`
        .split(/\s+/)
        .map(name => [name, null]),
    )
    const updated = await motor.post(`/policy/${locator}/update`, {
      ...absent,
      finalize: false,
      policyLocator: locator,
    })
    expect(updated.status).toBe(200)
    expect(updated.body.characteristics[0]?.fieldValues).toEqual(created.body.characteristics[0]?.fieldValues)
    expect(updated.body.exposures.map(({ locator: one }) => one)).toEqual(
      created.body.exposures.map(({ locator: one }) => one),
    )
  })

  it('field values may be sent back exactly as they were read', async () => {
    const { body: policy } = await draft()
    const { fieldValues, fieldGroupsByLocator } = policy.characteristics[0]!
    const { status, body } = await motor.post(`/policy/${policy.locator}/update`, {
      fieldValues,
      finalize: false,
    })
    expect(status).toBe(200)
    expect(body.characteristics[0]).toMatchObject({ fieldValues, fieldGroupsByLocator })
  })

  it('times are accepted as integers or text, and returned as text', async () => {
    const [start, end] = [1_798_758_000_000, 1_830_294_000_000]
    const spans = [
      { policyStartTimestamp: start, policyEndTimestamp: end },
      { policyStartTimestamp: String(start), policyEndTimestamp: String(end) },
    ]
    for (const span of spans) {
      const { body } = await draft(span)
      expect(body).toMatchObject({
        originalContractStartTimestamp: String(start),
        originalContractEndTimestamp: String(end),
        createdTimestamp: expect.stringMatching(/^\d{13}$/),
      })
    }
  })

  it('money, configVersion and the number of a modification are JSON numbers', async () => {
    const { body: policy } = await motor.createPolicy()
    expect(policy).toMatchObject({ configVersion: 1, grossFees: 12.5, modifications: [{ number: 0 }] })
    expect(policy.characteristics[0]).toMatchObject({ grossPremium: 671.17, grossTaxes: 127.52 })
    expect(policy.invoices.map(({ totalDue }) => totalDue)).toEqual([811.19])
    const { body: price } = await motor.get<Json>(`/policy/${policy.locator}/price`)
    expect(price).toMatchObject({ totalDue: 811.19, grossPremium: 671.17 })
  })

  it('locators of policies and quotes and displayIds are digits, all other locators are UUIDs', async () => {
    const { body: created } = await draft()
    const { body: policy } = await motor.get(`/policy/${created.locator}?summarizeQuotes=true`)
    const [exposure] = policy.exposures
    for (const digits of [policy.locator, policy.quoteSummary?.selected, exposure?.displayId])
      expect(digits).toMatch(DIGITS)
    expect(policy.displayId).toBe(policy.locator)
    for (const uuid of [policyholderLocator, exposure?.locator, exposure?.perils[0]?.locator])
      expect(uuid).toMatch(UUID)
  })
})

describe('Empty bodies', () => {
  const forms: [string, { body?: string; headers?: Record<string, string> }][] = [
    ['no body and no Content-Type', {}],
    ['a JSON Content-Type without body', { headers: { 'content-type': 'application/json' } }],
    ['a JSON Content-Type and blanks', { body: ' \r\n', headers: { 'content-type': 'application/json' } }],
    ['the body ""', { body: '""', headers: { 'content-type': 'application/json' } }],
    ['the body null', { body: 'null', headers: { 'content-type': 'application/json' } }],
    ['the body {}', { body: '{}', headers: { 'content-type': 'application/json' } }],
    [
      'a Content-Type of forms',
      { body: '', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    ],
  ]

  it.each(forms)('a policy is priced, finalized and issued by a POST with %s', async (_, form) => {
    const locator = await newDraft()
    for (const action of ['price', 'finalize', 'issue']) {
      const { status } = await callApi('POST', `/policy/${locator}/${action}`, {
        token: motor.token,
        ...form,
      })
      expect(status, action).toBe(200)
    }
  })

  it('a JSON body is accepted without a Content-Type, and after a byte-order mark', async () => {
    const json = JSON.stringify({ values: { first_name: 'Greta' } })
    const bodies = [new TextEncoder().encode(json), new TextEncoder().encode(`\uFEFF${json}`)]
    for (const body of bodies)
      expect((await callApi('POST', '/policyholder/create', { token: motor.token, body })).status).toBe(200)
  })
})

describe('Error responses to existing clients', () => {
  const failures: [string, string, Json | undefined, unknown][] = [
    ['POST', '/account/authenticate', { username: 'nobody', password: 'wrong' }, '401'],
    ['POST', '/configuration/deploy', undefined, '403'],
    ['GET', '/policy/123', undefined, 404],
    ['GET', '/no/such/path', undefined, 404],
    ['POST', '/policy', { productName: 'private_motor' }, 400],
  ]

  it.each(failures)(
    '%s %s has the status as clients read it in httpStatus, and the request id as referenceId',
    async (method, path, body, expected) => {
      const { token } = motor
      const answer = await callApi<Failure>(method, path, { token, body })
      expect(answer.status).toBe(Number(expected))
      expect(answer.body.httpStatus).toBe(expected)
      expect(answer.headers.get('x-request-id')).toBe(answer.body.referenceId)
    },
  )
})

describe('The event stream for existing clients', () => {
  it('every page has a pagingToken, even an empty one, and reading continues with the token alone', async () => {
    await newDraft()
    const read: string[] = []
    let page = (await motor.get<Page>('/eventstream/events?startTimestamp=0&pageSize=3')).body
    while (page.events.length > 0) {
      read.push(...page.events.map(({ id }) => id))
      expect(page.pagingToken).toEqual(expect.any(String))
      page = (await motor.get<Page>(`/eventstream/events?pagingToken=${page.pagingToken}`)).body
    }
    expect(page.pagingToken).toEqual(expect.any(String))
    const locator = await newDraft()
    const next = (await motor.get<Page>(`/eventstream/events?pagingToken=${page.pagingToken}`)).body
    expect(next.events.map(({ type }) => type)).toEqual(['policy.create', 'policy.quote.create'])
    expect(JSON.stringify(next.events)).toContain(locator)
    expect(new Set(read).size).toBe(read.length)
    expect(next.events[0]?.timestamp).toMatch(/^\d{13}$/)
  })
})
