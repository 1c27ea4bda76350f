// `npm run bench -- --webhooks`: events a second to 1, 10 and 100 webhooks, by the floor of a queue's consumer that only posts.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiClient, signIn } from '../scripts/api-client.ts'
import { deployExample, testUsers, workedPolicies } from '../scripts/example.ts'
import { CONFIG_FILE } from '../scripts/write-config.ts'
import { median } from './figures.ts'
import type { Posts } from './queue-floor/worker.ts'
import { startWorker } from './worker-process.ts'
import { prepareStores } from './world.ts'

/** Subscribed webhooks, with how many events each is sent. */
const LOADS = [
  { webhooks: 1, events: 1_000 },
  { webhooks: 10, events: 200 },
  { webhooks: 100, events: 20 },
] as const

/** Pairs of runs that count; one before them warms up. */
const ROUNDS = 3

const WRITERS = 8
const LONGEST_WAIT_MS = 120_000

export type WebhookLoad = {
  webhooks: number
  /** Events a second that arrived, over all webhooks, medians. */
  service: number
  floor: number
  ratio: number
  ratios: number[]
}

/** A receiver on this machine that answers at once; what came when, in the order in which it came. */
async function startReceiver() {
  const arrivals: { url: string; at: number }[] = []
  let largestBody = ''
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      arrivals.push({ url: request.url ?? '', at: performance.now() })
      const body = Buffer.concat(chunks).toString('utf8')
      if (body.length > largestBody.length) largestBody = body
      response.writeHead(204).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    body: () => largestBody,
    /** Events a second from `begun` on, once all `count` have come. */
    async rate(count: number, begun: number): Promise<number> {
      while (arrivals.length < count) {
        if (performance.now() - begun > LONGEST_WAIT_MS)
          throw new Error(`Only ${arrivals.length} of ${count} events have arrived.`)
        await sleep(20)
      }
      // What came while it was still being asked for does not count: the rate is that of deliveries alone.
      const counted = arrivals.filter(({ at }) => at >= begun)
      return (counted.length / (arrivals.at(-1)!.at - begun)) * 1_000
    },
    forget: () => void arrivals.splice(0),
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** The loads with at most so many webhooks. */
export async function measureWebhooks(
  folder: string,
  say: (line: string) => void,
  mostWebhooks = Number.POSITIVE_INFINITY,
): Promise<WebhookLoad[]> {
  const dataFolder = join(folder, 'service')
  const administrator = await prepareStores(dataFolder)
  const service = await startWorker({ config: CONFIG_FILE, script: 'src/worker.ts', dataFolder })
  const floor = await startWorker({
    config: 'bench/queue-floor/wrangler.toml',
    script: 'bench/queue-floor/worker.ts',
    dataFolder: join(folder, 'floor'),
  })
  const receiver = await startReceiver()
  try {
    const example = await deployExample(await signIn(service.origin, administrator), dataFolder)
    const { username, password } = testUsers().find(({ roles }) => roles.includes('admin'))!
    const admin = await signIn(service.origin, { username, password, hostName: example.hostname })
    const base = `/event/${example.tenantLocator}/webhooks`
    say(`writing ${LOADS[0].events} events`)
    const events = await writeEvents(admin, LOADS[0].events)
    const loads: WebhookLoad[] = []
    for (const load of LOADS.filter(({ webhooks }) => webhooks <= mostWebhooks)) {
      const pairs: { service: number; floor: number }[] = []
      for (let round = 0; round <= ROUNDS; round += 1) {
        const ours = await ofService(admin, base, receiver, load.webhooks, events.slice(0, load.events))
        const theirs = await ofFloor(floor.origin, receiver, load)
        if (round > 0) pairs.push({ service: ours, floor: theirs })
      }
      const ratios = pairs.map(pair => pair.service / pair.floor)
      loads.push({
        webhooks: load.webhooks,
        service: median(pairs.map(pair => pair.service)),
        floor: median(pairs.map(pair => pair.floor)),
        ratio: median(ratios),
        ratios,
      })
      say(webhookLines([loads.at(-1)!]))
    }
    return loads
  } finally {
    receiver.close()
    await service.stop()
    await floor.stop()
  }
}

/** Makes as many policyholders, each an event in a line of its own; the events' locators. */
async function writeEvents(admin: ApiClient, count: number): Promise<string[]> {
  const body = { completed: true, ...workedPolicies()[0]!.request.policyholder }
  const left = Array.from({ length: count }).values()
  const write = async (): Promise<void> => {
    for (const _ of left) await admin.call('POST', '/policyholder/create', body)
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
  const path = `/eventstream/events?startTimestamp=0&eventType=policyholder.create&pageSize=${count}`
  const { events } = await admin.call<{ events: { id: string }[] }>('GET', path)
  return events.map(({ id }) => id)
}

/** Has the events sent to new webhooks, which are deleted afterwards. */
async function ofService(
  admin: ApiClient,
  base: string,
  receiver: Receiver,
  webhooks: number,
  eventLocators: readonly string[],
): Promise<number> {
  const made = await Promise.all(
    Array.from({ length: webhooks }, (_, at) =>
      admin.call<{ locator: string }>('POST', base, {
        name: `bench ${at}`,
        enabled: true,
        endpoint: { url: `${receiver.origin}/${at}`, headers: {} },
        eventTypes: ['policyholder.create'],
      }),
    ),
  )
  receiver.forget()
  await Promise.all(
    made.map(({ locator }) => admin.call('POST', `${base}/${locator}/redeliver`, { eventLocators })),
  )
  const rate = await receiver.rate(webhooks * eventLocators.length, performance.now())
  for (const { locator } of made) await admin.call('DELETE', `${base}/${locator}`)
  return rate
}

async function ofFloor(
  origin: string,
  receiver: Receiver,
  { webhooks, events }: (typeof LOADS)[number],
): Promise<number> {
  receiver.forget()
  const urls = Array.from({ length: webhooks }, (_, at) => `${receiver.origin}/${at}`)
  const posts: Posts = { urls, times: events, body: receiver.body() }
  const begun = performance.now()
  await fetch(`${origin}/send`, { method: 'POST', body: JSON.stringify(posts) })
  return await receiver.rate(webhooks * events, begun)
}

/** The figures as lines for people. */
export const webhookLines = (loads: readonly WebhookLoad[]): string =>
  loads
    .map(({ webhooks, service, floor, ratio, ratios }) => {
      const spread = `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`
      const rates = `${service.toFixed(0)} events/s, floor ${floor.toFixed(0)}`
      return `to ${webhooks} webhooks: ${rates}: ratio ${ratio.toFixed(2)} (${spread})`
    })
    .join('\n')
