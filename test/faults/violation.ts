import type { Wish } from './client.ts'

/** The names of all checks. faults.long.service.test.ts plants a violation of each. */
export const CHECKS = [
  // What clients requested (checks/wishes.ts).
  'keyOnce',
  'acknowledgedThere',
  'refusedAbsent',
  'oneAnswer',
  'oneTry',
  'absentUntold',
  'toldOnce',
  'recordOfOneWish',
  'recordThere',
  'recordWished',
  'feeOnce',
  'documentOnce',
  'reversed',
  // Policies (checks/policies.ts).
  'version',
  'belongs',
  'readable',
  'segments',
  'invoices',
  'bills',
  'modifications',
  'changes',
  'answered',
  'credit',
  // Events, and what is due (checks/events.ts).
  'delivery',
  'arrival',
  'noStranger',
  'order',
  'streamOnce',
  'streamWhole',
  'timer',
  'documentJob',
  'documentReady',
  'migrated',
  'migratedOnce',
  'guard',
  // Files (checks/files.ts).
  'fileThere',
  'fileNamed',
] as const

export type Check = (typeof CHECKS)[number]

/** Something that is wrong, with the wish or policy where it was found. */
export type Violation = {
  readonly check: Check
  readonly says: string
  readonly wish?: Wish
  readonly policy?: string
}
