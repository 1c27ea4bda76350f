// A limit on the text in a policy's field values. A whole policy is read, answered, exported and documented in one piece.
import { Refusal } from '../kernel/errors.ts'
import { memoByObject } from '../kernel/maps.ts'
import type { PolicyAggregate } from './records/aggregate.ts'
import { changedRecords, NeedsWholePolicy, type Unread } from './surroundings.ts'

/**
 * Maximum number of characters in the JSON of all field values, including those of quotes, of replaced records, and of the changes
 * that applications request.
 */
const MOST_CHARACTERS = 16_000_000

/**
 * Characters that an endorsement may add to a policy that is read in part, without counting the rest of it. After many transactions
 * the allowance falls with the square of their number, so all additions total at most 20,000,000 characters, no matter how many
 * transactions were quoted and invalidated. Invalidated transactions do not count towards the limit of transactions, but the
 * records that they made stay.
 */
const MOST_ADDED_IN_PART = 100_000
const MANY_TRANSACTIONS = 100

const mostAddedInPart = ({ modifications }: PolicyAggregate): number =>
  MOST_ADDED_IN_PART * Math.min(1, (MANY_TRANSACTIONS / modifications.size) ** 2)

/** Throws 413 if the change makes the policy larger than the limit. */
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
      `The field values of the policy, including those of its quotes, pending transactions and history, would have ${characters} characters; the limit is ${MOST_CHARACTERS}. Send shorter values, or split the policy into several.`,
    )
}

/** Counts the characters of the records that `other` does not share. */
function charactersOf(aggregate: PolicyAggregate, other?: PolicyAggregate): number {
  let characters = 0
  for (const name of ['segments', 'exposureRuns', 'perilRuns'] as const)
    for (const { data } of changedRecords<unknown, { data: object }>(aggregate[name], other?.[name]))
      characters += charactersIn(data)
  for (const { changes } of changedRecords(aggregate.endorsements, other?.endorsements))
    characters += charactersIn(changes)
  return characters
}

const charactersIn = memoByObject((content: object) => JSON.stringify(content).length)
