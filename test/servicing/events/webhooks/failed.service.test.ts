// The list of failed deliveries of all webhooks.
import { beforeAll, expect, it } from 'vitest'
import type { FailedDeliveryListResponse } from '../../../../src/servicing/events/webhooks/contract.ts'
import { boundDatabase, prepareDatabases } from '../../../support/databases.ts'
import { openReceiver } from '../../../support/receiver.ts'
import type { Behaviour } from '../../../support/receiver-server.ts'
import { clientOf } from '../http.ts'
import { deliver, happen, makeTenant } from '../tenant.ts'

beforeAll(() => prepareDatabases({ tenants: 2 }))

const GIVES_UP = { triggers: ['5xx'] }

it('failed and diverted deliveries are listed until they are resent successfully', async () => {
  const tenant = await makeTenant()
  const call = await clientOf(tenant)
  const at = `/event/${tenant.locator}`
  const hook = async (name: string, failureHandling: object, behaviours: Behaviour[]) => {
    const receiver = await openReceiver(...behaviours)
    const endpoint = { url: receiver.url }
    const body = { name, enabled: true, endpoint, failureHandling, eventTypes: ['policy.*'] }
    return (await call('POST', `${at}/webhooks`, body)).body.locator as string
  }
  const given = await hook('given up', GIVES_UP, [{ status: 500 }, { status: 500 }, { status: 200 }])
  const aside = await hook('put aside', { ...GIVES_UP, divert: true }, [{ status: 503 }, { status: 200 }])
  await hook('well', GIVES_UP, [{ status: 200 }, { status: 200 }])
  const list = async (query = ''): Promise<FailedDeliveryListResponse> => {
    const { status, body } = await call('GET', `${at}/deliveries/list${query}`)
    expect(status, JSON.stringify(body)).toBe(200)
    return body
  }
  const named = ({ items }: FailedDeliveryListResponse) =>
    items.map(({ webhookName, eventType, state, outcome }) => [webhookName, eventType, state, outcome])
  expect(await list()).toEqual({ listCompleted: true, items: [] })
  await happen(tenant, [{ policyLocator: 1 as never, type: 'policy.create' }])
  await happen(tenant, [{ policyLocator: 2 as never, type: 'policy.issue' }])
  await deliver(tenant)

  const all = await list()
  expect(named(all).filter(([name]) => name === 'given up')).toEqual([
    ['given up', 'policy.create', 'failed', '500'],
    ['given up', 'policy.issue', 'failed', '500'],
  ])
  expect(named(all).filter(([name]) => name === 'put aside')).toEqual([
    ['put aside', 'policy.create', 'diverted', '503'],
  ])
  expect(all.items).toHaveLength(3)
  expect(named(await list('?state=diverted'))).toEqual([['put aside', 'policy.create', 'diverted', '503']])
  expect((await list('?state=failed')).items.map(({ webhookLocator }) => webhookLocator)).toEqual([
    given,
    given,
  ])

  const pages: FailedDeliveryListResponse[] = [await list('?pageSize=1')]
  while (pages.at(-1)!.pagingToken)
    pages.push(await list(`?pageSize=1&pagingToken=${pages.at(-1)!.pagingToken}`))
  expect(pages.map(({ items }) => items.length)).toEqual([1, 1, 1])
  expect(pages.flatMap(({ items }) => items)).toEqual(all.items)

  const event = all.items.find(({ webhookLocator }) => webhookLocator === aside)!.eventLocator
  expect((await call('POST', `${at}/webhooks/${aside}/diverted/${event}/resend`)).status).toBe(200)
  await deliver(tenant)
  expect((await list('?state=diverted')).items).toEqual([])
  expect((await list()).items).toHaveLength(2)

  expect((await call('GET', `${at}/deliveries/list?state=sent`)).status).toBe(400)
  expect((await call('GET', `${at}/deliveries/list?pagingToken=AAAA`)).status).toBe(400)
})

it('listing failed deliveries returns 503 until the database has their index', async () => {
  const tenant = await makeTenant()
  const call = await clientOf(tenant)
  await boundDatabase(tenant.shards[0]!).prepare('drop index delivery_failed').run()
  const own = await call('GET', `/event/${tenant.locator}/deliveries/list`)
  expect([own.status, own.body.code]).toEqual([503, 'tenantBehind'])
})
