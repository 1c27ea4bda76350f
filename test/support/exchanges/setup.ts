// After each file of service tests, checks that the document lists the status of each response for its operation. This covers
// every rejection that any test exercises.
import { afterAll, expect, inject } from 'vitest'
import { sendExchanges } from './note.ts'
import { undocumented } from './statuses.ts'

afterAll(async () => {
  // While exchanges are recorded, they make the document, so there is nothing to compare with.
  if (inject('exchangesUrl') === undefined)
    expect(await undocumented(), 'npm run docs:examples -- <this file> adds them').toEqual([])
  await sendExchanges()
})
