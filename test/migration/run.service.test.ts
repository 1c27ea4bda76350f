// The course of a migration: pausing and resuming, stopping at system failures, and running four at a time.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid, type Uuid } from '../../src/kernel/locators.ts'
import { EVERY_EVENT } from '../../src/platform/events/rows.ts'
import type {
  AccountMigrationIdMappingsResponse,
  AccountMigrationResponse,
  MigrationFailuresResponse,
  MigrationResponse,
} from '../../src/servicing/migration/contract.ts'
import { runMigrationAlarm } from '../../src/servicing/migration/run/run.ts'
import { callApi, callOk } from '../support/api.ts'
import { boundDatabase, poolBinding } from '../support/databases.ts'
import { faultyDatabase } from '../support/faulty-database.ts'
import { migratedAccount } from '../support/migrated.ts'
import type { Motor } from '../support/motor.ts'
import { migratingTenant } from '../support/settled-migration.ts'

let motor: Motor
let root: string
let token: string

beforeAll(async () => {
  ;({ motor, token, root } = await migratingTenant('runs'))
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
    .prepare(`select type from ${EVERY_EVENT} where data ->> 'migrationLocator' = ? order by sequence`)
    .bind(migration)
    .all<{ type: string }>()
  return results.map(({ type }) => type)
}

const filesOf = async (migration: string): Promise<string[]> =>
  (await env.FILES.list()).objects.map(({ key }) => key).filter(key => key.includes(migration))

describe('a migration', () => {
  it('that is paused starts no account, and continues where it was when it is resumed', async () => {
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

  it('is in error after three failures to read its file, and finishes once it is recovered', async () => {
    const locator = await submit(book('R', 1))
    const key = (await filesOf(locator))[0]!
    const bytes = await (await env.FILES.get(key))!.arrayBuffer()
    await env.FILES.delete(key)
    expect((await until(locator, 'error')).accounts.error).toBe(1)
    const [failure] = (await read<List<MigrationFailuresResponse>>(`${locator}/failures/list`)).items
    expect(failure!.accountError!.errors.validationItems[0]!.errors).toEqual([
      'The service failed 3 times. Recover the migration to try again.',
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
    // The file is deleted by the alarm after the one that finishes the migration.
    for (let tries = 0; tries < 200 && (await filesOf(locator)).length > 0; tries += 1)
      await new Promise(resolve => setTimeout(resolve, 10))
    expect(await filesOf(locator)).toEqual([])
  })

  it('loses and repeats nothing if any batch fails, before or after it is applied', async () => {
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
      await runMigrationAlarm(faulty, shard, locator as Uuid, () => false).catch(() => undefined)
    }
    if ((await until(locator, 'finished', 'error')).migrationState === 'error')
      await patch(`${locator}/recover`)
    expect((await until(locator, 'finished')).processedAccounts).toBe(6)
    expect(await policiesOf('K')).toBe(6)
    const { items } = await read<List<AccountMigrationResponse>>(`${locator}/accounts/list`)
    expect(items.map(one => [one.processedItems, one.errorItems])).toEqual(Array(6).fill([6, 0]))
  })

  it('waits while four others run', async () => {
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

  it('fails the second of two accounts with the same id, even with validateOnly', async () => {
    const accounts = [...book('W', 1), ...book('V', 30), ...book('W', 1)]
    for (const query of ['?validateOnly=true', '']) {
      const { locator } = await callOk<MigrationResponse>('POST', `${root}${query}`, {
        token,
        body: accounts,
      })
      expect((await until(locator, 'failed')).accounts).toMatchObject({ completed: 31, failed: 1 })
      const [failure] = (await read<List<MigrationFailuresResponse>>(`${locator}/failures/list`)).items
      expect(failure!.accountOriginalId).toBe('W-0')
      expect(failure!.accountError!.errors.validationItems[0]!.errors[0]).toContain("'id' must be unique")
    }
  })

  it('marks an account as an error after it interrupted its object six times, and continues with others', async () => {
    const database = boundDatabase(poolBinding(1))
    const slots = (sql: string) => database.prepare(sql).run()
    // While four others run, none of its accounts is started.
    await slots(
      `insert or replace into migration_slot select value, 'other ' || value from json_each('[0,1,2,3]')`,
    )
    const sent = await submit(book('C', 2))
    await patch(`${sent}/pause`)
    await slots(`delete from migration_slot where migration_locator like 'other %'`)
    // Under another locator no object works on it until it is recovered.
    const locator = newUuid(0)
    await database.batch([
      database
        .prepare(`update migration_run set locator = ?, state = 'processing' where locator = ?`)
        .bind(locator, sent),
      database
        .prepare('update migration_account set migration_locator = ? where migration_locator = ?')
        .bind(locator, sent),
    ])
    const [key] = await filesOf(sent)
    await env.FILES.put(key!.replace(sent, locator), await (await env.FILES.get(key!))!.arrayBuffer())
    const shard = { tenantLocator: motor.tenantLocator as Uuid, generation: 1, shard: 0 }
    const binding = poolBinding(1)
    for (let times = 0; times < 6; times += 1) {
      const client = faultyDatabase(database, batch => (batch > 4 ? 'before' : undefined))
      const cutOff = { ...env, [binding]: client } as unknown as Env
      // In the first attempt both accounts are started, and neither is recorded. From then on one is started alone.
      await runMigrationAlarm(cutOff, shard, locator, () => false).catch(() => undefined)
      const { accounts } = await read<MigrationResponse>(locator)
      expect(accounts).toMatchObject(times === 0 ? { processing: 2 } : { processing: 1, pending: 1 })
    }
    await runMigrationAlarm(env, shard, locator, () => false)
    expect((await read<MigrationResponse>(locator)).accounts).toMatchObject({ pending: 1, error: 1 })
    await runMigrationAlarm(env, shard, locator, () => false)
    await runMigrationAlarm(env, shard, locator, () => false)
    expect((await until(locator, 'error')).accounts).toMatchObject({ completed: 1, error: 1 })
    const [failure] = (await read<List<MigrationFailuresResponse>>(`${locator}/failures/list`)).items
    expect(failure!.accountError!.errors.validationItems[0]!.errors[0]).toContain('was interrupted 6 times')
    expect((await patch(`${locator}/recover`)).status).toBe(200)
    expect((await until(locator, 'finished')).processedAccounts).toBe(2)
  })

  it('stops only at an account that cannot be read or recorded, not at others of its portion', async () => {
    const database = boundDatabase(poolBinding(1))
    const locators = await Promise.all([submit(book('F', 6)), submit(book('G', 6))])
    await Promise.all(locators.map(one => patch(`${one}/pause`)))
    await database.batch([
      database.prepare(`update migration_account set source = 'gone' where original_id = 'F-2'`),
      database.prepare(
        `create trigger refused before insert on migrated_account when new.original_id = 'G-4' begin
          select raise(abort, 'refused'); end`,
      ),
    ])
    await Promise.all(locators.map(one => patch(`${one}/resume`)))
    for (const [at, stopped] of ['F-2', 'G-4'].entries()) {
      const locator = locators[at]!
      expect((await until(locator, 'error')).accounts).toMatchObject({ completed: 5, error: 1 })
      const [failure] = (await read<List<MigrationFailuresResponse>>(`${locator}/failures/list`)).items
      expect(failure!.accountOriginalId).toBe(stopped)
      expect(failure!.accountError!.errors.validationItems[0]!.errors).toEqual([
        'The service failed 3 times. Recover the migration to try again.',
      ])
    }
    await database.batch([
      database.prepare('drop trigger refused'),
      database.prepare(`update migration_account set source = 'body' where original_id = 'F-2'`),
    ])
    for (const locator of locators) {
      expect((await patch(`${locator}/recover`)).status).toBe(200)
      expect((await until(locator, 'finished')).processedAccounts).toBe(6)
    }
    expect([await policiesOf('F'), await policiesOf('G')]).toEqual([6, 6])
  })

  it('has long lists in pages, in the order of the request', async () => {
    const accounts = book('L', 23).map((account, at) =>
      at % 2 === 0
        ? account
        : { ...account, policies: [{ ...account.policies[0]!, productName: 'x' }], accounting: undefined },
    )
    const locator = await submit(accounts)
    await until(locator, 'failed')
    const expected: Record<string, string[]> = {
      accounts: accounts.map((_, at) => `L-${at}`),
      failures: accounts.flatMap((_, at) => (at % 2 === 0 ? [] : [`L-${at}`])),
      mappings: accounts.map((_, at) => `L-${at}`),
    }
    for (const [list, ids] of Object.entries(expected)) {
      const seen: string[] = []
      for (let offset = 0; ; offset += 7) {
        const path = `${locator}/${list}/list?count=7&offset=${offset}`
        const page = await read<List<Record<string, string>>>(path)
        const bare = await read<Record<string, string>[]>(`${path}&extended=false`)
        expect(bare).toEqual(page.items)
        seen.push(...page.items.map(one => one.accountOriginalId ?? one.originalAccountId!))
        expect(page.listCompleted).toBe(seen.length === ids.length)
        if (page.listCompleted) break
        expect(page.items).toHaveLength(7)
      }
      expect(seen, list).toEqual(ids)
    }
    const beyond = await read<List<unknown>>(`${locator}/mappings/list?offset=1000`)
    expect(beyond).toEqual({ listCompleted: true, items: [] })
    const [both] = await read<AccountMigrationIdMappingsResponse[]>(
      `${locator}/mappings/list?extended=false&count=1`,
    )
    const [turned] = await read<AccountMigrationIdMappingsResponse[]>(
      `${locator}/mappings/list?extended=false&count=1&by=originalId`,
    )
    for (const kind of ['policies', 'invoices', 'payments', 'disbursements'] as const)
      expect(turnedOver(both![kind], 'originalId')).toEqual(turned![kind])
    for (const query of ['count=0', 'count=x', 'offset=-1', 'by=name'])
      expect((await callApi('GET', `${root}/${locator}/mappings/list?${query}`, { token })).status).toBe(400)
  })

  it('that failed keeps its request for 90 days after its last change, and then rejects corrections', async () => {
    const [account] = book('D', 1)
    const locator = await submit([{ ...account, disbursements: [{ id: 'D1' }], accounting: undefined }])
    await until(locator, 'failed')
    const [failure] = (await read<List<MigrationFailuresResponse>>(`${locator}/failures/list`)).items
    const { accountLocator } = failure!
    const days = (amount: number) =>
      callOk('POST', '/test/clock', { token, body: { advance: { amount, unit: 'day' } } })
    const correct = (disbursement: object) =>
      callApi('PATCH', `${root}/${locator}`, {
        token,
        body: { accountLocator, disbursements: { D1: { id: 'D1', ...disbursement } } },
      })
    await days(89)
    expect(await filesOf(locator)).toHaveLength(1)
    const tooMuch = { disbursementTime: '2026-05-01', sources: [{ amount: 999 }] }
    expect((await correct(tooMuch)).status).toBe(200)
    await until(locator, 'failed')
    // The new failure restarts the 90 days, and the earlier timer does nothing.
    await days(89)
    expect(await filesOf(locator)).toHaveLength(2)
    await days(2)
    await expect.poll(() => filesOf(locator), { timeout: 20_000 }).toEqual([])
    const late = await correct(tooMuch)
    expect([late.status, JSON.stringify(late.body)]).toEqual([
      409,
      expect.stringContaining('was deleted 90 days after its last change'),
    ])
  })
})

type Trees = AccountMigrationIdMappingsResponse['policies']

/** The same trees with the other id as key. */
const turnedOver = (trees: Trees, by: 'originalId' | 'locator'): Trees =>
  Object.fromEntries(
    Object.values(trees).map(one => [
      one[by],
      { ...one, childrenMappings: turnedOver(one.childrenMappings, by) },
    ]),
  )
