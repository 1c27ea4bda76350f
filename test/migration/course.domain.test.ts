// The timers that continue a migrated policy from its last state.
import { expect, it } from 'vitest'
import type { Database } from '../../src/platform/database.ts'
import { timersOfPolicies } from '../../src/servicing/migration/run/prepared.ts'
import { converted, DAY, NOW, plainConfiguration } from './made-book.ts'

const [BEGIN, END, CANCELLED] = [NOW - 100 * DAY, NOW + 265 * DAY, NOW + 30 * DAY]

const segment = (segmentType: string, startTime: number) => ({
  segmentType,
  startTime,
  rootElement: { id: 'root', elementType: 'plain', elements: [] },
})

function timersOf(...later: object[]): { kind: string; dueAt: number }[] {
  const issuance = {
    transactionType: 'issuance',
    issuedTime: BEGIN - DAY,
    segment: segment('coverage', BEGIN),
  }
  const { policies, failures } = converted({
    accountData: { id: 'A1', data: { last_name: 'Even' } },
    policies: [
      {
        id: 'P1',
        productName: 'plain',
        durationBasis: 'years',
        terms: [{ startTime: BEGIN, endTime: END, transactions: [issuance, ...later] }],
      },
    ],
  })
  expect(failures).toEqual([])
  // Without scheduled events, no database is read.
  return timersOfPolicies({} as Database, plainConfiguration, policies, NOW)
    .timers.map(({ kind, dueAt }) => ({ kind, dueAt }))
    .sort((a, b) => a.dueAt - b.dueAt)
}

const cancellation = {
  transactionType: 'wish',
  issuedTime: BEGIN + DAY,
  segment: { segmentType: 'gap', startTime: CANCELLED },
}

it('a policy in force ends at its natural end', () => {
  expect(timersOf()).toEqual([{ kind: 'policy.end', dueAt: END }])
})

it('a policy that is cancelled for a later time ends then, and has no timer of its natural end', () => {
  expect(timersOf(cancellation)).toEqual([{ kind: 'cancellation.effective', dueAt: CANCELLED }])
})

it('a policy that was reinstated ends at its natural end again', () => {
  const back = {
    transactionType: 'reinstatement',
    issuedTime: BEGIN + 2 * DAY,
    segment: segment('coverage', CANCELLED),
  }
  expect(timersOf(cancellation, back)).toContainEqual({ kind: 'policy.end', dueAt: END })
})
