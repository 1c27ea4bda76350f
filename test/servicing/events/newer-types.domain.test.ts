import { expect, test } from 'vitest'
import { EVENT_TYPES, eventTypes } from '../../../src/platform/events/catalogue.ts'
import {
  everyNewerType,
  isAnyEventType,
  isEventTypePattern,
  newerTypeOf,
  newerTypesOf,
} from '../../../src/platform/events/types.ts'

test('every newer name that an event may have is one that the brief spells out', () => {
  const known = new Set(everyNewerType())
  const given = eventTypes.flatMap(newerTypesOf)
  expect(given.filter(type => !known.has(type))).toEqual([])
})

test('a row has the newer name of its act, that which the act says where the older type does not tell', () => {
  expect(newerTypeOf({ type: 'endorsement.create' })).toBe('policy.change.create')
  expect(newerTypeOf({ type: 'renewal.quote' })).toBe('policy.renewal.underwrite')
  expect(newerTypeOf({ type: 'policy.quote.update' })).toBeUndefined()
  expect(newerTypeOf({ type: 'policy.quote.update', newerType: 'policy.quote.reset' })).toBe(
    'policy.quote.reset',
  )
  expect(newerTypeOf({ type: 'custom.toString' })).toBeUndefined()
})

test('a name is not listed as its own newer name', () => {
  expect(eventTypes.filter(type => EVENT_TYPES[type].newer === type)).toEqual([])
})

test('subscriptions and filters take newer names as well as older ones', () => {
  for (const pattern of [
    'policy.change.create',
    'policy.account.*',
    'billing.*',
    'migration.start',
    'policy.issue',
  ])
    expect(isEventTypePattern(pattern), pattern).toBe(true)
  for (const pattern of ['policy.change.sell', 'billing', 'bill.*', 'toString'])
    expect(isEventTypePattern(pattern), pattern).toBe(false)
  expect(isAnyEventType('billing.payment.post')).toBe(true)
  expect(isAnyEventType('custom.rate.referred')).toBe(true)
  expect(isAnyEventType('billing.*')).toBe(false)
})
