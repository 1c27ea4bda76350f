// After each file of service tests, checks the journal of every policy in its databases against the policy's records. This covers
// every operation that any test performs.
import { afterAll, expect } from 'vitest'
import { forgetLeftOut } from './exclusions.ts'
import { journalProblems } from './read.ts'

afterAll(async () => {
  const problems = await journalProblems().finally(forgetLeftOut)
  expect(problems).toEqual([])
})
