import { describe, expect, test } from 'vitest'
import { eventTypes } from '../../../src/platform/events/catalogue.ts'
import type { WebhookEndpoint, WebhookFailureHandling } from '../../../src/platform/events/tables.ts'
import {
  isEventTypePattern,
  isStreamed,
  matchesEventType,
  streamTypes,
} from '../../../src/platform/events/types.ts'
import { Event, EventStreamQuery } from '../../../src/servicing/events/stream/contract.ts'
import { CreateWebhookRequest } from '../../../src/servicing/events/webhooks/contract.ts'

const webhook = {
  name: 'orders',
  enabled: true,
  endpoint: { url: 'https://example.com/hook' },
  eventTypes: ['policy.issue'],
}

const messages = (wire: object): string[] =>
  CreateWebhookRequest.safeParse({ ...webhook, ...wire }).error?.issues.map(issue => issue.message) ?? []

test('the stream has the 74 types of the contract and three more; newer types are only in the catalogue', () => {
  const beside = ['cancellation.effective', 'invoice.pastDue', 'invoice.writtenOff']
  const newer = [
    'document.ready',
    'document.failed',
    'migration.start',
    'migration.pause',
    'migration.resume',
    'migration.recover',
    'migration.patch',
    'migration.error',
    'migration.fail',
    'migration.finish',
    'note.create',
    'note.delete',
    'report.finish',
  ]
  expect(streamTypes.filter(type => !beside.includes(type))).toHaveLength(74)
  expect(streamTypes).toEqual(expect.arrayContaining(beside))
  expect(eventTypes).toEqual([...streamTypes, ...newer])
  expect(newer.map(isStreamed)).toEqual(newer.map(() => false))
  expect(Event.shape.type.options[0].options).toEqual(streamTypes)
})

test('a subscription is a type, or a prefix with all types below it', () => {
  expect(matchesEventType('policy.issue', 'policy.issue')).toBe(true)
  expect(matchesEventType('policy.*', 'policy.quote.create')).toBe(true)
  expect(matchesEventType('policy.*', 'policyholder.create')).toBe(false)
  expect(matchesEventType('policy', 'policy.issue')).toBe(false)
  expect(isEventTypePattern('policy.quote.*')).toBe(true)
  expect(isEventTypePattern('policy.sold')).toBe(false)
  expect(isEventTypePattern('*')).toBe(false)
})

test("plugins can emit custom types, which all begin with 'custom.'", () => {
  for (const pattern of ['custom.rate.referred', 'custom.*', 'custom.rate.*'])
    expect(isEventTypePattern(pattern)).toBe(true)
  for (const pattern of ['custom', 'custom.', 'custom..a', 'customs.*', 'custom.a.*.b'])
    expect(isEventTypePattern(pattern)).toBe(false)
  expect(matchesEventType('custom.*', 'custom.rate.referred')).toBe(true)
})

test('the stream query accepts numbers as digits', () => {
  expect(EventStreamQuery.parse({ startTimestamp: '1000', pageSize: '5' })).toEqual({
    startTimestamp: 1000,
    pageSize: 5,
  })
})

describe('a request to create a webhook', () => {
  test('enables signing by default, and empty failure handling has the documented defaults', () => {
    const read = CreateWebhookRequest.parse({ ...webhook, failureHandling: {} })
    const endpoint: WebhookEndpoint = read.endpoint
    const failureHandling: WebhookFailureHandling | undefined = read.failureHandling
    expect(failureHandling).toEqual({ triggers: ['4xx', '5xx', 'timeout'], divert: false, suspend: false })
    expect(endpoint).toEqual({ url: webhook.endpoint.url, headers: {}, secureSsl: true, hmacEnabled: true })
    expect(CreateWebhookRequest.parse(webhook).failureHandling).toBeUndefined()
  })

  test('may specify failure handling', () => {
    const failureHandling = {
      triggers: ['503', 'timeout'],
      retryStrategy: { type: 'exponential', interval: 5 },
      suspend: true,
      alertEndpoint: { url: 'http://localhost:9000', headers: { 'X-Key': 'one' } },
    }
    expect(CreateWebhookRequest.parse({ ...webhook, failureHandling }).failureHandling).toMatchObject({
      triggers: ['503', 'timeout'],
      retryStrategy: { type: 'exponential', interval: 5, attempts: 3 },
      divert: false,
      suspend: true,
      alertEndpoint: { url: 'http://localhost:9000', headers: { 'X-Key': ['one'] } },
    })
  })

  test('must have eventTypes, which may be empty', () => {
    expect(messages({ eventTypes: null })).toEqual(["'eventTypes' must be a list, not null."])
    expect(messages({ eventTypes: [] })).toEqual([])
  })

  test('is rejected with an error for each unknown type and trigger, and for values out of range', () => {
    expect(
      messages({
        eventTypes: ['policy.issue', 'policy.sold'],
        failureHandling: {
          triggers: ['later'],
          retryStrategy: { type: 'linear', interval: 86_401, attempts: 11 },
        },
      }),
    ).toEqual([
      "'failureHandling.triggers[0]' must be a code such as '503', '3xx', '4xx', '5xx' or 'timeout'.",
      "'failureHandling.retryStrategy.interval' must be at most 86400.",
      "'failureHandling.retryStrategy.attempts' must be at most 10.",
      '\'eventTypes[1]\' must be a type of event, or a prefix followed by ".*", such as "policy.*".',
    ])
  })

  test.each(['ftp://example.com', 'example.com', 'https://user:pass@example.com', 'javascript:1'])(
    'cannot have the endpoint %s',
    url => {
      expect(messages({ endpoint: { url } })).toEqual([
        "'endpoint.url' must be an http or https address without user name and password.",
      ])
    },
  )

  test.each([
    [{ Host: ['a'] }, 'is set by the service'],
    [{ 'Webhook-Id': ['a'] }, 'is set by the service'],
    [{ 'a b': ['a'] }, 'is not a valid header name'],
    [{ a: ['one\r\ntwo'] }, 'must be one line'],
    [{ a: ['x'.repeat(5_000)] }, 'at most 20 headers'],
    [Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`h${n}`, ['x']])), 'at most 20 headers'],
  ])('cannot have headers like %j', (headers, words) => {
    expect(messages({ endpoint: { ...webhook.endpoint, headers } }).join()).toContain(words)
  })
})
