// Documents of a policy that are uploaded, removed or made, as kinds of operations.
import type { Uuid } from '../../kernel/locators.ts'
import type { PolicyDocument } from '../../policy/records/transactions.ts'
import { defineKind, showNothing } from '../mechanism/kind.ts'
import { type Made, planMade } from './made.ts'
import { planRemoval, planUpload, policyAsOwner } from './upload.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    addDocument: { document: PolicyDocument }
    removeDocument: { document: Uuid }
    /** Documents were made, or failed, while the policyholder had this version. */
    documentsMade: { made: readonly Made[]; policyholderVersion?: number }
  }
}

const addition = defineKind<'addDocument'>({
  name: 'addDocument',
  decide: ({ aggregate }, { document }, { attempt }) => ({
    planned: planUpload(aggregate, document, attempt.now),
  }),
})

const removal = defineKind<'removeDocument'>({
  name: 'removeDocument',
  decide: ({ aggregate }, { document }) => ({
    planned: planRemoval(aggregate, policyAsOwner(aggregate), document),
  }),
})

const making = defineKind<'documentsMade'>({
  name: 'documentsMade',
  // What waits by the rows and not by memory waits: another instance wrote it.
  isOutdated: (remembered, { made }, now) => !remembered || !planMade(remembered, made, now),
  decide({ aggregate, policyholder }, { made, policyholderVersion }, { attempt }) {
    // What shows values that were overwritten meanwhile is no document: it still waits, and is made again.
    if (policyholderVersion !== undefined && policyholderVersion !== policyholder.version) return undefined
    const planned = planMade(aggregate, made, attempt.now)
    return planned && { planned, response: showNothing }
  },
})

export const documentKinds = [addition, removal, making]
