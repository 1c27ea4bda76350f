// The check that runs after each file of service tests finds statements that read a JSON list repeatedly.
import { describe, expect, it } from 'vitest'
import { type PlanRow, repeatedReads } from '../support/query-plans/judge.ts'

const plan = (...details: string[]): PlanRow[] =>
  details.map((detail, at) => ({
    id: at + 1,
    parent: detail.startsWith('  ') ? at : 0,
    detail: detail.trim(),
  }))

const NEW = 'SCAN new VIRTUAL TABLE INDEX 1:'
const STORED = 'SEARCH old USING INDEX key (contents=?)'

describe('repeatedReads', () => {
  it.each([
    [
      'each stored row',
      'select 1 from json_each(?) as new join old on old.key = new.value',
      plan(STORED, NEW),
    ],
    ['each stored row, without `as`', 'select 1 from json_each(?) new, old', plan('SCAN old', NEW)],
    [
      'each row of a query around it',
      'select 1 from old where exists (select 1 from json_each(?) as new where new.value = old.key)',
      plan('SCAN old', 'CORRELATED SCALAR SUBQUERY 1', `  ${NEW}`),
    ],
    [
      'each row, made one loop with the other by SQLite',
      'select 1 from old where exists (select 1 from json_each(?) as new where new.value = old.key)',
      plan('SCAN old', 'SCAN new EXISTS VIRTUAL TABLE INDEX 1:'),
    ],
    [
      'each row, without a name of its own',
      'select 1 from old where exists (select 1 from json_each(?) where value = old.key)',
      plan('SCAN old', 'SCAN json_each EXISTS VIRTUAL TABLE INDEX 1:'),
    ],
  ])('reports a plan that reads the list again for %s', (_, text, rows) => {
    expect(repeatedReads(text, rows)).toHaveLength(1)
  })

  it.each([
    ['is the outer loop', 'select 1 from json_each(?) as new join old', plan(NEW, STORED)],
    [
      'is made once as a list',
      'select 1 from old where key in (select value from json_each(?))',
      plan('SCAN old', 'LIST SUBQUERY 1', '  SCAN json_each VIRTUAL TABLE INDEX 1:'),
    ],
    [
      'follows a search for the one row of a key',
      'select 1 from json_each(?) where exists (select 1 from old where id = ?)',
      plan('SEARCH old EXISTS USING INTEGER PRIMARY KEY (rowid=?)', 'SCAN json_each VIRTUAL TABLE INDEX 1:'),
    ],
    ['is a column of the row', 'select 1 from old, json_each(old.list) as new', plan('SCAN old', NEW)],
  ])('accepts a plan whose list %s', (_, text, rows) => {
    expect(repeatedReads(text, rows)).toEqual([])
  })
})
