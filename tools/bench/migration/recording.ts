// What migrating a book asked of the platform.
import type { Batch } from '../plan.ts'

export type MigrationRecording = {
  batches: Batch[]
  /** As D1 counts them, entries of indexes included. */
  rowsRead: number
  rowsWritten: number
  r2: number
  queue: number
  object: number
}

export type AccountCost = Omit<MigrationRecording, 'batches'> & { roundTrips: number; statements: number }

/** On average, for each of so many accounts. */
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
