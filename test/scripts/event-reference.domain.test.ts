import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EVENT_TYPES, eventTypes } from '../../src/platform/events/catalogue.ts'
import { dataContract, exampleData } from '../../src/servicing/events/stream/notifications.ts'
import { EVENTS_BEGIN, EVENTS_PAGE, withEventReference } from '../../tools/event-reference.ts'

test('docs/events.md has the current catalog of events; npm run docs:events writes it', () => {
  const page = readFileSync(EVENTS_PAGE, 'utf8')
  expect(page).toBe(withEventReference(page))
  expect(() => withEventReference('nothing')).toThrow(EVENTS_BEGIN)
})

test.each(eventTypes)(
  'the example of %s matches its contract, which allows no missing or additional property',
  type => {
    const contract = dataContract(type)
    const example = exampleData(type)
    expect(contract.safeParse(example).error).toBeUndefined()
    if (EVENT_TYPES[type].isForeign) return
    expect(contract.safeParse({ ...example, more: 'x' }).success).toBe(false)
    const [first] = EVENT_TYPES[type].data
    const { [first!]: _, ...less } = example
    expect(contract.safeParse(less).success).toBe(false)
  },
)

test('no two event types share the name of their data', () => {
  const shapes = Object.values(EVENT_TYPES).map(({ shape }) => shape)
  expect(new Set(shapes).size).toBe(shapes.length)
})
