// Requests that read very much, a policy of a thousand exposures for example, take a fifth of a second of an isolate's one thread each.
// One tenant has half of it for them: between two of its heavy requests others have as long as these take. It cannot be measured how long
// that is, since the clock stands still while an isolate works, so rows are counted.
import { Refusal } from '../kernel/errors.ts'
import { Memo } from '../kernel/maps.ts'
import { now } from '../kernel/time.ts'

/** Rows in the answers of a request's databases from which on it is heavy. */
export const HEAVY_ROWS = 5_000

/** Rows of heavy requests of one tenant; an isolate makes answers of about twice as many. */
export const ROWS_A_SECOND = 30_000

/** Who would wait for longer is refused: what waits lies in memory. */
const LONGEST_WAIT_MS = 2_000

/** By tenant: when what was begun counts as done. */
const doneAt = new Memo<string, number>(1_000)

export type HeavyReading = {
  /** So many more rows were read. Waits where the request is heavy now and others are before it; refuses with 503 when these are many. */
  read(rows: number): Promise<void>
}

/** The reading of one request of the tenant. */
export function heavyReading(tenantLocator: string): HeavyReading {
  let rowsRead = 0
  return {
    async read(rows) {
      rowsRead += rows
      if (rowsRead < HEAVY_ROWS) return
      const begins = Math.max(now(), doneAt.get(tenantLocator) ?? 0)
      const waitMs = begins - now()
      if (waitMs > LONGEST_WAIT_MS)
        throw new Refusal(
          'overloaded',
          'Other requests that read as much are being answered for this tenant; send it again in some seconds, or one after the other.',
          {},
          Math.ceil(waitMs / 1_000),
        )
      doneAt.set(tenantLocator, begins + (rowsRead / ROWS_A_SECOND) * 1_000)
      rowsRead = 0
      if (waitMs > 0) await new Promise(resolve => setTimeout(resolve, waitMs))
    },
  }
}
