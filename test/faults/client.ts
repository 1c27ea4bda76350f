// A client as real ones are: it gives every wish a key, tries again under that key while it does not know what became of it, and
// gives up at last. The ledger is what all clients of a run know.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Faults } from './kinds.ts'

export type Asked = {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The mark of what an earlier wish made and this one takes away. */
  readonly undoes?: string
}

export type Told = { readonly status: number; readonly requestId: string | undefined; readonly body: unknown }

/** Makes one call; throws where nothing comes back. */
export type Send = (asked: Asked) => Promise<Told>

/** `acknowledged`: a 2xx came. `refused`: the service said no. `unknown`: it was given up. */
export type Outcome = 'acknowledged' | 'refused' | 'unknown'

/** Something that a client wanted done, under a key of its own. */
export type Wish = {
  /** In the order in which the wishes of the run were had. */
  readonly number: number
  readonly kind: string
  readonly key: string
  /** The policy that it is about, if there was one. */
  readonly policy: string | undefined
  readonly asked: Asked
  /** What each try came to, as the client was told: a status, or `nothing`. */
  readonly tries: (number | 'nothing')[]
  /** Requests that reached the service, as far as anybody can say. */
  readonly requestIds: string[]
  outcome: Outcome
  /** Every answer of a 2xx. */
  readonly answers: unknown[]
  /** What the service said no by. */
  refusal?: string
}

/** After how many tries it gives up, and how long it waits at most before each further one. */
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

  /** What a read answers; undefined when it cannot be had. Never throws. */
  async read<Body>(path: string): Promise<Body | undefined> {
    for (let tries = 0; tries < this.#patience.tries; tries += 1) {
      const told = await this.#send({ method: 'GET', path }).catch(() => undefined)
      if (told && told.status < 300) return told.body as Body
      await this.#pause()
    }
    return undefined
  }

  /** Wants something done, and does what can be done for it. */
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

/** What says no, and will. A policy that is being changed elsewhere may be tried again. */
const isFinal = (status: number, body: unknown): boolean =>
  status >= 400 &&
  status < 500 &&
  status !== 429 &&
  status !== 408 &&
  (body as { code?: string } | undefined)?.code !== 'versionConflict'

/** The answer of a wish that was acknowledged. */
export const answerOf = <Body>(wish: Wish): Body | undefined => wish.answers[0] as Body | undefined
