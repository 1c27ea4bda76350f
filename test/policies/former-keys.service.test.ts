// A tenant's database gets the new keys of its tables after the release that introduced them. Policies work the same with the
// former keys, while the tables move, and with the new ones.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { noCalls } from '../../src/platform/calls.ts'
import { migrateInSteps } from '../../src/platform/database/migrations.ts'
import { bindingTarget } from '../../src/platform/database/target.ts'
import { readTenant } from '../../src/platform/tenancy.ts'
import type { Answer } from '../support/api.ts'
import { callApi, callOk } from '../support/api.ts'
import { comparable } from '../support/comparable.ts'
import { boundDatabase, prepareDatabases, tenantMigrations } from '../support/databases.ts'
import { leaveOutJournal } from '../support/journal/exclusions.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

const KEYS = '0007_keys_of_policies'
const DAY_MS = 24 * 60 * 60 * 1000

beforeAll(() => {
  // Writes before the migration are not journalled.
  leaveOutJournal()
  return prepareDatabases({ tenants: 3, before: KEYS })
})

type Step = () => Promise<unknown>

const statusOf = ({ status, body }: Answer<unknown>) => (status === 200 ? status : [status, body])

/** Takes a policy through its life, with `between` after each step, and returns the result and its events. */
async function lifeOf(motor: Motor, between: Step) {
  const statuses: unknown[] = []
  const step = async <T>(answer: Promise<Answer<T>>): Promise<T> => {
    const { status, body, headers } = await answer
    statuses.push(statusOf({ status, body, headers }))
    await between()
    return body
  }
  const { locator } = await step(motor.createPolicy({ finalize: false }))
  const at = `/policies/${locator}`
  const [quote] = await callOk<{ locator: string }[]>('GET', `${at}/quotes`, { token: motor.token })
  await step(callApi('PATCH', `/quotes/${quote!.locator}/quote`, { token: motor.token }))
  await step(motor.post(`/policy/${locator}/finalize`))
  const issued = await step(motor.post(`/policy/${locator}/issue`))
  const start = Number(issued.originalContractStartTimestamp)
  const end = Number(issued.originalContractEndTimestamp)
  const invoice = issued.invoices[0]!.locator
  await step(motor.post(`/invoice/${invoice}/pay`, { fieldValues: { method: 'card' } }))
  await step(motor.get(`/invoice/${invoice}`))
  const endorsed = await motor.post(`${at}/endorsements`, {
    endorsementName: 'change_of_risk',
    startTimestamp: start + 180 * DAY_MS,
    state: 'issued',
    updateExposures: [
      { exposureLocator: issued.exposures[0]!.locator, fieldValues: { vehicle_value: '29000' } },
    ],
  })
  await step(Promise.resolve(endorsed))
  await step(motor.post(`${at}/renewals`, { renewalEndTimestamp: end + (end - start), state: 'issued' }))
  await step(
    motor.post(`${at}/cancellations`, {
      effectiveTimestamp: start + 240 * DAY_MS,
      name: 'customer_request',
      cancellationCategory: 'other',
      issue: true,
    }),
  )
  const { body: policy } = await motor.get(`/policy/${locator}`)
  const events = (path: string) =>
    callOk<{ events: { type: string }[] }>('GET', `/event/${motor.tenantLocator}/events/${path}`, {
      token: motor.token,
    })
  const request = endorsed.headers.get('x-request-id')!
  const ofRequest = (await events(`request/${request}`)) as unknown as { type: string }[]
  const named = await events('list?type=policy.status.update&startTimestamp=0')
  const since = await events(`list?startTimestamp=${Number(issued.createdTimestamp)}`)
  const types = (list: readonly { type: string }[]) => list.map(({ type }) => type)
  return {
    statuses,
    policy: comparable(policy),
    told: { ofRequest: types(ofRequest), named: types(named.events), since: types(since.events) },
  }
}

it('a policy’s life has the same result with former keys, while tables move, and with new keys', async () => {
  const migrations = await tenantMigrations()
  const bindingOf = async (motor: Motor) =>
    (await readTenant(env, { name: motor.tenantName }, noCalls()))!.shards[0]!
  const moveOn = async (motor: Motor, left: number) => {
    const binding = await bindingOf(motor)
    return await migrateInSteps(bindingTarget(binding, boundDatabase(binding)), migrations, { left })
  }
  const isMoved = async (motor: Motor) =>
    (await boundDatabase(await bindingOf(motor))
      .prepare('select count(*) as n from migration where name = ?')
      .bind(KEYS)
      .first<number>('n')) === 1

  const former = await motorTenant('former')
  const before = await lifeOf(former, async () => {})
  expect(before.statuses).toEqual(before.statuses.map(() => 200))
  expect(before.told.ofRequest.length).toBeGreaterThan(2)
  expect(await isMoved(former)).toBe(false)

  const moving = await motorTenant('moving')
  expect(await lifeOf(moving, () => moveOn(moving, 9))).toEqual(before)
  expect((await moveOn(moving, 1_000)).isDone).toBe(true)
  expect(await lifeOf(moving, async () => {})).toEqual(before)

  const moved = await motorTenant('moved')
  expect((await moveOn(moved, 1_000)).isDone).toBe(true)
  expect(await lifeOf(moved, async () => {})).toEqual(before)

  // Rows written with the former keys can be read with the new ones.
  expect((await moveOn(former, 1_000)).isDone).toBe(true)
  expect(await isMoved(former)).toBe(true)
})
