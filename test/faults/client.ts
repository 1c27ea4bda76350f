// A realistic client: it gives every wish a key, repeats the request under that key while it does not know the outcome, and finally
// gives up. The ledger is what all clients of a run know.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Faults } from './kinds.ts'

export type Asked = {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The mark of an earlier wish's result, which this one removes. */
  readonly undoes?: string
}

export type Told = { readonly status: number; readonly requestId: string | undefined; readonly body: unknown }

/** Makes one call. Throws if no response arrives. */
export type Send = (asked: Asked) => Promise<Told>

/** `acknowledged`: a 2xx arrived. `refused`: the service rejected it. `unknown`: the client gave up. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown'

/** Something that a client wants done, under a separate key. */
export type Wish = {
  /** The order in which the wishes of the run began. */
  readonly number: number
  readonly kind: string
  readonly key: string
  /** The policy that it concerns, if any. */
  readonly policy: string | undefined
  readonly asked: Asked
  /** The outcome of each try for the client: a status, or `nothing`. */
  readonly tries: (number | 'nothing')[]
  /** Requests known to have reached the service. */
  readonly requestIds: string[]
  outcome: Outcome
  /** The bodies of all 2xx responses. */
  readonly answers: unknown[]
  /** The error response of the service. */
  refusal?: string
}

/** The number of tries before it gives up, and the longest wait before each further one. */
export type Patience = { readonly tries: number; readonly waitMs: number }

export class Client {
  readonly #send: Send
  readonly #faults: Faults
  readonly #ledger: Wish[]
  readonly #patience: Patience

  constructor(send: Send, faults: Faults, ledger: Wish[], patience: Patience) {
    this.#send = send
    this.#faults = faults
    this.#ledger = ledger
    this.#patience = patience
  }

  /** Returns the response to a read; undefined if it fails. Never throws. */
  async read<Body>(path: string): Promise<Body | undefined> {
    for (let tries = 0; tries < this.#patience.tries; tries += 1) {
      const told = await this.#send({ method: 'GET', path }).catch(() => undefined)
      if (told && told.status < 300) return told.body as Body
      await this.#pause()
    }
    return undefined
  }

  /** Requests something, and repeats the request until its outcome is known or the tries are used up. */
  async wish(kind: string, policy: string | undefined, asked: Asked): Promise<Wish> {
    const number = this.#ledger.length + 1
    const wish: Wish = {
      number,
      kind,
      key: `wish-${number}-${crypto.randomUUID()}`,
      policy,
      asked,
      tries: [],
      requestIds: [],
      outcome: 'unknown',
      answers: [],
    }
    this.#ledger.push(wish)
    for (let tries = 0; tries < this.#patience.tries && wish.outcome === 'unknown'; tries += 1) {
      if (tries > 0) await this.#pause()
      if (this.#faults.comes('requestTwice')) await Promise.all([this.#try(wish), this.#try(wish)])
      else await this.#try(wish)
    }
    return wish
  }

  async #try(wish: Wish): Promise<void> {
    if (this.#faults.comes('requestLost')) return void wish.tries.push('nothing')
    const headers = { ...wish.asked.headers, 'idempotency-key': wish.key }
    const told = await this.#send({ ...wish.asked, headers }).catch(() => undefined)
    if (told?.requestId !== undefined) wish.requestIds.push(told.requestId)
    if (!told || this.#faults.comes('answerLost')) return void wish.tries.push('nothing')
    const { status, body } = told
    wish.tries.push(status)
    if (status < 300) {
      wish.outcome = 'acknowledged'
      wish.answers.push(body)
    } else if (isFinal(status, body) && wish.outcome !== 'acknowledged') {
      wish.outcome = 'refused'
      wish.refusal = `${status} ${(body as { message?: string }).message ?? ''}`
    }
  }

  #pause(): Promise<void> {
    return sleep(this.#faults.wait(this.#patience.waitMs))
  }
}

/** Whether a rejection is final. A policy that is being changed by someone else may be tried again. */
const isFinal = (status: number, body: unknown): boolean =>
  status >= 400 &&
  status < 500 &&
  status !== 429 &&
  status !== 408 &&
  (body as { code?: string } | undefined)?.code !== 'versionConflict'

/** The response to an acknowledged wish. */
export const answerOf = <Body>(wish: Wish): Body | undefined => wish.answers[0] as Body | undefined
