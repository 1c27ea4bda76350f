// The product of docs/tutorial.md in a service: it costs there what the page shows without a service, and is issued.
import { beforeAll, describe, expect, it } from 'vitest'
import policies from '../../examples/commercial_property/policies.json'
import { callApi, callOk } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { type DeployedTenant, deployExample } from '../support/examples.ts'
import { YEARS_ON_MS } from '../support/years.ts'

type Policy = {
  locator: string
  documents?: { displayName: string }[]
  exposures: { name: string; characteristics: { fieldValues: Record<string, string[]> }[] }[]
}

let tenant: DeployedTenant

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  tenant = await deployExample('commercial_property', 'tutorial')
})

const call = <Body>(method: string, path: string, body?: object): Promise<Body> =>
  callOk<Body>(method, path, { token: tenant.token, ...(body && { body }) })

async function made(at: number): Promise<Policy> {
  const { policyholder, policy } = policies[at]!.request
  const { locator } = await call<{ locator: string }>('POST', '/policyholder/create', {
    completed: true,
    ...policyholder,
  })
  return await call<Policy>('POST', '/policy', {
    ...policy,
    policyStartTimestamp: policy.policyStartTimestamp + YEARS_ON_MS,
    policyEndTimestamp: policy.policyEndTimestamp + YEARS_ON_MS,
    productName: 'commercial_property',
    policyholderLocator: locator,
    finalize: true,
  })
}

const priceOf = ({ locator }: Policy) =>
  call<{ grossPremium: number; grossTaxes: number; grossFees: number; totalDue: number }>(
    'GET',
    `/policy/${locator}/price`,
  )

describe('The product of the tutorial', () => {
  it('deploys without errors or warnings', () => {
    expect(tenant.logfile).not.toMatch(/ERROR|WARNING/)
  })

  it('gets its wind zone from the plugin, costs 5,947.50 as on the page, and is issued with declarations', async () => {
    const policy = await made(0)
    expect(policy.exposures[0]!.characteristics[0]!.fieldValues.wind_zone).toEqual(['coastal'])
    expect(await priceOf(policy)).toMatchObject({
      grossPremium: 5466.9,
      grossTaxes: 235.6,
      grossFees: 245,
      totalDue: 5947.5,
    })
    const issued = await call<Policy & { invoices: { totalDue: number }[] }>(
      'POST',
      `/policy/${policy.locator}/issue`,
    )
    expect(issued.documents!.map(({ displayName }) => displayName)).toContain('Declarations')
    // A quarter of 5,947.50, rounded for each item.
    expect(issued.invoices.map(({ totalDue }) => totalDue)).toEqual([1486.9])
  })

  it('costs 5,101.50 for an old warehouse over half a year, and is not issued, because it refers what is old', async () => {
    const policy = await made(1)
    expect(await priceOf(policy)).toMatchObject({ grossPremium: 4592.7, totalDue: 5101.5 })
    const { status, body } = await callApi<{ code: string; message: string }>(
      'POST',
      `/policy/${policy.locator}/issue`,
      { token: tenant.token },
    )
    expect([status, body.code]).toEqual([409, 'wrongState'])
    expect(body.message).toContain('3 Wharf Street, New Orleans was built before 1950: see the survey.')
  })
})
