import type { Endorsement, PolicyAggregate } from '../policies/aggregate.ts'

/** The payment schedule that the policy has once the endorsement or renewal is issued. */
export const scheduleOf = ({ policy }: PolicyAggregate, { changes }: Endorsement): string =>
  changes.newPaymentScheduleName ?? policy.paymentScheduleName
