// A search over policyholders and policies by words and locators, within the permissions of the caller.
import { beforeAll, describe, expect, it } from 'vitest'
import type { PolicyResponse } from '../../../src/policy/contract/response.ts'
import type { PolicyholderResponse } from '../../../src/policyholders/contract.ts'
import type { SearchResponse } from '../../../src/servicing/search/contract.ts'
import { type Answer, callApi, callOk } from '../../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../../support/databases.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../../support/motor.ts'

let motor: Motor
let other: Motor

const HOLDERS = {
  greta: { first_name: 'Greta', last_name: 'Lindner', city: 'Berlin' },
  georg: { first_name: 'Georg', last_name: 'Lindner', city: 'Köln' },
  gärtner: { first_name: 'Ida', last_name: 'Gärtner', city: 'Berlin' },
}
type Name = keyof typeof HOLDERS

const holders = {} as Record<Name, string>
const policies = {} as Record<Name, PolicyResponse>

const ask = (text: string, rest = '', token = motor.token): Promise<Answer<SearchResponse>> =>
  callApi('GET', `/search?text=${encodeURIComponent(text)}${rest}`, { token })

/** The names of the results, newest first. Policies are named by their policyholder. */
async function found(
  text: string,
  rest = '',
): Promise<{ people: string[]; plates: string[]; hasMore: boolean }> {
  const { status, body } = await ask(text, rest)
  expect(status, JSON.stringify(body)).toBe(200)
  const nameOf = (locator: string) =>
    Object.entries(holders).find(([, own]) => own === locator)?.[0] ?? locator
  const plateOf = (locator: string) =>
    Object.entries(policies).find(([, own]) => own.locator === locator)?.[0] ?? locator
  return {
    people: body.policyholders.map(one => nameOf(one.locator)),
    plates: body.policies.map(one => plateOf(one.locator)),
    hasMore: body.hasMore,
  }
}

async function newHolder(tenant: Motor, values: object): Promise<string> {
  const { locator } = await callOk<PolicyholderResponse>('POST', '/policyholder/create', {
    token: tenant.token,
    body: { completed: true, values: { ...plainYear().request.policyholder.values, ...values } },
  })
  return locator
}

async function newPolicy(policyholderLocator: string, registration_plate: string): Promise<PolicyResponse> {
  const vehicle = plainYear().request.policy.exposures[0]!
  const exposures = [{ ...vehicle, fieldValues: { ...vehicle.fieldValues, registration_plate } }]
  const { body } = await motor.post<PolicyResponse>('/policy', {
    ...plainYear().request.policy,
    policyholderLocator,
    exposures,
  })
  return (await motor.post(`/policy/${body.locator}/issue`)).body
}

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  motor = await motorTenant('search')
  other = await motorTenant('searchother')
  const plates: Record<Name, string> = { greta: 'B-GL 1985', georg: 'K-LI 77', gärtner: 'B-IG 12' }
  for (const name of Object.keys(HOLDERS) as Name[]) {
    holders[name] = await newHolder(motor, {
      email: `${HOLDERS[name].first_name}@example.com`,
      ...HOLDERS[name],
    })
    policies[name] = await newPolicy(holders[name], plates[name])
  }
}, 60_000)

describe('GET /search', () => {
  it('finds policyholders by the start of a value, and their policies, newest first', async () => {
    expect(await found('lindn')).toEqual({
      people: ['georg', 'greta'],
      plates: ['georg', 'greta'],
      hasMore: false,
    })
    expect((await found('GÄRT')).people).toEqual(['gärtner'])
    expect((await found('ga')).people).toEqual([])
  })

  it('requires a value for each word, in any field', async () => {
    expect((await found('lindner greta')).people).toEqual(['greta'])
    expect((await found('Berlin Lind')).people).toEqual(['greta'])
    expect((await found('berlin')).people).toEqual(['gärtner', 'greta'])
    expect((await found('lindner ida')).people).toEqual([])
  })

  it('finds policies by their own fields, including values with blanks', async () => {
    expect(await found('b-gl 1985')).toEqual({ people: [], plates: ['greta'], hasMore: false })
    for (const text of ['b-gl  1985', ' B-GL\t1985\u00a0', 'b-gl\u00a01985'])
      expect((await found(text)).plates).toEqual(['greta'])
    expect((await found('k-li')).plates).toEqual(['georg'])
  })

  it('finds a value of more than five words, such as the name of a company, by its beginning', async () => {
    const name = 'Gebrüder Möller und Söhne Transporte GmbH & Co. KG'
    const company = await newHolder(other, { last_name: name })
    for (const [text, locators] of [
      [name, [company]],
      ['gebrüder möller und  söhne transporte gmbh', [company]],
      ['Möller und Söhne Transporte GmbH & Co.', []],
    ] as const) {
      const { status, body } = await ask(text, '', other.token)
      expect([status, body.policyholders.map(one => one.locator)]).toEqual([200, locators])
    }
  })

  it('finds the policy of a record by locator, and a policyholder by its own', async () => {
    const policy = policies.georg
    const quotes = await callOk<{ locator: string }[]>('GET', `/policies/${policy.locator}/quotes`, {
      token: motor.token,
    })
    const texts = [
      policy.locator,
      policy.invoices[0]!.locator,
      policy.modifications[0]!.locator,
      quotes[0]!.locator,
      policy.invoices[0]!.locator.toUpperCase(),
    ]
    for (const text of texts) expect([text, (await found(text)).plates]).toEqual([text, ['georg']])
    expect(await found(holders.greta)).toEqual({ people: ['greta'], plates: ['greta'], hasMore: false })
  })

  it('finds the policy of an invoice by its complete number', async () => {
    const [invoice] = policies.georg.invoices
    const answer = await ask(invoice!.displayId)
    expect(answer.body.policies.map(one => one.locator)).toEqual([policies.georg.locator])
    expect(roundTrips(answer)).toEqual({ d1: 2, object: 0, r2: 0, queue: 0 })
    expect((await found(invoice!.displayId.slice(0, -1))).plates).toEqual([])
    expect((await ask(invoice!.displayId, '', other.token)).body.policies).toEqual([])
  })

  it('returns at most count results, and says whether there are more', async () => {
    expect(await found('lindner', '&count=1')).toEqual({
      people: ['georg'],
      plates: ['georg'],
      hasMore: true,
    })
  })

  it('needs one round trip without matches, and two with some', async () => {
    expect(roundTrips(await ask('nobody'))).toEqual({ d1: 1, object: 0, r2: 0, queue: 0 })
    expect(roundTrips(await ask('lindner'))).toEqual({ d1: 2, object: 0, r2: 0, queue: 0 })
  })

  it('reads at most 2,000 matching values, and then reports that there are more', async () => {
    const database = boundDatabase(poolBinding(1))
    await database
      .prepare(
        `insert into policyholder_term (field, term, policyholder_locator)
          with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
          select 'city', 'zz' || i, 'nobody' || i from n`,
      )
      .run()
    expect((await ask('zz')).body).toEqual({ policyholders: [], policies: [], hasMore: true })
    expect((await ask('zz1')).body.hasMore).toBe(false)
    await database.prepare(`delete from policyholder_term where policyholder_locator like 'nobody%'`).run()
  })

  it('finds nothing of other tenants', async () => {
    const { body } = await ask('lindner', '', other.token)
    expect(body).toEqual({ policyholders: [], policies: [], hasMore: false })
    const byLocator = await ask(policies.greta.locator, '', other.token)
    expect(byLocator.body.policies).toEqual([])
  })

  it('returns 400 for invalid input, and treats characters with a meaning in queries as text', async () => {
    for (const query of [
      '',
      '?text=',
      '?text=%20',
      `?text=${'x'.repeat(201)}`,
      '?text=a&count=0',
      '?text=a&count=101',
    ])
      expect([query, (await callApi('GET', `/search${query}`, { token: motor.token })).status]).toEqual([
        query,
        400,
      ])
    for (const text of ["'", '%', '_', '\u{10ffff}', '"', 'a*', '٣'])
      expect([text, (await ask(text)).status]).toEqual([text, 200])
    expect((await callApi('GET', '/search?text=a')).status).toBe(401)
  })
})

describe('GET /search with the permission for only one of policyholders and policies', () => {
  const tokenWith = async (...permissions: string[]): Promise<string> => {
    const admin = await motor.signIn('anna.admin')
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
    return await callOk<string>('POST', '/auth/users/tokens', {
      token: admin,
      body: { name: permissions[0], expiresAt, permissions },
    })
  }

  it('finds no policyholders, and no policies by values of policyholders, without policyholders.list', async () => {
    const token = await tokenWith('policies.list')
    const { body } = await ask('lindner', '', token)
    expect([body.policyholders, body.policies]).toEqual([[], []])
    expect((await ask('k-li', '', token)).body.policies.map(one => one.locator)).toEqual([
      policies.georg.locator,
    ])
    expect((await ask(holders.greta, '', token)).body.policies).toEqual([])
  })

  it('finds no policies without policies.list', async () => {
    const { body } = await ask('lindner', '', await tokenWith('policyholders.list'))
    expect([body.policyholders.length, body.policies]).toEqual([2, []])
  })
})
