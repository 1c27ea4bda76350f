// The calls of the platform during the migration of a book.
import type { Batch } from '../plan.ts'

export type MigrationRecording = {
  batches: Batch[]
  /** As D1 counts them, including entries of indexes. */
  rowsRead: number
  rowsWritten: number
  r2: number
  queue: number
  object: number
}

export type AccountCost = Omit<MigrationRecording, 'batches'> & { roundTrips: number; statements: number }

/** Returns the average for each account. */
export function costOf({ batches, ...calls }: MigrationRecording, accounts: number): AccountCost {
  const each = (count: number): number => count / accounts
  return {
    roundTrips: each(batches.length),
    statements: each(batches.flat().length),
    rowsRead: each(calls.rowsRead),
    rowsWritten: each(calls.rowsWritten),
    r2: each(calls.r2),
    queue: each(calls.queue),
    object: each(calls.object),
  }
}
