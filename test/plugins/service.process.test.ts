// Plugins in the service as it is started, from its own bundle: the sandbox's side is sent as text there.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ApiClient, signIn } from '../../scripts/api-client.ts'
import { workedPolicies } from '../../scripts/example.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

const ROOT = 'examples/motor/configuration'
const POLICY = 'products/private_motor/policy/policy.json'

let service: ServiceProcess

beforeAll(async () => {
  service = await startServiceProcess()
})

afterAll(() => service.remove())

/** The motor example with its plugins on, and scripts of the test's own in place of its. */
function archive(scripts: Record<string, string> = {}): Blob {
  const entries = readdirSync(ROOT, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }): [string, Uint8Array] => {
      const file = join(parentPath, name)
      return [file.slice(ROOT.length + 1), readFileSync(file)]
    })
  const files = Object.fromEntries(entries)
  const policy = JSON.parse(new TextDecoder().decode(files[POLICY])) as {
    plugins: Record<string, { enabled: boolean }>
  }
  for (const plugin of Object.values(policy.plugins)) plugin.enabled = true
  const text = (content: string) => new TextEncoder().encode(content)
  files[POLICY] = text(JSON.stringify(policy))
  for (const [path, source] of Object.entries(scripts)) files[`scripts/${path}`] = text(source)
  return new Blob([new Uint8Array(zipSync(files))], { type: 'application/zip' })
}

async function tenantOf(suffix: string, zip: Blob): Promise<ApiClient> {
  const form = new FormData()
  form.set('tenantNameSuffix', suffix)
  form.set('zipFile', zip, 'motor.zip')
  const administration = await service.administration()
  const { hostname: hostName } = await administration.call<{ hostname: string }>(
    'POST',
    '/configuration/deployTest',
    form,
  )
  return await signIn(service.origin, { username: 'alice.agent', password: 'password', hostName })
}

async function draftOf(client: ApiClient, at: number): Promise<string> {
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

test('the worked policies cost by plugin what was worked out by hand', async () => {
  const client = await tenantOf('plugged', archive())
  for (const [at, { expected }] of workedPolicies().entries()) {
    const locator = await draftOf(client, at)
    const price = await client.call<{ grossPremium: number; total: number }>(
      'POST',
      `/policy/${locator}/price`,
    )
    expect([price.grossPremium.toFixed(2), price.total.toFixed(2)]).toEqual([
      expected.grossPremium,
      expected.total,
    ])
  }
})

test('a plugin that fails is told its line, one that never ends is stopped, and the service goes on', async () => {
  const scripts = {
    'main/rater.js':
      'exports.getPerilRates = data => {\n  const rate = data.policy.nothing.rate\n  return rate\n}',
    'lambda/lambda.js':
      "exports.executeLambda = name => { if (name === 'loop') for (;;) {} return new Date().toLocaleDateString('en', { timeZone: name }) }",
  }
  const client = await tenantOf('failing', archive(scripts))
  const locator = await draftOf(client, 0)
  await expect(client.call('POST', `/policy/${locator}/price`)).rejects.toThrow(
    'Plugin getPerilRates failed: main/rater.js:2: TypeError',
  )
  await expect(client.call('POST', '/lambda/loop')).rejects.toThrow('takes more steps than a plugin may')
  expect(await client.call('POST', '/lambda/UTC')).toMatch(/^\d+\/\d+\/20\d\d$/)
})
