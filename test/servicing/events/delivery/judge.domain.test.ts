import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { retryAfterMs } from '../../../../src/kernel/time.ts'
import { noCalls } from '../../../../src/platform/calls.ts'
import {
  OWN_FAILURE_HANDLING,
  type RetryStrategy,
  type WebhookFailureHandling,
} from '../../../../src/platform/events/tables.ts'
import {
  attemptDelivery,
  decideVerdict,
  deliverLine,
  LONGEST_DELAY_MS,
  type Outcome,
  type Sender,
  triggerOf,
} from '../../../../src/servicing/events/delivery/serve.ts'
import type { ClaimedLine } from '../../../../src/servicing/events/delivery/store.ts'

const answered = (status: number, retryAfterMs?: number): Outcome => ({
  kind: 'answered',
  status,
  retryAfterMs,
})

const handling = (changes: Partial<WebhookFailureHandling> = {}): WebhookFailureHandling => ({
  triggers: ['4xx', '5xx', 'timeout'],
  divert: false,
  suspend: false,
  ...changes,
})

const linear: RetryStrategy = { type: 'linear', interval: 10, attempts: 3 }
const exponential: RetryStrategy = { type: 'exponential', interval: 10, attempts: 10 }
const MIDDLE = 0.5

describe('a delivery attempt', () => {
  it('succeeds with a 2xx status only', () => {
    for (const status of [200, 201, 204, 299])
      expect(decideVerdict(answered(status), 1, handling(), MIDDLE)).toEqual({ state: 'sent' })
    for (const status of [199, 300, 304, 400, 500])
      expect(decideVerdict(answered(status), 1, handling(), MIDDLE).state).toBe('failed')
  })

  it('without a retry strategy is the only one', () => {
    expect(decideVerdict(answered(503), 1, handling(), MIDDLE)).toEqual({
      state: 'failed',
      handled: true,
      suspend: false,
    })
    expect(decideVerdict({ kind: 'timeout' }, 1, handling({ suspend: true }), MIDDLE)).toEqual({
      state: 'failed',
      handled: true,
      suspend: true,
    })
  })

  it('that fails for a reason without a trigger is final and does not suspend the webhook', () => {
    const only503 = handling({ triggers: ['503'], retryStrategy: linear, suspend: true })
    expect(decideVerdict(answered(500), 1, only503, MIDDLE)).toEqual({
      state: 'failed',
      handled: false,
      suspend: false,
    })
    expect(decideVerdict(answered(503), 1, only503, MIDDLE).state).toBe('pending')
    expect(decideVerdict({ kind: 'timeout' }, 1, only503, MIDDLE).state).toBe('failed')
    expect(decideVerdict(answered(302), 1, handling({ retryStrategy: linear }), MIDDLE).state).toBe('failed')
    expect(
      decideVerdict(answered(302), 1, handling({ triggers: ['3xx'], retryStrategy: linear }), MIDDLE).state,
    ).toBe('pending')
  })

  it('counts as a timeout if the endpoint is unreachable, but not if its address is forbidden', () => {
    const retried = handling({ retryStrategy: linear })
    expect(decideVerdict({ kind: 'unreachable' }, 1, retried, MIDDLE).state).toBe('pending')
    expect(decideVerdict({ kind: 'addressRefused' }, 1, retried, MIDDLE).state).toBe('failed')
  })

  it('with status 410 suspends the webhook immediately, with any triggers', () => {
    expect(
      decideVerdict(answered(410), 1, handling({ triggers: [], retryStrategy: linear }), MIDDLE),
    ).toEqual({
      state: 'failed',
      handled: true,
      suspend: true,
    })
  })
})

describe('the next delivery attempt', () => {
  const waits = (retryStrategy: RetryStrategy, attempts: number[]) =>
    attempts.map(attempt => decideVerdict(answered(500), attempt, handling({ retryStrategy }), MIDDLE))

  it('is interval·n later if linear, and there is none after the last', () => {
    expect(waits(linear, [1, 2, 3])).toEqual([
      { state: 'pending', delayMs: 10_000 },
      { state: 'pending', delayMs: 20_000 },
      { state: 'failed', handled: true, suspend: false },
    ])
  })

  it('is interval·2^(n−1) later if exponential', () => {
    expect(waits(exponential, [1, 2, 3, 9])).toEqual([
      { state: 'pending', delayMs: 10_000 },
      { state: 'pending', delayMs: 20_000 },
      { state: 'pending', delayMs: 40_000 },
      { state: 'pending', delayMs: 2_560_000 },
    ])
  })

  it('waits for Retry-After, up to a day', () => {
    const retried = handling({ retryStrategy: linear })
    expect(decideVerdict(answered(503, 60_000), 1, retried, MIDDLE)).toEqual({
      state: 'pending',
      delayMs: 60_000,
    })
    expect(decideVerdict(answered(503, 1_000), 1, retried, MIDDLE)).toEqual({
      state: 'pending',
      delayMs: 10_000,
    })
    expect(decideVerdict(answered(503, 1e12), 1, retried, MIDDLE)).toEqual({
      state: 'pending',
      delayMs: LONGEST_DELAY_MS,
    })
  })

  it('varies by at most a tenth, and is at most a day later', () => {
    const strategy = fc.record({
      type: fc.constantFrom('linear' as const, 'exponential' as const),
      interval: fc.integer({ min: 1, max: 86_400 }),
      attempts: fc.constant(10),
    })
    fc.assert(
      fc.property(
        strategy,
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (s, n, chance) => {
          const plain = s.interval * 1000 * (s.type === 'linear' ? n : 2 ** (n - 1))
          const verdict = decideVerdict(answered(500), n, handling({ retryStrategy: s }), chance)
          if (verdict.state !== 'pending') throw new Error('it must be tried again')
          expect(verdict.delayMs).toBeGreaterThanOrEqual(Math.min(LONGEST_DELAY_MS, Math.floor(plain * 0.9)))
          expect(verdict.delayMs).toBeLessThanOrEqual(Math.min(LONGEST_DELAY_MS, Math.ceil(plain * 1.1)))
        },
      ),
      { seed: 20261101 },
    )
  })
})

it('without failure handling, an event is tried 15 times over most of a day', () => {
  const verdicts = Array.from({ length: 15 }, (_, at) =>
    decideVerdict(answered(503), at + 1, OWN_FAILURE_HANDLING, MIDDLE),
  )
  const waits = verdicts.flatMap(verdict => (verdict.state === 'pending' ? verdict.delayMs / 1000 : []))
  expect(waits.slice(0, 5)).toEqual([5, 10, 20, 40, 80])
  expect(waits.reduce((sum, wait) => sum + wait)).toBe(81_915)
  expect(verdicts.at(-1)).toEqual({ state: 'failed', handled: true, suspend: false })
  expect(decideVerdict(answered(410), 1, OWN_FAILURE_HANDLING, MIDDLE)).toMatchObject({ suspend: true })
})

it('Retry-After is parsed as seconds or as an HTTP date, and ignored otherwise', () => {
  const at = Date.parse('2026-11-01T10:00:00Z')
  expect(retryAfterMs('120', at)).toBe(120_000)
  expect(retryAfterMs('Sun, 01 Nov 2026 10:01:00 GMT', at)).toBe(60_000)
  expect(retryAfterMs('Sun, 01 Nov 2026 09:00:00 GMT', at)).toBe(0)
  for (const text of [null, '', 'soon', '-5', '1.5', '1e3']) expect(retryAfterMs(text, at)).toBeUndefined()
  // The wait is at most the longest delay, no matter how long the header asks for.
  for (const text of ['999999999', '9999999999', '9'.repeat(400)])
    expect(
      decideVerdict(answered(503, retryAfterMs(text, at)), 1, OWN_FAILURE_HANDLING, MIDDLE),
    ).toMatchObject({
      state: 'pending',
      delayMs: 86_400_000,
    })
})

describe('a line of deliveries', () => {
  const line = [1, 2].map(sequence => ({
    event: {
      sequence,
      locator: `event ${sequence}`,
      type: 'policy.create',
      newerType: null,
      data: {},
      at: 0,
    },
    line: 'a policy',
    attempts: 1,
    asked: 0,
    dueAt: 0,
  })) as unknown as ClaimedLine
  const webhook = {
    endpoint: { url: 'https://hooks.example.com/', headers: {}, hmacEnabled: false, secureSsl: true },
    eventTypes: ['policy.*'],
  }
  const senderUntil = (sendBefore: number) =>
    ({
      place: { env: { ENVIRONMENT: 'test' }, calls: noCalls() },
      webhook,
      headers: { headers: {}, values: [] },
      sendBefore,
    }) as unknown as Sender

  // From then on another call may post the same delivery.
  it.each([
    ['once the time of its claim is nearly over', -1, false],
    ['once its webhook is suspended', 60_000, true],
  ])(
    'is not started %s: its first delivery is released unchanged, and the others were never claimed',
    async (_, ms, isOver) => {
      const fetched = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response())
      try {
        const { results, suspendAt } = await deliverLine(senderUntil(Date.now() + ms), line, () => isOver)
        expect(results).toMatchObject([
          { event: { sequence: 1 }, state: 'pending', attempts: 1, made: undefined },
        ])
        expect([results.length, suspendAt, fetched.mock.calls.length]).toEqual([1, undefined, 0])
        const sent = await deliverLine(senderUntil(Date.now() + 60_000), line, () => false)
        expect(sent.results.map(({ state, attempts }) => [state, attempts])).toEqual([
          ['sent', 2],
          ['sent', 2],
        ])
        expect(fetched).toHaveBeenCalledTimes(2)
      } finally {
        fetched.mockRestore()
      }
    },
  )
})

it('the stored excerpt of a response masks all secrets that were sent, in any header', async () => {
  const value = 'plain words of a secret'
  const endpoint = {
    url: 'https://hooks.example.com/',
    headers: {},
    hmacEnabled: true,
    secret: 'the present one',
    earlierSecrets: [{ secret: 'the one before', until: 0 }],
    secureSsl: true,
  }
  const fetched = vi
    .spyOn(globalThis, 'fetch')
    .mockResolvedValue(new Response(`${value}, the present one, the one before`))
  try {
    const headers = { headers: { 'x-tenant': [value] }, values: [value] }
    const env = { ENVIRONMENT: 'test' } as never
    const { made } = await attemptDelivery(env, endpoint as never, headers, { id: '1', body: '{}' })
    expect(made.excerpt).toBe('********, ********, ********')
  } finally {
    fetched.mockRestore()
  }
})

it('an unreachable endpoint, a refused address and a missing secret trigger as a timeout, and a status as itself', () => {
  const outcomes = ['unreachable', 'addressRefused', 'secretMissing', 'timeout', '503']
  expect(outcomes.map(triggerOf)).toEqual(['timeout', 'timeout', 'timeout', 'timeout', '503'])
})
