// `npm run bench -- --webhooks`: measures events a second to 1, 10 and 100 webhooks, compared with a floor: a queue consumer that
// only posts.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiClient, signIn } from '../../scripts/api-client.ts'
import { deployExample, testUsers, workedPolicies } from '../../scripts/example.ts'
import { CONFIG_FILE } from '../../scripts/write-config.ts'
import { median } from './figures.ts'
import type { Posts } from './queue-floor/worker.ts'
import { startWorker, type Worker } from './worker-process.ts'
import { prepareStores } from './world.ts'

/** The number of subscribed webhooks, and how many events each is sent. */
const LOADS = [
  { webhooks: 1, events: 1_000 },
  { webhooks: 10, events: 200 },
  { webhooks: 100, events: 20 },
] as const

/** Counted pairs of runs. One pair before them warms up. */
const ROUNDS = 3

const WRITERS = 8
const LONGEST_WAIT_MS = 120_000
/** By this time after the last delivery, its result is recorded. */
const AFTERWARDS_MS = 500

export type WebhookLoad = {
  webhooks: number
  /** Events a second that arrived, over all webhooks, as medians. */
  service: number
  floor: number
  ratio: number
  ratios: number[]
  /** Median CPU milliseconds of a delivery, over all processes of the runtime. Undefined if the machine does not report them. */
  cpuMs: { service: number; floor: number } | undefined
}

/** The result of a run. */
type Run = { perSecond: number; cpuMs: number | undefined }

/** Starts a local receiver that responds immediately and records the arrivals, in their order. */
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
    /** Returns the events a second since `begun`, once all `count` have arrived. */
    async rate(count: number, begun: number): Promise<number> {
      while (arrivals.length < count) {
        if (performance.now() - begun > LONGEST_WAIT_MS)
          throw new Error(`Only ${arrivals.length} of ${count} events have arrived.`)
        await sleep(20)
      }
      // Arrivals before the requests for them had ended do not count, so that the rate is only that of deliveries.
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

/** Measures the loads with at most this many webhooks. */
export async function measureWebhooks(
  folder: string,
  say: (line: string) => void,
  mostWebhooks = Number.POSITIVE_INFINITY,
): Promise<WebhookLoad[]> {
  const dataFolder = join(folder, 'service')
  const administrator = await prepareStores(dataFolder)
  const service = await startWorker({ config: CONFIG_FILE, script: 'src/worker.ts', dataFolder })
  const floor = await startWorker({
    config: 'tools/bench/queue-floor/wrangler.toml',
    script: 'tools/bench/queue-floor/worker.ts',
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
      const pairs: { service: Run; floor: Run }[] = []
      for (let round = 0; round <= ROUNDS; round += 1) {
        const some = events.slice(0, load.events)
        const pair = {
          service: await ofService(service, admin, base, receiver, load.webhooks, some),
          floor: await ofFloor(floor, receiver, load),
        }
        if (round > 0) pairs.push(pair)
      }
      loads.push(loadFigures(load.webhooks, pairs))
      say(webhookLines([loads.at(-1)!]))
    }
    return loads
  } finally {
    receiver.close()
    await service.stop()
    await floor.stop()
  }
}

function loadFigures(webhooks: number, pairs: readonly { service: Run; floor: Run }[]): WebhookLoad {
  const ratios = pairs.map(({ service, floor }) => service.perSecond / floor.perSecond)
  const of = (side: 'service' | 'floor', figure: keyof Run): number[] =>
    pairs.flatMap(pair => pair[side][figure] ?? [])
  const cpu = { service: of('service', 'cpuMs'), floor: of('floor', 'cpuMs') }
  return {
    webhooks,
    service: median(of('service', 'perSecond')),
    floor: median(of('floor', 'perSecond')),
    ratio: median(ratios),
    ratios,
    cpuMs: cpu.service.length === 0 ? undefined : { service: median(cpu.service), floor: median(cpu.floor) },
  }
}

/** Creates `count` policyholders, each of which is an event in its own line. Returns the locators of the events. */
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
  service: Worker,
  admin: ApiClient,
  base: string,
  receiver: Receiver,
  webhooks: number,
  eventLocators: readonly string[],
): Promise<Run> {
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
  const ran = cpuOf(service, webhooks * eventLocators.length)
  await Promise.all(
    made.map(({ locator }) => admin.call('POST', `${base}/${locator}/redeliver`, { eventLocators })),
  )
  const perSecond = await receiver.rate(webhooks * eventLocators.length, performance.now())
  const cpuMs = await ran()
  for (const { locator } of made) await admin.call('DELETE', `${base}/${locator}`)
  return { perSecond, cpuMs }
}

/** Starts measuring the CPU time of a delivery, including work after the last one has arrived. */
function cpuOf(worker: Worker, deliveries: number): () => Promise<number | undefined> {
  const begun = worker.cpuMs()
  return async () => {
    await sleep(AFTERWARDS_MS)
    const ended = worker.cpuMs()
    return begun === undefined || ended === undefined ? undefined : (ended - begun) / deliveries
  }
}

async function ofFloor(
  floor: Worker,
  receiver: Receiver,
  { webhooks, events }: (typeof LOADS)[number],
): Promise<Run> {
  receiver.forget()
  const urls = Array.from({ length: webhooks }, (_, at) => `${receiver.origin}/${at}`)
  const posts: Posts = { urls, times: events, body: receiver.body() }
  const ran = cpuOf(floor, webhooks * events)
  const begun = performance.now()
  await fetch(`${floor.origin}/send`, { method: 'POST', body: JSON.stringify(posts) })
  return { perSecond: await receiver.rate(webhooks * events, begun), cpuMs: await ran() }
}

export const deliveryCpu = (cpuMs: WebhookLoad['cpuMs']): string =>
  cpuMs === undefined
    ? ''
    : `; CPU per delivery ${cpuMs.service.toFixed(2)} ms, floor ${cpuMs.floor.toFixed(2)} ms`

/** Formats the figures as text. */
export const webhookLines = (loads: readonly WebhookLoad[]): string =>
  loads
    .map(({ webhooks, service, floor, ratio, ratios, cpuMs }) => {
      const spread = `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`
      const rates = `${service.toFixed(0)} events/s, floor ${floor.toFixed(0)}`
      return `to ${webhooks} webhooks: ${rates}: ratio ${ratio.toFixed(2)} (${spread})${deliveryCpu(cpuMs)}`
    })
    .join('\n')
