// How much text a policy holds in the values of its fields. It is bounded, since a whole policy is read, answered, exported and documented
// in one piece.
import { Refusal } from '../kernel/errors.ts'
import { memoByObject } from '../kernel/maps.ts'
import type { PolicyAggregate } from './records/aggregate.ts'
import { NeedsWholePolicy, type Unread, unshared } from './surroundings.ts'

/** Characters of the JSON of all field values, with those of its quotes, of what was replaced, and of what applications ask for. */
const MOST_CHARACTERS = 16_000_000

/**
 * What an endorsement may add to a policy that is read in part, uncounted. After many transactions it is less with the square of
 * their number, so that all add up to at most 20,000,000 characters, however many were quoted and invalidated: those do not count
 * towards the limit of transactions, but what they made stays.
 */
const MOST_ADDED_IN_PART = 100_000
const MANY_TRANSACTIONS = 100

const mostAddedInPart = ({ modifications }: PolicyAggregate): number =>
  MOST_ADDED_IN_PART * Math.min(1, (MANY_TRANSACTIONS / modifications.size) ** 2)

/** Refuses (413) a policy that a change makes larger than the limit. */
export function assertContentFits(
  before: PolicyAggregate | undefined,
  after: PolicyAggregate,
  unread: Unread | undefined,
): void {
  const added = charactersOf(after, before) - (before ? charactersOf(before, after) : 0)
  if (added <= 0) return
  if (unread && added > mostAddedInPart(after)) throw new NeedsWholePolicy()
  const characters = charactersOf(after)
  if (characters > MOST_CHARACTERS)
    throw new Refusal(
      'policyLimit',
      `The field values of the policy, with those of its quotes, applications and history, would have ${characters} characters; the limit is ${MOST_CHARACTERS}. Send shorter values, or split it into several policies.`,
    )
}

/** Of the records that `other` does not share. */
function charactersOf(aggregate: PolicyAggregate, other?: PolicyAggregate): number {
  let characters = 0
  for (const name of ['segments', 'exposureRuns', 'perilRuns'] as const)
    for (const { data } of unshared<unknown, { data: object }>(aggregate[name], other?.[name]))
      characters += charactersIn(data)
  for (const { changes } of unshared(aggregate.endorsements, other?.endorsements))
    characters += charactersIn(changes)
  return characters
}

const charactersIn = memoByObject((content: object) => JSON.stringify(content).length)
