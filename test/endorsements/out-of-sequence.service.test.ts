// Endorsements among what others left of exposures: what was taken back, and what ends later (brief 2.1, 2.2).
import { beforeAll, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const PERILS = 'products/private_motor/policy/exposures/vehicle/perils'

let motor: Motor

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('outofsequence', {
    ...motorWithoutPapers(),
    'products/private_motor/policy/endorsements.json': JSON.stringify({
      endorsements: ['always', 'all'].map(reprice => ({
        name: reprice,
        displayName: reprice,
        reprice,
        documents: [],
      })),
    }),
    [`${PERILS}/own_damage.premium.liquid`]:
      '{{ data.exposure_characteristics.field_values.vehicle_value | times: 0.01 | set_year_premium }}',
  })
})

async function issued(changes: object = {}): Promise<PolicyResponse> {
  const { body } = await motor.createPolicy(changes)
  return (await motor.post(`/policy/${body.locator}/issue`)).body
}

const months = (policy: PolicyResponse, count: number): Instant =>
  add(Number(policy.originalContractStartTimestamp) as Instant, count, 'month', 'Europe/Berlin' as TimeZone)

async function apply(policy: PolicyResponse, endorsementName: string, body: object) {
  const answer = await motor.post<EndorsementResponse>(`/policies/${policy.locator}/endorsements`, {
    endorsementName,
    state: 'issued',
    ...body,
  })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

const worth = ({ exposures }: PolicyResponse, vehicle_value: string) => ({
  updateExposures: [{ exposureLocator: exposures[0]!.locator, fieldValues: { vehicle_value } }],
})

async function inForce({ locator }: PolicyResponse, exposure: number, peril: string) {
  const { body } = await motor.get(`/policy/${locator}`)
  return body.exposures[exposure]!.perils.filter(one => one.name === peril)
    .flatMap(one => one.characteristics)
    .filter(one => one.issuedTimestamp && !one.replacedTimestamp)
    .sort((a, b) => Number(a.coverageStartTimestamp) - Number(b.coverageStartTimestamp))
    .map(one => [Number(one.coverageStartTimestamp), Number(one.coverageEndTimestamp), one.premium])
}

it('what is rated again is rated with the data in force, not with those of an endorsement that was taken back', async () => {
  const policy = await issued()
  await apply(policy, 'always', { startTimestamp: months(policy, 0), ...worth(policy, '24000') })
  const taken = await apply(policy, 'always', {
    startTimestamp: months(policy, 3),
    state: 'accepted',
    ...worth(policy, '60000'),
  })
  const path = `/endorsements/${taken.locator}`
  expect((await callApi('PATCH', path, { token: motor.token, body: { action: 'invalidate' } })).status).toBe(
    200,
  )
  await apply(policy, 'all', { startTimestamp: months(policy, 6) })
  expect(await inForce(policy, 0, 'own_damage')).toEqual([
    [months(policy, 0), months(policy, 6), 120],
    [months(policy, 6), months(policy, 12), 120],
  ])
})

it('a peril that is added to a vehicle which leaves later is covered until it leaves', async () => {
  const policy = await issued()
  const copy = policy.exposures[0]!.characteristics[0]!.fieldValues
  await apply(policy, 'always', {
    startTimestamp: months(policy, 1),
    addExposures: [
      {
        exposureName: 'vehicle',
        fieldValues: { ...copy, registration_plate: 'B-GL 1986', vehicle_value: '24000' },
        perils: [{ name: 'theft' }],
      },
    ],
  })
  const { body: now } = await motor.get(`/policy/${policy.locator}`)
  const [, second] = now.exposures
  await apply(policy, 'always', { startTimestamp: months(policy, 9), endExposures: [second!.locator] })
  await apply(policy, 'always', {
    startTimestamp: months(policy, 3),
    updateExposures: [{ exposureLocator: second!.locator, addPerils: [{ name: 'own_damage' }] }],
  })
  expect(await inForce(policy, 1, 'own_damage')).toEqual([[months(policy, 3), months(policy, 9), 120]])
})
