// After each file of service tests: each answer has a status that the document knows of its operation. So every refusal that any test
// met is held against it.
import { afterAll, expect, inject } from 'vitest'
import { sendExchanges } from './note.ts'
import { undocumented } from './statuses.ts'

afterAll(async () => {
  // Else what is recorded now makes the document.
  if (inject('exchangesUrl') === undefined)
    expect(await undocumented(), 'npm run docs:examples -- <this file> adds them').toEqual([])
  await sendExchanges()
})
