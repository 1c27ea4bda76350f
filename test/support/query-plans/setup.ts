// After each file of service tests: every statement that it sent with `json_each` reads the JSON of its parameters once.
// So a new statement is checked by whichever test first sends it.
import { afterAll, expect } from 'vitest'
import { statementsThatRepeat } from './statements.ts'

afterAll(async () => {
  expect(await statementsThatRepeat()).toEqual([])
})
