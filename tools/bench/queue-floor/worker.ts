// The least that delivers events: a queue consumer that posts each message, without databases, order, signatures or retries. POST
// /send enqueues the messages.

/** The messages to send: `body` to each of the addresses, `times` times. */
export type Posts = { readonly urls: readonly string[]; readonly times: number; readonly body: string }

type Message = { readonly url: string; readonly body: string }

async function post({ url, body }: Message): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body })
  await response.body?.cancel()
}

type FloorEnv = { POSTS: Queue<Message> }

/** The largest number of messages that a queue accepts in one call. */
const MOST_SENT = 100

/** Connections that the platform allows an invocation at a time. The local runtime does not enforce this. */
const CONNECTIONS = 6

export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== '/send') return new Response('ok')
    const { urls, times, body } = await request.json<Posts>()
    const messages = Array.from({ length: times }, () => urls.map(url => ({ body: { url, body } }))).flat()
    for (let at = 0; at < messages.length; at += MOST_SENT)
      await env.POSTS.sendBatch(messages.slice(at, at + MOST_SENT))
    return new Response('ok')
  },
  async queue(batch) {
    const left = batch.messages.values()
    const postEach = async (): Promise<void> => {
      for (const { body } of left) await post(body)
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, postEach))
  },
} satisfies ExportedHandler<FloorEnv, Message>
