// An impact on the service: all policies of a tenant on three databases, priced from their data with another configuration.
import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { shardOfUuid, type Uuid } from '../../../src/kernel/locators.ts'
import { noCalls } from '../../../src/platform/calls.ts'
import { impactObject } from '../../../src/platform/objects.ts'
import type { Tenant } from '../../../src/platform/tenancy.ts'
import type { PolicyResponse } from '../../../src/policy/contract/response.ts'
import type {
  ImpactCreateResponse,
  ImpactResponse,
  ImpactSummaryResponse,
} from '../../../src/servicing/impact/contract.ts'
import { runImpactAlarm } from '../../../src/servicing/impact/run.ts'
import { noTotals } from '../../../src/servicing/impact/totals.ts'
import type { QuickQuoteResponse } from '../../../src/servicing/quick-quotes/contract.ts'
import { callApi, callOk } from '../../support/api.ts'
import { addDatabases, boundDatabase, poolBinding, prepareDatabases } from '../../support/databases.ts'
import { type ArchiveFiles, archiveOf, motorWithoutPapers } from '../../support/examples.ts'
import { faultyDatabase } from '../../support/faulty-database.ts'
import { type Motor, motorTenant, plainYear } from '../../support/motor.ts'
import { madeToken } from '../../support/test-tokens.ts'
import { withPlugins } from '../../support/with-plugins.ts'

const REGION_FACTOR = 'products/private_motor/policy/tables/region_factor.csv'
const POLICIES = 14
const REGIONS = ['R1', 'R2', 'R6']

const { policy: worked } = plainYear().request
const DAY = worked.policyStartTimestamp + 40 * 86_400_000

let motor: Motor
let other: Motor
let token: string
let policies: { locator: string; region: string }[]
let changed: ArchiveFiles

const textOf = (content: string | Uint8Array): string =>
  typeof content === 'string' ? content : new TextDecoder().decode(content)

/** New policyholders can be in any database. Those in another one remain without a policy. */
async function newHolderIn(shard: number): Promise<string> {
  for (let tries = 0; tries < 200; tries += 1) {
    const holder = await motor.newPolicyholder()
    if (shardOfUuid(holder as Uuid) === shard) return holder
  }
  throw new Error(`No policyholder came to database ${shard}.`)
}

const requestIn = (region: string, policyholderLocator: string) => ({
  ...worked,
  fieldValues: { ...worked.fieldValues, region_class: region },
  policyholderLocator,
})

beforeAll(async () => {
  await prepareDatabases({ tenants: 4 })
  motor = await motorTenant('impact')
  changed = { ...motorWithoutPapers() }
  changed[REGION_FACTOR] = textOf(changed[REGION_FACTOR]!)
    .replace('R1,0.86', 'R1,0.80')
    .replace('R6,1.29', 'R6,1.41')
  other = await motorTenant('impact-changed', changed)
  await addDatabases(motor.tenantLocator, 3, 4)
  token = await motor.signIn('anna.admin')
  policies = []
  for (let at = 0; at < POLICIES; at += 1) {
    const region = REGIONS[Math.floor(at / 3) % REGIONS.length]!
    const holder = await newHolderIn(at % 3)
    const { locator } = await callOk<PolicyResponse>('POST', '/policy', {
      token,
      body: requestIn(region, holder),
    })
    await callOk('POST', `/policy/${locator}/issue`, { token })
    policies.push({ locator, region })
  }
  // One policy is not issued.
  const draft = await motor.newPolicyholder()
  await callOk('POST', '/policy', { token, body: requestIn('R1', draft) })
})

function formOf(fields: Record<string, string> = {}, files: ArchiveFiles = changed): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries({ day: String(DAY), name: 'motor 2027', ...fields }))
    form.set(name, value)
  form.set('zipFile', new Blob([archiveOf(files)], { type: 'application/zip' }), 'motor.zip')
  return form
}

const create = (fields?: Record<string, string>, files?: ArchiveFiles) =>
  callOk<ImpactCreateResponse>('POST', '/impacts', { token, body: formOf(fields, files) })

const read = (locator: string) => callOk<ImpactResponse>('GET', `/impacts/${locator}`, { token })
const patch = (path: string) => callApi('PATCH', `/impacts/${path}`, { token })
const remove = (locator: string) => callApi('DELETE', `/impacts/${locator}`, { token })

async function until(locator: string, ...states: string[]): Promise<ImpactResponse> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const impact = await read(locator)
    if (states.includes(impact.state)) return impact
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  throw new Error(`The impact does not become ${states.join(' or ')}.`)
}

const cents = (amount: number): number => Math.round(amount * 100)

/** The price of the next year of each policy with the changed configuration, from a separate quick quote for each region. */
async function pricedOneByOne(): Promise<{ total: number; byRegion: Map<string, number> }> {
  const holder = await other.newPolicyholder()
  const byRegion = new Map<string, number>()
  for (const region of REGIONS) {
    const quote = await callOk<QuickQuoteResponse>('POST', `/policy/${other.tenantLocator}/quickquotes`, {
      token: other.token,
      body: {
        ...requestIn(region, holder),
        policyStartTimestamp: worked.policyEndTimestamp,
        policyEndTimestamp: undefined,
      },
    })
    if (!quote.price) throw new Error(JSON.stringify(quote))
    byRegion.set(region, cents(quote.price.total))
  }
  return { total: policies.reduce((sum, { region }) => sum + byRegion.get(region)!, 0), byRegion }
}

const filesOf = async (part: string): Promise<string[]> =>
  (await env.FILES.list()).objects.map(({ key }) => key).filter(key => key.includes(part))

async function rowsOf(locator: string): Promise<string[][]> {
  const { status, body, headers } = await callApi<string>('GET', `/impacts/${locator}/rows`, { token })
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
  return body
    .trimEnd()
    .split('\r\n')
    .map(line => line.split(','))
}

const homeShard = () => ({ tenantLocator: motor.tenantLocator as Uuid, generation: 1, shard: 0 })

/** Marks the impact as running so that the test can work on it, once its own object has finished. */
async function runAgain(locator: string): Promise<void> {
  const tenant = { locator: motor.tenantLocator, generation: 1 } as Tenant
  await expect
    .poll(() =>
      runInDurableObject(
        impactObject(env, tenant, locator as Uuid),
        async (_, { storage }) => (await storage.get('charge')) !== undefined && (await storage.getAlarm()),
      ),
    )
    .toBeNull()
  await boundDatabase(poolBinding(1))
    .prepare(`update impact_run set state = 'running' where locator = ?`)
    .bind(locator)
    .run()
}

describe('an impact', () => {
  it('prices every policy in force in all databases, with the same sums as pricing them one by one', async () => {
    const { success, impact } = await create()
    expect(success).toBe(true)
    expect(impact).toMatchObject({
      state: 'running',
      name: 'motor 2027',
      expectedPolicies: POLICIES,
      currency: 'EUR',
    })
    const { totals, policies: seen } = await until(impact!.locator, 'finished')
    const { total, byRegion } = await pricedOneByOne()
    expect(seen).toBe(POLICIES)
    expect(new Set(policies.map(one => Number(one.locator) % 64)).size).toBe(3)
    expect(totals).toMatchObject({ policies: POLICIES, unpriced: 0, notInForce: 0, cancelled: 0 })
    expect(cents(totals.compared.new)).toBe(total)
    const prices = await Promise.all(
      policies.map(({ locator }) => callOk<{ total: number }>('POST', `/policy/${locator}/price`, { token })),
    )
    expect(cents(totals.compared.old)).toBe(prices.reduce((sum, one) => sum + cents(one.total), 0))
    for (const region of REGIONS) {
      const group = totals.groups.find(one => one.field === 'region_class' && one.group === region)!
      expect(cents(group.new)).toBe(group.policies * byRegion.get(region)!)
      expect([group.losers, group.winners]).toEqual(
        { R1: [0, group.policies], R2: [0, 0], R6: [group.policies, 0] }[region]!,
      )
    }
    const [head, ...rows] = await rowsOf(impact!.locator)
    const column = (name: string) => rows.map(row => row[head!.indexOf(name)]!)
    expect(new Set(column('locator'))).toEqual(new Set(policies.map(({ locator }) => locator)))
    expect(column('new_total').reduce((sum, text) => sum + cents(Number(text)), 0)).toBe(total)
    const page = await callApi<string>('GET', `/impacts/${impact!.locator}/page`, { token })
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.body).toContain('<h1>What motor 2027 changes for the policies of ')
    expect(page.body).toContain('id="group-region_class"')
  })

  it('against the versions of the policies gives the price without the change', async () => {
    const { impact } = await create({ against: 'version', by: 'region_class' }, motorWithoutPapers())
    const { totals, fields } = await until(impact!.locator, 'finished')
    expect(fields).toEqual(['region_class'])
    expect(totals.compared).toMatchObject({ policies: POLICIES, losers: 0, winners: 0 })
    expect(totals.old).toEqual(totals.new)
  })

  it('writes nothing to policies and emits no events', async () => {
    const contents = async () => {
      const rows: unknown[] = []
      for (const number of [1, 3, 4])
        for (const table of ['policy', 'peril_run', 'modification', 'aux_data', 'event', 'plugin_log'])
          rows.push(
            (
              await boundDatabase(poolBinding(number))
                .prepare(`select * from ${table} ${table === 'event' ? "where type not like 'login%'" : ''}`)
                .all()
            ).results,
          )
      return JSON.stringify(rows)
    }
    const before = await contents()
    const { impact } = await create({ occasion: 'day' })
    await until(impact!.locator, 'finished')
    expect(await contents()).toBe(before)
  })

  it('stops pricing policies when it is paused, and continues where it was when it is resumed', async () => {
    const { impact } = await create()
    const { locator } = impact!
    expect((await patch(`${locator}/pause`)).status).toBe(200)
    const paused = await read(locator)
    expect(paused.state).toBe('paused')
    expect((await patch(`${locator}/pause`)).status).toBe(409)
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(await read(locator)).toEqual(paused)
    expect((await patch(`${locator}/resume`)).status).toBe(200)
    expect((await until(locator, 'finished')).totals.compared.policies).toBe(POLICIES)
    expect((await patch(`${locator}/resume`)).status).toBe(409)
    expect(await rowsOf(locator)).toHaveLength(POLICIES + 1)
  })

  it('that is interrupted within a portion records nothing of the portion', async () => {
    const { impact } = await create()
    const { locator } = impact!
    await patch(`${locator}/pause`)
    const { policies: before } = await read(locator)
    await runAgain(locator)
    // An alarm that has sent as many statements as it should leaves the portion to the next one.
    const full = { ...noCalls(), statements: 501 }
    expect(await runImpactAlarm(env, homeShard(), locator as Uuid, () => false, full)).toBe(0)
    expect((await read(locator)).policies).toBe(before)
    let asked = 0
    await runImpactAlarm(env, homeShard(), locator as Uuid, () => ++asked > 3)
    expect(asked).toBeGreaterThan(3)
    expect((await read(locator)).policies).toBe(before)
    while ((await runImpactAlarm(env, homeShard(), locator as Uuid, () => false)) !== undefined);
    expect(await rowsOf(locator)).toHaveLength(POLICIES + 1)
  })

  it('makes its portions smaller when one needs more statements than an alarm may send', async () => {
    const whole = (await until((await create()).impact!.locator, 'finished')).totals
    const { impact } = await create()
    const { locator } = impact!
    await patch(`${locator}/pause`)
    await runAgain(locator)
    await boundDatabase(poolBinding(1))
      .prepare('update impact_run set shard = 0, after = 0, portions = 0, totals = ? where locator = ?')
      .bind(JSON.stringify(noTotals()), locator)
      .run()
    const most: number[] = []
    for (let alarm = 0; alarm < 40 && (await read(locator)).state === 'running'; alarm += 1) {
      const calls = noCalls()
      // As if each policy needed 200 statements for its look-ups.
      const isHalted = () => {
        calls.statements = (calls.statements ?? 0) + 200
        return false
      }
      await runImpactAlarm(env, homeShard(), locator as Uuid, isHalted, calls)
      most.push(calls.statements!)
    }
    expect(Math.max(...most)).toBeLessThan(1_300)
    expect((await until(locator, 'finished')).totals).toEqual(whole)
    const stored = await boundDatabase(poolBinding(1))
      .prepare('select totals, portions from impact_run where locator = ?')
      .bind(locator)
      .first<{ totals: string; portions: number }>()
    // Fifty policies need too many, and so do twelve. Three do not.
    expect(JSON.parse(stored!.totals).abandoned).toEqual([0, 1])
    const rows = await rowsOf(locator)
    expect(new Set(rows.slice(1).map(([policy]) => policy)).size).toBe(POLICIES)
    expect(rows).toHaveLength(POLICIES + 1)
  })

  it('counts each policy once despite failures before or after any batch and pauses at any policy', async () => {
    const whole = (await until((await create()).impact!.locator, 'finished')).totals
    const { impact } = await create()
    const { locator } = impact!
    await patch(`${locator}/pause`)
    await runAgain(locator)
    const shard = homeShard()
    for (let at = 0; at < 60; at += 1) {
      const fault = at % 2 === 0 ? 'before' : 'after'
      const binding = poolBinding([1, 3, 4][at % 3]!)
      const faulty = {
        ...env,
        [binding]: faultyDatabase(boundDatabase(binding), batch =>
          batch === Math.floor(at / 6) % 6 ? fault : undefined,
        ),
      } as unknown as Env
      let asked = 0
      // Every third attempt is interrupted after some policies, as by a pause.
      const isHalted = () => at % 3 === 2 && ++asked > 3
      await runImpactAlarm(faulty, shard, locator as Uuid, isHalted).catch(() => undefined)
      if ((await read(locator)).state === 'error') await patch(`${locator}/resume`)
    }
    await runImpactAlarm(env, shard, locator as Uuid, () => false)
    const { totals } = await until(locator, 'finished')
    expect(totals).toEqual(whole)
    const rows = await rowsOf(locator)
    expect(new Set(rows.slice(1).map(([policy]) => policy)).size).toBe(POLICIES)
    expect(rows).toHaveLength(POLICIES + 1)
  })

  it('needs a fixed number of round trips per portion, regardless of the number of policies', async () => {
    const whole = await until((await create()).impact!.locator, 'finished')
    const { impact } = await create()
    const { locator } = impact!
    await patch(`${locator}/pause`)
    await runAgain(locator)
    const { totals: begun } = await read(locator)
    expect(begun.policies).toBeLessThan(POLICIES)
    await boundDatabase(poolBinding(1))
      .prepare('update impact_run set shard = 0, after = 0, portions = 0, totals = ? where locator = ?')
      .bind(JSON.stringify(noTotals()), locator)
      .run()
    const counts: { d1: number; r2: number; object: number }[] = []
    // Alarms of one portion each, as far as they go: the other calls belong to the alarm.
    for (let alarm = 0; alarm < 20 && (await read(locator)).state === 'running'; alarm += 1) {
      const calls = noCalls()
      let asked = 0
      await runImpactAlarm(env, homeShard(), locator as Uuid, () => ++asked > 1_000, calls)
      // Reading the tenant again depends on the clock and is not counted.
      counts.push({ d1: calls.d1 - calls.renewed, r2: calls.r2, object: calls.object })
    }
    expect((await until(locator, 'finished')).totals).toEqual(whole.totals)
    // Three databases with one portion each. An alarm reads the tenant and the impact (and its configuration once). A portion
    // needs the list of policies, their records, a file and a commit. The end of a database needs an empty list and a commit.
    const [d1, r2] = [
      counts.reduce((sum, one) => sum + one.d1, 0),
      counts.reduce((sum, one) => sum + one.r2, 0),
    ]
    expect({ alarms: counts.length, d1, r2 }).toEqual({ alarms: 2, d1: 2 * 1 + 3 * 3 + 3 * 2, r2: 3 })
    expect(counts.every(({ object }) => object === 0)).toBe(true)
  })

  it('counts policies that the configuration does not accept, with the reason', async () => {
    const path = 'products/private_motor/policy/policy.json'
    const files = {
      ...changed,
      [path]: textOf(changed[path]!).replace('"R5","R6"', '"R5"').replace('"R5", "R6"', '"R5"'),
    }
    const { impact } = await create({}, files)
    const { totals } = await until(impact!.locator, 'finished')
    const count = policies.filter(({ region }) => region === 'R6').length
    expect(totals.unpriced).toBe(count)
    expect(totals.reasons).toEqual([
      { what: expect.stringMatching(/^new: Field 'region_class' /), policies: count },
    ])
  })

  it('is not created from an archive with errors, and the response contains the log', async () => {
    const answer = await create(
      {},
      { ...changed, 'config.json': '{"timezone": "Europe/Berln", "currency": "EUR"}' },
    )
    expect(answer).toEqual({ success: false, logfile: expect.stringContaining('unknownTimeZone') })
  })

  it('is rejected for invalid fields and forms, and returns 404 for unknown locators', async () => {
    for (const [fields, says] of [
      [{ by: 'region_clas' }, "Did you mean 'region_class'?"],
      [{ by: 'broker_code' }, "'broker_code' may have values that identify one person"],
      [{ occasion: 'noon' }, 'occasion'],
      [{ against: 'nothing' }, 'against'],
      [{ day: 'tomorrow' }, 'day'],
    ] as const) {
      const { status, body } = await callApi('POST', '/impacts', { token, body: formOf(fields) })
      expect([fields, status]).toEqual([fields, 400])
      expect(JSON.stringify(body)).toContain(says)
    }
    const without = new FormData()
    without.set('name', 'x')
    expect((await callApi('POST', '/impacts', { token, body: without })).status).toBe(400)
    for (const path of ['/impacts/x', '/impacts/00000000-0000-4000-8000-000000000000'])
      expect((await callApi('GET', path, { token })).status).toBe(404)
  })

  it('runs one at a time (409), is listed, and is deleted with its files in any state', async () => {
    const { impact } = await create()
    const { locator } = impact!
    await patch(`${locator}/pause`)
    const running = await create()
    const second = await callApi('POST', '/impacts', { token, body: formOf() })
    const state = (await read(running.impact!.locator)).state
    if (state === 'running') expect(second.status).toBe(409)
    await until(running.impact!.locator, 'finished')
    const listed = await callOk<ImpactSummaryResponse[]>('GET', '/impacts', { token })
    expect(listed.map(one => one.locator)).toContain(locator)
    expect(await filesOf(running.impact!.locator)).not.toEqual([])
    for (const one of await callOk<ImpactSummaryResponse[]>('GET', '/impacts', { token }))
      expect((await remove(one.locator)).status).toBe(200)
    expect(await callOk('GET', '/impacts', { token })).toEqual([])
    expect(await filesOf('/impacts/')).toEqual([])
    expect((await remove(locator)).status).toBe(404)
  })

  it('returns 403 without the permission', async () => {
    const { status } = await callApi('GET', '/impacts', { token: motor.token })
    expect(status).toBe(403)
  })

  it('gives the scripts of its archive no secret, unless the account that sent it has secrets.read', async () => {
    const { tenantLocator } = motor
    await callOk('POST', `/resource/${tenantLocator}/secrets`, {
      token,
      body: { name: 'vault 1', staticName: 'vault', secret: { pin: 'geheim-4711' } },
    })
    await callOk('POST', `/resource/${tenantLocator}/groups`, {
      token,
      body: { name: 'g1', selectionStartTime: '2020-01-01T00:00:00Z', resourceNames: ['vault 1'] },
    })
    // Written backwards, no text of the answer is the secret, so nothing masks it.
    const getUnderwritingResult = `exports.getUnderwritingResult = () => {
  throw new Error([...socotraApi.getSecret('vault', 'pin')].reverse().join(''))
}`
    const files = withPlugins({ getUnderwritingResult }, changed)
    const { id } = (
      await callOk<{ items: { id: string; username: string }[] }>(
        'GET',
        '/account/v1/accounts/list?extended=true',
        { token },
      )
    ).items.find(({ username }) => username === 'anna.admin')!
    const reasonOf = async (permissions: readonly string[]): Promise<unknown> => {
      const limited = await madeToken({
        accountLocator: id,
        accountType: 'account.tenant.admin',
        permissions,
        tenantLocator,
      })
      const { impact } = await callOk<ImpactCreateResponse>('POST', '/impacts', {
        token: limited,
        body: formOf({}, files),
      })
      const { totals } = await until(impact!.locator, 'finished')
      return totals.reasons
    }
    const count = policies.length
    expect(await reasonOf(['impacts.write', 'impacts.read'])).toEqual([
      {
        what: "new: Plugin getUnderwritingResult reads the secret 'vault'. Scripts of an archive that is not deployed may do so only if the account that sends it has the permission secrets.read.",
        policies: count,
      },
    ])
    expect(await reasonOf(['impacts.*', 'secrets.read'])).toEqual([
      { what: expect.stringContaining('1174-mieheg'), policies: count },
    ])
  })
})
