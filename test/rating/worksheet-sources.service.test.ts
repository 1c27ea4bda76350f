// Worksheets of prices from plugins, external raters, the tenant's tables and earlier configuration versions.
import { beforeAll, describe, expect, it } from 'vitest'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { Worksheet } from '../../src/policy/contract/worksheet.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type ArchiveFiles, deployNextVersion, motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'
import { pluginRated } from '../support/plugin-rated.ts'
import { externallyRated, openRater, register } from '../support/rater.ts'
import { recomputed } from '../support/worksheets.ts'

beforeAll(() => prepareDatabases({ tenants: 4 }))

async function issued(motor: Motor): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy()
  const answer = await motor.post(`/policy/${body.locator}/issue`)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

async function explained(motor: Motor, { locator }: { locator: string }): Promise<Worksheet> {
  const { status, body } = await motor.post<PolicyPriceResponse>(`/policy/${locator}/price?explain=true`)
  expect(status, JSON.stringify(body)).toBe(200)
  expect(Number(recomputed(body.worksheet!))).toBe(body.total)
  return body.worksheet!
}

const runOf = (sheet: Worksheet, name: string) => sheet.perils.find(one => one.perilName === name)!.runs[0]!

describe('A worksheet for a plugin', () => {
  it('shows the returned rates, the look-ups with their rows, and the plugin’s notes', async () => {
    const files = pluginRated()
    const path = 'scripts/main/rater.js'
    files[path] = new TextDecoder()
      .decode(files[path] as Uint8Array)
      .replace(
        'function getPerilRates(data) {',
        "function getPerilRates(data) {\n  socotraApi.explain('perils', data.policyExposurePerils.length)",
      )
    const motor = await motorTenant('worksheet-plugin', files)
    const sheet = await explained(motor, await issued(motor))
    expect(sheet).toMatchObject({ isRecorded: true, differs: false, notes: [] })
    expect(sheet.calls).toMatchObject([
      { ratedBy: 'plugin', source: 'main/rater.js', notes: [{ label: 'perils', value: '4' }] },
    ])
    expect(sheet.calls[0]!.lookups.map(({ table, line }) => [table, line])).toContainEqual([
      'own_damage_rate',
      5,
    ])
    expect(runOf(sheet, 'own_damage')).toMatchObject({
      ratedBy: 'plugin',
      parts: [{ premium: { yearly: '453.25', amount: '453.25' } }],
    })
  })
})

describe('A worksheet for an external rater', () => {
  it('shows request and response, and reports when the rater now differs from the recorded rate', async () => {
    const rater = await openRater()
    const motor = await motorTenant('worksheet-rater', externallyRated('acme'))
    await register(motor, 'acme', rater)
    await rater.answers({ rates: { '*': { yearlyPremium: '370.00' } } })
    const policy = await issued(motor)
    const same = await explained(motor, policy)
    expect(same).toMatchObject({ differs: false, premium: '1480.00' })
    const [call] = same.calls
    expect(call).toMatchObject({ ratedBy: 'externalRater', source: 'acme' })
    expect(JSON.parse(call!.request!)).toMatchObject({ operation: 'new_business' })
    expect(call!.answer).toContain('370.00')

    await rater.answers({ rates: { '*': { yearlyPremium: '400' } } })
    const other = await explained(motor, policy)
    expect(other).toMatchObject({ differs: true, premium: '1480.00', total: same.total })
    expect(runOf(other, 'glass')).toMatchObject({
      differs: true,
      premium: { yearly: '400', amount: '400.00', recorded: '370.00' },
      taxes: expect.arrayContaining([
        expect.objectContaining({ name: 'insurance_tax', amount: '76.00', recorded: '70.30' }),
      ]),
    })

    await rater.answers({ status: 500 })
    const failed = await explained(motor, policy)
    expect(failed).toMatchObject({ differs: false, total: same.total })
    expect(runOf(failed, 'glass')).toMatchObject({
      ratedBy: 'recorded',
      problem: expect.stringContaining('acme'),
      premium: { exact: '370.00', amount: '370.00' },
    })
  })
})

describe('A worksheet for a table that is a resource', () => {
  it('shows the contents used for rating, with the line, even after they were replaced', async () => {
    const motor = await motorTenant('worksheet-table')
    const token = await motor.signIn('anna.admin')
    const root = `/resource/${motor.tenantLocator}`
    const send = async (method: string, path: string, rate: string) => {
      const body = new FormData()
      body.set('file', new Blob([`key,value\n0000-AAA,1\n0603-BTP,${rate}\n`]), 'table.csv')
      const answer = await callApi<{ lookupTableLocator: string }>(method, path, { token, body })
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      return answer.body
    }
    const path = `${root}/tables?name=rates&staticName=own_damage_rate`
    await send('POST', path, '0.02')
    const selectionStartTime = new Date(0).toISOString()
    const body = { name: 'all', selectionStartTime, resourceNames: ['rates'] }
    expect((await callApi('POST', `${root}/groups`, { token, body })).status).toBe(200)
    const policy = await issued(motor)
    const lookupOf = (sheet: Worksheet) =>
      runOf(sheet, 'own_damage').steps.find(step => step.kind === 'lookup')!.lookup!
    const before = await explained(motor, policy)
    expect(runOf(before, 'own_damage').premium.amount).toBe('490.00')
    expect(lookupOf(before)).toMatchObject({ resourceName: 'rates', line: 3, value: '0.02' })

    await send('PATCH', `${root}/tables/rates`, '0.03')
    const after = await explained(motor, policy)
    expect(after).toMatchObject({ differs: false, notes: [] })
    expect(lookupOf(after)).toEqual(lookupOf(before))
    const { body: draft } = await motor.createPolicy({ finalize: false })
    expect(lookupOf(await explained(motor, draft))).toMatchObject({ value: '0.03' })
  })
})

describe('A worksheet for an earlier configuration version', () => {
  it('uses that version even after the policy was upgraded', async () => {
    const dearer = (): ArchiveFiles => {
      const files = motorWithoutPapers()
      const path = 'products/private_motor/policy/tables/own_damage_rate.csv'
      const text = new TextDecoder().decode(files[path] as Uint8Array)
      return { ...files, [path]: text.replaceAll('0.0185', '0.02') }
    }
    const motor = await motorTenant('worksheet-version')
    const policy = await issued(motor)
    await deployNextVersion(motor.tenantName, dearer())
    const upgraded = await motor.post(`/policy/${policy.locator}/upgrade`)
    expect(upgraded.status, JSON.stringify(upgraded.body)).toBe(200)
    const sheet = await explained(motor, policy)
    expect(sheet).toMatchObject({
      differs: false,
      notes: [
        'Version 1 of the configuration rated the amounts that are marked with it; the policy now has version 2.',
      ],
    })
    expect(runOf(sheet, 'own_damage')).toMatchObject({ configVersion: 1, premium: { amount: '453.25' } })
  })
})
