import { expect, test } from 'vitest'
import { TIMER_OWNERS } from '../../src/wiring.ts'

test.each(Object.entries(TIMER_OWNERS))('a timer of kind %s has an owner', async (_, load) => {
  expect(await load()).toBeTypeOf('function')
})
