// The content of a quick quote: a policy's draft, that is never recorded. Made anew of the same request it has the same
// locators, so that constraints can be asked of its elements.
import { Refusal } from '../../kernel/errors.ts'
import {
  derivedUuid,
  type LocatorSupply,
  shardOfUuid,
  transientLocators,
  type Uuid,
} from '../../kernel/locators.ts'
import type { Instant } from '../../kernel/time.ts'
import type { PolicyCreateRequest } from '../../policy/contract/requests.ts'
import { requestedDraft } from '../../policy/draft/draft.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import type { Ground } from '../../policy/surroundings.ts'
import { assertWithinLimits } from '../../policy/terms.ts'

/** UUIDs that follow from the quick quote's own; what is numbered is only shown, and is numbered by none. */
export function locatorsOf(quickQuote: Uuid): LocatorSupply {
  const shard = shardOfUuid(quickQuote)
  let count = 0
  return {
    ...transientLocators(shard),
    uuid: () => {
      count += 1
      return derivedUuid(shard, 'quickQuote', quickQuote, String(count))
    },
  }
}

/**
 * The draft as it is made at that time. Its values are not checked, but what cannot be read at all, or belongs to no part
 * of the product, would be priced as if it were not there: it is refused (400).
 */
export function quickDraft(
  request: PolicyCreateRequest,
  ground: Ground,
  attempt: { now: Instant; supply: LocatorSupply },
): PolicyAggregate {
  const { aggregate, reported } = requestedDraft(request, ground, attempt)
  const problems = [
    ...reported.strays.map(({ message }) => message),
    ...[...reported.byOwner.values()].flatMap(({ errors, fieldGroupErrors }) =>
      [...errors, ...fieldGroupErrors.flatMap(group => group.errors)].map(({ message }) => message),
    ),
  ]
  if (problems.length > 0)
    throw new Refusal(
      'invalidRequest',
      problems.slice(0, MOST_SHOWN).join(' ') +
        (problems.length > MOST_SHOWN ? ` And ${problems.length - MOST_SHOWN} more.` : ''),
    )
  assertWithinLimits(aggregate)
  return aggregate
}

const MOST_SHOWN = 5
