// `npm run bench -- --documents`: a thousand documents wait at the same time. Are all of them made, does memory use stay constant
// while they are made, and does issuing a policy take as long as without documents?
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { zipSync } from 'fflate'
import { type ApiClient, type Credentials, signIn } from '../../scripts/api-client.ts'
import { testUsers, workedPolicies } from '../../scripts/example.ts'
import { CONFIG_FILE } from '../../scripts/write-config.ts'
import { type Files, motorFiles } from './example-tenant.ts'
import { median } from './figures.ts'
import { startWatched } from './heap.ts'
import { prepareStores } from './world.ts'

/** In the folder of the service's configuration, because it has the same paths. */
const OWN_CONFIG = 'wrangler.documents.generated.toml'
const POLICY = 'products/private_motor/policy'

const DOCUMENTS = 1_000
/** The heap is measured each time this many more documents are made. */
const STEP = 100
/** The fewest heap measurements that give a result. */
const FEWEST_LOOKS = 7
/** Policies issued alternately with documents and without. */
const PAIRS = 40
/** Pairs before the measured ones, which do not count. */
const WARM_UPS = 5
const ISSUED_TOGETHER = 8
/** For one document or a hundred. */
const LONGEST_WAIT_MS = 10 * 60_000

export type DocumentFigures = {
  documents: number
  seconds: number
  /** Used megabytes after a collection: before the first document, and after each hundred at which the inspector responded. */
  heap: number[]
  /** Median of the heap over the last three hundreds, divided by the median over the second to the fourth. */
  growth: number
  /** Median milliseconds to issue a policy, and the median ratio of pairs. */
  issueMs: { withDocuments: number; without: number; ratio: number }
}

export async function measureDocuments(
  folder: string,
  say: (line: string) => void,
): Promise<DocumentFigures> {
  const administrator = await prepareStores(folder)
  writeFileSync(OWN_CONFIG, withPatientQueue(readFileSync(CONFIG_FILE, 'utf8')))
  const { service, usedMegabytes } = await startWatched({
    config: OWN_CONFIG,
    script: 'src/worker.ts',
    dataFolder: folder,
  })
  const administration = await signIn(service.origin, administrator)
  const making = await tenant(service.origin, administration, 'papers', motorFiles())
  const plain = await tenant(service.origin, administration, 'plain', withoutDocuments(motorFiles()))
  try {
    say('issuing policies with documents and without, in turn')
    const { issueMs, documents } = await issueTimes(making, plain)
    say(`ratio ${issueMs.ratio.toFixed(2)}; ${DOCUMENTS} documents, ${documents} of each policy`)
    return {
      ...(await measureDocumentsAtOnce(making, documents, usedMegabytes, say)),
      issueMs,
    }
  } finally {
    await service.stop()
    rmSync(OWN_CONFIG)
  }
}

/**
 * Delays the consumer that makes documents. In production it runs elsewhere. Here it shares a thread with the requests and would
 * begin before the response is sent. It waits a second for more messages, so that only the transaction is measured.
 */
function withPatientQueue(config: string): string {
  const consumer = /(queue = "bindery-documents"\s+max_batch_size = \d+\s+max_batch_timeout = )0/
  if (!consumer.test(config))
    throw new Error(`${CONFIG_FILE} has no consumer of documents that starts immediately.`)
  return config.replace(consumer, (_, start: string) => `${start}1`)
}

/** The same product without documents. */
function withoutDocuments(all: Files): Files {
  const path = `${POLICY}/policy.json`
  const policy = JSON.parse(new TextDecoder().decode(all[path]))
  const kept = Object.entries(all).filter(([name]) => name !== `${POLICY}/invoice.template.liquid`)
  return {
    ...Object.fromEntries(kept),
    [path]: new TextEncoder().encode(JSON.stringify({ ...policy, documents: [] })),
  }
}

type Tenant = { user: ApiClient; locator: string; policyholderLocator: string }

async function tenant(
  origin: string,
  administration: ApiClient,
  suffix: string,
  configuration: Files,
): Promise<Tenant> {
  const form = new FormData()
  form.set('tenantNameSuffix', suffix)
  form.set(
    'zipFile',
    new Blob([new Uint8Array(zipSync(configuration))], { type: 'application/zip' }),
    'motor.zip',
  )
  const { hostname, tenantLocator, success, logfile } = await administration.call<{
    hostname: string
    tenantLocator: string
    success: boolean
    logfile: string
  }>('POST', '/configuration/deployTest', form)
  if (!success) throw new Error(logfile)
  const { username, password } = testUsers()[0]!
  const user = await signIn(origin, { username, password, hostName: hostname } satisfies Credentials)
  const { locator } = await user.call<{ locator: string }>('POST', '/policyholder/create', {
    completed: true,
    ...workedPolicies()[0]!.request.policyholder,
  })
  return { user, locator: tenantLocator, policyholderLocator: locator }
}

async function policy({ user, policyholderLocator }: Tenant): Promise<string> {
  const { request } = workedPolicies()[0]!
  return (await user.call<{ locator: string }>('POST', '/policy', { ...request.policy, policyholderLocator }))
    .locator
}

const issue = ({ user }: Tenant, locator: string): Promise<unknown> =>
  user.call('POST', `/policy/${locator}/issue`)

/** Returns the number of documents of the policy, including those of its invoices. */
async function documentsOf({ user }: Tenant, locator: string): Promise<number> {
  const { documents, invoices } = await user.call<{
    documents: unknown[]
    invoices: { documents: unknown[] }[]
  }>('GET', `/policy/${locator}`)
  return invoices.reduce((sum, invoice) => sum + invoice.documents.length, documents.length)
}

/** Counts the documents that have been made, by their events. */
function counter({ user, locator }: Tenant): () => Promise<number> {
  let token: string | undefined
  let count = 0
  return async () => {
    for (;;) {
      const from =
        token === undefined ? 'type=document.ready&pageSize=1000' : `pagingToken=${encodeURIComponent(token)}`
      const page = await user.call<{ events: { type: string }[]; pagingToken: string }>(
        'GET',
        `/event/${locator}/events/list?${from}`,
      )
      token = page.pagingToken
      count += page.events.length
      if (page.events.length === 0) return count
    }
  }
}

async function waitForDocuments(count: () => Promise<number>, wanted: number): Promise<void> {
  const start = performance.now()
  while ((await count()) < wanted) {
    if (performance.now() - start > LONGEST_WAIT_MS)
      throw new Error(`Only ${await count()} of ${wanted} documents are created.`)
    await sleep(250)
  }
}

/** Issues one policy after the other, each when no document is waiting, so that only the transaction is measured. */
async function issueTimes(
  making: Tenant,
  plain: Tenant,
): Promise<{ issueMs: DocumentFigures['issueMs']; documents: number }> {
  const count = counter(making)
  let wanted = 0
  const times: { withDocuments: number; without: number }[] = []
  const timed = async (of: Tenant): Promise<number> => {
    const locator = await policy(of)
    const start = performance.now()
    await issue(of, locator)
    const time = performance.now() - start
    wanted += await documentsOf(of, locator)
    return time
  }
  for (let at = 0; at < PAIRS + WARM_UPS; at += 1) {
    const withDocuments = await timed(making)
    await waitForDocuments(count, wanted)
    const without = await timed(plain)
    if (at >= WARM_UPS) times.push({ withDocuments, without })
  }
  return {
    documents: wanted / (PAIRS + WARM_UPS),
    issueMs: {
      withDocuments: median(times.map(one => one.withDocuments)),
      without: median(times.map(one => one.without)),
      ratio: median(times.map(one => one.withDocuments / one.without)),
    },
  }
}

/** Issues all policies as fast as possible, and measures the heap while their documents are made. */
async function measureDocumentsAtOnce(
  making: Tenant,
  each: number,
  heap: () => Promise<number | undefined>,
  say: (line: string) => void,
): Promise<Omit<DocumentFigures, 'issueMs'>> {
  const count = counter(making)
  const before = await count()
  const locators: string[] = []
  const policies = DOCUMENTS / each
  for (let at = 0; at < policies; at += ISSUED_TOGETHER)
    locators.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(ISSUED_TOGETHER, policies - at) }, () => policy(making)),
      )),
    )
  const used: number[] = []
  const look = async (at: number): Promise<void> => {
    const megabytes = await heap()
    if (megabytes !== undefined) used.push(megabytes)
    say(
      `${at} created, ${megabytes === undefined ? 'the inspector does not respond' : `${megabytes.toFixed(1)} MB in use`}`,
    )
  }
  await look(0)
  const start = performance.now()
  const issuing = (async () => {
    for (let at = 0; at < policies; at += ISSUED_TOGETHER)
      await Promise.all(locators.slice(at, at + ISSUED_TOGETHER).map(one => issue(making, one)))
    say(`issued after ${((performance.now() - start) / 1_000).toFixed(1)} s`)
  })()
  for (let wanted = STEP; wanted <= DOCUMENTS; wanted += STEP) {
    await waitForDocuments(count, before + wanted)
    await look(wanted)
  }
  await issuing
  if (used.length < FEWEST_LOOKS)
    throw new Error('The inspector did not respond often enough. Measure again.')
  return {
    documents: DOCUMENTS,
    seconds: (performance.now() - start) / 1_000,
    heap: used,
    growth: median(used.slice(-3)) / median(used.slice(2, 5)),
  }
}

/** Formats the figures as text. */
export const documentLines = ({ documents, seconds, heap, growth, issueMs }: DocumentFigures): string =>
  [
    `${documents} documents: all created in ${seconds.toFixed(1)} s`,
    `heap after a collection, before and at each ${STEP}: ${heap.map(one => one.toFixed(1)).join(' ')} MB; ratio of the last three to the second to fourth: ${growth.toFixed(2)} (goal at most 1.2)`,
    `issuing a policy: ${issueMs.withDocuments.toFixed(1)} ms with documents, ${issueMs.without.toFixed(1)} ms without; ratio ${issueMs.ratio.toFixed(2)} (goal at most 1.1)`,
  ].join('\n')
