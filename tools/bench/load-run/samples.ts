// What was asked and how it went, second by second.
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from './connection.ts'

export type Sample = {
  /** What a user did, e.g. `issue`. */
  readonly kind: string
  /** When it was asked, on the clock of `performance.now()`. */
  readonly at: number
  /** From then until the answer was there, the wait for a connection included. */
  readonly latencyMs: number
  /** 0 when there was no answer. */
  readonly status: number
}

/** An answer that was neither 2xx nor 429. */
export type Failure = { readonly call: string; readonly status: number; readonly text: string }

export type Samples = {
  /** Requests that have begun, answered or not. */
  begun: number
  readonly all: Sample[]
  readonly failures: Failure[]
}

export type Ask = <Body>(
  kind: string,
  token: string,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body?: object,
) => Promise<Body>

/** How long a user who is asked to wait and is not told how long waits. */
const PATIENCE_MS = 1_000

/** What a user throws who gave up: it was noted already. */
export class GivenUp extends Error {}

/** Asks the service and notes each answer; who is told to come later (429) does. */
export function asking(origin: string, connections: number): { ask: Ask; samples: Samples; close(): void } {
  const connection = connect(origin, connections)
  const samples: Samples = { begun: 0, all: [], failures: [] }
  const ask: Ask = async (kind, token, method, path, body) => {
    for (;;) {
      const at = performance.now()
      samples.begun += 1
      const { status, text, retryAfterSeconds } = await connection.send(method, path, token, body)
      samples.all.push({ kind, at, latencyMs: performance.now() - at, status })
      if (status >= 200 && status < 300) return text === '' ? undefined : JSON.parse(text)
      if (status !== 429) {
        samples.failures.push({ call: `${method} ${path}`, status, text: text.slice(0, 500) })
        throw new GivenUp()
      }
      await sleep(retryAfterSeconds === undefined ? PATIENCE_MS : retryAfterSeconds * 1_000)
    }
  }
  return { ask, samples, close: connection.close }
}
