import { describe, expect, it } from 'vitest'
import {
  ACCOUNT_STATES,
  ACCOUNT_TRANSITIONS,
  type AccountAction,
  assertAccountAllows,
  assertMigrationAllows,
  MIGRATION_STATES,
  MIGRATION_TRANSITIONS,
  type MigrationAction,
  outcomeOf,
} from '../../src/servicing/migration/tables.ts'

/** The actions that each state allows (resources brief 9.2), written independently of the tables. */
const MIGRATION = {
  submitted: ['start', 'pause'],
  processing: ['pause', 'patch', 'finish', 'fail', 'stop'],
  paused: ['resume'],
  finished: [],
  failed: ['patch'],
  error: ['recover'],
}
const ACCOUNT = {
  pending: ['begin'],
  processing: ['complete', 'fail', 'stop'],
  completed: [],
  failed: ['patch'],
  error: ['recover'],
}

const refusalOf = (work: () => void): string | undefined => {
  try {
    work()
    return undefined
  } catch (problem) {
    return String(problem)
  }
}

describe('the state of a migration', () => {
  it.each(MIGRATION_STATES)('%s allows exactly the listed actions', state => {
    for (const action of Object.keys(MIGRATION_TRANSITIONS) as MigrationAction[]) {
      const refusal = refusalOf(() => assertMigrationAllows('M', state, action))
      if ((MIGRATION[state] as string[]).includes(action)) expect(refusal).toBeUndefined()
      else expect(refusal).toContain(`Migration M is ${state} and cannot be`)
    }
  })

  it.each(ACCOUNT_STATES)('%s of an account allows exactly the listed actions', state => {
    for (const action of Object.keys(ACCOUNT_TRANSITIONS) as AccountAction[]) {
      const refusal = refusalOf(() => assertAccountAllows('A', state, action))
      if ((ACCOUNT[state] as string[]).includes(action)) expect(refusal).toBeUndefined()
      else expect(refusal).toContain(`Account A is ${state} and cannot be`)
    }
  })

  it('is derived from those of its accounts: errors of the system first, then failures', () => {
    const counts = { pending: 0, processing: 0, completed: 3, failed: 0, error: 0 }
    expect(outcomeOf(counts)).toBe('finish')
    expect(outcomeOf({ ...counts, failed: 1 })).toBe('fail')
    expect(outcomeOf({ ...counts, failed: 1, error: 1 })).toBe('stop')
  })
})
