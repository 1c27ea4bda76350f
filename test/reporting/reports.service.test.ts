// Reports on the service: a small tenant on two databases, with policies that were issued, changed, paid and cancelled.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

type Status = {
  locator: string
  state: string
  lines: number
  processed: number
  expected: number
  totals: {
    group: Record<string, string>
    currency: string
    lines: number
    sums: Record<string, string | number>
  }[]
  files: { format: string; url: string; fileName: string; bytes: number; sha256: string; rows?: number }[]
  problem?: string
}

const DAY_MS = 86_400_000

let motor: Motor
let token: string
const policies: { locator: string; start: number }[] = []

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('reports')
  token = await motor.signIn('anna.admin')
  for (let at = 0; at < 3; at += 1) {
    const { body } = await motor.createPolicy({})
    await motor.post(`/policy/${body.locator}/issue`)
    policies.push({ locator: body.locator, start: Number(body.originalContractStartTimestamp) })
  }
  const { body: first } = await motor.get(`/policy/${policies[0]!.locator}`)
  await motor.post(`/invoice/${first.invoices[0]!.locator}/pay`, { fieldValues: { method: 'card' } })
  await motor.post(`/policies/${policies[1]!.locator}/endorsements`, {
    ...{
      endorsementName: 'change_of_risk',
      startTimestamp: policies[1]!.start + 180 * DAY_MS,
      state: 'issued',
    },
    fieldValues: { claims_free_years: 9 },
  })
})

const run = (name: string, body: object = {}): Promise<Status> =>
  callOk<Status>('POST', `/report/${name}?wait=20`, { token, body })

const whole = () => ({ from: policies[0]!.start - 400 * DAY_MS, to: policies[0]!.start + 400 * DAY_MS })

describe('a report', () => {
  it('says what was written, to the cent of the policies', async () => {
    const report = await run('writtenPremium', whole())
    expect(report).toMatchObject({ state: 'finished', processed: 3, expected: 3 })
    const written = report.totals.reduce((sum, one) => sum + Math.round(Number(one.sums.premium) * 100), 0)
    const prices = await Promise.all(
      policies.map(async ({ locator }) => {
        const { grossPremium } = await callOk<{ grossPremium: number }>('GET', `/policy/${locator}/price`, {
          token,
        })
        return Math.round(grossPremium * 100)
      }),
    )
    expect(written).toBe(prices.reduce((sum, one) => sum + one, 0))
    console.log(JSON.stringify(report, null, 1).slice(0, 3000))
    void env
    void callApi
  })

  it.each(['earnedPremium', 'charges', 'payments', 'bordereau', 'retention', 'conversion', 'ledger'])(
    'of the kind %s ends with files',
    async name => {
      const report = await run(name, whole())
      expect(report.problem).toBe(undefined)
      expect(report.state).toBe('finished')
      console.log(name, JSON.stringify(report.totals))
    },
  )

  it.each(['inForce', 'receivables'])('of the kind %s, of one moment, ends with files', async name => {
    const report = await run(name, { at: policies[0]!.start + 200 * DAY_MS })
    expect(report.state).toBe('finished')
    console.log(name, JSON.stringify(report.totals))
  })
})
