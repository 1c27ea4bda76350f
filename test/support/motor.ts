// The motor example as a tenant for tests: deployed, with policyholders and requests that are ready to send.
import { add, type Instant, now, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { PolicyholderResponse } from '../../src/policyholders/contract.ts'
import { type Answer, callApi, callOk } from './api.ts'
import { type ArchiveFiles, type DeployedTenant, deployExample, motorWithoutPapers } from './examples.ts'
import type { WorkedPolicy } from './worked.ts'
import { YEARS_ON_MS } from './years.ts'

const BERLIN = 'Europe/Berlin' as TimeZone

const WORKED = import.meta.glob('../../examples/*/worked.json', { import: 'default', eager: true }) as Record<
  string,
  WorkedPolicy[]
>

export const workedOf = (example: string): WorkedPolicy[] => WORKED[`../../examples/${example}/worked.json`]!

/**
 * The first worked policy of the example, moved to 2035. Its term has the same number of days, but people and vehicles are older.
 */
export function yearsOnOf(example: string): WorkedPolicy {
  const worked = workedOf(example)[0]!
  const policy = {
    ...worked.request.policy,
    policyStartTimestamp: worked.request.policy.policyStartTimestamp + YEARS_ON_MS,
    policyEndTimestamp: worked.request.policy.policyEndTimestamp + YEARS_ON_MS,
  }
  return { ...worked, request: { ...worked.request, policy } }
}

/** Times of a policy that begins in 40 days, for plans that are made up to a year ahead. */
export function yearFromSoon(): { policyStartTimestamp: Instant; policyEndTimestamp: Instant } {
  const start = add(now(), 40, 'day', BERLIN)
  return { policyStartTimestamp: start, policyEndTimestamp: add(start, 1, 'year', BERLIN) }
}

/** A policy request that underwriting accepts. The test adds `policyholderLocator`. */
export const plainYear = (): WorkedPolicy => yearsOnOf('motor')

export type Motor = DeployedTenant & {
  /** Creates a completed policyholder. */
  newPolicyholder(): Promise<string>
  createPolicy(changes?: object, headers?: Record<string, string>): Promise<Answer<PolicyResponse>>
  post<Body = PolicyResponse>(
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer<Body>>
  get<Body = PolicyResponse>(path: string): Promise<Answer<Body>>
}

/** Deploys the motor example without its documents, or the given files, as a separate test tenant. */
export async function motorTenant(suffix: string, files?: ArchiveFiles): Promise<Motor> {
  const tenant = await deployExample(files ?? motorWithoutPapers(), suffix)
  const { token } = tenant
  const worked = plainYear()
  let holder: string | undefined
  const newPolicyholder = async (): Promise<string> => {
    const { locator } = await callOk<PolicyholderResponse>('POST', '/policyholder/create', {
      token,
      body: { completed: true, values: worked.request.policyholder.values },
    })
    return locator
  }
  return {
    ...tenant,
    newPolicyholder,
    createPolicy: async (changes = {}, headers = {}) => {
      holder ??= await newPolicyholder()
      return callApi('POST', '/policy', {
        token,
        headers,
        body: { ...worked.request.policy, policyholderLocator: holder, ...changes },
      })
    },
    post: (path, body, headers = {}) => callApi('POST', path, { token, body, headers }),
    get: path => callApi('GET', path, { token }),
  }
}

/**
 * Round trips of a response by its Server-Timing header: `{ d1: 1, object: 0, r2: 0, queue: 0 }`. Excludes rereading the tenant,
 * which happens every 5 s by the clock, so on a slow machine between any two requests.
 */
export function roundTrips({ headers }: { headers: Headers }): Record<string, number> {
  const entries = (headers.get('server-timing') ?? '').matchAll(/(\w+);desc="(\d+)"/g)
  const counts = Object.fromEntries([...entries].map(([, name, count]) => [name, Number(count)]))
  const { renewed = 0, ...trips } = counts
  return { ...trips, ...(trips.d1 !== undefined && { d1: trips.d1 - renewed }) }
}
