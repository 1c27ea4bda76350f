// How a migration goes on: paused and resumed, stopped by faults of the system, four at a time.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import type {
  AccountMigrationResponse,
  MigrationFailuresResponse,
  MigrationResponse,
} from '../../src/migration/contract.ts'
import { workOn } from '../../src/migration/run/run.ts'
import type { Uuid } from '../../src/platform/locators.ts'
import { callApi, callOk } from '../support/api.ts'
import { boundDatabase, poolBinding, prepareDatabases } from '../support/databases.ts'
import { faultyDatabase } from '../support/faulty-database.ts'
import { migratedAccount } from '../support/migrated.ts'
import { type Motor, motorTenant } from '../support/motor.ts'

let motor: Motor
let root: string
let token: string

beforeAll(async () => {
  await prepareDatabases({ tenants: 1 })
  motor = await motorTenant('runs')
  token = await motor.signIn('anna.admin')
  root = `/migration/${motor.tenantLocator}/migrations`
})

type List<T> = { listCompleted: boolean; items: T[] }

const book = (prefix: string, accounts: number) =>
  Array.from({ length: accounts }, (_, at) => migratedAccount(`${prefix}-${at}`))

const submit = async (body: unknown): Promise<string> =>
  (await callOk<MigrationResponse>('POST', root, { token, body })).locator

const read = <T>(path: string): Promise<T> => callOk<T>('GET', `${root}/${path}`, { token })
const patch = (path: string) => callApi('PATCH', `${root}/${path}`, { token })

async function until(locator: string, ...states: string[]): Promise<MigrationResponse> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const migration = await read<MigrationResponse>(locator)
    if (states.includes(migration.migrationState)) return migration
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  throw new Error(`The migration does not become ${states.join(' or ')}.`)
}

const policiesOf = async (prefix: string): Promise<number> => {
  const row = await boundDatabase(poolBinding(1))
    .prepare(
      `select count(*) as n from policy where policyholder_locator in (
        select account_locator from migrated_account where original_id like ?)`,
    )
    .bind(`${prefix}-%`)
    .first<{ n: number }>()
  return row!.n
}

const eventsOf = async (migration: string): Promise<string[]> => {
  const { results } = await boundDatabase(poolBinding(1))
    .prepare(`select type from event where data ->> 'migrationLocator' = ? order by sequence`)
    .bind(migration)
    .all<{ type: string }>()
  return results.map(({ type }) => type)
}

const filesOf = async (migration: string): Promise<string[]> =>
  (await env.FILES.list()).objects.map(({ key }) => key).filter(key => key.includes(migration))

describe('a migration', () => {
  it('that is paused begins no account, and goes on where it was when it is resumed', async () => {
    const locator = await submit(book('P', 12))
    expect((await patch(`${locator}/pause`)).status).toBe(200)
    const paused = await read<MigrationResponse>(locator)
    expect(paused.migrationState).toBe('paused')
    expect(paused.accounts.processing).toBe(0)
    expect((await patch(`${locator}/pause`)).status).toBe(409)
    expect((await patch(`${locator}/recover`)).status).toBe(409)
    expect(await read<MigrationResponse>(locator)).toEqual(paused)
    expect((await patch(`${locator}/resume`)).status).toBe(200)
    const done = await until(locator, 'finished')
    expect(done.processedAccounts).toBe(12)
    expect(await policiesOf('P')).toBe(12)
    const events = (await eventsOf(locator)).filter(type => type !== 'migration.start')
    expect(events).toEqual(['migration.pause', 'migration.resume', 'migration.finish'])
  })

  it('whose file cannot be read is in error after three tries, and finishes once it is recovered', async () => {
    const locator = await submit(book('R', 1))
    const key = (await filesOf(locator))[0]!
    const bytes = await (await env.FILES.get(key))!.arrayBuffer()
    await env.FILES.delete(key)
    expect((await until(locator, 'error')).accounts.error).toBe(1)
    const [failure] = (await read<List<MigrationFailuresResponse>>(`${locator}/failures/list`)).items
    expect(failure!.accountError!.errors.validationItems[0]!.errors).toEqual([
      'The service failed 3 times; recover the migration to try again.',
    ])
    await env.FILES.put(key, bytes)
    expect((await patch(`${locator}/recover`)).status).toBe(200)
    expect((await until(locator, 'finished')).processedAccounts).toBe(1)
    expect(await eventsOf(locator)).toEqual([
      'migration.start',
      'migration.error',
      'migration.recover',
      'migration.finish',
    ])
    // Deleted at the alarm after the one that finishes it.
    for (let tries = 0; tries < 200 && (await filesOf(locator)).length > 0; tries += 1)
      await new Promise(resolve => setTimeout(resolve, 10))
    expect(await filesOf(locator)).toEqual([])
  })

  it('that is cut off at any batch, before it or after, loses nothing and does nothing twice', async () => {
    const locator = await submit(book('K', 6))
    await patch(`${locator}/pause`)
    await patch(`${locator}/resume`)
    const binding = poolBinding(1)
    const shard = { tenantLocator: motor.tenantLocator as Uuid, generation: 1, shard: 0 }
    for (let at = 0; at < 20; at += 1) {
      const fault = at % 2 === 0 ? 'before' : 'after'
      const client = faultyDatabase(boundDatabase(binding), batch =>
        batch === Math.floor(at / 2) % 7 ? fault : undefined,
      )
      const faulty = { ...env, [binding]: client } as unknown as Env
      await workOn(faulty, shard, locator as Uuid, () => false).catch(() => undefined)
    }
    if ((await until(locator, 'finished', 'error')).migrationState === 'error')
      await patch(`${locator}/recover`)
    expect((await until(locator, 'finished')).processedAccounts).toBe(6)
    expect(await policiesOf('K')).toBe(6)
    const { items } = await read<List<AccountMigrationResponse>>(`${locator}/accounts/list`)
    expect(items.map(one => [one.processedItems, one.errorItems])).toEqual(Array(6).fill([6, 0]))
  })

  it('waits for its turn while four others run', async () => {
    const locators = await Promise.all(Array.from({ length: 6 }, (_, at) => submit(book(`T${at}`, 3))))
    let most = 0
    let states: string[] = []
    for (let tries = 0; tries < 600; tries += 1) {
      states = (await Promise.all(locators.map(one => read<MigrationResponse>(one)))).map(
        one => one.migrationState,
      )
      if (states.every(one => one === 'finished')) break
      most = Math.max(most, states.filter(one => one === 'processing').length)
      await new Promise(resolve => setTimeout(resolve, 10))
    }
    expect(states).toEqual(Array(6).fill('finished'))
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(4)
  })
})
