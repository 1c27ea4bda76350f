// Erased values of a person in the books: their tables contain none, and lines and files of reports are emptied.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { LATEST } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { fireDue } from '../../src/platform/events/timers.ts'
import { HOME_SHARD, readTenant } from '../../src/platform/tenancy.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { ReportLinesResponse, ReportStatusResponse } from '../../src/reporting/contract.ts'
import { emptyShowingHolders } from '../../src/reporting/erasure.ts'
import { type Holders, holdersTenant } from '../policyholders/tenant.ts'
import { callOk } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { plainYear } from '../support/motor.ts'

const TABLES = ['journal', 'books', 'book_closing', 'book_summary', 'report', 'report_schedule']
const OLD = 'Zzyzxson'

let holders: Holders
let holder: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  holders = await holdersTenant('forgotten')
  holder = (await holders.made({ first_name: 'Ada', last_name: OLD })).locator
  const { token } = holders
  const policy = await callOk<PolicyResponse>('POST', '/policy', {
    token,
    body: { ...plainYear().request.policy, policyholderLocator: holder },
  })
  const issued = await callOk<PolicyResponse>('POST', `/policy/${policy.locator}/issue`, { token })
  await callOk('POST', `/invoice/${issued.invoices[0]!.locator}/pay`, {
    token,
    body: { fieldValues: { method: 'card' } },
  })
})

const run = (name: string, body: object = {}): Promise<ReportStatusResponse> =>
  callOk<ReportStatusResponse>('POST', `/report/${name}?wait=20`, {
    token: holders.token,
    body: { from: '2020-01-01', to: '2040-01-01', ...body },
  })
const status = ({ locator }: { locator: string }): Promise<ReportStatusResponse> =>
  callOk<ReportStatusResponse>('GET', `/report/${locator}/status`, { token: holders.token })
const lines = ({ locator }: { locator: string }): Promise<ReportLinesResponse> =>
  callOk<ReportLinesResponse>('GET', `/report/${locator}/lines`, { token: holders.token })

/** Keys of all report files that contain the text. */
async function filesWith(text: string): Promise<string[]> {
  const { objects } = await env.FILES.list()
  const found = await Promise.all(
    objects.map(async ({ key }) => ({ key, body: await (await env.FILES.get(key))!.text() })),
  )
  return found.filter(({ key, body }) => key.includes('report') && body.includes(text)).map(({ key }) => key)
}

async function tablesWith(text: string): Promise<string[]> {
  const database = boundDatabase(poolBinding(1))
  const rows = await Promise.all(
    TABLES.map(async table => ({
      table,
      text: JSON.stringify((await database.prepare(`select * from ${table}`).all()).results),
    })),
  )
  expect(rows.find(one => one.table === 'journal')!.text.length).toBeGreaterThan(1_000)
  return rows.filter(one => one.text.toLowerCase().includes(text.toLowerCase())).map(({ table }) => table)
}

describe('after values of a policyholder were overwritten', () => {
  it('tables contain none, and reports that showed them lose lines and files until they are resumed', async () => {
    const shown = await run('bordereau', { columns: ['holder:last_name'] })
    const others = await run('ledger')
    await callOk('GET', '/books/balances', { token: await holders.signIn('anna.admin') })
    expect([shown.state, others.state]).toEqual(['finished', 'finished'])
    expect((await lines(shown)).items[0]).toMatchObject({ 'holder:last_name': OLD })
    expect((await filesWith(OLD)).length).toBeGreaterThan(1)
    expect(await tablesWith(OLD)).toEqual([])

    expect((await holders.overwrite(holder, { last_name: 'ERASED' })).status).toBe(200)
    expect(await tablesWith(OLD)).toEqual([])
    const tenant = (await readTenant(env, { name: holders.tenantName }, noCalls()))!
    await fireDue({ env, tenant, shard: HOME_SHARD, calls: noCalls() })
    const emptied = await status(shown)
    await emptyShowingHolders({ env, tenant, calls: noCalls() }, LATEST)
    expect(await status(shown)).toEqual(emptied)
    expect((await status(shown)).state).toBe('error')
    expect(await filesWith(OLD)).toEqual([])
    const gone = await status(shown)
    expect([gone.files, gone.totals, gone.problem]).toEqual([[], [], expect.stringMatching(/overwritten/)])
    expect((await lines(shown)).items).toEqual([])
    expect(await status(others)).toMatchObject({ state: 'finished', totals: others.totals })

    await callOk('PATCH', `/report/${shown.locator}/resume`, { token: holders.token })
    await expect.poll(async () => (await status(shown)).state, { timeout: 10_000 }).toBe('finished')
    expect((await lines(shown)).items[0]).toMatchObject({ 'holder:last_name': 'ERASED' })
    expect(await status(shown)).toMatchObject({ totals: shown.totals, lines: shown.lines })
    expect(await filesWith(OLD)).toEqual([])
  })
})
