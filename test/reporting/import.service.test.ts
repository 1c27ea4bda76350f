// Exporting and importing: a tenant's export, migrated into another tenant, gives the same policies and the same sums as of now.
import { beforeAll, describe, expect, it } from 'vitest'
import type { ReportStatusResponse } from '../../src/reporting/contract.ts'
import type { AccountMigration, AuxDataRecord } from '../../src/reporting/export/account/account.ts'
import type { PolicyRecord } from '../../src/reporting/export/policy-record.ts'
import { generateAccount } from '../../tools/book/account.ts'
import { callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import {
  expectSameNow,
  exported,
  exportedAccounts,
  migrate,
  originalsOf,
} from '../support/export-to-migration.ts'
import { type Motor, motorTenant, plainYear } from '../support/motor.ts'
import { settledMigration } from '../support/settled-migration.ts'

const DAY_MS = 86_400_000

let from: Motor
let to: Motor
const tokens = { from: '', to: '' }

/** Locators of policies by what happened to them. */
const sold: Record<string, string> = {}

async function issued(name: string, changes: object = {}): Promise<string> {
  const policyholderLocator = await from.newPolicyholder()
  const { body } = await from.createPolicy({ policyholderLocator, ...changes })
  await callOk('POST', `/policy/${body.locator}/issue`, { token: from.token })
  sold[name] = body.locator
  return body.locator
}

const policyIn = (locator: string) => callOk<PolicyRecord>('GET', `/policy/${locator}`, { token: from.token })

async function pay(locator: string, changes: object = {}): Promise<string> {
  const { invoices } = await policyIn(locator)
  const paid = await callOk<{ locator: string }>('POST', `/invoice/${invoices[0]!.locator}/pay`, {
    token: from.token,
    body: { fieldValues: { method: 'card' }, ...changes },
  })
  return paid.locator
}

const { policyStartTimestamp } = plainYear().request.policy as unknown as { policyStartTimestamp: number }
const inDays = (days: number): number => policyStartTimestamp + days * DAY_MS

const endorse = (locator: string, days: number, years: number) =>
  callOk('POST', `/policies/${locator}/endorsements`, {
    token: from.token,
    body: {
      endorsementName: 'change_of_risk',
      startTimestamp: inDays(days),
      state: 'issued',
      fieldValues: { claims_free_years: years },
    },
  })

const cancel = (locator: string, days: number) =>
  callOk<{ locator: string }>('POST', `/policies/${locator}/cancellations`, {
    token: from.token,
    body: {
      effectiveTimestamp: inDays(days),
      name: 'customer_request',
      cancellationCategory: 'other',
      issue: true,
    },
  })

let first: AccountMigration[]

const target = () => ({ tenantLocator: to.tenantLocator, token: tokens.to })

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  from = await motorTenant('import-from')
  to = await motorTenant('import-to')
  tokens.from = await from.signIn('anna.admin')
  tokens.to = await to.signIn('anna.admin')
  await issued('only issued')
  await pay(await issued('paid'))
  await pay(await issued('paid in part'), { amount: 100 })
  await pay(await issued('paid beyond what is due'), { amount: 1_000 })
  const reversed = await pay(await issued('paid, and taken back'))
  await callOk('POST', `/payments/${reversed}/reverse`, { token: from.token })
  await endorse(await issued('endorsed'), 180, 9)
  const twice = await issued('endorsed twice, the earlier part last')
  await endorse(twice, 200, 9)
  await endorse(twice, 100, 10)
  const paidCancelled = await issued('paid, and cancelled with money given back')
  await pay(paidCancelled)
  await cancel(paidCancelled, 240)
  const reinstated = await issued('cancelled and reinstated')
  const { locator } = await cancel(reinstated, 120)
  await callOk('PATCH', `/cancellations/${locator}/reinstate`, { token: from.token, body: { issue: true } })
  await endorse(await issued('monthly and endorsed', { paymentScheduleName: 'monthly' }), 90, 9)
  const renewed = await issued('renewed')
  await callOk('POST', `/policies/${renewed}/renewals`, {
    token: from.token,
    body: { renewalEndTimestamp: inDays(730), state: 'issued' },
  })
  const fees = await issued('with a fee by hand')
  await callOk('PATCH', `/policy/${fees}/fees`, {
    token: from.token,
    body: {
      newFees: [
        { feeName: 'postal_delivery_fee', amount: 20, startTimestamp: inDays(0), endTimestamp: inDays(365) },
      ],
      reverseFees: [],
    },
  })
  const withdrawn = await issued('withdrawn')
  await callOk('POST', `/policy/${withdrawn}/withdraw`, { token: from.token, body: {} })
  await callOk('PUT', `/auxData/${sold.paid}`, {
    token: tokens.from,
    body: { auxData: [{ key: 'crm', value: 'A-17' }] },
  })
  const policyholderLocator = await from.newPolicyholder()
  const { body } = await from.createPolicy({ policyholderLocator, finalize: false })
  sold['only quoted'] = body.locator
  const book = Array.from({ length: 12 }, (_, at) => generateAccount({ seed: 'import', policies: 2 }, at))
  const path = `/migration/${from.tenantLocator}/migrations`
  const migration = await callOk<{ locator: string }>('POST', path, { token: tokens.from, body: book })
  await settledMigration(`${path}/${migration.locator}`, tokens.from, 60_000)
}, 120_000)

const now = (): Promise<PolicyRecord[]> => exported(tokens.to, 'policies')

describe('an export migrated into another tenant', () => {
  it('contains issued policies with their history or as of now, and lists those left behind', async () => {
    first = await exportedAccounts(tokens.from)
    const of = new Map(first.flatMap(one => one.policies).map(one => [one.locator, one]))
    const as = Object.fromEntries(Object.entries(sold).map(([name, locator]) => [name, of.get(locator)!.as]))
    expect(as).toMatchObject({
      'only issued': 'history',
      paid: 'history',
      endorsed: 'history',
      'paid, and cancelled with money given back': 'history',
      withdrawn: 'asNow',
      'only quoted': 'left',
    })
    for (const one of of.values())
      expect([one.as, one.reason !== undefined]).toEqual([one.as, one.as !== 'history'])
  })

  it('has the same policies as of now, each with its cover, price, bills and payments', async () => {
    const migration = await migrate(first, target())
    expect([migration.migrationState, migration.accounts.failed]).toEqual(['finished', 0])
    await expectSameNow({ token: tokens.from }, target(), {
      migration: migration.locator,
      count: first.flatMap(one => one.policies).filter(one => one.as !== 'left').length,
      names: Object.fromEntries(Object.entries(sold).map(([name, one]) => [one, name])),
    })
    const originals = await originalsOf(migration.locator, target())
    const paid = [...originals].find(([, original]) => original === sold.paid)![0]
    const auxData = await exported<AuxDataRecord>(tokens.to, 'auxData')
    expect(auxData.filter(one => one.locator === paid && one.key === 'crm')).toMatchObject([
      { value: 'A-17' },
    ])
  })

  it('has the same sums: premium in force and receivables', async () => {
    const at = Date.now()
    const sums = async (token: string, name: string) =>
      (
        await callOk<ReportStatusResponse>('POST', `/report/${name}?wait=30`, {
          token,
          body: name === 'inForce' ? { at: policyStartTimestamp + 30 * DAY_MS } : { at },
        })
      ).totals
    for (const name of ['inForce', 'receivables']) {
      const expected = await sums(tokens.from, name)
      expect(expected.length).toBeGreaterThan(0)
      expect([name, await sums(tokens.to, name)]).toEqual([name, expected])
    }
  })

  it('changes nothing when it is imported again', async () => {
    const before = JSON.stringify(await now())
    const migration = await migrate(first, target())
    expect([migration.migrationState, migration.accounts.completed]).toEqual(['failed', 0])
    const failures = await callOk<{ items: object[] }>(
      'GET',
      `/migration/${to.tenantLocator}/migrations/${migration.locator}/failures/list?count=100`,
      {
        token: tokens.to,
      },
    )
    for (const one of failures.items) expect(JSON.stringify(one)).toMatch(/ is account [0-9a-f-]{36}/)
    expect(JSON.stringify(await now())).toBe(before)
  })
})
