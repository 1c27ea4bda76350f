import { describe, expect, it } from 'vitest'
import { contractRefusal } from '../../src/platform/wire-problem.ts'
import { ReportStartQuery } from '../../src/reporting/contract.ts'

describe('the wait parameter of a report', () => {
  it.each([
    ['true', "'wait' must be a number, not text."],
    ['0x5', "'wait' must be a number, not text."],
    ['1.5', "'wait' must be a whole number, not a fraction."],
    ['31', "'wait' must be at most 30."],
  ])('%s is rejected with the required form', (wait, message) => {
    const { error } = ReportStartQuery.safeParse({ wait })
    expect(contractRefusal(error!, 'invalidParameter').message).toBe(message)
  })

  it('is a number of seconds, or is omitted', () => {
    expect(ReportStartQuery.parse({ wait: '5' })).toEqual({ wait: 5 })
    for (const query of [{}, { wait: '' }]) expect(ReportStartQuery.parse(query).wait).toBeUndefined()
  })
})
