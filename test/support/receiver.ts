import { inject } from 'vitest'
import type { Behaviour, Received } from './receiver-server.ts'

/** A box of the webhook receiver. */
export type Receiver = {
  readonly url: string
  /** The posts received so far, in order. */
  received(): Promise<Received[]>
  /** Sets the responses from now on. Held posts get the response that they were to get. */
  answer(...behaviours: Behaviour[]): Promise<void>
  /** Waits until `count` posts have arrived. Fails after 20 s. */
  wait(count: number): Promise<Received[]>
}

let opened = 0

/** Opens a separate box with these behaviours. The last one stays for all further posts. */
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
