import { type PolicyAggregate, putRecords } from '../../policy/records/aggregate.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'

/** The policy with the endorsement or renewal in it, as old as that. */
export const withEndorsement = (aggregate: PolicyAggregate, endorsement: Endorsement): PolicyAggregate => ({
  ...aggregate,
  policy: { ...aggregate.policy, updatedAt: endorsement.updatedAt },
  endorsements: putRecords(aggregate.endorsements, [endorsement]),
})
