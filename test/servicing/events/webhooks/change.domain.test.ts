import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../../../src/kernel/errors.ts'
import { newUuid } from '../../../../src/kernel/locators.ts'
import type { Instant } from '../../../../src/kernel/time.ts'
import { OWN_FAILURE_HANDLING } from '../../../../src/platform/events/tables.ts'
import type { Webhook } from '../../../../src/servicing/events/delivery/webhook.ts'
import { changedWebhook, newWebhook, OVERLAP_MS } from '../../../../src/servicing/events/webhooks/change.ts'
import {
  CreateWebhookRequest,
  UpdateWebhookRequest,
} from '../../../../src/servicing/events/webhooks/contract.ts'

const AT = 1_800_000_000_000 as Instant

const webhook = (changes: Partial<Webhook> = {}): Webhook => ({
  locator: newUuid(0),
  name: 'claims desk',
  enabled: true,
  suspendedAt: null,
  endpoint: {
    url: 'https://hooks.example.com/in',
    headers: { 'X-Desk': ['7'], authorization: ['Bearer one'] },
    secureSsl: true,
    hmacEnabled: true,
    secret: 'earlier',
  },
  failureHandling: undefined,
  eventTypes: ['policy.*', 'payment.pay'],
  createdAt: AT,
  version: 1,
  replayVersion: 0,
  ...changes,
})

const changed = (before: Webhook, wire: object, at = AT): Webhook =>
  changedWebhook(before, UpdateWebhookRequest.parse(wire), { at, makeSecret: () => 'made' })

const messageOf = (refused: () => unknown): string => {
  try {
    refused()
  } catch (problem) {
    if (problem instanceof Refusal) return problem.message
  }
  throw new Error('It was not refused.')
}

const refusal = (before: Webhook, wire: object): string => messageOf(() => changed(before, wire))

describe('a change of a webhook removes first and then adds', () => {
  const types = ['policy.create', 'policy.issue', 'payment.pay', 'policy.*', 'login.success'] as const
  const some = fc.uniqueArray(fc.constantFrom(...types))
  const triggers = ['400', '4xx', '5xx', '503', 'timeout'] as const
  const someTriggers = fc.uniqueArray(fc.constantFrom(...triggers))
  const expected = (before: readonly string[], less: readonly string[], more: readonly string[]) => [
    ...new Set([...before.filter(one => !less.includes(one)), ...more]),
  ]

  it('event types and triggers: one in both lists remains, once', () => {
    const property = fc.property(
      some,
      some,
      some,
      someTriggers,
      someTriggers,
      someTriggers,
      (eventTypes, less, more, before, lessTriggers, moreTriggers) => {
        const failureHandling = { triggers: before, divert: false, suspend: false }
        const result = changed(webhook({ eventTypes, failureHandling }), {
          removeEventTypes: less,
          addEventTypes: more,
          failureHandling: { removeTriggers: lessTriggers, addTriggers: moreTriggers },
        })
        expect([...result.eventTypes].sort()).toEqual(expected(eventTypes, less, more).sort())
        expect([...result.failureHandling!.triggers].sort()).toEqual(
          expected(before, lessTriggers, moreTriggers).sort(),
        )
        for (const one of more) expect(result.eventTypes.filter(type => type === one)).toHaveLength(1)
      },
    )
    fc.assert(property, { seed: 20261122 })
  })

  it('headers, regardless of case: an added header replaces the values of an existing one', () => {
    const { headers } = changed(webhook(), {
      endpoint: {
        removeHeaders: ['x-desk', 'AUTHORIZATION', 'X-None'],
        addHeaders: { Authorization: ['Bearer two'], 'X-New': 'a' },
      },
    }).endpoint
    expect(headers).toEqual({ Authorization: ['Bearer two'], 'X-New': ['a'] })
    expect(
      changed(webhook(), { endpoint: { addHeaders: { 'x-desk': ['8', '9'] } } }).endpoint.headers,
    ).toEqual({
      authorization: ['Bearer one'],
      'x-desk': ['8', '9'],
    })
  })

  it('the failure handling, the alert endpoint and the retry strategy', () => {
    const failureHandling = {
      triggers: ['503'],
      retryStrategy: { type: 'linear' as const, interval: 9, attempts: 9 },
      divert: true,
      suspend: true,
      alertEndpoint: { ...webhook().endpoint, url: 'https://old.example.com/' },
    }
    const before = webhook({ failureHandling })
    expect(changed(before, { removeFailureHandling: true }).failureHandling).toBeUndefined()
    expect(
      changed(before, { removeFailureHandling: true, failureHandling: { divert: true } }).failureHandling,
    ).toEqual({ ...OWN_FAILURE_HANDLING, divert: true })
    const other = { type: 'exponential', interval: 2, attempts: 4 }
    expect(
      changed(before, { failureHandling: { removeRetryStrategy: true, retryStrategy: other } })
        .failureHandling,
    ).toEqual({ ...failureHandling, retryStrategy: other })
    const { retryStrategy: _, ...without } = failureHandling
    expect(changed(before, { failureHandling: { removeRetryStrategy: true } }).failureHandling).toEqual(
      without,
    )
    const { retryStrategy: own } = OWN_FAILURE_HANDLING
    expect(changed(before, { failureHandling: { retryStrategy: own } }).failureHandling).toEqual({
      ...failureHandling,
      retryStrategy: own,
    })
    for (const differing of [{ attempts: 14 }, { interval: 6 }, { type: 'linear' }, { attempts: 16 }])
      expect(
        UpdateWebhookRequest.safeParse({ failureHandling: { retryStrategy: { ...own, ...differing } } })
          .success,
      ).toBe(false)
    const replaced = changed(before, {
      failureHandling: { removeAlertEndpoint: true, alertEndpoint: { url: 'https://new.example.com/' } },
    }).failureHandling
    expect(replaced!.alertEndpoint).toEqual({
      url: 'https://new.example.com/',
      headers: {},
      secureSsl: true,
      hmacEnabled: true,
      secret: 'made',
      secretMadeIn: 2,
    })
  })
})

describe('what a change of a webhook omits', () => {
  it('stays unchanged, and every change increases the version', () => {
    const before = webhook()
    expect(changed(before, {})).toEqual({ ...before, version: 2 })
    expect(
      changed(before, { name: 'desk', enabled: false, endpoint: { url: 'https://b.example.com/' } }),
    ).toEqual({
      ...before,
      name: 'desk',
      enabled: false,
      endpoint: { ...before.endpoint, url: 'https://b.example.com/' },
      version: 2,
    })
  })

  it('is the default if failure handling was never given', () => {
    expect(changed(webhook(), { failureHandling: { removeTriggers: ['4xx'] } }).failureHandling).toEqual({
      ...OWN_FAILURE_HANDLING,
      triggers: ['5xx', 'timeout'],
    })
  })
})

describe('a new secret of a webhook', () => {
  it('keeps each earlier secret signing for one day', () => {
    const second = changed(webhook(), { endpoint: { secret: 'second' } })
    expect(second.endpoint).toMatchObject({
      secret: 'second',
      earlierSecrets: [{ secret: 'earlier', until: AT + OVERLAP_MS }],
    })
    const soon = (AT + 1_000) as Instant
    const third = changed(second, { endpoint: { secret: 'third' } }, soon)
    expect(third.endpoint.earlierSecrets).toEqual([
      { secret: 'earlier', until: AT + OVERLAP_MS },
      { secret: 'second', until: soon + OVERLAP_MS },
    ])
    const nextDay = (AT + OVERLAP_MS) as Instant
    expect(changed(third, {}, nextDay).endpoint).toEqual(third.endpoint)
    expect(changed(third, { endpoint: { tag: 't' } }, nextDay).endpoint.earlierSecrets).toEqual([
      { secret: 'second', until: soon + OVERLAP_MS },
    ])
  })

  it('that equals the current one or its mask changes nothing', () => {
    for (const secret of ['earlier', '********'])
      expect(changed(webhook(), { endpoint: { secret } }).endpoint).toEqual(webhook().endpoint)
  })

  it('is generated for an endpoint that is to sign and has none', () => {
    const { secret: _, ...endpoint } = webhook().endpoint
    const unsigned = webhook({ endpoint: { ...endpoint, hmacEnabled: false } })
    expect(changed(unsigned, { endpoint: { hmacEnabled: true } }).endpoint.secret).toBe('made')
    expect(changed(unsigned, { endpoint: { tag: 't' } }).endpoint.secret).toBeUndefined()
  })
})

describe('a change of a webhook is rejected', () => {
  it('for an alert endpoint without a URL, and for a mask without a stored value', () => {
    expect(refusal(webhook(), { failureHandling: { alertEndpoint: { tag: 't' } } })).toBe(
      "'failureHandling.alertEndpoint.url' is missing: there is no endpoint to change yet.",
    )
    expect(refusal(webhook(), { endpoint: { addHeaders: { 'X-Other': '********' } } })).toContain(
      "'endpoint.addHeaders.X-Other' is ********, which stands for a stored value, but there is none",
    )
    expect(
      changed(webhook(), { endpoint: { addHeaders: { Authorization: '********' } } }).endpoint.headers,
    ).toEqual({
      'X-Desk': ['7'],
      Authorization: ['Bearer one'],
    })
  })

  it('for too many headers in total', () => {
    const addHeaders = Object.fromEntries(Array.from({ length: 19 }, (_, at) => [`x-${at}`, ['1']]))
    expect(refusal(webhook(), { endpoint: { addHeaders } })).toBe(
      "'endpoint.addHeaders': all headers must be at most 20 headers of 4096 characters in all.",
    )
  })
})

describe('a new webhook copied from a response', () => {
  const { locator, createdAt } = webhook()
  const url = 'https://hooks.example.com/in'
  const made = (wire: object): Webhook =>
    newWebhook(
      CreateWebhookRequest.parse({ name: 'copy', enabled: true, endpoint: { url }, eventTypes: [], ...wire }),
      { locator, createdAt, makeSecret: () => 'made' },
    )

  it.each([
    ['endpoint.secret', { endpoint: { url, secret: '********' } }],
    ['endpoint.headers.Authorization', { endpoint: { url, headers: { Authorization: ['x', '********'] } } }],
    ['url?code', { endpoint: { url: `${url}?code=********` } }],
    [
      'failureHandling.alertEndpoint.secret',
      { failureHandling: { alertEndpoint: { url, secret: '********' } } },
    ],
  ])('is rejected for a mask in %s, since there is no stored value', (path, wire) => {
    expect(messageOf(() => made(wire))).toBe(
      `'${path}' is ********, which stands for a stored value, but there is none; send the value.`,
    )
  })
})
