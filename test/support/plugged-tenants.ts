// Tenants of the motor example with its plugins enabled, in a service process.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { type ApiClient, signIn } from '../../scripts/api-client.ts'
import { deployTestTenant, workedPolicies } from '../../scripts/example.ts'
import type { Service } from './service-process.ts'

const ROOT = 'examples/motor/configuration'
const POLICY = 'products/private_motor/policy/policy.json'

/** The motor example with its plugins enabled. `scripts` replaces or adds scripts. */
export function archive(scripts: Record<string, string> = {}): Blob {
  const entries = readdirSync(ROOT, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }): [string, Uint8Array] => {
      const file = join(parentPath, name)
      return [file.slice(ROOT.length + 1), readFileSync(file)]
    })
  const files = Object.fromEntries(entries)
  const policy = JSON.parse(new TextDecoder().decode(files[POLICY])) as {
    strict?: boolean
    plugins: Record<string, { enabled: boolean }>
  }
  // The scripts of a test are not checked against the product.
  delete policy.strict
  for (const plugin of Object.values(policy.plugins)) plugin.enabled = true
  const text = (content: string) => new TextEncoder().encode(content)
  files[POLICY] = text(JSON.stringify(policy))
  for (const [path, source] of Object.entries(scripts)) files[`scripts/${path}`] = text(source)
  return new Blob([new Uint8Array(zipSync(files))], { type: 'application/zip' })
}

export async function tenantOf(service: Service, suffix: string, zip: Blob): Promise<ApiClient> {
  const { hostname: hostName } = await deployTestTenant(await service.administration(), suffix, zip)
  return await signIn(service.origin, { username: 'alice.agent', password: 'password', hostName })
}

export async function draftOf(client: ApiClient, at: number): Promise<string> {
  const { request } = workedPolicies()[at]!
  const { locator: policyholderLocator } = await client.call<{ locator: string }>(
    'POST',
    '/policyholder/create',
    {
      completed: true,
      values: request.policyholder.values,
    },
  )
  const { locator } = await client.call<{ locator: string }>('POST', '/policy', {
    ...request.policy,
    policyholderLocator,
    finalize: false,
  })
  return locator
}
