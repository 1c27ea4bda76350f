import type { Modification, PolicyAggregate } from './records/aggregate.ts'

/** Cancellations and withdrawals that are carried out and not reinstated, in their order. */
export function standingCancellations({
  modifications,
  cancellations,
  reinstatements,
}: PolicyAggregate): Modification[] {
  const back = new Set(
    [...reinstatements.values()].filter(one => one.state === 'issued').map(one => one.cancellationLocator),
  )
  const undone = new Set(
    [...cancellations.values()].filter(one => back.has(one.locator)).map(one => one.modificationLocator),
  )
  return [...modifications.values()]
    .filter(one => one.kind === 'cancellation' || one.kind === 'withdrawal')
    .filter(one => !undone.has(one.locator))
    .sort((a, b) => a.number - b.number)
}
