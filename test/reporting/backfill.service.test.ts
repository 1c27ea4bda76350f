// Policies that existed before the journal are brought in by the first report.
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { BOOKS, migrateInSteps } from '../../src/platform/database/migrations.ts'
import { bindingTarget } from '../../src/platform/database/target.ts'
import type { ReportStatusResponse } from '../../src/reporting/contract.ts'
import { callApi, callOk } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases, tenantMigrations } from '../support/databases.ts'
import { journalProblems } from '../support/journal/read.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const DAY_MS = 86_400_000

async function livedPolicy(motor: Motor): Promise<{ locator: string; start: number }> {
  const { body } = await motor.createPolicy({})
  await motor.post(`/policy/${body.locator}/issue`)
  const start = Number(body.originalContractStartTimestamp)
  await motor.post(`/invoice/${body.invoices[0]!.locator}/pay`, { fieldValues: { method: 'card' } })
  return { locator: body.locator, start }
}

describe('policies from before the journal', () => {
  it('are brought in as if it had always been kept, even if they change meanwhile', async () => {
    await prepareDatabases({ tenants: 1, before: BOOKS })
    const motor = await motorTenant('before')
    const token = await motor.signIn('anna.admin')
    const { locator, start } = await livedPolicy(motor)
    const second = await livedPolicy(motor)
    const refused = await callApi('POST', '/report/ledger', { token, body: {} })
    expect(refused.status).toBe(503)
    const binding = poolBinding(1)
    const target = bindingTarget(binding, boundDatabase(binding))
    await migrateInSteps(target, await tenantMigrations(), { left: Number.POSITIVE_INFINITY })
    await env.CONTROL.prepare('update pool_database set migration = ?').bind(BOOKS).run()
    await expect
      .poll(async () => (await callApi('GET', '/books', { token })).status, { timeout: 20_000 })
      .toBe(200)
    // One of them changes before it is brought in.
    await motor.post(`/policies/${second.locator}/endorsements`, {
      endorsementName: 'change_of_risk',
      startTimestamp: start + 90 * DAY_MS,
      state: 'issued',
      fieldValues: { claims_free_years: 9 },
    })
    const ledger = await callOk<ReportStatusResponse>('POST', '/report/ledger?wait=20', {
      token,
      body: { from: 0, to: start + 400 * DAY_MS, by: ['account'] },
    })
    expect(ledger.state).toBe('finished')
    expect(await journalProblems()).toEqual([])
    const { results } = await boundDatabase(binding)
      .prepare('select kind, at from journal where policy_locator = ? order by at')
      .bind(Number(locator))
      .all<{ kind: string; at: number }>()
    expect(results.map(({ kind }) => kind)).toEqual(['invoice', 'creation', 'payment'])
    const again = await callOk<ReportStatusResponse>('POST', '/report/ledger?wait=20', {
      token,
      body: { from: 0, to: start + 400 * DAY_MS, by: ['account'] },
    })
    expect(again.totals).toEqual(ledger.totals)
  })
})
