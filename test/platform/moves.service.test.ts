// A migration that moves tables, on D1.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { migrate } from '../../src/platform/database/migrations.ts'
import { bindingTarget } from '../../src/platform/database/target.ts'
import { boundDatabase, poolBinding } from '../support/databases.ts'
import { migratedDatabases } from '../support/fresh-start/memory.ts'
import {
  AFTER_MOVE,
  BEFORE_MOVE,
  moveDuring,
  NAMES_MOVED,
  namesOf,
  stories,
  WITH_MOVE,
} from '../support/sample-move.ts'

let used = 0
/** A database that no test has used yet. */
function fresh() {
  used += 1
  migratedDatabases.add(poolBinding(used))
  return bindingTarget(poolBinding(used), boundDatabase(poolBinding(used)))
}

test('rows written, changed or deleted between any two steps arrive', async () => {
  await fc.assert(
    fc.asyncProperty(stories, story => moveDuring(fresh(), story)),
    { numRuns: 8, endOnFailure: true },
  )
})

test('a free database is moved together with its other migrations', async () => {
  const target = fresh()
  await migrate(target, BEFORE_MOVE)
  expect(await migrate(target, AFTER_MOVE)).toEqual(['0001_keys', '0002_later'])
  expect(await namesOf(target)).toEqual(NAMES_MOVED)
})

test('a release that does not know moves fails on one and leaves its database unchanged', async () => {
  const target = fresh()
  await migrate(target, BEFORE_MOVE)
  const before = await namesOf(target)
  await expect(target.execute(WITH_MOVE[1]!.statements)).rejects.toThrow('syntax error')
  expect(await namesOf(target)).toEqual(before)
})
