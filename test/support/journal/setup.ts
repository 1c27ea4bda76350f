// After each file of service tests: the journal of every policy in its databases is what the policy's records say. So every
// operation that any test performs is held against it.
import { afterAll, expect } from 'vitest'
import { forgetLeftOut } from './left-out.ts'
import { journalProblems } from './read.ts'

afterAll(async () => {
  const problems = await journalProblems().finally(forgetLeftOut)
  expect(problems).toEqual([])
})
