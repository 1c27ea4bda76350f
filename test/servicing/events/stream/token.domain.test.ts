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

test('a paging token can be read as long as its key is kept, even after newer keys are added', () => {
  const token = writeToken('the first key', 'stream', tenant, reading)
  expect(readToken('the first key', 'stream', tenant, token)).toEqual(reading)
  expect(readToken('a newer key, the first key', 'stream', tenant, token)).toEqual(reading)
  expect(readToken('newest,a newer key, the first key', 'stream', tenant, token)).toEqual(reading)
  expect(() => readToken('a newer key', 'stream', tenant, token)).toThrow("'pagingToken'")
})

test('a new paging token is sealed with the newest key', () => {
  const token = writeToken('newest, the first key', 'stream', tenant, reading)
  expect(readToken('newest', 'stream', tenant, token)).toEqual(reading)
})

test('a paging token is valid only for its tenant, generation and view', () => {
  const token = writeToken('a key', 'stream', tenant, reading)
  for (const [view, other] of [
    ['events', tenant],
    ['stream', { ...tenant, generation: 2 }],
    ['stream', { ...tenant, locator: 'b' }],
  ] as ['stream' | 'events', Tenant][])
    expect(() => readToken('a key', view, other, token)).toThrow("'pagingToken'")
})
