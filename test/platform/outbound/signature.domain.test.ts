import { describe, expect, it } from 'vitest'
import type { Instant } from '../../../src/kernel/time.ts'
import { isSecret, newSecret, signatureHeaders } from '../../../src/platform/outbound/signature.ts'

const endpoint = { url: 'https://hooks.example.com/', headers: {}, secureSsl: true, hmacEnabled: true }

describe('A signature', () => {
  it('matches that of the Standard Webhooks libraries', () => {
    const headers = signatureHeaders(
      { ...endpoint, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      1_614_265_330_123 as Instant,
      '{"test": 2432232314}',
    )
    expect(headers).toMatchObject({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  it('uses a secret without the prefix unchanged', () => {
    const sign = (secret: string) => signatureHeaders({ ...endpoint, secret }, 'id', 0 as Instant, 'Hi There')
    // RFC 4231, test case 2: key "Jefe".
    expect(
      signatureHeaders({ ...endpoint, secret: 'Jefe' }, 'id', 0 as Instant, 'what do ya want for nothing?')[
        'socotra-signature'
      ],
    ).toBe('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843')
    expect(sign('Jefe')).not.toHaveProperty('socotra-signature-tag')
  })
})

it('a replaced secret still signs, in addition to the new one, until its time is over', () => {
  const until = 86_400_000 as Instant
  const sign = (at: number) =>
    signatureHeaders(
      { ...endpoint, secret: 'new', earlierSecrets: [{ secret: 'old', until }] },
      'id',
      at as Instant,
      '{}',
    )
  const alone = (secret: string, at: number) =>
    signatureHeaders({ ...endpoint, secret }, 'id', at as Instant, '{}')
  const signature = 'webhook-signature'
  expect(sign(0)[signature]).toBe(`${alone('new', 0)[signature]} ${alone('old', 0)[signature]}`)
  expect(sign(until)[signature]).toBe(alone('new', until)[signature])
  expect(sign(0)['socotra-signature']).toBe(alone('new', 0)['socotra-signature'])
})

it('a new secret has 32 random bytes in base64 after its prefix', () => {
  expect(newSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(newSecret()).not.toBe(newSecret())
})

it('a secret is any text of four characters or more, but base64 after the prefix', () => {
  expect(['four', 'any text at all', 'whsec_QUJD', newSecret()].every(isSecret)).toBe(true)
  expect(['abc', 'whsec_', 'whsec_not base64', 'whsec_a-b_'].some(isSecret)).toBe(false)
})
