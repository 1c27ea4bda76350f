// A policy as the store would return it.
import { expect } from 'vitest'
import type { PolicyAggregate } from '../../src/policy/records/aggregate.ts'
import { COLLECTION_NAMES, COLLECTIONS } from '../../src/policy/store/rows.ts'

/** Converts to rows, through JSON, and back. Fails if a record has a property without a column in its table. */
export function storedAggregate(aggregate: PolicyAggregate): PolicyAggregate {
  const copy: Record<string, unknown> = { policy: aggregate.policy }
  for (const name of COLLECTION_NAMES) {
    const { toRow, fromRow, table } = COLLECTIONS[name]
    const columns = Object.keys(table as object)
    const known = new Set(columns)
    const unknown = new Set<string>()
    copy[name] = new Map(
      [...(aggregate[name] as ReadonlyMap<unknown, object>).values()].map(record => {
        const row = toRow(record as never) as Record<string, unknown>
        for (const key of Object.keys(row)) if (row[key] !== undefined && !known.has(key)) unknown.add(key)
        const whole = Object.fromEntries(columns.map(column => [column, row[column] ?? null]))
        const read = fromRow(JSON.parse(JSON.stringify(whole)) as never, aggregate.policy.currency)
        return [read.locator, read]
      }),
    )
    expect([...unknown], name).toEqual([])
  }
  return copy as PolicyAggregate
}
