import { beforeAll, expect, it } from 'vitest'
import { prepareDatabases } from '../support/databases.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('many')
})

it('creating 200 policies concurrently creates 200 complete, readable policies', async () => {
  const holder = await motor.newPolicyholder()
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => motor.createPolicy({ policyholderLocator: holder })),
  )
  expect(answers.map(answer => answer.status)).toEqual(answers.map(() => 200))
  const locators = new Set(answers.map(answer => answer.body.locator))
  expect(locators.size).toBe(200)
  const { body } = await motor.get<{ locator: string; exposures: { perils: unknown[] }[] }[]>(
    `/policyholder/${holder}/policies`,
  )
  expect(new Set(body.map(policy => policy.locator))).toEqual(locators)
  for (const policy of body) expect(policy.exposures[0]?.perils).toHaveLength(4)
  const displayIds = answers.flatMap(({ body: policy }) => [
    ...policy.modifications.map(one => one.displayId),
    ...policy.exposures.flatMap(one => [one.displayId, ...one.perils.map(peril => peril.displayId)]),
  ])
  expect(new Set(displayIds).size).toBe(displayIds.length)
})

it('200 concurrent updates of one draft are all applied exactly once', async () => {
  const { body: draft } = await motor.createPolicy({ finalize: false, exposures: [] })
  const answers = await Promise.all(
    Array.from({ length: 200 }, () =>
      motor.post(`/policy/${draft.locator}/update`, {
        finalize: false,
        addExposures: [{ exposureName: 'vehicle' }],
      }),
    ),
  )
  expect(answers.map(answer => answer.status)).toEqual(answers.map(() => 200))
  const { body } = await motor.get(`/policy/${draft.locator}`)
  expect(body.exposures).toHaveLength(200)
  const sizes = answers.map(answer => answer.body.exposures.length).sort((a, b) => a - b)
  expect(sizes).toEqual(Array.from({ length: 200 }, (_, at) => at + 1))
  const { body: page } = await motor.get<{ events: { type: string; data: Record<string, string> }[] }>(
    `/eventstream/events?eventType=policy.update&pageSize=1000`,
  )
  expect(page.events.filter(event => event.data.policyLocator === draft.locator)).toHaveLength(200)
})
