// What a modification holds back of what it gives back, or no longer does, as charges (brief 1.6, 3.2). A commission that
// is held back is so much less of it taken back: its recipient has it, and it is no charge of the policyholder's.
import type { Uuid } from '../kernel/locators.ts'
import { type Money, negated, plus, zero } from '../kernel/money.ts'
import { type Instant, later } from '../kernel/time.ts'
import { holdbacksInForce } from '../policy/fold/holdbacks.ts'
import type { Line } from '../policy/fold/line.ts'
import type { Holdback, Modification, PolicyAggregate } from '../policy/records/aggregate.ts'
import type { Charge } from './charge.ts'

/** `before` and `after` are the line without the modification and with it. Charges of nothing may be among them. */
export function holdbackCharges(
  aggregate: PolicyAggregate,
  modification: Modification,
  before: Line,
  after: Line,
): Charge[] {
  const changes = new Map<string, Holdback>()
  const none = zero(aggregate.policy.currency)
  const add = (of: Holdback, amount: Money): void => {
    const id = idOf(of, modification.locator)
    changes.set(id, { ...of, amount: plus(changes.get(id)?.amount ?? none, amount) })
  }
  for (const one of holdbacksInForce(before)) add(one, negated(one.amount))
  for (const one of holdbacksInForce(after)) add(one, one.amount)
  return [...changes].map(([id, change]) => chargeOf(aggregate, modification, id, change))
}

/** The same for the same source, whichever modification held it back. */
function idOf(of: Holdback, by: Uuid): string {
  const id = `${of.type === 'fee' ? of.feeLocator : of.perilRunLocator}/${by}/holdback`
  if (of.type === 'tax') return `${id}/tax/${of.taxName}`
  return of.type === 'commission' ? `${id}/commission/${of.position}` : id
}

function chargeOf(
  { perilRuns, perils, fees }: PolicyAggregate,
  { locator, effectiveAt: start }: Modification,
  id: string,
  of: Holdback,
): Charge {
  const charge = (end: Instant) => ({
    id,
    amount: of.amount,
    policyModificationLocator: locator,
    start,
    end: later(end, (start + 1) as Instant),
  })
  if (of.type === 'fee') {
    const { name, end } = fees.get(of.feeLocator)!
    return { ...charge(end), type: 'holdback', feeLocator: of.feeLocator, feeName: name }
  }
  const { perilRunLocator } = of
  const { perilLocator, end, price } = perilRuns.get(perilRunLocator)!
  const perilName = perils.get(perilLocator)?.name ?? ''
  const source = { ...charge(end), perilRunLocator, perilLocator, perilName }
  if (of.type === 'commission') {
    const { recipient } = price!.commissions[of.position]!
    return { ...source, type: 'commission', commissionRecipient: recipient }
  }
  return { ...source, type: 'holdback', ...(of.type === 'tax' && { taxName: of.taxName }) }
}
