// After each file of service tests, checks that every statement with `json_each` that it sent reads the JSON of its parameters
// once. A new statement is therefore checked by the first test that sends it.
import { afterAll, expect } from 'vitest'
import { statementsThatRepeat } from './statements.ts'

afterAll(async () => {
  expect(await statementsThatRepeat()).toEqual([])
})
