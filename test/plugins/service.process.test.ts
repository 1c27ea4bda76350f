// Plugins in the service as it is started, from its own bundle. The sandbox's side is sent there as text.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { workedPolicies } from '../../scripts/example.ts'
import { archive, draftOf, tenantOf } from '../support/plugged-tenants.ts'
import { type Service, sharedService } from '../support/service-process.ts'

let service: Service

beforeAll(async () => {
  service = await sharedService()
})

afterAll(() => service.remove())

test('the worked policies have the prices by plugins that were worked out by hand', async () => {
  const client = await tenantOf(service, 'plugged', archive())
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

test('a plugin that fails is reported with its line, an endless one is stopped, and the service continues', async () => {
  const scripts = {
    'main/rater.js':
      'exports.getPerilRates = data => {\n  const rate = data.policy.nothing.rate\n  return rate\n}',
    'lambda/lambda.js':
      "exports.executeLambda = name => { if (name === 'loop') for (;;) {} return new Date().toLocaleDateString('en', { timeZone: name }) }",
  }
  const client = await tenantOf(service, 'failing', archive(scripts))
  const locator = await draftOf(client, 0)
  await expect(client.call('POST', `/policy/${locator}/price`)).rejects.toThrow(
    'Plugin getPerilRates failed: main/rater.js:2: TypeError',
  )
  await expect(client.call('POST', '/lambda/loop')).rejects.toThrow('takes more steps than a plugin may')
  expect(await client.call('POST', '/lambda/UTC')).toMatch(/^\d+\/\d+\/20\d\d$/)
})
