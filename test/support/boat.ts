// The boat product (boat-product.ts) as a tenant for tests.
import type { Instant } from '../../src/kernel/time.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyholderResponse } from '../../src/policyholders/contract.ts'
import { type Answer, callApi, callOk } from './api.ts'
import { boatFiles, month, NEW_YEAR } from './boat-product.ts'
import { type ArchiveFiles, type DeployedTenant, deployExample } from './examples.ts'

export type Boats = DeployedTenant & {
  /** Issues a policy for the year from `NEW_YEAR`. Its issue time is the present of the tenant's clock. */
  insured(changes: {
    yearly: string
    paymentScheduleName: string
    productName?: string
    policyEndTimestamp?: Instant
  }): Promise<PolicyResponse>
  call<Body>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<Body>>
  ok<Body>(method: string, path: string, body?: unknown): Promise<Body>
  read(policy: PolicyResponse): Promise<PolicyResponse>
  /** Moves the tenant's clock and carries out what falls due on the way. */
  until(timestamp: Instant): Promise<void>
}

/**
 * Deploys the product as a separate test tenant whose clock is in the December before `NEW_YEAR`. `files` replaces or adds files
 * of the product, `without` removes some.
 */
export async function boatTenant(
  suffix: string,
  currency = 'EUR',
  { taxed = false, files = {} as ArchiveFiles, without = [] as readonly string[] } = {},
): Promise<Boats> {
  const all = Object.entries({ ...boatFiles(currency, taxed), ...files })
  const tenant = await deployExample(
    Object.fromEntries(all.filter(([path]) => !without.includes(path))),
    suffix,
  )
  const { token } = tenant
  const call = <Body>(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    callApi<Body>(method, path, { token, body, headers })
  const ok = <Body>(method: string, path: string, body?: unknown) =>
    callOk<Body>(method, path, { token, body })
  const { locator: policyholderLocator } = await ok<PolicyholderResponse>('POST', '/policyholder/create', {
    completed: true,
    values: { last_name: 'Ahab' },
  })
  const until = async (timestamp: Instant): Promise<void> => {
    await ok('POST', '/test/clock', { timestamp })
  }
  await until(month(-1, 15))
  return {
    ...tenant,
    call,
    ok,
    until,
    read: policy => ok('GET', `/policy/${policy.locator}`),
    insured: async ({ yearly, ...changes }) => {
      const { locator } = await ok<PolicyResponse>('POST', '/policy', {
        productName: 'boat',
        policyholderLocator,
        policyStartTimestamp: NEW_YEAR,
        policyEndTimestamp: month(12),
        exposures: [{ exposureName: 'hull', fieldValues: { yearly }, perils: [{ name: 'sinking' }] }],
        ...changes,
      })
      return await ok('POST', `/policy/${locator}/issue`)
    },
  }
}
