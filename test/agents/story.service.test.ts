// An agent with the client of the MCP SDK: from a question to an issued policy, with previews in between, and what the service
// rejects.
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { PREVIEW_LIFE_MS } from '../../src/transactions/mechanism/preview-token.ts'
import { type Agent, agentOf, agentToken, EVERYTHING } from '../support/agent.ts'
import { callOk } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'

let motor: Motor
let admin: string
let agent: Agent

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('agents', motorWithoutPapers())
  admin = await motor.signIn('anna.admin')
  agent = await agentOf(await agentToken(motor.tenantName, admin, EVERYTHING))
})

afterEach(() => void vi.useRealTimers())

const { request } = plainYear()
const iso = (ms: unknown): string => new Date(Number(ms)).toISOString()

const riskOf = (policyholder: string) => {
  const { productName, policyStartTimestamp, policyEndTimestamp, ...content } = request.policy as Record<
    string,
    unknown
  >
  return {
    policyholder,
    product: productName,
    startAt: iso(policyStartTimestamp),
    endAt: iso(policyEndTimestamp),
    ...content,
  }
}

const carryOut = (preview: string, by = agent) => by.call('carry_out', { preview })

async function newPolicyholder(by = agent): Promise<string> {
  const { preview } = await by.ask('preview_policyholder', { values: request.policyholder.values })
  return (await by.ask('carry_out', { preview })).policyholder
}

async function quoted(by = agent): Promise<string> {
  const { preview } = await by.ask('preview_quote', riskOf(await newPolicyholder(by)))
  const { policy, state } = await by.ask('carry_out', { preview })
  expect(state).toBe('finalized')
  return policy
}

async function issued(by = agent): Promise<string> {
  const policy = await quoted(by)
  const { preview } = await by.ask('preview_issue', { policy })
  await by.ask('carry_out', { preview })
  return policy
}

const read = async (policy: string) =>
  await callOk<{ issuedTimestamp?: string; modifications: unknown[]; updatedTimestamp: string }>(
    'GET',
    `/policy/${policy}`,
    { token: motor.token },
  )

const endorsing = async (policy: string, value = '49000') => {
  const { exposures } = await agent.ask('read_policy', { policy })
  return {
    policy,
    endorsementName: 'change_of_risk',
    updateExposures: [{ exposureLocator: exposures[0].exposure, fieldValues: { vehicle_value: value } }],
  }
}

describe('an agent gets from a question to an issued policy', () => {
  it.each(['legacy', 'auto'] as const)('with a client that connects as %s', async mode => {
    const own = await agentOf(await agentToken(motor.tenantName, admin, EVERYTHING), mode)
    expect(own.client.getServerVersion()?.name).toBe('bindery')
    const { products } = await own.ask('list_products')
    expect(products.map((one: { name: string }) => one.name)).toContain('private_motor')
    const policyholder = await newPolicyholder(own)
    const risk = riskOf(policyholder)
    const asked = await own.ask('price_risk', risk)
    expect(asked.price.total.amount).toBeGreaterThan(0)
    const prepared = await own.ask('preview_quote', risk)
    expect(prepared.price).toEqual(asked.price)
    const made = await own.ask('carry_out', { preview: prepared.preview })
    expect([made.state, made.underwriting.decision]).toEqual(['finalized', 'accept'])
    expect((await read(made.policy)).issuedTimestamp).toBeUndefined()
    const shown = await own.ask('preview_issue', { policy: made.policy })
    expect(shown.price.total).toEqual({ now: asked.price.total, change: asked.price.total })
    expect(shown.bills.length).toBeGreaterThan(0)
    const done = await own.ask('carry_out', { preview: shown.preview })
    expect([done.state, done.policy]).toEqual(['issued', made.policy])
    expect((await read(made.policy)).issuedTimestamp).toBeDefined()
  })

  it('and then endorses, renews, cancels and reinstates it', async () => {
    const policy = await issued()
    const change = await agent.ask('preview_endorsement', await endorsing(policy))
    expect(change.price.premium.change.amount).not.toBe(0)
    const changed = await agent.ask('carry_out', { preview: change.preview })
    expect(changed).toMatchObject({ operation: 'endorsement', policy, state: 'issued' })
    const { end, start } = await agent.ask('read_policy', { policy })
    const endAt = iso(Date.parse(end) + 365 * 86_400_000)
    const renewal = await agent.ask('preview_renewal', { policy, endAt })
    expect(renewal.coverEnds).toBe(endAt)
    expect((await agent.ask('carry_out', { preview: renewal.preview })).state).toBe('issued')
    const cancellation = await agent.ask('preview_cancellation', {
      policy,
      name: 'customer_request',
      category: 'other',
      effectiveAt: iso(Date.parse(start) + 150 * 86_400_000),
    })
    expect(cancellation.price.total.change.amount).toBeLessThan(0)
    const cancelled = await agent.ask('carry_out', { preview: cancellation.preview })
    const back = await agent.ask('preview_reinstatement', { policy, cancellation: cancelled.record })
    expect((await agent.ask('carry_out', { preview: back.preview })).state).toBe('issued')
    const { transactions, inWords, price } = await agent.ask('explain_policy', { policy })
    expect(transactions.map((one: { name: string }) => one.name)).toEqual([
      'modification.policy.create',
      'change_of_risk',
      'modification.policy.renew',
      expect.stringMatching(/cancel|customer_request/),
      expect.stringMatching(/reinstate/),
    ])
    expect([inWords.length, price.total.amount > 0]).toEqual([6, true])
  })
})

describe('carry_out rejects', () => {
  const reasonOf = ({ isError, problem }: Awaited<ReturnType<Agent['call']>>) => [
    isError,
    problem?.status,
    problem?.details?.previewReason,
  ]

  it('a preview that does not exist', async () => {
    expect(reasonOf(await carryOut(`pv_${'a'.repeat(24)}`))).toEqual([true, 409, 'unknown'])
    for (const preview of ['', 'no preview', '../policy', 42])
      expect((await agent.call('carry_out', { preview })).isError).toBe(true)
  })

  it('arguments in addition to the preview', async () => {
    const policy = await quoted()
    const { preview } = await agent.ask('preview_issue', { policy })
    const more = await agent.call('carry_out', { preview, body: { state: 'issued' } })
    expect([more.isError, more.text]).toEqual([true, expect.stringContaining('body')])
    expect((await read(policy)).issuedTimestamp).toBeUndefined()
  })

  it('a preview that was already used', async () => {
    const policy = await quoted()
    const { preview } = await agent.ask('preview_issue', { policy })
    await agent.ask('carry_out', { preview })
    const again = await carryOut(preview)
    expect(reasonOf(again)).toEqual([true, 409, 'used'])
    expect(again.next).toContain('do not repeat it')
    const holder = await agent.ask('preview_policyholder', { values: request.policyholder.values })
    await agent.ask('carry_out', { preview: holder.preview })
    expect(reasonOf(await carryOut(holder.preview))).toEqual([true, 409, 'used'])
  })

  it('all but one of several simultaneous uses of a preview', async () => {
    const { preview } = await agent.ask('preview_quote', riskOf(await newPolicyholder()))
    const answers = await Promise.all(Array.from({ length: 4 }, () => carryOut(preview)))
    expect(answers.filter(one => !one.isError)).toHaveLength(1)
  })

  it('a preview of another account', async () => {
    const policy = await quoted()
    const { preview } = await agent.ask('preview_issue', { policy })
    const other = await agentOf(motor.token)
    expect(reasonOf(await carryOut(preview, other))).toEqual([true, 409, 'account'])
    expect((await read(policy)).issuedTimestamp).toBeUndefined()
    await agent.ask('carry_out', { preview })
    // The same holds for a new policyholder, which no If-Previewed guards.
    const made = await agent.ask('preview_policyholder', { values: {} })
    expect(reasonOf(await carryOut(made.preview, other))).toEqual([true, 409, 'account'])
  })

  it('a preview that was made before the policy changed', async () => {
    const policy = await issued()
    const { preview } = await agent.ask('preview_endorsement', await endorsing(policy))
    const other = await agent.ask('preview_endorsement', await endorsing(policy, '51000'))
    await agent.ask('carry_out', { preview: other.preview })
    const before = await read(policy)
    const refused = await carryOut(preview)
    expect(reasonOf(refused)).toEqual([true, 409, 'policy'])
    expect(refused.next).toContain('Preview it again')
    expect(await read(policy)).toEqual(before)
  })

  it('a preview that is fifteen minutes old', async () => {
    const policy = await quoted()
    const issue = await agent.ask('preview_issue', { policy })
    const holder = await agent.ask('preview_policyholder', { values: request.policyholder.values })
    vi.useFakeTimers({ toFake: ['Date'] })
    vi.setSystemTime(Date.now() + PREVIEW_LIFE_MS)
    for (const { preview } of [issue, holder])
      expect(reasonOf(await carryOut(preview))).toEqual([true, 409, 'expired'])
    expect((await read(policy)).issuedTimestamp).toBeUndefined()
  })

  it('an expired preview that a timer has deleted', async () => {
    const { preview } = await agent.ask('preview_policyholder', { values: request.policyholder.values })
    const kept = async () => {
      const { results } = await boundDatabase(poolBinding(1))
        .prepare('select answer from "write" where key = ?')
        .bind(`agent:${preview}`)
        .all<{ answer: string }>()
      return results.map(one => one.answer)
    }
    const [sealed] = await kept()
    expect(sealed).toMatch(/^v1\./)
    const moved = await callOk<{ completed: boolean }>('POST', '/test/clock', {
      token: motor.token,
      body: { advance: { amount: 15, unit: 'minute' } },
    })
    expect(moved.completed).toBe(true)
    expect(await kept()).toEqual([])
    expect(reasonOf(await carryOut(preview))).toEqual([true, 409, 'unknown'])
  })

  it('previews made before values of a policyholder were erased, since they may show them', async () => {
    const holder = await newPolicyholder()
    const previews = [
      await agent.ask('preview_policyholder', { values: request.policyholder.values }),
      await agent.ask('preview_quote', riskOf(holder)),
    ]
    const kept = async () => {
      const { results } = await boundDatabase(poolBinding(1))
        .prepare(`select key from "write" where key like 'agent:%'`)
        .all<{ key: string }>()
      return results.map(one => one.key)
    }
    expect(await kept()).toEqual(expect.arrayContaining(previews.map(({ preview }) => `agent:${preview}`)))
    await callOk('PATCH', `/policyholder/${holder}/overwriteData`, {
      token: motor.token,
      body: { overwrites: { last_name: 'Erased' } },
    })
    await callOk('POST', '/test/clock', {
      token: motor.token,
      body: { advance: { amount: 1, unit: 'minute' } },
    })
    await expect.poll(kept, { timeout: 30_000 }).toEqual([])
    for (const { preview } of previews)
      expect(reasonOf(await carryOut(preview))).toEqual([true, 409, 'unknown'])
    const again = await agent.ask('preview_quote', riskOf(holder))
    expect((await agent.ask('carry_out', { preview: again.preview })).state).toBe('finalized')
  })

  it('a quote with invalid values, without leaving a policy', async () => {
    const policyholder = await newPolicyholder()
    const risk = riskOf(policyholder)
    const wrong = {
      ...risk,
      fieldValues: { ...(risk as { fieldValues?: object }).fieldValues, region_class: 'R99' },
    }
    const prepared = await agent.ask('preview_quote', wrong)
    const refused = await carryOut(prepared.preview)
    expect([refused.isError, refused.problem.code]).toEqual([true, 'policyValidation'])
    expect(JSON.stringify(refused.problem.details)).toContain('region_class')
    expect((await agent.ask('find_policies', { policyholder })).policies).toEqual([])
  })
})
