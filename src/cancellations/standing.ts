import type { Modification, PolicyAggregate } from '../policies/aggregate.ts'

/** The latest cancellation or withdrawal that is not reinstated (brief 1.1); undefined when there is none. */
export function standingCancellation({
  modifications,
  cancellations,
  reinstatements,
}: PolicyAggregate): Modification | undefined {
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
    .at(-1)
}
