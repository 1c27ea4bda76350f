import { isIssued } from '../../policy/fold/line.ts'
import type { Modification, PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Lapse, ModificationKind } from '../../policy/records/transactions.ts'

/** Modifications that end cover, bring it back or add to it. */
const OF_COVER: ReadonlySet<ModificationKind> = new Set([
  'lapse',
  'cancellation',
  'withdrawal',
  'reinstatement',
  'renewal',
])

/** The lapse that the policy is in: nothing that was issued since has moved its end. */
export function lapseInForce(aggregate: PolicyAggregate): Lapse | undefined {
  const last = [...aggregate.modifications.values()]
    .filter(one => isIssued(one) && OF_COVER.has(one.kind))
    .reduce<Modification | undefined>((a, b) => (a && a.number > b.number ? a : b), undefined)
  return [...aggregate.lapses.values()].find(one => one.modificationLocator === last?.locator)
}
