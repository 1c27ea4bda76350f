// An endorsement from application to issue, as webhooks with newer and older names receive it, through HTTP and the queue.
import { beforeAll, expect, it } from 'vitest'
import type { EventResponse } from '../../../../src/servicing/events/stream/contract.ts'
import type { WebhookResponse } from '../../../../src/servicing/events/webhooks/contract.ts'
import type { EndorsementResponse } from '../../../../src/transactions/endorsements/contract.ts'
import { callOk } from '../../../support/api.ts'
import { prepareDatabases } from '../../../support/databases.ts'
import { motorTenant } from '../../../support/motor.ts'
import { openReceiver } from '../../../support/receiver.ts'

beforeAll(() => prepareDatabases({ tenants: 1 }))

it('webhooks receive the events of an endorsement once and in order under the names that they list', async () => {
  const tenant = await motorTenant('endorsed')
  const { tenantLocator, post, get } = tenant
  const policy = (await tenant.createPolicy()).body
  await post(`/policy/${policy.locator}/issue`)
  const admin = await tenant.signIn('anna.admin')
  const receivers = await Promise.all(
    [['policy.change.*'], ['policy.change.issue', 'endorsement.*']].map(async (eventTypes, at) => {
      const receiver = await openReceiver()
      const endpoint = { url: receiver.url, headers: {} }
      await callOk<WebhookResponse>('POST', `/event/${tenantLocator}/webhooks`, {
        token: admin,
        body: { name: `witness ${at}`, enabled: true, endpoint, eventTypes },
      })
      return receiver
    }),
  )
  const { body: endorsement, headers } = await post<EndorsementResponse>(
    `/policies/${policy.locator}/endorsements`,
    {
      endorsementName: 'change_of_contact',
      fieldValues: { contact_phone: '+49 30 7654321' },
      state: 'issued',
    },
  )
  const ofRequest = `/event/${tenantLocator}/events/request/${headers.get('x-request-id')}`
  const events = (await get<EventResponse[]>(ofRequest)).body.filter(({ type }) =>
    type.startsWith('policy.change.'),
  )
  expect(events.map(({ type }) => type)).toEqual(
    ['create', 'underwrite', 'accept', 'issue'].map(step => `policy.change.${step}`),
  )
  const [newer, older] = await Promise.all(
    receivers.map(async receiver => (await receiver.wait(4)).map(({ body }) => JSON.parse(body))),
  )
  expect(newer).toHaveLength(4)
  expect(newer).toMatchObject(events)
  for (const { data } of newer!)
    expect(data).toMatchObject({
      policyLocator: policy.locator,
      transactionLocator: endorsement.locator,
      endorsementName: 'change_of_contact',
    })
  expect(older!.map(({ type }) => type)).toEqual(
    ['create', 'quote', 'accept', 'issue'].map(step => `endorsement.${step}`),
  )
  expect(older!.map(({ id }) => id)).toEqual(events.map(({ locator }) => locator))
  for (const { data, timestamp } of older!) {
    expect(data).not.toHaveProperty('transactionLocator')
    expect(timestamp).toMatch(/^\d{13}$/)
  }
})
