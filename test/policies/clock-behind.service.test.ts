// The object of a policy moves to a server whose clock is some seconds behind.
import { beforeAll, expect, it } from 'vitest'
import { elapse } from '../faults/injection.ts'
import { prepareDatabases } from '../support/databases.ts'
import { motorTenant } from '../support/motor.ts'

beforeAll(() => prepareDatabases({ tenants: 2 }))

const BEHIND_MS = 5_000

type StreamEvent = { type: string; timestamp: string }

it('no transaction precedes the one that it follows, and the later of two changes counts', async () => {
  const motor = await motorTenant('behind')
  const created = await motor.createPolicy({
    policyStartTimestamp: undefined,
    policyEndTimestamp: undefined,
    paymentScheduleName: 'monthly',
  })
  const { locator } = created.body
  const path = `/policies/${locator}/endorsements`
  const change = (contact_phone: string) =>
    motor.post<object>(path, {
      endorsementName: 'change_of_risk',
      fieldValues: { contact_phone },
      state: 'issued',
    })
  elapse(-BEHIND_MS)
  expect((await motor.post(`/policy/${locator}/issue`)).status).toBe(200)
  elapse(BEHIND_MS)
  expect((await change('+49 30 1')).status).toBe(200)
  elapse(-BEHIND_MS)
  expect((await change('+49 30 2')).status).toBe(200)
  const { body: policy } = await motor.get(`/policy/${locator}`)
  for (const { locator: invoice, settlementStatus } of policy.invoices)
    if (settlementStatus === 'outstanding')
      expect(
        (await motor.post<object>(`/invoice/${invoice}/pay`, { fieldValues: { method: 'card' } })).status,
      ).toBe(200)
  const { body: after } = await motor.get(`/policy/${locator}`)
  elapse(BEHIND_MS)

  expect(Number(after.issuedTimestamp)).toBeGreaterThanOrEqual(Number(after.createdTimestamp))
  expect(Number(after.updatedTimestamp)).toBeGreaterThanOrEqual(Number(after.issuedTimestamp))
  const [, first, second] = after.modifications
  expect(Number(second!.createdTimestamp)).toBeGreaterThanOrEqual(Number(first!.issuedTimestamp))
  expect(Number(second!.effectiveTimestamp)).toBeGreaterThanOrEqual(Number(first!.effectiveTimestamp))
  const last = after.characteristics.find(
    ({ endTimestamp, replacedTimestamp }) =>
      endTimestamp === after.effectiveContractEndTimestamp && replacedTimestamp === undefined,
  )
  expect(last?.fieldValues?.contact_phone).toEqual(['+49 30 2'])
  for (const { statuses } of after.invoices) {
    const times = statuses.map(({ timestamp }) => Number(timestamp))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  }
  const { body } = await motor.get<{ events: StreamEvent[] }>(
    '/eventstream/events?startTimestamp=0&pageSize=1000',
  )
  const times = body.events.map(({ timestamp }) => Number(timestamp))
  expect(times).toEqual(times.toSorted((a, b) => a - b))
})
