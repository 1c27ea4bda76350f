// After each file of service tests: whatever its calls emitted, and the clock did, is as the catalogue says. So every
// operation that any test performs is held against it, in every case that a test thought of.
import { afterAll, expect } from 'vitest'
import { emitted, problemsOf } from './read.ts'

afterAll(async () => {
  expect(problemsOf(await emitted())).toEqual([])
})
