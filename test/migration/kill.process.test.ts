// `kill -9` in the middle of a migration, again and again: what it leaves in the databases is what an undisturbed one
// leaves, locators and the times of the run itself aside.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { ApiFailure, signIn } from '../../scripts/api-client.ts'
import { randomOf } from '../../scripts/book/random.ts'
import { type DeployedExample, testUsers, zipOf } from '../../scripts/example.ts'
import type { MigrationResponse } from '../../src/migration/contract.ts'
import { databaseContents, type Leave, lacking } from '../support/database-contents.ts'
import { migratedAccount } from '../support/migrated.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { measured, size } from '../support/sizes.ts'

const KILLS = 20
/** Of each of the migrations, of which four run at once. */
const ACCOUNTS = 1_000
const MIGRATIONS = 11
const SEED = 'KILL'
/** The service is killed so long at most after it answers again. */
const MOST_MS = 400

/** What a run does not decide: passwords, who signed in, blocks of numbers that are leased, and how often one was begun. */
const LEAVE: Leave = {
  tables: new Set([
    ...[
      'account',
      'audit',
      'd1_migrations',
      'delivery',
      'event',
      'migration',
      'sequence',
      'timer',
      'webhook',
      'write',
    ],
    ...['configuration_version', 'deployment', 'document', 'document_job'],
  ]),
  columns: new Set(['migration_account.tries', 'event.sequence']),
}

let service: ServiceProcess

afterAll(() => service?.remove())

/** Nothing of it is due before long: what is done to policies by the clock is no part of the migration. */
const book = (number: number): unknown =>
  Array.from({ length: ACCOUNTS }, (_, at) =>
    at % 7 === 0
      ? migratedAccount(`${number}-${at}`, { disbursements: [{ id: 'D1' }], accounting: undefined })
      : migratedAccount(`${number}-${at}`),
  )

const FAILING = Math.ceil(ACCOUNTS / 7)

type Tenant = DeployedExample & { suffix: string }

const ARCHIVE = zipOf('examples/motor/configuration')

async function newTenant(suffix: string): Promise<Tenant> {
  const form = new FormData()
  form.set('tenantNameSuffix', suffix)
  form.set('zipFile', new Blob([ARCHIVE], { type: 'application/zip' }), 'motor.zip')
  const administration = await service.administration()
  const answer = await administration.call<DeployedExample>('POST', '/configuration/deployTest', form)
  return { ...answer, suffix }
}

type Progress = { readonly done: number; readonly states: readonly string[] }

/** Sends the book; how far it is by now, or undefined while the service does not answer. */
async function begun({ hostname, tenantLocator }: Tenant): Promise<() => Promise<Progress | undefined>> {
  const { username, password } = testUsers().find(({ roles }) => roles.includes('admin'))!
  const agent = await signIn(service.origin, { username, password, hostName: hostname })
  const root = `/migration/${tenantLocator}/migrations`
  const locators: string[] = []
  for (let number = 1; number <= MIGRATIONS; number += 1)
    locators.push((await agent.call<MigrationResponse>('POST', root, book(number))).locator)
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

// A start alone takes longer than a test of `npm test` may: what a crash leaves of a batch is tested in run.service.test.ts.
test.runIf(size(false, true))(
  `killed ${KILLS} times, migrations end in what undisturbed ones end in`,
  async () => {
    service = await startServiceProcess()
    const since = Date.now()
    const [whole, broken] = [await newTenant('whole'), await newTenant('kills')]
    const undisturbed = await until(await begun(whole), hasEnded)
    const started = performance.now()
    const progress = await begun(broken)
    const random = randomOf(SEED)
    const done: number[] = []
    for (let kill = 0; kill < KILLS; kill += 1) {
      const now = await until(progress, () => true)
      if (hasEnded(now)) break
      done.push(now.done)
      await sleep(random.between(0, MOST_MS))
      await service.kill9()
      // It need not be up for long enough to say so.
      void service.start().catch(() => undefined)
    }
    const killed = await until(progress, hasEnded)
    const totalMs = Math.round(performance.now() - started)
    for (const one of [undisturbed, killed])
      expect(one).toEqual({
        done: (ACCOUNTS - FAILING) * MIGRATIONS,
        states: Array.from({ length: MIGRATIONS }, () => 'failed'),
      })
    console.log(`accounts that were done at each kill: ${done.join(', ')}`)
    // What was sent is deleted at the alarm after the one that finishes it, and what it tells is announced.
    await sleep(5_000)
    await service.stop()
    const expected = await databaseContents(service.dataFolder, whole, since, LEAVE)
    const actual = await databaseContents(service.dataFolder, broken, since, LEAVE)
    const [more, less] = [lacking(actual, expected), lacking(expected, actual)]
    expect({ more: more.slice(0, 20), less: less.slice(0, 20) }).toEqual({ more: [], less: [] })
    // All of the kills were in the midst of it.
    expect(done).toHaveLength(KILLS)
    measured('migration: kills that it went on after', KILLS, 'kills')
    measured('migration: rows as of an undisturbed one', actual.rows, 'rows')
    measured('migration: with the kills and starts', totalMs, 'ms')
  },
  1_800_000,
)
