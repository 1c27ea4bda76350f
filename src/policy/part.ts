// A part of a policy: an operation that touches a few exposures of a large policy reads those alone, so that its
// work grows with the change (docs/design.md, section 1). Whatever finds that it needs more says so, and the
// operation begins again with the whole policy.
import type { EndorsementLocator } from '../kernel/locators.ts'

/** Policies of at most so many perils are read whole: what is read is kept in memory for the next operation. */
export const READ_WHOLE_PERILS = 200

/** Which exposures are enough: those named here, and those that the endorsement touches. */
export type Part = { readonly exposures: readonly string[]; readonly endorsement?: EndorsementLocator }

/** How much of the policy was left unread. */
export type Unread = { readonly exposures: number; readonly perils: number }

export const NOTHING_UNREAD: Unread = { exposures: 0, perils: 0 }

/** Only a part of the policy was read, and that is not enough. */
export class NeedsWholePolicy extends Error {
  constructor() {
    super('The operation needs the whole policy.')
    this.name = 'NeedsWholePolicy'
  }
}
