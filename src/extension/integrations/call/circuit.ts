// A circuit for each integration: after some failures in a row it opens, and calls are refused at once, so that
// nobody waits for a service that is down, and it is left in peace; after a while one call tries whether it is up.
//
// An isolate has circuits of its own. None asks a database before a call, and each finds out by itself, by as many
// failures as it takes; policies of a tenant run in a handful of isolates.
import type { Instant } from '../../../kernel/time.ts'

/** Failed calls in a row that open it. */
export const OPENING_FAILURES = 5

/** How long it stays open, before one call tries again. */
export const OPEN_MS = 30_000

/** A call that tries is given up for lost after this time; no call takes longer. */
const TRYING_MS = 25_000

export class Circuit {
  #failures = 0
  #opensUntil = 0
  #triesUntil = 0

  /** Milliseconds for which calls are refused; 0: this one may be made, and what came of it is to be recorded. */
  admit(at: Instant): number {
    if (this.#failures < OPENING_FAILURES) return 0
    const closedUntil = Math.max(this.#opensUntil, this.#triesUntil)
    if (at < closedUntil) return closedUntil - at
    this.#triesUntil = at + TRYING_MS
    return 0
  }

  /** What came of a call: whether the service is up. */
  record(isUp: boolean, at: Instant): void {
    this.#triesUntil = 0
    if (isUp) this.#failures = 0
    else {
      this.#failures += 1
      this.#opensUntil = at + OPEN_MS
    }
  }
}

const MOST_CIRCUITS = 10_000

const circuits = new Map<string, Circuit>()

/** The circuit of that key in this isolate. A key that was changed begins anew. */
export function circuitOf(key: string): Circuit {
  const known = circuits.get(key)
  if (known) return known
  if (circuits.size >= MOST_CIRCUITS) circuits.clear()
  const circuit = new Circuit()
  circuits.set(key, circuit)
  return circuit
}
