// `kill -9` under load: after the restart, everything that was acknowledged exists, and its events arrive at the webhook.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiClient } from '../../scripts/api-client.ts'
import { type Receiver, startReceiver } from '../../scripts/demo/receiver.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { size } from '../support/sizes.ts'
import type { WorkedPolicy } from '../support/worked.ts'

const WORKED = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../examples/motor/worked.json'), 'utf8'),
) as WorkedPolicy[]

const KILLS = size(2, 3)
const WRITERS = 8
/** The service is killed each time this many more policies are acknowledged, while others are being created. */
const POLICIES_A_KILL = size(20, 300)

let service: ServiceProcess
let receiver: Receiver

beforeAll(async () => {
  receiver = await startReceiver()
  service = await startServiceProcess()
})

afterAll(async () => {
  receiver.close()
  await service.remove()
})

/** Creates policies until the service dies. Records each policy that the service acknowledged. */
async function write(agent: ApiClient, policyholderLocator: string, acknowledged: string[]): Promise<void> {
  for (;;) {
    try {
      const { locator } = await agent.call<{ locator: string }>('POST', '/policy', {
        ...WORKED[0]!.request.policy,
        policyholderLocator,
      })
      acknowledged.push(locator)
    } catch {
      return
    }
  }
}

test('the service loses no acknowledged policy and no event when it is killed under load', async () => {
  const administrator = await service.signInAs('admin')
  await administrator.call('POST', `/event/${service.example().tenantLocator}/webhooks`, {
    name: 'witness',
    enabled: true,
    endpoint: { url: receiver.url, headers: {}, hmacEnabled: true, secret: receiver.secret },
    failureHandling: { triggers: ['5xx', 'timeout'], divert: false, suspend: false },
    eventTypes: ['policy.create', 'policy.finalize'],
  })
  const acknowledged: string[] = []
  for (let kill = 0; kill < KILLS; kill += 1) {
    const agent = await service.signInAs('agent')
    const { locator } = await agent.call<{ locator: string }>('POST', '/policyholder/create', {
      completed: true,
      values: WORKED[0]!.request.policyholder.values,
    })
    const writers = Array.from({ length: WRITERS }, () => write(agent, locator, acknowledged))
    while (acknowledged.length < (kill + 1) * POLICIES_A_KILL) await sleep(20)
    await service.kill9()
    await Promise.all(writers)
    await service.start()
  }
  expect(new Set(acknowledged).size).toBe(acknowledged.length)

  const agent = await service.signInAs('agent')
  for (const locator of acknowledged) {
    const policy = await agent.call<{ locator: string; exposures: { perils: unknown[] }[] }>(
      'GET',
      `/policy/${locator}`,
    )
    expect(policy.locator).toBe(locator)
    expect(policy.exposures[0]?.perils).toHaveLength(4)
  }

  const missing = (): string[] => {
    const arrived = new Set(receiver.events.map(({ type, data }) => `${type} ${data.policyLocator}`))
    return ['policy.create', 'policy.finalize'].flatMap(type =>
      acknowledged.map(locator => `${type} ${locator}`).filter(one => !arrived.has(one)),
    )
  }
  await receiver.waitUntil(() => missing().length === 0, 100_000)
  expect(missing()).toEqual([])
  expect(receiver.refused).toBe(0)
}, 240_000)
