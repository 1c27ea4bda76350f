// The migration to rows of several events reaches a database after the release that reads them. Readers and webhooks get the same
// before and after it.
import { env } from 'cloudflare:workers'
import { beforeAll, expect, it } from 'vitest'
import { noCalls } from '../../../../src/platform/calls.ts'
import { migrateInSteps, SHARED_EVENT_ROWS } from '../../../../src/platform/database/migrations.ts'
import { bindingTarget } from '../../../../src/platform/database/target.ts'
import { readTenant, TENANT_TRUST_MS } from '../../../../src/platform/tenancy.ts'
import { callOk } from '../../../support/api.ts'
import { comparable } from '../../../support/comparable.ts'
import { boundDatabase, prepareDatabases, tenantMigrations } from '../../../support/databases.ts'
import { leaveOutJournal } from '../../../support/journal/exclusions.ts'
import { type Motor, motorTenant } from '../../../support/motor.ts'
import { openReceiver, type Receiver } from '../../../support/receiver.ts'

const DAY_MS = 24 * 60 * 60 * 1000

let motor: Motor
let binding: string
let receiver: Receiver
let webhook: string
let admin: string

type Event = {
  readonly id?: string
  readonly locator?: string
  readonly type: string
  readonly requestId?: string
}

const read = <T>(path: string): Promise<T> => callOk<T>('GET', path, { token: admin })

beforeAll(async () => {
  // Nothing before the migration is journalled.
  leaveOutJournal()
  await prepareDatabases({ tenants: 1, before: SHARED_EVENT_ROWS })
  motor = await motorTenant('forms')
  binding = (await readTenant(env, { name: motor.tenantName }, noCalls()))!.shards[0]!
  receiver = await openReceiver()
  admin = await motor.signIn('anna.admin')
  const made = await callOk<{ locator: string }>('POST', `/event/${motor.tenantLocator}/webhooks`, {
    token: admin,
    body: {
      name: 'all',
      enabled: true,
      endpoint: { url: receiver.url },
      eventTypes: ['policy.*', 'invoice.*', 'payment.*', 'cancellation.*', 'endorsement.*', 'quote.*'],
    },
  })
  webhook = made.locator
})

/** Creates a policy and takes it from its quote to its cancellation. */
async function live(): Promise<void> {
  const { body: drafted } = await motor.createPolicy({ finalize: false })
  await motor.post(`/policy/${drafted.locator}/finalize`)
  const policy = await motor.post(`/policy/${drafted.locator}/issue`)
  const issued = policy.body
  const start = Number(issued.originalContractStartTimestamp)
  await motor.post(`/invoice/${issued.invoices[0]!.locator}/pay`, { fieldValues: { method: 'card' } })
  await motor.post(`/policies/${issued.locator}/endorsements`, {
    endorsementName: 'change_of_risk',
    startTimestamp: start + 180 * DAY_MS,
    state: 'issued',
    updateExposures: [
      { exposureLocator: issued.exposures[0]!.locator, fieldValues: { vehicle_value: '29000' } },
    ],
  })
  const cancelled = await motor.post(`/policies/${issued.locator}/cancellations`, {
    effectiveTimestamp: start + 240 * DAY_MS,
    name: 'customer_request',
    cancellationCategory: 'other',
    issue: true,
  })
  expect(cancelled.status).toBe(200)
}

/** All pages, and the paging token after the last one. */
async function follow(
  first: string,
  next: (token: string) => string,
): Promise<{ events: Event[]; token: string }> {
  const events: Event[] = []
  for (let path = first; ; ) {
    const page = await read<{ events: Event[]; pagingToken: string }>(path)
    events.push(...page.events)
    if (page.events.length === 0) return { events, token: page.pagingToken }
    path = next(page.pagingToken)
  }
}

const STREAM = '/eventstream/attributedEvents'
const streamAfter = (token: string): string => `${STREAM}?pagingToken=${token}`
const listAt = (query: string): string => `/event/${motor.tenantLocator}/events/list?${query}`
const listAfter = (token: string): string => listAt(`pagingToken=${token}`)

/** Everything that shows events: both streams, each type separately, each event by locator, and the events of each request. */
async function readAll(size: number) {
  const stream = await follow(`${STREAM}?startTimestamp=0&pageSize=${size}`, streamAfter)
  const list = await follow(listAt(`startTimestamp=0&pageSize=${size}`), listAfter)
  const types = [...new Set([...stream.events, ...list.events].map(({ type }) => type))]
  const byType: [string, Event[]][] = []
  for (const type of types)
    byType.push([type, (await follow(listAt(`type=${type}&pageSize=${size}`), listAfter)).events])
  const single: Event[] = []
  for (const { locator } of list.events)
    single.push(await read(`/event/${motor.tenantLocator}/events/${locator}`))
  const ofRequests: Event[][] = []
  for (const request of new Set(list.events.map(({ requestId }) => requestId)))
    ofRequests.push(await read(`/event/${motor.tenantLocator}/events/request/${request}`))
  const deliveries = await read<{ items: { sequence: number }[] }>(
    `/event/${motor.tenantLocator}/webhooks/${webhook}/deliveries/list?pageSize=100`,
  )
  return { stream, list, byType, single, ofRequests, deliveries: deliveries.items }
}

const rows = async (): Promise<number> =>
  Number(await boundDatabase(binding).prepare('select count(*) as n from event').first('n'))

/** The events without what differs between two runs. */
const comparableEvents = (events: readonly object[]): unknown =>
  comparable(
    events.map(event =>
      JSON.parse(
        JSON.stringify(event, (key, value) => (/^(sequence|generateTime)$/.test(key) ? undefined : value)),
      ),
    ),
  )

it('streams, lists, single events and deliveries are the same before and after events share rows', async () => {
  await motor.createPolicy({ finalize: false })
  const start = (await follow(listAt('startTimestamp=0'), listAfter)).events.length
  const postsBefore = (await receiver.wait(1)).length
  await live()
  const before = await readAll(7)
  const posts = await receiver.wait(before.deliveries.length)
  const count = before.list.events.length
  expect(count - start).toBeGreaterThan(20)
  // One row for each event.
  const rowsBefore = await rows()
  expect(rowsBefore).toBe(count)
  expect(before.ofRequests.flat()).toEqual(before.list.events)
  expect(before.single).toEqual(before.list.events)

  const database = bindingTarget(binding, boundDatabase(binding))
  expect(await migrateInSteps(database, await tenantMigrations(), { left: 0 })).toMatchObject({
    isDone: true,
  })
  await env.CONTROL.prepare('update pool_database set migration = ?').bind(SHARED_EVENT_ROWS).run()
  await scheduler.wait(TENANT_TRUST_MS)
  const { deliveries: _, ...moved } = await readAll(7)
  expect({ ...moved, deliveries: before.deliveries }).toEqual(before)

  await live()
  const postsAfter = await receiver.wait(posts.length + before.deliveries.length - postsBefore)
  const after = await readAll(5)
  expect(after.list.events.slice(0, count)).toEqual(before.list.events)
  expect(after.ofRequests.flat()).toEqual(after.list.events)
  expect(after.single).toEqual(after.list.events)
  const older = new Map(after.stream.events.map(({ id, type }) => [id, type]))
  for (const [name, events] of after.byType)
    expect([name, events]).toEqual([
      name,
      after.list.events.filter(({ type, locator }) => type === name || older.get(locator) === name),
    ])
  const added = after.list.events.slice(count)
  expect(comparableEvents(added)).toEqual(comparableEvents(before.list.events.slice(start)))
  expect(await rows()).toBeLessThan(rowsBefore + added.length / 2)
  const { events: streamed } = await follow(streamAfter(before.stream.token), streamAfter)
  expect(streamed).toEqual(after.stream.events.slice(before.stream.events.length))
  expect(comparableEvents(postsAfter.slice(posts.length).map(({ body }) => JSON.parse(body)))).toEqual(
    comparableEvents(posts.slice(postsBefore).map(({ body }) => JSON.parse(body))),
  )
  expect(after.deliveries.map(({ sequence }) => sequence)).toEqual(
    [...after.deliveries.map(({ sequence }) => sequence)].sort((a, b) => a - b),
  )
})
