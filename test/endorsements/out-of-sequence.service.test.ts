// Endorsements that precede, follow or replace others: some were invalidated, and some exposures and perils end later (brief 2.1,
// 2.2).
import { beforeAll, describe, expect, it } from 'vitest'
import { add, type Instant, type TimeZone } from '../../src/kernel/time.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { FieldValues } from '../../src/product/fields/values.ts'
import type { EndorsementResponse } from '../../src/transactions/endorsements/contract.ts'
import { callApi } from '../support/api.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorWithoutPapers } from '../support/examples.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const VEHICLE = 'products/private_motor/policy/exposures/vehicle'
const PERILS = `${VEHICLE}/perils`

/** The file with an optional group of fields. */
function withExtras(path: string): string {
  const text = new TextDecoder().decode(motorWithoutPapers()[path] as Uint8Array)
  const file: { fields: object[] } = JSON.parse(text)
  const extras = {
    name: 'extras',
    type: 'group',
    repeatable: true,
    optional: true,
    fields: [{ name: 'kind', type: 'string' }],
  }
  return JSON.stringify({ ...file, fields: [...file.fields, extras] })
}

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
    [`${VEHICLE}/exposure.json`]: withExtras(`${VEHICLE}/exposure.json`),
    [`${PERILS}/theft.json`]: withExtras(`${PERILS}/theft.json`),
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

it('repricing uses the data in force, without those of an invalidated endorsement', async () => {
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

it('a peril added to a vehicle that ends later is covered until the vehicle ends', async () => {
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

describe('A field group that a later endorsement removes', () => {
  const EXTRAS = [{ fieldName: 'extras', fieldValues: { kind: 'radio' } }]
  const CLAIM = { claim_month: '2026-05-01', kind: 'glass', amount: '300' }

  /** Field groups of the policy, the vehicle and its theft peril: the month from which they are in force, and their contents. */
  async function contents(policy: PolicyResponse) {
    const { body } = await motor.get(`/policy/${policy.locator}`)
    const vehicle = body.exposures[0]!
    const theft = vehicle.perils.find(one => one.name === 'theft')!
    const since = (time: string) => [0, 3, 6].find(count => String(months(policy, count)) === time)
    const listed = (
      all: { start: string; groups: Record<string, FieldValues>; names: string[]; old?: string }[],
    ) =>
      all
        .filter(one => one.old === undefined)
        .sort((a, b) => Number(a.start) - Number(b.start))
        .map(({ start, groups, names }) => [
          since(start),
          Object.values(groups)
            .filter(group => names.every(name => name in group))
            .map(group => group[names[0]!]![0]),
        ])
    return {
      claims: listed(
        body.characteristics.map(one => ({
          start: one.startTimestamp,
          groups: one.fieldGroupsByLocator,
          names: ['amount'],
          old: one.replacedTimestamp,
        })),
      ),
      vehicle: listed(
        vehicle.characteristics.map(one => ({
          start: one.startTimestamp,
          groups: one.fieldGroupsByLocator,
          names: ['kind'],
          old: one.replacedTimestamp,
        })),
      ),
      theft: listed(
        theft.characteristics.map(one => ({
          start: one.coverageStartTimestamp,
          groups: one.fieldGroupsByLocator,
          names: ['kind'],
          old: one.replacedTimestamp,
        })),
      ),
    }
  }

  /** A policy with a claim and extras of the vehicle and its theft peril, all of which end after six months. */
  async function removedLater() {
    const plain = await issued()
    const vehicle = plain.exposures[0]!.locator
    const theft = plain.exposures[0]!.perils.find(one => one.name === 'theft')!.locator
    await apply(plain, 'always', {
      startTimestamp: months(plain, 0),
      addFieldGroups: [{ fieldName: 'claims', fieldValues: CLAIM }],
      updateExposures: [
        {
          exposureLocator: vehicle,
          addFieldGroups: EXTRAS,
          updatePerils: [{ perilLocator: theft, addFieldGroups: EXTRAS }],
        },
      ],
    })
    const { body: policy } = await motor.get(`/policy/${plain.locator}`)
    const valuesOf = (all: { fieldValues: FieldValues; replacedTimestamp?: string }[]) =>
      all.find(one => one.replacedTimestamp === undefined)!.fieldValues
    const values = {
      policy: valuesOf(policy.characteristics),
      vehicle: valuesOf(policy.exposures[0]!.characteristics),
      theft: valuesOf(policy.exposures[0]!.perils.find(one => one.locator === theft)!.characteristics),
    }
    const groups = {
      claim: values.policy.claims![0]!,
      vehicle: values.vehicle.extras![0]!,
      theft: values.theft.extras![0]!,
    }
    const removal = {
      removeFieldGroups: [groups.claim],
      updateExposures: [
        {
          exposureLocator: vehicle,
          removeFieldGroups: [groups.vehicle],
          updatePerils: [{ perilLocator: theft, removeFieldGroups: [groups.theft] }],
        },
      ],
    }
    await apply(plain, 'always', { startTimestamp: months(plain, 6), ...removal })
    return { policy: plain, vehicle, theft, values, groups, removal }
  }

  it('can be changed by an earlier one until it is removed', async () => {
    const { policy, vehicle, theft, groups } = await removedLater()
    const update = (fieldGroupLocator: string) => ({
      updateFieldGroups: [{ fieldGroupLocator, fieldName: 'extras', fieldValues: { kind: 'roof' } }],
    })
    await apply(policy, 'always', {
      startTimestamp: months(policy, 3),
      updateFieldGroups: [
        { fieldGroupLocator: groups.claim, fieldName: 'claims', fieldValues: { amount: '450' } },
      ],
      updateExposures: [
        {
          exposureLocator: vehicle,
          ...update(groups.vehicle),
          updatePerils: [{ perilLocator: theft, ...update(groups.theft) }],
        },
      ],
    })
    const extras = [
      [0, ['radio']],
      [3, ['roof']],
      [6, []],
    ]
    expect(await contents(policy)).toEqual({
      claims: [
        [0, ['300']],
        [3, ['450']],
        [6, []],
      ],
      vehicle: extras,
      theft: extras,
    })
  })

  it('can be removed earlier by an earlier one', async () => {
    const { policy, removal } = await removedLater()
    await apply(policy, 'always', { startTimestamp: months(policy, 3), ...removal })
    const { claims, vehicle, theft } = await contents(policy)
    expect([claims.slice(0, 2), vehicle.slice(0, 2), theft.slice(0, 2)]).toEqual([
      [
        [0, ['300']],
        [3, []],
      ],
      [
        [0, ['radio']],
        [3, []],
      ],
      [
        [0, ['radio']],
        [3, []],
      ],
    ])
  })

  it('is still removed when an earlier one sends all values back as they were read', async () => {
    const { policy, vehicle, theft, values } = await removedLater()
    await apply(policy, 'always', {
      startTimestamp: months(policy, 3),
      fieldValues: values.policy,
      updateExposures: [
        {
          exposureLocator: vehicle,
          fieldValues: values.vehicle,
          updatePerils: [{ perilLocator: theft, fieldValues: values.theft }],
        },
      ],
    })
    const { claims, vehicle: extras } = await contents(policy)
    expect([claims.at(0), claims.at(-1)]).toEqual([
      [0, ['300']],
      [6, []],
    ])
    expect([extras.at(0), extras.at(-1)]).toEqual([
      [0, ['radio']],
      [6, []],
    ])
  })
})
