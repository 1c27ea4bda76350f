// Records what became of deliveries, of many lines together: a round trip for each would take longer than the posts
// themselves. What is not recorded when a crash comes is posted again.
import type { Database, Query } from '../../../platform/database.ts'
import { type Claim, type DeliveryResult, recordResults } from './store.ts'

/** How long a result may wait for others, or for the next claim, which takes it along. */
export const RECORD_WITHIN_MS = 250

/** Results of so many lines do not wait any longer. */
const MOST_TOGETHER = 100

export type Recorder = {
  /** Takes all results of a line: its lease ends with the first of them. */
  add(claim: Claim, results: readonly DeliveryResult[]): void
  /**
   * Has what was added recorded in the batch of a claim, by queries that are to be carried out before it: what waits behind a
   * line that has ended comes up with its record, and so does what was given back.
   */
  withClaim<Found>(claim: (before: readonly Query[]) => Promise<Found>): Promise<Found>
  /** Resolves when everything that was added is written, without waiting for more. */
  written(): Promise<void>
}

type Added = { readonly claim: Claim; readonly results: readonly DeliveryResult[] }

/** Results that cannot be written are `lost`: their leases run out, and they are tried again. */
export function startRecorder(database: Database, lost: (problem: unknown) => void): Recorder {
  let added: Added[] = []
  let writing = Promise.resolve()
  let waiting: ReturnType<typeof setTimeout> | undefined

  const take = (): Added[] => {
    clearTimeout(waiting)
    waiting = undefined
    const taken = added
    added = []
    return taken
  }

  const queriesOf = (all: readonly Added[]): Query[] =>
    [...Map.groupBy(all, one => one.claim)].flatMap(([claim, lines]) =>
      recordResults(
        database,
        claim,
        lines.flatMap(one => one.results),
      ),
    )

  const write = (): Promise<void> => {
    writing = writing.then(async () => {
      const queries = queriesOf(take())
      if (queries.length > 0) await database.batch(queries as [Query, ...Query[]]).catch(lost)
    })
    return writing
  }

  return {
    add(claim, results) {
      added.push({ claim, results })
      if (added.length >= MOST_TOGETHER) void write()
      else waiting ??= setTimeout(() => void write(), RECORD_WITHIN_MS)
    },
    async withClaim(claim) {
      await writing
      const taken = take()
      try {
        return await claim(queriesOf(taken))
      } catch (problem) {
        // Written once more by itself, should it be the claim that failed.
        added = [...taken, ...added]
        throw problem
      }
    },
    written: write,
  }
}
