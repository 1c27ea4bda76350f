import { inject } from 'vitest'
import type { Behaviour, Received } from './receiver-server.ts'

/** A box of the receiver of webhooks. */
export type Receiver = {
  readonly url: string
  /** What was posted so far, in order. */
  received(): Promise<Received[]>
  /** Answers so from now on, and what is held as it was to be. */
  answer(...behaviours: Behaviour[]): Promise<void>
  /** Waits until `count` posts have come; fails after 20 s. */
  wait(count: number): Promise<Received[]>
}

let opened = 0

/** A box of its own, which answers posts as told, the last behaviour for all further ones. */
export async function openReceiver(...behaviours: Behaviour[]): Promise<Receiver> {
  opened += 1
  const url = `http://127.0.0.1:${inject('receiverPort')}/${crypto.randomUUID()}-${opened}`
  const answer = async (...told: Behaviour[]): Promise<void> => {
    await fetch(url, { method: 'PUT', body: JSON.stringify(told) })
  }
  if (behaviours.length > 0) await answer(...behaviours)
  const received = async (): Promise<Received[]> => await (await fetch(url)).json()
  return {
    url,
    received,
    answer,
    async wait(count) {
      for (let tries = 0; tries < 200; tries += 1) {
        const got = await received()
        if (got.length >= count) return got
        await scheduler.wait(100)
      }
      throw new Error(`The receiver got ${(await received()).length} posts and not ${count}.`)
    },
  }
}
