// `kill -9` in the middle of migrations of a made-up book, again and again: what they leave in the databases is what
// undisturbed ones leave, locators and the times of the run itself aside.
import { setTimeout as sleep } from 'node:timers/promises'
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate'
import { afterAll, expect, test } from 'vitest'
import { ApiFailure, signIn } from '../../scripts/api-client.ts'
import { type DeployedExample, deployTestTenant, testUsers, zipOf } from '../../scripts/example.ts'
import type { MigrationResponse } from '../../src/servicing/migration/contract.ts'
import { randomOf } from '../../tools/book/random.ts'
import { requests } from '../../tools/book/requests.ts'
import { databaseContents, type Leave, lacking, timersBefore } from '../support/database-contents.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { measured, size } from '../support/sizes.ts'

const KILLS = 20
/** In ten requests, of which four run at once. */
const ACCOUNTS = 10_000
const OF_A_REQUEST = 1_000
/** Planted in accounts of their own: migrations end as failed, and so nothing of them is deleted. */
const FAULTS = 50
const SEED = 'KILL'
/** The last kill comes at so much of the book at the latest, so that there is something left to do. */
const LATEST = 0.97
/** From then when so many accounts are done until the kill, at most. */
const MOST_MS = 400
/** A timer that is being fired is set so far ahead at most. */
const FIRED_WITHIN_MS = 120_000

/**
 * What a run does not decide: who signed in, what was asked, blocks of numbers that are leased, how often one was begun, and
 * whether one was paused before or after it began, and by when what was sent is deleted; nor what is told of times to come, since
 * the book goes on until after the run.
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
 * As of tomorrow, so that what is planned is not due before the end of the test: only what is unpaid is, and is told of
 * at once.
 */
const AS_OF = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)

/** Each a body of a migration. */
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

/** The example's configuration, whose policies do not lapse for what is unpaid: that goes by the day, and prints. */
function archive(): Uint8Array<ArrayBuffer> {
  const files = unzipSync(zipOf('examples/motor/configuration'))
  const path = 'products/private_motor/policy/policy.json'
  const { lapse: _, ...policy } = JSON.parse(strFromU8(files[path]!))
  return new Uint8Array(zipSync({ ...files, [path]: strToU8(JSON.stringify(policy)) }))
}

/** The same for both, whose version has its hash. */
const ARCHIVE = archive()

async function newTenant(suffix: string): Promise<Tenant> {
  const tenant = await deployTestTenant(await service.administration(), suffix, new Blob([ARCHIVE]))
  return { ...tenant, suffix }
}

type Progress = { readonly done: number; readonly states: readonly string[] }

/** Sends the book; how far it is by now, or undefined while the service does not answer. */
async function begun(
  { hostname, tenantLocator }: Tenant,
  bodies: readonly Blob[],
): Promise<() => Promise<Progress | undefined>> {
  const { username, password } = testUsers().find(({ roles }) => roles.includes('admin'))!
  const agent = await signIn(service.origin, { username, password, hostName: hostname })
  const root = `/migration/${tenantLocator}/migrations`
  const locators: string[] = []
  // They wait for the last one, so that none is done before the first kill.
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
      // It was killed, and answers again soon.
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

/** Until all is told that was due when it was migrated; the service does not run then. */
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

// A start alone takes longer than a test of `npm test` may: what a crash leaves of a batch is tested in run.service.test.ts.
test.runIf(size(false, true))(
  `killed ${KILLS} times, migrations end in what undisturbed ones end in`,
  async () => {
    // Before the service is there: nothing else happens meanwhile, and connections would be closed.
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
      // It need not be up for long enough to say so.
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
    const [more, less] = [await lacking(actual, expected), await lacking(expected, actual)]
    expect({ more, less }).toEqual({ more: [], less: [] })
    // All of the kills were in the midst of it.
    expect(done).toHaveLength(KILLS)
    measured('migration: kills that it went on after', KILLS, 'kills')
    measured('migration: rows as of an undisturbed one', actual.rows, 'rows')
    measured('migration: with the kills and starts', totalMs, 'ms')
  },
  1_800_000,
)
