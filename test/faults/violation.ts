import type { Wish } from './client.ts'

/** All that is looked at, each by a name of its own; faults.long.service.test.ts plants a violation of every one. */
export const CHECKS = [
  // What clients wished for (checks/wishes.ts).
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
  // What holds of policies (checks/policies.ts).
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

/** Something that should not be; with the wish, policy or event that it shows at. */
export type Violation = {
  readonly check: Check
  readonly says: string
  readonly wish?: Wish
  readonly policy?: string
}
