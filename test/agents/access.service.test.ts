// Access to /mcp and what responses show: tokens, tenants that block agents, permissions, limits, protocol versions.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { limitAgent } from '../../src/platform/http/rate-limits.ts'
import { forgetTenants, TENANT_TRUST_MS } from '../../src/platform/tenancy.ts'
import { type Agent, agentOf, agentToken, EVERYTHING, noteOperation, postMessage } from '../support/agent.ts'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear, roundTrips } from '../support/motor.ts'
import { administrator } from '../support/sign-in.ts'

let motor: Motor
let admin: string
let token: string
let agent: Agent
let policy: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('agents-access', motorWithoutPapers())
  admin = await motor.signIn('anna.admin')
  token = await agentToken(motor.tenantName, admin, EVERYTHING)
  agent = await agentOf(token)
  policy = (await motor.createPolicy()).body.locator
  await motor.post(`/policy/${policy}/issue`)
})

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const callOf = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
})

describe('the token of an agent', () => {
  it('is required: 401 names the resource metadata that explains how to sign in', async () => {
    for (const wrong of [undefined, 'no token', `bdy_${'x'.repeat(58)}`]) {
      const { status, headers, body } = await postMessage(wrong, LIST)
      expect([status, body.code]).toEqual([401, 'unauthenticated'])
      expect(headers.get('www-authenticate')).toBe(
        'Bearer resource_metadata="http://bindery.test/.well-known/oauth-protected-resource"',
      )
    }
    const paths = ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']
    for (const path of paths)
      expect((await callApi('GET', path)).body).toEqual({
        resource: 'http://bindery.test/mcp',
        resource_name: 'Bindery',
        bearer_methods_supported: ['header'],
        resource_documentation: 'http://bindery.test/docs',
      })
    await expect(agentOf('no token')).rejects.toThrow()
  })

  it('must belong to a tenant: 403 for an administration token', async () => {
    const { status, body } = await postMessage(await administrator(), LIST)
    expect([status, body.code]).toEqual([403, 'forbidden'])
  })

  it('lets each tool use the permissions of the token, and no more', async () => {
    const reader = await agentOf(
      await agentToken(motor.tenantName, admin, ['policies.read', 'policies.list']),
    )
    expect((await reader.ask('find_policies', {})).policies).toHaveLength(1)
    const refused = [
      ['find_policyholders', {}],
      ['list_products', {}],
      ['read_events', {}],
      ['list_reports', {}],
      ['start_report', { name: 'premiums' }],
      ['preview_policyholder', { values: {} }],
    ] as const
    for (const [name, args] of refused.slice(0, 5)) {
      const { isError, problem, next } = await reader.call(name, args)
      expect([name, isError, problem?.code]).toEqual([name, true, 'forbidden'])
      expect(next).toContain('lacks this permission')
    }
    const { preview } = await reader.ask('preview_policyholder', { values: {} })
    const { isError, problem } = await reader.call('carry_out', { preview })
    expect([isError, problem.code, problem.message]).toEqual([
      true,
      'forbidden',
      expect.stringContaining('policyholders.write'),
    ])
    const shown = await reader.ask('preview_cancellation', {
      policy,
      name: 'customer_request',
      category: 'other',
      effectiveAt: '2035-06-01T00:00:00Z',
    })
    const cancelling = await reader.call('carry_out', { preview: shown.preview })
    expect([cancelling.problem.code, cancelling.problem.message]).toEqual([
      'forbidden',
      expect.stringContaining('cancellations'),
    ])
  })

  it('marks entries of the audit trail as made by an agent', async () => {
    const { preview } = await agent.ask('preview_policyholder', { values: {} })
    await agent.call('carry_out', { preview })
    const { entries } = await callOk<{ entries: { action: string; subject: string; details: object }[] }>(
      'GET',
      '/audit/list?action=agents.carryOut',
      { token: admin },
    )
    expect(entries.at(-1)).toMatchObject({
      action: 'agents.carryOut',
      subject: 'new',
      username: 'anna.admin',
      details: { operation: 'policyholder', preview, by: 'agent' },
    })
    await vi.waitFor(async () => {
      const refusals = await callOk<{ entries: { subject: string; details: { by?: string } }[] }>(
        'GET',
        '/audit/list?action=permission.refused',
        { token: admin },
      )
      const one = refusals.entries.find(({ subject }) => subject === 'POST /policyholder/create')
      expect(one?.details.by).toBe('agent')
    })
  })
})

describe('a tenant', () => {
  const access = (method: string, body?: object) =>
    callApi<{ allowed: boolean }>(method, '/tenant/agentAccess', { token: admin, ...(body && { body }) })

  it('of type test allows agents until it blocks them', async () => {
    expect((await access('GET')).body).toEqual({ allowed: true })
    expect((await access('PUT', { allowed: false })).body).toEqual({ allowed: false })
    const { status, body } = await postMessage(token, LIST)
    expect([status, body.code]).toEqual([403, 'forbidden'])
    expect(body.message).toContain('PUT /tenant/agentAccess')
    await expect(agentOf(token)).rejects.toThrow()
    expect((await access('PUT', { allowed: true })).body).toEqual({ allowed: true })
    expect((await agent.ask('find_policies', {})).policies).toHaveLength(1)
  })

  it('of type production blocks agents until it allows them', async () => {
    const as = async (type: string, allowsAgents: number | null) => {
      await env.CONTROL.prepare('update tenant set type = ?, allows_agents = ? where name = ?')
        .bind(type, allowsAgents, motor.tenantName)
        .run()
      vi.spyOn(Date, 'now').mockReturnValue(Date.now() + TENANT_TRUST_MS)
      forgetTenants()
      return await postMessage(token, LIST)
    }
    try {
      const { status, body } = await as('production', null)
      expect([status, body.message]).toEqual([403, expect.stringContaining('production tenant')])
      expect((await as('production', 1)).status).toBe(200)
    } finally {
      await as('test', null)
      vi.restoreAllMocks()
      forgetTenants()
    }
  })

  it('lets only accounts with the permission change the setting', async () => {
    const set = (own: string) =>
      callApi('PUT', '/tenant/agentAccess', { token: own, body: { allowed: true } })
    expect((await set(motor.token)).status).toBe(403)
    const wrong = await callApi('PUT', '/tenant/agentAccess', { token: admin, body: {} })
    expect(wrong.status).toBe(400)
  })
})

describe('limits for agents', () => {
  it('allow each token a number of calls in ten seconds, and then reject with 429', async () => {
    const { THREE_AT_ONCE } = env as unknown as { THREE_AT_ONCE: RateLimit }
    const limits = { ...env, ENVIRONMENT: 'production', AGENT_LIMIT: THREE_AT_ONCE } as unknown as Env
    const from = (own: string) =>
      limitAgent(limits, new Request('http://bindery.test/mcp', { headers: { authorization: own } }))
    for (let at = 0; at < 3; at += 1) await from('Bearer one')
    await expect(from('Bearer one')).rejects.toMatchObject({ code: 'tooManyRequests', retryAfterSeconds: 10 })
    await from('Bearer two')
  })

  it('count a token as one, in any spelling of the header', async () => {
    const { THREE_AT_ONCE } = env as unknown as { THREE_AT_ONCE: RateLimit }
    const limits = { ...env, ENVIRONMENT: 'production', AGENT_LIMIT: THREE_AT_ONCE } as unknown as Env
    const spellings = ['Bearer h.p.sA', 'bearer  h.p.sA', 'h.p.sA', 'JWT h.p.sB']
    const calls = spellings.map(
      authorization => () =>
        limitAgent(limits, new Request('http://bindery.test/mcp', { headers: { authorization } })),
    )
    for (const call of calls.slice(0, 3)) await call()
    await expect(calls[3]!()).rejects.toMatchObject({ code: 'tooManyRequests' })
  })

  it('accept only POST of a single JSON message of at most 64 KiB', async () => {
    const long = await postMessage(token, callOf('find_policies', { value: 'x'.repeat(70_000) }))
    expect([long.status, long.body.code]).toEqual([413, 'tooLarge'])
    const several = await postMessage(token, [LIST, LIST])
    expect([several.status, several.body.code]).toEqual([400, 'invalidRequest'])
    const text = await postMessage(token, '{"jsonrpc', { 'content-type': 'application/json' })
    expect([text.status, text.body.code]).toEqual([400, 'malformedJson'])
    const listening = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: {} }
    expect((await postMessage(token, listening)).status).toBe(400)
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await callApi(method, '/mcp', { token })
      expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    }
  })

  it('reject arguments that are unknown, malformed or too long', async () => {
    const wrong: [string, object, string][] = [
      ['find_policies', { value: 'x'.repeat(300) }, 'value'],
      ['find_policies', { pageSize: 1_000 }, 'pageSize'],
      ['find_policies', { everything: true }, 'everything'],
      ['read_policy', { policy: '../../auth/users' }, 'policy'],
      ['read_policy', { policy, effectiveAt: 'yesterday' }, 'effectiveAt'],
      ['price_risk', { policyholder: 'x', product: 'x', exposures: Array(60).fill({}) }, 'exposures'],
      [
        'preview_policyholder',
        { values: Object.fromEntries(Array.from({ length: 6_000 }, (_, at) => [at, ''])) },
        'elements',
      ],
      ['start_report', { name: 'a/b' }, 'name'],
    ]
    for (const [name, args, about] of wrong) {
      const { isError, text } = await agent.call(name, args)
      expect([name, isError, text]).toEqual([name, true, expect.stringContaining(about)])
    }
  })
})

describe('the MCP interface', () => {
  it('has about twenty tools with exact schemas, and only carry_out changes records', async () => {
    const { tools } = await agent.client.listTools()
    expect(tools.map(one => one.name)).toEqual([
      ...['find_policies', 'find_policyholders', 'read_policyholder', 'read_policy', 'explain_policy'],
      ...['read_quotes', 'read_bills', 'list_products', 'read_product', 'price_risk', 'preview_policyholder'],
      ...['preview_quote', 'preview_issue', 'preview_endorsement', 'preview_renewal', 'preview_cancellation'],
      ...['preview_reinstatement', 'carry_out', 'read_events', 'list_reports', 'start_report', 'read_report'],
    ])
    for (const { name, inputSchema, outputSchema, annotations, description } of tools) {
      expect([name, inputSchema.additionalProperties]).toEqual([name, false])
      expect(outputSchema?.properties).toHaveProperty('data')
      expect(description!.length).toBeGreaterThan(30)
      expect([name, annotations?.destructiveHint]).toEqual([name, name === 'carry_out'])
    }
    const carryOut = tools.find(one => one.name === 'carry_out')!
    expect(Object.keys(carryOut.inputSchema.properties!)).toEqual(['preview'])
    expect(JSON.stringify(tools).length).toBeLessThan(85_000)
  })

  it('rejects unknown tools and methods', async () => {
    await expect(agent.client.callTool({ name: 'issue_policy', arguments: {} })).rejects.toThrow(/not found/)
    const { body } = await postMessage(token, { jsonrpc: '2.0', id: 1, method: 'policies/issue', params: {} })
    expect(JSON.stringify(body)).toContain('-32601')
  })

  it('rejects unsupported protocol versions, and offers a supported one when initialized', async () => {
    await expect(agentOf(token, { pin: '2031-01-01' })).rejects.toThrow()
    const { status } = await postMessage(token, LIST, { 'mcp-protocol-version': '1999-01-01' })
    expect(status).toBe(400)
    const hello = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '1999-01-01', capabilities: {}, clientInfo: { name: 'old', version: '1' } },
    }
    const { body } = await postMessage(token, hello)
    expect(JSON.stringify(body)).toMatch(/"protocolVersion\\?":\\?"202[56]-/)
  })

  it('shows products and their fields as resources', async () => {
    const { resources } = await agent.client.listResources()
    expect(resources.map(one => one.uri)).toEqual(
      expect.arrayContaining(['bindery://products', 'bindery://products/private_motor']),
    )
    const { contents } = await agent.client.readResource({ uri: 'bindery://products/private_motor' })
    expect((contents[0] as { text: string }).text).toContain('"claims_free_years"')
  })

  it('rejects a resource that does not exist or is not permitted, and says what to do', async () => {
    const read = (from: Agent, uri: string) => from.client.readResource({ uri }).catch(problem => problem)
    for (const [name, shown] of [
      ['nothing', 'nothing'],
      ['motor%2Dhome', 'motor-home'],
      ['%E0%A4', '%E0%A4'],
      ['x'.repeat(500), 'x'.repeat(100)],
    ] as const) {
      const { code, message } = await read(agent, `bindery://products/${name}`)
      expect(code).toBe(-32602)
      expect(message).toContain('What to do: Correct the values')
      expect(message).toContain(
        `{"status":400,"code":"invalidRequest","message":"There is no product '${shown}'."}`,
      )
    }
    const other = await agentOf(await agentToken(motor.tenantName, admin, ['policies.read']))
    const uris = ['bindery://products', 'bindery://products/private_motor']
    const refused = [
      ...(await Promise.all(uris.map(uri => read(other, uri)))),
      await other.client.listResources().catch(problem => problem),
    ]
    for (const { code, message } of refused) {
      expect(code).toBe(-32602)
      expect(message).toContain('What to do: The token lacks this permission.')
      expect(message).toContain('{"status":403,"code":"forbidden"')
    }
  })
})

describe('round trips of an agent', () => {
  // A long-lived token is looked up again every 5 s. An access token is not.
  let signedIn: Agent
  beforeAll(async () => {
    signedIn = await agentOf(admin)
  })

  it.each([
    ['find_policies', {}, { d1: 1 }],
    ['find_policyholders', {}, { d1: 1 }],
    ['read_policy', { knownAt: '2036-01-01T00:00:00Z' }, { d1: 1 }],
    ['explain_policy', {}, { d1: 1, object: 1 }],
    ['read_quotes', {}, { d1: 1 }],
    ['read_bills', {}, { d1: 1 }],
    ['list_products', {}, { d1: 1 }],
    ['read_product', { product: 'private_motor' }, { d1: 1 }],
    ['read_events', {}, { d1: 1 }],
    ['list_reports', {}, { d1: 1 }],
  ] as const)('calling %s', async (name, args, trips) => {
    const ofPolicy = ['read_policy', 'explain_policy', 'read_quotes', 'read_bills'].includes(name)
    const all = ofPolicy ? { policy, ...args } : args
    await signedIn.call(name, all)
    const answer = await signedIn.call(name, all)
    expect(answer.isError, answer.text).toBe(false)
    expect(answer.trips).toEqual({ object: 0, r2: 0, queue: 0, ...trips })
  })

  it('each step from a new policyholder to an issued policy', async () => {
    const { request } = plainYear()
    const {
      productName,
      policyStartTimestamp: start,
      policyEndTimestamp: end,
      ...content
    } = request.policy as Record<string, unknown>
    const trips: [string, Record<string, number>][] = []
    const step = async (name: string, args: object) => {
      const answer = await signedIn.call(name, args)
      expect(answer.isError, answer.text).toBe(false)
      const { d1, object } = answer.trips
      trips.push([name, { d1: d1!, object: object! }])
      return answer.data
    }
    const carryOut = async ({ preview }: { preview: string }) => {
      const data = await step('carry_out', { preview })
      noteOperation(data)
      return data
    }
    const holder = await carryOut(await step('preview_policyholder', { values: request.policyholder.values }))
    await step('read_policyholder', { policyholder: holder.policyholder })
    const risk = {
      policyholder: holder.policyholder,
      product: productName,
      startAt: new Date(Number(start)).toISOString(),
      endAt: new Date(Number(end)).toISOString(),
      ...content,
    }
    await step('price_risk', risk)
    const made = await carryOut(await step('preview_quote', risk))
    await carryOut(await step('preview_issue', { policy: made.policy }))
    const report = await step('start_report', { name: 'inForce' })
    await step('read_report', { report: report.report })
    expect(trips.filter(([name]) => name !== 'start_report')).toEqual([
      ['preview_policyholder', { d1: 1, object: 0 }],
      ['carry_out', { d1: 4, object: 0 }],
      ['read_policyholder', { d1: 1, object: 0 }],
      ['price_risk', { d1: 2, object: 0 }],
      ['preview_quote', { d1: 3, object: 0 }],
      ['carry_out', { d1: 4, object: 1 }],
      ['preview_issue', { d1: 2, object: 0 }],
      ['carry_out', { d1: 3, object: 1 }],
      ['read_report', { d1: 2, object: 0 }],
    ])
  })

  it('previewing a cancellation and carrying it out', async () => {
    const cancelling = {
      policy,
      name: 'customer_request',
      category: 'other',
      effectiveAt: '2035-06-01T00:00:00Z',
    }
    const shown = await signedIn.call('preview_cancellation', cancelling)
    expect(shown.trips).toEqual({ d1: 2, object: 0, r2: 0, queue: 0 })
    const done = await signedIn.call('carry_out', { preview: shown.data.preview })
    expect(done.isError, done.text).toBe(false)
    expect(done.trips).toEqual({ d1: 3, object: 1, r2: 0, queue: 0 })
  })

  it('listing the tools needs none', async () => {
    const { headers } = await postMessage(admin, LIST)
    expect(roundTrips({ headers })).toEqual({ d1: 0, object: 0, r2: 0, queue: 0 })
  })
})
