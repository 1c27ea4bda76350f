// The `webhooks` section of the OpenAPI document compared with the bodies that are posted: each row of the stream under each of
// its names.
import { describe, expect, test } from 'vitest'
import { EVENT_TYPES, eventTypes } from '../../../../src/platform/events/catalogue.ts'
import { isStreamed, newerTypesOf } from '../../../../src/platform/events/types.ts'
import { eventNotifications, exampleData } from '../../../../src/servicing/events/stream/notifications.ts'
import { eventResponse, webhookEvent } from '../../../../src/servicing/events/stream/response.ts'

const notifications = eventNotifications()
const schemaOf = (name: string) => notifications.find(one => one.name === name)!.schema

const row = {
  sequence: 7,
  locator: '5f0c2a54-6c1e-4b0e-9a57-0d3b6f1c7b00',
  requestId: '0b54cbb5-64f1-4a5f-8f7e-2c2a9a3b6e00',
  at: 1_772_323_200_000,
  accountLocator: 'a1f8b0de-0f5c-4e8f-9a55-3c4fbe1f2600',
  username: 'alice',
}

const emitted = eventTypes.filter(type => !EVENT_TYPES[type].isForeign)
const pairs = emitted.flatMap(type => newerTypesOf(type).map(newerType => ({ type, newerType })))

test('every event name is in the document exactly once', () => {
  const names = notifications.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(new Set(names)).toEqual(new Set([...emitted, ...pairs.map(one => one.newerType), 'custom.*']))
})

test.each(emitted.filter(isStreamed))(
  'under its older name, %s is posted as documented, with the data of the stream',
  type => {
    const data = exampleData(type)
    const body = webhookEvent({ ...row, type, newerType: EVENT_TYPES[type].newer ?? null, data }, [type])
    expect(body).toMatchObject({ type, timestamp: '1772323200000', data })
    expect(schemaOf(type).parse(body)).toEqual(body)
  },
)

test.each(emitted.filter(type => !isStreamed(type)))(
  '%s, which is not in the stream, is posted as the events interface returns it',
  type => {
    const event = { ...row, type, newerType: null, data: exampleData(type) }
    for (const eventTypes of [[type], ['login.*']]) {
      const body = webhookEvent(event, eventTypes)
      expect(body).toMatchObject({ ...eventResponse(event), timestamp: '2026-03-01T00:00:00.000Z' })
      expect(schemaOf(type).parse(body)).toEqual(body)
    }
  },
)

describe('an event under its newer name', () => {
  test.each(pairs)(
    '$type is posted as $newerType, as the events interface returns it',
    ({ type, newerType }) => {
      const event = { ...row, type, newerType, data: exampleData(type) }
      const body = webhookEvent(event, [newerType])
      expect(body).toMatchObject(eventResponse(event))
      expect(body).toMatchObject({ type: newerType, timestamp: '2026-03-01T00:00:00.000Z', sequence: 7 })
      // The strict schema rejects properties that are not documented.
      expect(schemaOf(newerType).parse(body)).toEqual(body)
    },
  )

  test('is posted under its older name if the webhook lists that too', () => {
    const event = {
      ...row,
      type: 'endorsement.issue',
      newerType: 'policy.change.issue',
      data: { a: 'b' },
    }
    const typeFor = (...types: string[]) => webhookEvent(event, types).type
    expect(typeFor('policy.change.*', 'endorsement.*')).toBe('endorsement.issue')
    expect(typeFor('policy.*')).toBe('policy.change.issue')
    // The types of the webhook were changed after the event happened.
    expect(typeFor('login.*')).toBe('endorsement.issue')
  })
})
