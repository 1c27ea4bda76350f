// `kill -9` in the middle of migrations of a generated book, repeatedly: the databases contain the same afterwards as after
// undisturbed migrations, except for locators and times of the run.
import { setTimeout as sleep } from 'node:timers/promises'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { afterAll, expect, test } from 'vitest'
import { ApiFailure, signIn } from '../../scripts/api-client.ts'
import { type DeployedExample, deployTestTenant, testUsers, zipOf } from '../../scripts/example.ts'
import type { MigrationResponse } from '../../src/servicing/migration/contract.ts'
import { randomOf } from '../../tools/book/random.ts'
import { requests } from '../../tools/book/requests.ts'
import { databaseContents, type Leave, surplusRows, timersBefore } from '../support/database-contents.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { measured, size } from '../support/sizes.ts'

const KILLS = 20
/** In ten requests, four of which run simultaneously. */
const ACCOUNTS = 10_000
const OF_A_REQUEST = 1_000
/** The number of accounts with a planted fault. The migrations end as failed, so that none of their records is deleted. */
const FAULTS = 50
const SEED = 'KILL'
/** The last kill comes at this share of the book at the latest, so that work is left. */
const LATEST = 0.97
/** The longest time from reaching the number of accounts to the kill. */
const MOST_MS = 400
/** A timer that is being fired is postponed by at most this time. */
const FIRED_WITHIN_MS = 120_000

/**
 * Differences that a run may have: who signed in, the requests, leased blocks of numbers, how often an account was started,
 * whether a migration was paused before or after it began, when its file is deleted, and events of the future, since the book
 * continues after the run.
 */
const LEAVE: Leave = {
  tables: new Set(['account', 'audit', 'd1_migrations', 'migration', 'sequence', 'write']),
  columns: new Set([
    'migration_account.tries',
    'migration_run.done_before',
    'migration_account.warnings',
    'event.sequence',
    'journal.id',
  ]),
  rows: /^(timer: .*kind=migration\.(run|file\.unrecorded)|event: .*migration\.(start|pause|resume))/,
}

let service: ServiceProcess

afterAll(() => service?.remove())

/**
 * The book is dated tomorrow, so that nothing planned falls due before the end of the test. Only unpaid invoices are due, and
 * these are reported immediately.
 */
const AS_OF = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)

/** The bodies of the migration requests. */
function book(): Blob[] {
  const bodies: Blob[] = []
  let texts: string[] = []
  const options = {
    accounts: ACCOUNTS,
    accountsOfRequest: OF_A_REQUEST,
    faults: FAULTS,
    seed: SEED,
    asOf: AS_OF,
  }
  const end = (): void => void bodies.push(new Blob([`[${texts.join()}]`], { type: 'application/json' }))
  for (const { request, text } of requests(options)) {
    if (request > bodies.length) {
      end()
      texts = []
    }
    texts.push(text)
  }
  end()
  return bodies
}

type Tenant = DeployedExample & { suffix: string }

/** The configuration of the example without lapses, which depend on the day and would generate documents. */
function archive(): Uint8Array<ArrayBuffer> {
  const files = unzipSync(zipOf('examples/motor/configuration'))
  const path = 'products/private_motor/policy/policy.json'
  const { lapse: _, ...policy } = JSON.parse(strFromU8(files[path]!))
  return new Uint8Array(zipSync({ ...files, [path]: strToU8(JSON.stringify(policy)) }))
}

/** One archive for both tenants, because the version contains its hash. */
const ARCHIVE = archive()

async function newTenant(suffix: string): Promise<Tenant> {
  const tenant = await deployTestTenant(await service.administration(), suffix, new Blob([ARCHIVE]))
  return { ...tenant, suffix }
}

type Progress = { readonly done: number; readonly states: readonly string[] }

/** Sends the book. Returns a function that reads the progress, or undefined while the service does not respond. */
async function begun(
  { hostname, tenantLocator }: Tenant,
  bodies: readonly Blob[],
): Promise<() => Promise<Progress | undefined>> {
  const { username, password } = testUsers().find(({ roles }) => roles.includes('admin'))!
  const agent = await signIn(service.origin, { username, password, hostName: hostname })
  const root = `/migration/${tenantLocator}/migrations`
  const locators: string[] = []
  // The migrations are paused until the last one is sent, so that none finishes before the first kill.
  for (const body of bodies) {
    const { locator } = await agent.call<MigrationResponse>('POST', root, body)
    await agent.call('PATCH', `${root}/${locator}/pause`)
    locators.push(locator)
  }
  await Promise.all(locators.map(locator => agent.call('PATCH', `${root}/${locator}/resume`)))
  return async () => {
    try {
      const all = await Promise.all(
        locators.map(one => agent.call<MigrationResponse>('GET', `${root}/${one}`)),
      )
      return {
        done: all.reduce((sum, one) => sum + one.processedAccounts, 0),
        states: all.map(one => one.migrationState),
      }
    } catch (problem) {
      // The service was killed, and will respond again soon.
      if (problem instanceof ApiFailure) throw problem
      return undefined
    }
  }
}

async function until(
  progress: () => Promise<Progress | undefined>,
  isThere: (now: Progress) => boolean,
): Promise<Progress> {
  for (;;) {
    const now = await progress()
    if (now && isThere(now)) return now
    await sleep(20)
  }
}

const hasEnded = ({ states }: Progress): boolean =>
  states.every(state => !['submitted', 'processing'].includes(state))

/** Waits until everything due at migration is emitted, and leaves the service stopped. */
async function stopped(tenants: readonly Tenant[]): Promise<void> {
  for (;;) {
    await sleep(5_000)
    await service.stop()
    let due = 0
    for (const { tenantLocator } of tenants)
      due += await timersBefore(service.dataFolder, tenantLocator, Date.now() + FIRED_WITHIN_MS)
    if (due === 0) return
    await service.start()
    await sleep(due * 20)
  }
}

// Even a start takes longer than a test of `npm test` may. The effects of a crash on a batch are tested in run.service.test.ts.
test.runIf(size(false, true))(
  `killed ${KILLS} times, migrations end in what undisturbed ones end in`,
  async () => {
    // The book is generated before the service starts, because generating it blocks this process and connections would close.
    const bodies = book()
    console.log(`book of seed ${SEED} as of ${AS_OF}: ${bodies.map(one => one.size).join(', ')} bytes`)
    service = await startServiceProcess()
    const since = Date.now()
    const [whole, broken] = [await newTenant('whole'), await newTenant('kills')]
    const undisturbed = await until(await begun(whole, bodies), hasEnded)
    const started = performance.now()
    const progress = await begun(broken, bodies)
    const random = randomOf(SEED)
    const moments = Array.from({ length: KILLS }, () => random.between(0, LATEST * ACCOUNTS))
    const done: number[] = []
    for (const moment of moments.sort((a, b) => a - b)) {
      const now = await until(progress, one => one.done >= moment || hasEnded(one))
      if (hasEnded(now)) break
      done.push(now.done)
      await sleep(random.between(0, MOST_MS))
      await service.kill9()
      // The service may be killed again before it reports that it has started.
      void service.start().catch(() => undefined)
    }
    const killed = await until(progress, hasEnded)
    const totalMs = Math.round(performance.now() - started)
    console.log(`accounts that were done at each kill: ${done.join(', ')}`)
    expect(undisturbed.done).toBe(ACCOUNTS - FAULTS)
    expect(killed).toEqual(undisturbed)
    await stopped([whole, broken])
    const span = { since, until: Date.now() }
    const expected = await databaseContents(service.dataFolder, whole, span, LEAVE)
    const actual = await databaseContents(service.dataFolder, broken, span, LEAVE)
    const [more, less] = [await surplusRows(actual, expected), await surplusRows(expected, actual)]
    expect({ more, less }).toEqual({ more: [], less: [] })
    // All kills happened while the migrations ran.
    expect(done).toHaveLength(KILLS)
    measured('migration: kills that it went on after', KILLS, 'kills')
    measured('migration: rows as of an undisturbed one', actual.rows, 'rows')
    measured('migration: with the kills and starts', totalMs, 'ms')
  },
  1_800_000,
)
