import { expect, test } from 'vitest'
import type { Tenant } from '../../../../src/platform/tenancy.ts'
import { readToken, writeToken } from '../../../../src/servicing/events/stream/service.ts'

const tenant = { locator: 'a', generation: 1 } as unknown as Tenant
const reading = {
  filter: { start: 5, end: undefined, type: 'policy.issue' },
  pageSize: 7,
  positions: [3, 9],
  restores: 0,
} as never

test('a token is read years later, after the keys were changed, as long as the old one is kept', () => {
  const token = writeToken('the first key', 'stream', tenant, reading)
  expect(readToken('the first key', 'stream', tenant, token)).toEqual(reading)
  expect(readToken('a newer key, the first key', 'stream', tenant, token)).toEqual(reading)
  expect(readToken('newest,a newer key, the first key', 'stream', tenant, token)).toEqual(reading)
  expect(() => readToken('a newer key', 'stream', tenant, token)).toThrow("'pagingToken'")
})

test('a new token is sealed with the newest key', () => {
  const token = writeToken('newest, the first key', 'stream', tenant, reading)
  expect(readToken('newest', 'stream', tenant, token)).toEqual(reading)
})

test('a token fits its tenant, its generation and its view alone', () => {
  const token = writeToken('a key', 'stream', tenant, reading)
  for (const [view, other] of [
    ['events', tenant],
    ['stream', { ...tenant, generation: 2 }],
    ['stream', { ...tenant, locator: 'b' }],
  ] as ['stream' | 'events', Tenant][])
    expect(() => readToken('a key', view, other, token)).toThrow("'pagingToken'")
})
