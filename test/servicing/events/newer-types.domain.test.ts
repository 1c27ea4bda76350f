import { expect, test } from 'vitest'
import { EVENT_TYPES, eventTypes } from '../../../src/platform/events/catalogue.ts'
import {
  everyNewerType,
  isAnyEventType,
  isEventTypePattern,
  newerTypeOf,
  newerTypesOf,
} from '../../../src/platform/events/types.ts'

test('every newer name of an event is listed in the brief', () => {
  const known = new Set(everyNewerType())
  const given = eventTypes.flatMap(newerTypesOf)
  expect(given.filter(type => !known.has(type))).toEqual([])
})

test('an event row gets the newer name of its type, unless the operation sets a more specific one', () => {
  expect(newerTypeOf({ type: 'endorsement.create' })).toBe('policy.change.create')
  expect(newerTypeOf({ type: 'renewal.quote' })).toBe('policy.renewal.underwrite')
  expect(newerTypeOf({ type: 'policy.quote.update' })).toBeUndefined()
  expect(newerTypeOf({ type: 'policy.quote.update', newerType: 'policy.quote.reset' })).toBe(
    'policy.quote.reset',
  )
  expect(newerTypeOf({ type: 'custom.toString' })).toBeUndefined()
})

test('no event has its own name as its newer name', () => {
  expect(eventTypes.filter(type => EVENT_TYPES[type].newer === type)).toEqual([])
})

test('subscriptions and filters accept newer names as well as older ones', () => {
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
