// Records what became of deliveries, of lines that end at about the same time together: a round trip for each would take
// longer than the posts themselves.
import type { Database, Query } from '../../platform/database.ts'
import { type Claim, type DeliveryResult, recordResults } from './store.ts'

/** How long a result may wait for others. */
const TOGETHER_MS = 50

export type Recorder = {
  /** Takes all results of a line: its lease ends with the first of them. */
  add(claim: Claim, results: readonly DeliveryResult[]): void
  /** Resolves when everything that was added is written, without waiting for more; whether there was anything. */
  written(): Promise<boolean>
}

/** Results that cannot be written are `lost`: their leases run out, and they are tried again. */
export function startRecorder(database: Database, lost: (problem: unknown) => void): Recorder {
  let added: { claim: Claim; results: readonly DeliveryResult[] }[] = []
  let writing: Promise<void> | undefined
  let hurry = (): void => {}

  const write = async (): Promise<void> => {
    while (added.length > 0) {
      await Promise.race([
        scheduler.wait(TOGETHER_MS),
        new Promise<void>(resolve => {
          hurry = resolve
        }),
      ])
      const taken = Map.groupBy(added, one => one.claim)
      added = []
      const queries = [...taken].flatMap(([claim, lines]) =>
        recordResults(
          database,
          claim,
          lines.flatMap(one => one.results),
        ),
      )
      await database.batch(queries as [Query, ...Query[]]).catch(lost)
    }
    writing = undefined
  }

  return {
    add(claim, results) {
      added.push({ claim, results })
      writing ??= write()
    },
    async written() {
      if (!writing) return false
      hurry()
      await writing
      return true
    },
  }
}
