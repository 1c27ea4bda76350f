// The requests of a run and their results.
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from './connection.ts'

export type Sample = {
  /** What a user did, such as `issue`. */
  readonly kind: string
  /** When the request began, on the clock of `performance.now()`. */
  readonly at: number
  /** The time until the response was read, including the wait for a connection. */
  readonly latencyMs: number
  /** 0 if there was no response. */
  readonly status: number
}

/** A response that was neither 2xx nor 429. */
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

/** How long a user waits after a 429 without a Retry-After. */
const PATIENCE_MS = 1_000

/** Thrown when a user gives up. The cause was already noted. */
export class GivenUp extends Error {}

/** Sends requests to the service and notes each response. After a 429, waits and repeats the request. */
export function newAsker(origin: string, connections: number): { ask: Ask; samples: Samples; close(): void } {
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
