// `npm run demo`: takes a motor policy from policyholder to issue in the running service, and compares every figure with
// examples/motor/worked.json. Environment: BASE_URL; TENANT_HOST (default: the tenant of the first start).
import { type BinderyClient, BinderyError, createClient } from '../client/index.ts'
import { readArguments } from './command-line.ts'
import { showPremiums, showPrice } from './demo/prices.ts'
import { type Receiver, startReceiver } from './demo/receiver.ts'
import { newStory, type Story } from './demo/story.ts'
import { deployedExample, testUsers, type WorkedPolicy, workedPolicies } from './example.ts'
import { readSecrets, readSettings } from './settings.ts'

const USAGE = `npm run demo    sells one motor policy in the running service, and compares every figure

BASE_URL       the address of another service
TENANT_HOST    the host name of its tenant that has examples/motor`

const ACCEPTED = 'Several exposures'
const REJECTED = 'A driver too young'
const EVENTS = ['policyholder.create', 'policy.create', 'policy.finalize', 'policy.issue']

type Underwriting = { decision: string; notes: string[] }

const workedPolicyNamed = (name: string): WorkedPolicy => {
  const found = workedPolicies().find(policy => policy.name === name)
  if (!found) throw new Error(`examples/motor/worked.json has no policy '${name}'.`)
  return found
}

/** The origin of the service. */
function serviceOrigin(): string {
  const { port } = readSettings(process.env, readSecrets())
  return (process.env.BASE_URL ?? `http://localhost:${port}`).replace(/\/$/, '')
}

/** The host name of the tenant that has examples/motor. */
function exampleHost(): string {
  const { dataFolder } = readSettings(process.env, readSecrets())
  const hostName = process.env.TENANT_HOST ?? deployedExample(dataFolder)?.hostname
  if (hostName) return hostName
  throw new Error(
    `${dataFolder} has no example tenant. Run \`npm start\` first, or set BASE_URL and TENANT_HOST.`,
  )
}

/** Throws a one-line Error with the address if no service responds there. */
async function requireService(origin: string): Promise<void> {
  const advice = 'Start it with `npm start`, or set BASE_URL to the address of a running service.'
  const response = await fetch(`${origin}/health`).catch((problem: Error) => problem)
  if (response instanceof Error) {
    const { code } = (response.cause ?? {}) as { code?: string }
    throw new Error(`No service responds at ${origin} (${code ?? response.message}). ${advice}`)
  }
  await response.body?.cancel()
  if (!response.ok)
    throw new Error(
      `${origin}/health responded with ${response.status}, so this is not a running service. ${advice}`,
    )
}

function clientOf(role: string, baseUrl: string, hostName: string): BinderyClient {
  const { username, password } = testUsers().find(({ roles }) => roles.includes(role))!
  return createClient({ baseUrl, signIn: { username, password, hostName } })
}

async function subscribe(administration: BinderyClient, receiver: Receiver): Promise<void> {
  const tenantLocator = (await administration.tenantLocator())!
  await administration.post('/event/{tenantLocator}/webhooks', {
    params: { path: { tenantLocator } },
    body: {
      name: `demo ${new Date().toISOString()}`,
      enabled: true,
      endpoint: { url: receiver.url, headers: {}, hmacEnabled: true, secret: receiver.secret },
      eventTypes: ['policyholder.*', 'policy.*'],
      // Nothing listens once the demonstration has ended, so the first failure suspends the webhook.
      failureHandling: { triggers: ['4xx', '5xx', 'timeout'], divert: false, suspend: true },
    },
  })
}

/** The parameters of a call about a policy. */
const of = (policyLocator: string) => ({ params: { path: { policyLocator } } })

async function applyFor(agent: BinderyClient, story: Story, { request }: WorkedPolicy): Promise<string> {
  const holder = await agent.post('/policyholder/create', {
    body: { completed: true, ...request.policyholder },
  })
  const { first_name, last_name } = request.policyholder.values as Record<string, string>
  story.step(`Policyholder ${first_name} ${last_name} is created: ${holder.locator}`)
  const policy = await agent.post('/policy', {
    body: { ...request.policy, policyholderLocator: holder.locator, finalize: false },
  })
  const exposures = policy.exposures.map(({ name }) => name).join(', ')
  story.step(`Policy ${policy.locator} is created as a draft: ${exposures}`)
  await agent.post('/policy/{policyLocator}/finalize', of(policy.locator))
  return policy.locator
}

async function showUnderwriting(
  agent: BinderyClient,
  story: Story,
  locator: string,
  expected: Underwriting,
): Promise<void> {
  const result = await agent.get('/policy/{policyLocator}/automatedUnderwritingResult', of(locator))
  story.step('Underwriting decides')
  story.text('decision', result.decision, expected.decision)
  for (const note of result.notes) story.detail(`note: ${note}`)
  if (result.notes.length === 0) story.detail('no notes')
  if (JSON.stringify(result.notes) !== JSON.stringify(expected.notes))
    story.text('notes', JSON.stringify(result.notes), JSON.stringify(expected.notes))
}

async function issue(
  agent: BinderyClient,
  story: Story,
  { expected, ...policy }: WorkedPolicy,
): Promise<string> {
  const locator = await applyFor(agent, story, { expected, ...policy })
  await showUnderwriting(agent, story, locator, expected)
  story.step('The price')
  showPremiums(story, await agent.get('/policy/{policyLocator}', of(locator)), expected)
  showPrice(story, await agent.get('/policy/{policyLocator}/price', of(locator)), expected)
  const issued = await agent.post('/policy/{policyLocator}/issue', of(locator))
  story.step(`Policy ${locator} is issued`)
  story.text('issued', issued.issuedTimestamp === undefined ? 'no' : 'yes', 'yes')
  return locator
}

async function reject(agent: BinderyClient, story: Story, policy: WorkedPolicy): Promise<void> {
  const locator = await applyFor(agent, story, policy)
  await showUnderwriting(agent, story, locator, policy.expected)
  const refusal = await agent.post('/policy/{policyLocator}/issue', of(locator)).then(
    () => 'issued',
    (error: unknown) => (error instanceof BinderyError ? String(error.status) : String(error)),
  )
  story.step(`Policy ${locator} cannot be issued, and is discarded`)
  story.text('response to issue', refusal, '409')
  await agent.post('/policy/{policyLocator}/discard', of(locator))
}

async function showEvents(story: Story, receiver: Receiver, locator: string): Promise<void> {
  const eventsOfPolicy = () =>
    receiver.events.filter(
      ({ type, data }) => type === 'policyholder.create' || JSON.stringify(data).includes(locator),
    )
  const missing = () => EVENTS.filter(type => !eventsOfPolicy().some(event => event.type === type))
  await receiver.waitUntil(() => missing().length === 0, 30_000)
  story.step('Events delivered to the webhook, signed')
  for (const type of new Set(eventsOfPolicy().map(event => event.type))) story.detail(type)
  story.text('events that did not arrive', missing().join(', ') || 'none', 'none')
  story.text('wrong signatures', String(receiver.refused), '0')
}

async function demonstrate(): Promise<boolean> {
  readArguments(USAGE, { options: {} })
  const origin = serviceOrigin()
  await requireService(origin)
  const hostName = exampleHost()
  const story = newStory(line => console.log(line))
  const receiver = await startReceiver()
  try {
    const agent = clientOf('agent', origin, hostName)
    await subscribe(clientOf('admin', origin, hostName), receiver)
    story.step(`Signed in to ${hostName} on ${origin}`)
    story.step(`A webhook sends events to ${receiver.url}`)
    const locator = await issue(agent, story, workedPolicyNamed(ACCEPTED))
    await reject(agent, story, workedPolicyNamed(REJECTED))
    await showEvents(story, receiver, locator)
  } finally {
    receiver.close()
  }
  console.log(
    story.wrong === 0
      ? `\nAll ${story.compared} figures are correct.`
      : `\n${story.wrong} of ${story.compared} figures are WRONG.`,
  )
  return story.wrong === 0
}

const right = await demonstrate().catch((error: unknown) => {
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}`)
  return false
})
process.exitCode = right ? 0 : 1
