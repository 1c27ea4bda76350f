// After each file of service tests, checks all events that its calls and the clock emitted against the catalogue. This covers
// every operation and case that any test exercises.
import { afterAll, expect } from 'vitest'
import { emitted, problemsOf } from './read.ts'

afterAll(async () => {
  expect(problemsOf(await emitted())).toEqual([])
})
