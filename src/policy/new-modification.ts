import type { DisplayId, LocatorSupply } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import type { Modification, PolicyAggregate } from './records/aggregate.ts'

type Terms = Pick<Modification, 'kind' | 'name' | 'effectiveAt' | 'policyEnd'> & Partial<Modification>

/** The policy's next modification, made now; issued, accepted and priced as the terms say. Takes one digit. */
export const newModification = (
  before: PolicyAggregate,
  { locator, ...terms }: Terms,
  { now, supply }: { now: Instant; supply: LocatorSupply },
): Modification => ({
  locator: locator ?? supply.uuid(),
  displayId: supply.digits() as DisplayId,
  number: nextNumber(before),
  createdAt: now,
  updatedAt: now,
  ...terms,
})

/** The number of the policy's next modification: its place in the line. One that was taken back leaves its place. */
const nextNumber = ({ modifications }: PolicyAggregate): number =>
  [...modifications.values()].reduce(
    (next, one) => (one.invalidatedAt === undefined ? Math.max(next, one.number + 1) : next),
    1,
  )
