import { expect, test } from 'vitest'
import { plansOf, readPlans } from '../../tools/bench/kept-plans.ts'
import { OPERATIONS } from '../../tools/bench/operations.ts'

test('the floor has a recorded plan for every operation', () => {
  const kept = readPlans()
  expect(kept.commit).toBe('039ad00')
  const plans = plansOf(kept, OPERATIONS)
  expect(plans.size).toBe(OPERATIONS.length)
  for (const [{ name }, { answerBytes }] of plans) expect(answerBytes, name).toBeGreaterThan(0)
})

test('the recorded plan is that of the old commit: an endorsement wrote 27 rows in one batch of its object', () => {
  const [plan] = plansOf(
    readPlans(),
    OPERATIONS.filter(({ name }) => name === 'endorse'),
  ).values()
  const writes = plan!.object!.flat().filter(({ kind }) => kind === 'write')
  expect([plan!.worker.length, plan!.object!.length]).toEqual([0, 1])
  expect(writes.reduce((sum, { rows }) => sum + rows, 0)).toBe(27)
})

test('an operation without a plan is an error that names the command to record it', () => {
  expect(() => plansOf({ commit: 'abc', plans: {} }, OPERATIONS)).toThrow(
    "There is no recorded plan of 'sign in'. Record all plans again: npm run bench -- --record-floor abc.",
  )
})
