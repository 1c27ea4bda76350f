// Two environments in one account. A tenant is created and sells policies. It moves to the other environment and continues, and
// is restored to an earlier time and continues. Nothing is overwritten, no number is assigned twice, readers of the stream learn
// of the restore, and a webhook gets every event once and in order.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testUsers, workedPolicies } from '../../scripts/example.ts'
import { openLocalStores } from '../../scripts/local-stores.ts'
import { bareArchive } from '../support/bare-archive.ts'
import { type Box, type MoodyReceiver, startMoodyReceiver } from '../support/moody-receiver.ts'
import { openStored, readAccount, rememberDatabases } from '../support/provider/account.ts'
import { type Checkout, newAccountFolder, newCheckout } from '../support/provider/checkout.ts'
import { type RunningWorker, runDeployed } from '../support/provider/workers.ts'
import { type Life, liveOnce } from './policy-life.ts'

const ADMINISTRATOR = { username: 'administrator', password: 'correct horse battery staple' }
const TENANT = 'administrator-motor'
const HOOKS = 'https://hooks.example.com'

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, of which a few properties are read.
type Answer = { status: number; body: any }

const account = newAccountFolder()
let checkout: Checkout
let receiver: MoodyReceiver
let box: Box
let tenantLocator: string
const cells = new Map<string, RunningWorker>()

const call = async (
  cell: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> => {
  const request = new Request('https://api.example.com', {
    method: 'POST',
    ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
  })
  const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` }
  if (body !== undefined)
    headers['content-type'] =
      body instanceof FormData ? request.headers.get('content-type')! : 'application/json'
  const response = await cells.get(cell)!.fetch(path, {
    method,
    headers,
    ...(body !== undefined && { body: await request.arrayBuffer() }),
  })
  const text = await response.text()
  return { status: response.status, body: /^[[{]/.test(text) ? JSON.parse(text) : text }
}

async function signIn(cell: string, credentials: object): Promise<string> {
  const { status, body } = await call(cell, '', 'POST', '/account/authenticate', credentials)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.authorizationToken
}

const userOf = (role: string) => {
  const { username, password } = testUsers().find(({ roles }) => roles.includes(role))!
  return { username, password }
}
const agentOf = (cell: string) =>
  signIn(cell, { ...userOf('agent'), hostName: `${TENANT}.co.${cell}.example.com` })

/** Every digit locator that the lives received. */
const numbers = new Set<string>()

/** Runs the life of a policy, and checks that its numbers are new. */
async function live(cell: string): Promise<Life> {
  const token = await agentOf(cell)
  const own = new Set<string>()
  const life = await liveOnce(
    async (method, path, body) => {
      const answer = await call(cell, token, method, path, body)
      if (answer.status >= 300)
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      for (const [, locator] of JSON.stringify(answer.body).matchAll(/"(?:locator|displayId)":"(\d{9,})"/g))
        own.add(locator!)
      return answer.body
    },
    () => {},
  )
  expect([...own].filter(number => numbers.has(number))).toEqual([])
  for (const number of own) numbers.add(number)
  return life
}

const IN_TIME = { timeout: 90_000 }

/** Waits until the cell knows that the tenant is served again, for new sign-ins and for the existing token. */
async function served(cell: string, token: string): Promise<void> {
  await expect.poll(() => agentOf(cell).catch(String), IN_TIME).not.toContain('503')
  await expect.poll(async () => (await call(cell, token, 'GET', '/products')).status, IN_TIME).toBe(200)
}

const tenant = async (...words: string[]): Promise<string> => {
  const { code, output } = await checkout.run('tenant', ...words)
  expect(code, output).toBe(0)
  return output
}
const refused = async (...words: string[]): Promise<string> => {
  const { code, output } = await checkout.run('tenant', ...words)
  expect(code, output).toBe(1)
  return output
}

async function deploy(...options: string[]): Promise<void> {
  const { code, output } = await checkout.run('deploy', ...options)
  expect(code, output).toBe(0)
}

async function start(cell: string): Promise<void> {
  await cells.get(cell)?.close()
  cells.set(
    cell,
    await runDeployed(account, `bindery-${cell}`, async request => {
      const { origin, pathname } = new URL(request.url)
      if (origin !== HOOKS) return new Response('no such host', { status: 502 })
      return await fetch(receiver.urlOf(pathname), {
        method: 'POST',
        headers: Object.fromEntries(request.headers),
        body: await request.arrayBuffer(),
      }).catch(() => new Response('not reached', { status: 502 }))
    }),
  )
}

beforeAll(async () => {
  receiver = await startMoodyReceiver({ failing: 0, silent: 0, mostOfOne: 0, mostSilent: 0 }, Math.random)
  checkout = newCheckout(account, {
    ADMIN_USERNAME: ADMINISTRATOR.username,
    ADMIN_PASSWORD: ADMINISTRATOR.password,
  })
  for (const cell of ['eu1', 'eu2'])
    await deploy('--environment', cell, '--domain', 'example.com', '--location', 'weur', '--databases', '3')
  for (const cell of ['eu1', 'eu2']) await start(cell)
})
afterAll(async () => {
  for (const cell of cells.values()) await cell.close()
  receiver?.close()
  checkout?.remove()
  rmSync(account, { recursive: true, force: true })
})

/** Reads the whole stream, from a token or from the beginning. Also returns the token after its last event. */
async function readStream(
  cell: string,
  from = 'startTimestamp=0',
): Promise<{ types: string[]; token: string }> {
  const token = await signIn(cell, { ...userOf('admin'), hostName: `${TENANT}.co.${cell}.example.com` })
  const types: string[] = []
  for (let query = from; ; ) {
    const { status, body } = await call(cell, token, 'GET', `/eventstream/events?${query}`)
    expect({ status, body }).toMatchObject({ status: 200 })
    if (body.events.length === 0) return { types, token: body.pagingToken }
    types.push(...body.events.map(({ type }: { type: string }) => type))
    query = `pagingToken=${encodeURIComponent(body.pagingToken)}`
  }
}

const tokenQuery = (token: string): string => `pagingToken=${encodeURIComponent(token)}`

/** The types of the policy's events that the webhook received, in the order of arrival. */
const heard = ({ policy }: Life): string[] =>
  box.arrivals.filter(({ data }) => data.policyLocator === policy).map(({ type }) => type)

const heardAll = (life: Life) =>
  expect.poll(() => heard(life).at(-1), { timeout: 90_000 }).toBe('policy.reinstatement.issue')

/** Changes a database of the account. */
function write(name: string, statement: string): void {
  const database = openStored(account, readAccount(account).databases[name]!.id)
  database.exec(statement)
  database.close()
}

/** Files that restores noted for all tenants of the cell. */
async function notesLeft(cell: string): Promise<string[]> {
  const config = readFileSync(join(checkout.folder, 'data', `stores.${cell}.toml`), 'utf8')
  const { env, dispose } = openLocalStores(config, account)
  try {
    const { objects } = await env.FILES.list()
    expect(objects.length).toBeGreaterThan(0)
    return objects.map(({ key }) => key).filter(key => key.includes('/restores/'))
  } finally {
    await dispose()
  }
}

const eu1 = ['--environment', 'eu1']
const eu2 = ['--environment', 'eu2']

describe('A tenant that is moved to another environment and restored to an earlier time', () => {
  let before: Life
  let moved: Life
  let streamed: string
  let postsOfALife: number

  test('is created, sells a policy, and delivers its events to a webhook', async () => {
    const administrator = await signIn('eu1', ADMINISTRATOR)
    const form = new FormData()
    form.set('tenantNameSuffix', 'motor')
    form.set('zipFile', bareArchive(), 'motor.zip')
    const { body } = await call('eu1', administrator, 'POST', '/configuration/deployTest', form)
    expect(body).toMatchObject({ success: true, tenantName: TENANT })
    tenantLocator = body.tenantLocator
    const admin = await signIn('eu1', { ...userOf('admin'), hostName: `${TENANT}.co.eu1.example.com` })
    const webhook = await call('eu1', admin, 'POST', `/event/${tenantLocator}/webhooks`, {
      name: 'books',
      enabled: true,
      eventTypes: ['policy.*'],
      endpoint: { url: `${HOOKS}/books`, headers: {} },
      failureHandling: { triggers: ['5xx'], retryStrategy: { type: 'linear', interval: 1, attempts: 10 } },
    })
    expect(webhook.status).toBe(200)
    box = receiver.open('/books', webhook.body.endpoint.secret)
    before = await live('eu1')
    await heardAll(before)
    postsOfALife = box.posts
    streamed = (await readStream('eu1')).token
  })

  test('cannot move to an environment that does not have its secrets', async () => {
    expect(await refused('move', TENANT, ...eu1, '--to', 'eu2')).toContain('PASSWORD_PEPPER')
    const [own, other] = ['eu1', 'eu2'].map(cell =>
      parseEnv(readFileSync(join(checkout.folder, `.secrets.${cell}`), 'utf8')),
    ) as [Record<string, string>, Record<string, string>]
    const joined = {
      PASSWORD_PEPPER: `${other.PASSWORD_PEPPER},${own.PASSWORD_PEPPER}`,
      SEALING_KEY: `${other.SEALING_KEY},${own.SEALING_KEY},${other.SEALING_KEY}`,
    }
    const lines = Object.entries({ ...other, ...joined }).map(([name, value]) => `${name}='${value}'\n`)
    writeFileSync(join(checkout.folder, '.secrets.eu2'), lines.join(''))
    await deploy(...eu2)
    await start('eu2')
  })

  test('cannot move when no database is free there, and is served again once the move is given up', async () => {
    const take = (state: string, from: string) =>
      write('bindery-eu2-control', `update pool_database set state = '${state}' where state = '${from}'`)
    take('claimed', 'free')
    expect(await refused('move', TENANT, ...eu1, '--to', 'eu2')).toContain('No tenant database is free')
    const agent = await agentOf('eu1').catch(problem => String(problem))
    expect(agent).toContain('it moves to api.eu2.example.com.')
    await tenant('resume', TENANT, ...eu1)
    take('free', 'claimed')
    await expect.poll(() => agentOf('eu1').catch(String), IN_TIME).not.toContain('503')
    await heardAll(await live('eu1'))
    streamed = (await readStream('eu1')).token
  })

  test('moves to the other environment with its policies and stream, and the former one responds with 421', async () => {
    const agent = await agentOf('eu1')
    const shown = (await call('eu1', agent, 'GET', `/policy/${before.policy}`)).body
    const output = await tenant('move', TENANT, ...eu1, '--to', 'eu2')
    expect(output).toContain('is served at https://api.eu2.example.com')

    const there = () => call('eu1', agent, 'GET', `/policy/${before.policy}`)
    await expect.poll(async () => (await there()).status, IN_TIME).toBe(421)
    expect((await there()).body.message).toBe(
      `The tenant '${TENANT}' is no longer served here: it is served at https://api.eu2.example.com.`,
    )
    expect(await refused('resume', TENANT, ...eu1)).toContain('has moved')
    await cells.get('eu2')!.housekeep()
    expect((await call('eu2', await agentOf('eu2'), 'GET', `/policy/${before.policy}`)).body).toEqual(shown)
    moved = await live('eu2')
    await heardAll(moved)
    expect(heard(moved)).toEqual(heard(before))
    // The stream continues from where a reader was.
    const { types, token } = await readStream('eu2', tokenQuery(streamed))
    expect(types.filter(type => type === 'policy.create')).toHaveLength(1)
    streamed = token
  })

  test('cannot be restored to a time before its databases belonged to it', async () => {
    const output = await refused(
      'restore',
      TENANT,
      ...eu2,
      '--to',
      new Date(Date.now() - 3_600_000).toISOString(),
    )
    expect(output).toContain('has its databases since')
  })

  test('is restored to an earlier time, reports what was undone, resends no event, and reuses no number', async () => {
    // A policy whose event is on its way at that time. It arrives later, and must not be sent again.
    const agent = await agentOf('eu2')
    const isBack = receiver.stopFor(1_500)
    const request = { ...workedPolicies()[0]!.request.policy, policyholderLocator: moved.holder }
    const quoted = await call('eu2', agent, 'POST', '/policy', request)
    expect(quoted.status).toBe(200)
    const to = new Date(rememberDatabases(account)).toISOString()
    await isBack
    const toldOfQuote = () =>
      box.arrivals.filter(({ data }) => data.policyLocator === quoted.body.locator).length
    await expect.poll(toldOfQuote, { timeout: 90_000 }).toBeGreaterThan(0)

    // Everything from here on is to be undone, including a second database.
    await tenant('shards', TENANT, '2', ...eu2)
    const undone = await live('eu2')
    await heardAll(undone)
    const posts = box.posts

    // The provider fails for the second of the two databases. The tenant is suspended until the restore is finished.
    checkout.environment.PROVIDER_FAILS = 'd1 time-travel restore TENANT_002'
    expect(await refused('restore', TENANT, ...eu2, '--to', to)).toContain('tired')
    expect(await refused('resume', TENANT, ...eu2)).toContain('A restore of the tenant')
    delete checkout.environment.PROVIDER_FAILS
    const output = await tenant('restore', TENANT, ...eu2, '--to', to)
    const report = JSON.parse(readFileSync(output.match(/all of them are listed in (.*)/)![1]!, 'utf8'))
    expect(report.sent).toHaveLength(postsOfALife)
    expect(report.sent.every(({ event }: { event: string }) => box.taken.has(event))).toBe(true)
    expect(output).toContain(`undone: ${report.events.length} events, ${report.payments.length} payments`)
    expect(report.payments.length).toBeGreaterThan(0)
    expect(report.erasures).toEqual([])
    expect(report.audit.map(({ action }: { action: string }) => action)).toContain('login.success')
    expect(await notesLeft('eu2')).toEqual([])
    const policies = report.events.flatMap(
      ({ data }: { data: { policyLocator?: string } }) => data.policyLocator ?? [],
    )
    expect(new Set(policies)).toEqual(new Set([undone.policy]))
    await cells.get('eu2')!.housekeep()
    await served('eu2', agent)

    const shown = [before, moved, undone].map(({ policy }) => call('eu2', agent, 'GET', `/policy/${policy}`))
    expect((await Promise.all(shown)).map(({ status }) => status)).toEqual([200, 200, 404])
    const late = await call('eu2', agent, 'GET', `/eventstream/events?${tokenQuery(streamed)}`)
    expect(late).toMatchObject({ status: 409, body: { code: 'streamRestored' } })
    const after = await Promise.all([live('eu2'), live('eu2'), live('eu2'), live('eu2')])
    for (const life of after) {
      await heardAll(life)
      expect(heard(life)).toEqual(heard(before))
    }
    expect([box.posts - posts, box.repeats, box.refused]).toEqual([after.length * postsOfALife, 0, 0])
  })

  test('keeps its data when a restore is rejected because a database belonged to another tenant at that time', async () => {
    const own = `update fence set tenant_locator = '${tenantLocator}'`
    write('bindery-eu2-tenant-002-weur', `update fence set tenant_locator = 'another'`)
    const to = new Date(rememberDatabases(account)).toISOString()
    write('bindery-eu2-tenant-002-weur', own)
    const agent = await agentOf('eu2')
    const { policy } = await live('eu2')
    expect(await refused('restore', TENANT, ...eu2, '--to', to)).toContain(
      'The databases are back in their state before',
    )
    expect(await tenant('resume', TENANT, ...eu2)).toContain('is served again')
    await served('eu2', agent)
    expect((await call('eu2', agent, 'GET', `/policy/${policy}`)).status).toBe(200)
    await live('eu2')
  })
})
