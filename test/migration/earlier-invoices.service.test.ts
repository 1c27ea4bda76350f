// Rule 7 in full: payments and installments of an invoice that was migrated for the account before, in an earlier attempt of the
// same migration or by another one (resources brief 9.3).
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import type { DisbursementResponse } from '../../src/billing/credit/contract.ts'
import { newUuid, type Uuid } from '../../src/kernel/locators.ts'
import { now } from '../../src/kernel/time.ts'
import { noCalls } from '../../src/platform/calls.ts'
import { openDatabase, type Query } from '../../src/platform/database.ts'
import { EVERY_EVENT } from '../../src/platform/events/rows.ts'
import { tenantOfShard } from '../../src/platform/tenancy.ts'
import type { PolicyholderCreditsResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type {
  AccountMigrationIdMappingsResponse,
  AccountMigrationResponse,
  MigrationFailuresResponse,
  MigrationResponse,
} from '../../src/servicing/migration/contract.ts'
import { BODY, sourceKey } from '../../src/servicing/migration/files.ts'
import { runMigrationAlarm } from '../../src/servicing/migration/run/run.ts'
import { newMigrationQueries } from '../../src/servicing/migration/store.ts'
import type { GracePeriodResponse } from '../../src/transactions/lapses/contract.ts'
import { callApi, callOk } from '../support/api.ts'
import { boundDatabase, nextNumber, poolBinding } from '../support/databases.ts'
import { faultyDatabase } from '../support/faulty-database.ts'
import { migratedAccount, migratedInvoice, migratedPayment, migratedPolicy } from '../support/migrated.ts'
import type { Motor } from '../support/motor.ts'
import { migratingTenant, settledMigration } from '../support/settled-migration.ts'

type List<T> = { listCompleted: boolean; items: T[] }

let motor: Motor
let token: string
let root: string

beforeAll(async () => {
  ;({ motor, token, root } = await migratingTenant('earlier'))
})

const read = <T>(path: string): Promise<T> => callOk<T>('GET', `${root}/${path}`, { token })

const settled = (locator: string): Promise<MigrationResponse> => settledMigration(`${root}/${locator}`, token)

async function sent(path: string, body: unknown): Promise<MigrationResponse> {
  const { locator } = await callOk<MigrationResponse>('POST', `${root}${path}`, { token, body })
  return await settled(locator)
}

const more = (account: string, body: object, query = ''): Promise<MigrationResponse> =>
  sent(`/accounts/${account}${query}`, body)

async function patched(locator: string, accountLocator: string, body: object): Promise<MigrationResponse> {
  const { status, body: answer } = await callApi('PATCH', `${root}/${locator}`, {
    token,
    body: { accountLocator, ...body },
  })
  if (status !== 200) throw new Error(JSON.stringify(answer))
  return await settled(locator)
}

/** The errors of each item, by kind and id. */
async function failuresOf({ locator }: MigrationResponse): Promise<Record<string, string[]>> {
  const { items } = await read<List<MigrationFailuresResponse>>(`${locator}/failures/list`)
  return Object.fromEntries(
    items.flatMap(failure =>
      (['policies', 'invoices', 'payments', 'disbursements'] as const).flatMap(kind =>
        Object.entries(failure[kind]).map(([id, { errors }]) => [
          `${kind} ${id}`,
          errors.validationItems.flatMap(one => one.errors),
        ]),
      ),
    ),
  )
}

const accountOf = async ({ locator }: MigrationResponse): Promise<AccountMigrationResponse> =>
  (await read<List<AccountMigrationResponse>>(`${locator}/accounts/list`)).items[0]!

const mappingsOf = (locator: string, account: string): Promise<AccountMigrationIdMappingsResponse> =>
  read(`${locator}/accounts/${account}/mappings?by=originalId`)

const policyAt = async (locator: string): Promise<PolicyResponse> =>
  (await motor.get(`/policy/${locator}`)).body

async function creditOf(account: string): Promise<number> {
  const { body } = await motor.get<PolicyholderCreditsResponse>(`/policyholder/${account}/credits`)
  return body.balances[0]?.amount ?? 0
}

/** Types of events about policies, without those of the migration. */
async function eventsAfter(sequence: number): Promise<string[]> {
  const { results } = await boundDatabase(poolBinding(1))
    .prepare(
      `select type from ${EVERY_EVENT} where sequence > ? and type not like 'migration.%' order by sequence`,
    )
    .bind(sequence)
    .all<{ type: string }>()
  return results.map(one => one.type)
}

const lastEvent = async (): Promise<number> =>
  (await boundDatabase(poolBinding(1))
    .prepare('select coalesce(max(sequence), 0) as n from event')
    .first<{ n: number }>())!.n

/** Due far in the future, so that it does not become past due while unpaid. */
const invoice = (id: string, changes: object = {}) =>
  migratedInvoice(id, { dueTime: '2027-02-15T00:00:00+01:00', ...changes })

/** An account with one policy and an open invoice of 84.40. */
const open = (id: string, changes: object = {}) =>
  migratedAccount(id, {
    invoices: [invoice('I1')],
    payments: [],
    disbursements: [],
    accounting: undefined,
    ...changes,
  })

const unreadable = { id: 'P2', productName: 'private_motor', terms: 'lost' }

describe('a payment of an invoice that an earlier attempt migrated', () => {
  it('pays the invoice once it is corrected, with no events except those of the migration', async () => {
    const wrong = migratedPayment('M1', [{ amount: 84.4, invoiceId: 'I-1' }, { amount: 20 }])
    const migration = await sent('', [open('A-1', { payments: [wrong] })])
    expect(await failuresOf(migration)).toEqual({
      'payments M1': [
        "paymentItems[0].invoiceId 'I-1' must be the id of an invoice of the request, or of one that was migrated for the account before.",
      ],
    })
    const { accountLocator } = await accountOf(migration)
    const before = await mappingsOf(migration.locator, accountLocator!)
    const from = await lastEvent()
    const right = migratedPayment('M1', [{ amount: 84.4, invoiceId: 'I1' }, { amount: 20 }])
    const done = await patched(migration.locator, accountLocator!, { payments: { M1: right } })
    expect(done).toMatchObject({ migrationState: 'finished', processedAccounts: 1 })
    expect(await accountOf(done)).toMatchObject({ totalItems: 4, processedItems: 4, errorItems: 0 })
    const policy = await policyAt(before.policies.P1!.locator)
    expect(policy.invoices).toMatchObject([
      { locator: before.invoices.I1!.locator, totalDue: 84.4, settlementStatus: 'settled' },
    ])
    const [payment] = policy.invoices[0]!.payments
    expect(payment).toMatchObject({ amount: 104.4, creditedAmount: 20 })
    expect(payment!.postedTimestamp).toBe(String(Date.UTC(2026, 2, 10, 8)))
    expect(policy.invoices[0]!.statuses?.at(-1)).toMatchObject({ timestamp: payment!.postedTimestamp })
    expect(await creditOf(accountLocator!)).toBe(20)
    const after = await mappingsOf(migration.locator, accountLocator!)
    expect(after.payments.M1!.locator).toBe(payment!.locator)
    expect(after.invoices).toEqual(before.invoices)
    expect(await eventsAfter(from)).toEqual([])
  })

  it('is rejected if it is too much, or if the invoice is already paid', async () => {
    const lost = (id: string, amount: number) => migratedPayment(id, [{ amount, invoiceId: 'lost' }])
    const migration = await sent('', [open('A-2', { payments: [lost('M1', 1), lost('M2', 1)] })])
    const { accountLocator } = await accountOf(migration)
    const pay = (id: string, amount: number) => migratedPayment(id, [{ amount, invoiceId: 'I1' }])
    const both = await patched(migration.locator, accountLocator!, {
      payments: { M1: pay('M1', 84.4), M2: pay('M2', 84.4) },
    })
    const over =
      "invoiceId 'I1' was migrated before: payments of 168.80 must not exceed the amount due, 84.40. Send the excess as an item without invoiceId."
    expect(await failuresOf(both)).toEqual({ 'payments M1': [over], 'payments M2': [over] })
    // One of them becomes credit: the other pays the invoice, and the credit is recorded with it.
    const done = await patched(migration.locator, accountLocator!, {
      payments: { M2: migratedPayment('M2', [{ amount: 84.4 }]) },
    })
    expect(done.migrationState).toBe('finished')
    expect(await creditOf(accountLocator!)).toBe(84.4)
    const again = await more(accountLocator!, { payments: [pay('M3', 84.4)] })
    expect(await failuresOf(again)).toEqual({
      'payments M3': [
        "invoiceId 'I1' was migrated before: it is already settled (paid). Send further payments as items without invoiceId.",
      ],
    })
    expect(await creditOf(accountLocator!)).toBe(84.4)
  })
})

describe('further items of an account', () => {
  it('can pay an earlier invoice in parts, leave credit with it, and pay that out', async () => {
    const { accountLocator } = await accountOf(await sent('', [open('B-1')]))
    const account = accountLocator!
    const balances = { invoiced: 0, paid: 30, credit: 0, disbursed: 0 }
    const part = { payments: [migratedPayment('M1', [{ amount: 30, invoiceId: 'I1' }])] }
    const checked = await more(account, part, '?validateOnly=true')
    expect(checked.migrationState).toBe('finished')
    const first = await more(account, { ...part, accounting: { originalAccountBalances: balances } })
    expect(first).toMatchObject({ migrationType: 'addAccountItems', migrationState: 'finished' })
    const { policies } = await mappingsOf(first.locator, account)
    const unpaid = await policyAt(policies.P1!.locator)
    expect(unpaid.invoices).toMatchObject([{ settlementStatus: 'outstanding' }])
    expect(unpaid.invoices[0]!.payments.map(one => one.amount)).toEqual([30])
    const second = await more(account, {
      payments: [migratedPayment('M2', [{ amount: 54.4, invoiceId: 'I1' }, { amount: 10 }])],
      disbursements: [
        { id: 'D1', disbursementTime: '2026-05-01T00:00:00+02:00', sources: [{ amount: 4 }] },
        { id: 'D2', disbursementTime: '2026-05-01T00:00:00+02:00', sources: [{ amount: 7 }] },
      ],
    })
    expect(await failuresOf(second)).toEqual({
      'disbursements D2': ['sources of 7.00 must not exceed the credit at that time, 6.00.'],
    })
    const paid = await policyAt(policies.P1!.locator)
    expect(paid.invoices).toMatchObject([{ settlementStatus: 'settled' }])
    expect(await creditOf(account)).toBe(6)
    const { body } = await motor.get<List<DisbursementResponse>>(`/policyholder/${account}/disbursements`)
    expect(body.items.map(one => one.amount)).toEqual([4])
  })

  it('cannot contain an invoice with an earlier id: it is rejected with the items that need it', async () => {
    const { accountLocator } = await accountOf(await sent('', [open('B-2')]))
    const again = await more(accountLocator!, {
      policies: [migratedPolicy('P2', 'I1')],
      invoices: [invoice('I1')],
      payments: [migratedPayment('M1', [{ amount: 84.4, invoiceId: 'I1' }])],
    })
    expect(await failuresOf(again)).toEqual({
      'policies P2': ['blocked by I1'],
      'invoices I1': ["'id' must be unique within the account: 'I1' was migrated by an earlier migration."],
      'payments M1': ['blocked by I1'],
    })
    const { policies } = await mappingsOf(again.locator, accountLocator!)
    expect((await policyAt(policies.P1!.locator)).invoices[0]!.payments).toEqual([])
  })

  it('are migrated once by id, even if simultaneous requests contain them', async () => {
    const { accountLocator } = await accountOf(await sent('', [open('B-4')]))
    const items = {
      policies: [migratedPolicy('P2', 'I2')],
      invoices: [invoice('I2')],
      payments: [migratedPayment('M1', [{ amount: 1, invoiceId: 'I1' }])],
    }
    const four = await Promise.all([1, 2, 3, 4].map(() => more(accountLocator!, items)))
    expect(four.map(one => one.migrationState).sort()).toEqual(['failed', 'failed', 'failed', 'finished'])
    const { results } = await boundDatabase(poolBinding(1))
      .prepare(
        `select (select count(*) from policy where policyholder_locator = ?1) as policies,
          (select count(*) from payment where policyholder_locator = ?1) as payments`,
      )
      .bind(accountLocator!)
      .all()
    expect(results).toEqual([{ policies: 2, payments: 1 }])
  })

  it('can be credit alone, which is recorded with the last invoice of the account', async () => {
    const { accountLocator } = await accountOf(await sent('', [open('B-3')]))
    const done = await more(accountLocator!, { payments: [migratedPayment('M1', [{ amount: 15 }])] })
    expect(done.migrationState).toBe('finished')
    expect(await creditOf(accountLocator!)).toBe(15)
    const { policies } = await mappingsOf(done.locator, accountLocator!)
    const { invoices } = await policyAt(policies.P1!.locator)
    expect(invoices).toMatchObject([{ settlementStatus: 'outstanding', payments: [{ creditedAmount: 15 }] }])
  })
})

describe('installments of a policy on an invoice that was migrated before', () => {
  it('become a separate invoice under the same id, and the parts are paid like one invoice', async () => {
    const account = open('C-1', { policies: [migratedPolicy('P1', 'I1'), unreadable] })
    const migration = await sent('', [account])
    expect(Object.keys(await failuresOf(migration))).toEqual(['policies P2'])
    const { accountLocator } = await accountOf(migration)
    const before = await mappingsOf(migration.locator, accountLocator!)
    const done = await patched(migration.locator, accountLocator!, {
      policies: { P2: migratedPolicy('P2', 'I1') },
    })
    expect(done.migrationState).toBe('finished')
    expect(await accountOf(done)).toMatchObject({ totalItems: 4, processedItems: 4, errorItems: 0 })
    const { policies, invoices } = await mappingsOf(migration.locator, accountLocator!)
    expect(invoices.I1!.locator).toBe(before.invoices.I1!.locator)
    expect(Object.keys(invoices.I1!.childrenMappings)).toEqual(['I1[1]'])
    const own = (await policyAt(policies.P2!.locator)).invoices
    expect(own).toMatchObject([{ totalDue: 84.4, settlementStatus: 'outstanding' }])
    expect(invoices.I1!.childrenMappings['I1[1]']!.locator).toBe(own[0]!.locator)
    // 100.00 pay the first part in full, and a part of the second.
    const paid = await more(accountLocator!, {
      payments: [migratedPayment('M1', [{ amount: 100, invoiceId: 'I1' }])],
    })
    expect(paid.migrationState).toBe('finished')
    const parts = await Promise.all([policies.P1!, policies.P2!].map(one => policyAt(one.locator)))
    expect(
      parts.map(({ invoices: [one] }) => [one!.settlementStatus, one!.payments.map(({ amount }) => amount)]),
    ).toEqual([
      ['settled', [84.4]],
      ['outstanding', [15.6]],
    ])
    const over = await more(accountLocator!, {
      payments: [migratedPayment('M2', [{ amount: 68.81, invoiceId: 'I1' }])],
    })
    expect((await failuresOf(over))['payments M2']![0]).toContain(
      'payments of 84.41 must not exceed the amount due, 84.40. Send the excess as an item without invoiceId.',
    )
  })

  it('must be paid if the invoice was stated as settled, and wait for a payment that covers them', async () => {
    const account = open('C-2', {
      policies: [migratedPolicy('P1', 'I1'), unreadable],
      invoices: [invoice('I1', { invoiceState: 'settled' })],
      payments: [
        migratedPayment('M1', [{ amount: 84.4, invoiceId: 'I1' }]),
        migratedPayment('M2', [{ amount: 84.4, invoiceId: 'lost' }]),
      ],
    })
    const migration = await sent('', [account])
    expect(Object.keys(await failuresOf(migration))).toEqual(['policies P2', 'payments M2'])
    const { accountLocator } = await accountOf(migration)
    const P2 = migratedPolicy('P2', 'I1')
    const short = await patched(migration.locator, accountLocator!, { policies: { P2 } })
    expect((await failuresOf(short))['policies P2']).toEqual([
      "invoiceId 'I1' was migrated before: invoiceState settled must have payments and credit of its total 84.40, but it has payments of 0.00, and only 0.00 of credit is left.",
    ])
    const done = await patched(migration.locator, accountLocator!, {
      payments: { M2: migratedPayment('M2', [{ amount: 84.4, invoiceId: 'I1' }]) },
    })
    expect(done.migrationState).toBe('finished')
    const { policies } = await mappingsOf(migration.locator, accountLocator!)
    expect((await policyAt(policies.P2!.locator)).invoices).toMatchObject([
      { settlementStatus: 'settled', payments: [{ amount: 84.4 }] },
    ])
  })

  it('are written off on a discarded invoice, which accepts no payments', async () => {
    const { accountLocator } = await accountOf(
      await sent('', [open('C-3', { invoices: [invoice('I1', { invoiceState: 'discarded' })] })]),
    )
    const further = await more(accountLocator!, {
      policies: [migratedPolicy('P2', 'I1')],
      payments: [migratedPayment('M1', [{ amount: 5, invoiceId: 'I1' }])],
    })
    const refused =
      "invoiceId 'I1' was migrated before: invoiceState discarded must have no payments; it has 5.00."
    expect(await failuresOf(further)).toEqual({ 'policies P2': [refused], 'payments M1': [refused] })
    const done = await more(accountLocator!, { policies: [migratedPolicy('P3', 'I1')] })
    expect(done.migrationState).toBe('finished')
    const { policies } = await mappingsOf(done.locator, accountLocator!)
    expect((await policyAt(policies.P3!.locator)).invoices).toMatchObject([
      { totalDue: 84.4, settlementType: 'writtenOff' },
    ])
  })

  it('fail together with a payment of that invoice in the same request', async () => {
    const { accountLocator } = await accountOf(await sent('', [open('C-4')]))
    const wrong = migratedPolicy('P2', 'I1', { productName: 'unknown' })
    const further = await more(accountLocator!, {
      policies: [wrong],
      payments: [migratedPayment('M1', [{ amount: 168.8, invoiceId: 'I1' }])],
    })
    const failures = await failuresOf(further)
    expect(Object.keys(failures)).toEqual(['policies P2', 'payments M1'])
    expect(failures['payments M1']).toEqual(['blocked by P2'])
    const done = await patched(further.locator, accountLocator!, {
      policies: { P2: migratedPolicy('P2', 'I1') },
    })
    expect(done.migrationState).toBe('finished')
    const { policies } = await mappingsOf(done.locator, accountLocator!)
    const parts = await Promise.all([policies.P1!, policies.P2!].map(one => policyAt(one.locator)))
    expect(parts.map(one => one.invoices[0]!.settlementStatus)).toEqual(['settled', 'settled'])
  })
})

/**
 * Writes further items as a request leaves them, but wakes no object for the migration, so that nothing else works on it. `work`
 * works on it and returns the number of round trips to D1.
 */
async function left(
  account: string,
  body: object,
): Promise<{ locator: Uuid; work: (client?: D1Database) => Promise<number> }> {
  const shard = { tenantLocator: motor.tenantLocator as Uuid, generation: 1, shard: 0 }
  const client = boundDatabase(poolBinding(1))
  const database = openDatabase(client, noCalls())
  const locator = newUuid(0)
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const migration = {
    locator,
    state: 'processing' as const,
    type: 'addAccountItems' as const,
    validateOnly: false,
    totalAccounts: 1,
    createdAt: now(),
    createdBy: newUuid(0),
    username: 'anna.admin',
    updatedAt: now(),
    runningSince: now(),
    doneBefore: 0,
  }
  const row = {
    migrationLocator: locator,
    ordinal: 0,
    accountLocator: account as Uuid,
    originalId: account,
    state: 'pending' as const,
    source: BODY,
    start: 0,
    length: bytes.length,
    totalItems: 1,
    processedItems: 0,
    errorItems: 0,
    warnings: [],
    tries: 0,
    updatedAt: now(),
  }
  await env.FILES.put(sourceKey((await tenantOfShard(env, shard))!, locator, BODY), bytes)
  await database.batch(newMigrationQueries(database, migration, [row]) as [Query, ...Query[]])
  const work = async (through = client): Promise<number> => {
    const calls = noCalls()
    const before = await nextNumber(client)
    await runMigrationAlarm({ ...env, [poolBinding(1)]: through } as Env, shard, locator, () => false, calls)
    // Without the lease of numbers that some accounts need, which is a separate round trip.
    return (await nextNumber(client)) > before ? calls.d1 - 1 : calls.d1
  }
  return { locator, work }
}

/** Lets the object that worked on the migration give up its place. */
const ended = async ({ locator, work }: { locator: Uuid; work: () => Promise<number> }): Promise<void> => {
  await work()
  await work()
  expect((await read<MigrationResponse>(locator)).accounts.processing).toBe(0)
}

/**
 * Round trips of an alarm: the migration, its place, the waiting accounts, ids that are taken, starting the account, and the
 * records of the account.
 */
const DAY_MS = 24 * 60 * 60 * 1000
const OF_AN_ALARM = 6

describe('an invoice of an earlier migration that is in use', () => {
  it('is read with its policy in one round trip, regardless of the number of invoices', async () => {
    const many = Array.from({ length: 12 }, (_, at) => String(at + 1))
    const { accountLocator } = await accountOf(
      await sent('', [
        open('D-1', {
          policies: many.map(one => migratedPolicy(`P${one}`, `I${one}`)),
          invoices: many.map(one => invoice(`I${one}`)),
        }),
      ]),
    )
    const pay = (ids: string[]) =>
      ids.map(one => migratedPayment(`M${one}`, [{ amount: 84.4, invoiceId: `I${one}` }]))
    const none = await left(accountLocator!, {})
    expect(await none.work()).toBe(OF_AN_ALARM + 1)
    const one = await left(accountLocator!, { payments: pay(['1']) })
    expect(await one.work()).toBe(OF_AN_ALARM + 2)
    const all = await left(accountLocator!, { payments: pay(many.slice(1)) })
    expect(await all.work()).toBe(OF_AN_ALARM + 2)
    for (const each of [none, one, all]) {
      expect((await read<MigrationResponse>(each.locator)).accounts).toMatchObject({ completed: 1 })
      await ended(each)
    }
  })

  it('is paid once if it is paid while a migration is about to pay it', async () => {
    const first = await sent('', [open('D-2')])
    const { accountLocator } = await accountOf(first)
    const { invoices, policies } = await mappingsOf(first.locator, accountLocator!)
    const further = await left(accountLocator!, {
      payments: [migratedPayment('M1', [{ amount: 84.4, invoiceId: 'I1' }])],
    })
    const client = faultyDatabase(
      boundDatabase(poolBinding(1)),
      () => undefined,
      async batch => {
        if (batch !== OF_AN_ALARM + 1) return
        await callOk('POST', `/invoice/${invoices.I1!.locator}/pay`, {
          token,
          body: { fieldValues: { method: 'card' } },
        })
      },
    )
    await further.work(client)
    expect((await read<MigrationResponse>(further.locator)).accounts).toMatchObject({ processing: 1 })
    await further.work()
    expect(await failuresOf(await read<MigrationResponse>(further.locator))).toEqual({
      'payments M1': [expect.stringContaining('it is already settled (paid)')],
    })
    await ended(further)
    expect((await policyAt(policies.P1!.locator)).invoices[0]!.payments).toMatchObject([
      { amount: 84.4, fieldValues: { method: ['card'] } },
    ])
    expect(await creditOf(accountLocator!)).toBe(0)
    // Once the payment is reversed, the invoice is open again and can be paid by a migrated payment.
    const [live] = (await policyAt(policies.P1!.locator)).invoices[0]!.payments
    await callOk('POST', `/payments/${live!.locator}/reverse`, { token })
    const again = await more(accountLocator!, {
      payments: [migratedPayment('M2', [{ amount: 84.4, invoiceId: 'I1' }])],
    })
    expect(again.migrationState).toBe('finished')
    const { statuses, settlementStatus } = (await policyAt(policies.P1!.locator)).invoices[0]!
    expect(settlementStatus).toBe('settled')
    expect(statuses.map(one => one.status)).toEqual(['unfulfilled', 'paid', 'unfulfilled', 'paid'])
    const times = statuses.map(one => Number(one.timestamp))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  it('has its grace period settled by a migrated payment, without events', async () => {
    const dueAt = Date.now() + 20 * DAY_MS
    const due = invoice('I1', { dueTime: new Date(dueAt).toISOString() })
    const first = await sent('', [open('D-3', { invoices: [due] })])
    const { accountLocator } = await accountOf(first)
    const { policies, invoices } = await mappingsOf(first.locator, accountLocator!)
    await motor.post('/test/clock', { timestamp: dueAt + 8 * DAY_MS })
    const graces = async () =>
      (await motor.get<GracePeriodResponse[]>(`/policy/${policies.P1!.locator}/gracePeriods`)).body.map(
        one => (one.settledTimestamp === undefined ? 'open' : 'settled'),
      )
    expect(await graces()).toEqual(['open'])
    const from = await lastEvent()
    const done = await more(accountLocator!, {
      payments: [migratedPayment('M1', [{ amount: 84.4, invoiceId: 'I1' }])],
    })
    expect(done.migrationState).toBe('finished')
    expect(await graces()).toEqual(['settled'])
    expect(await eventsAfter(from)).toEqual([])
    // The object of the policy reads the policy again instead of using its memory.
    const pay = `/invoice/${invoices.I1!.locator}/pay`
    expect((await motor.post(pay, { fieldValues: { method: 'card' } })).status).toBe(409)
    await motor.post('/test/clock', { timestamp: Date.UTC(2035, 1, 5) })
    const { body } = await motor.get<PolicyResponse>(`/policy/${policies.P1!.locator}`)
    expect(body.invoices.map(one => one.settlementStatus)).toEqual(['settled', 'outstanding'])
  })
})

describe('credit of an account with an item that waits for its correction', () => {
  it('pays invoices that fall due meanwhile, and is available again once that payment is reversed', async () => {
    const disbursement = (amount: number) => ({
      id: 'D1',
      disbursementTime: '2026-05-01T00:00:00+02:00',
      sources: [{ amount }],
    })
    // The clock of the tenant bills its second installment. The disbursement is more than its credit of 25.00.
    const sentTo = migratedAccount('D-4', { disbursements: [disbursement(50)], accounting: undefined })
    const first = await sent('', [sentTo])
    expect(await failuresOf(first)).toEqual({
      'disbursements D1': ['sources of 50.00 must not exceed the credit at that time, 25.00.'],
    })
    const account = (await accountOf(first)).accountLocator!
    await motor.post('/test/clock', { timestamp: Date.UTC(2035, 1, 6) })
    const { policies } = await mappingsOf(first.locator, account)
    const billed = async () => (await policyAt(policies.P1!.locator)).invoices[1]!
    const { payments, settlementStatus } = await billed()
    expect(settlementStatus).toBe('outstanding')
    expect(payments.map(one => one.amount)).toEqual([25])
    expect(await creditOf(account)).toBe(0)

    const correction = { disbursements: { D1: disbursement(5) } }
    const late = await patched(first.locator, account, correction)
    expect(late.migrationState).toBe('failed')
    expect(await failuresOf(late)).toEqual({
      'disbursements D1': ['sources of 5.00 must not exceed the credit at that time, 0.00.'],
    })
    expect((await motor.post(`/payments/${payments[0]!.locator}/reverse`)).status).toBe(200)
    expect(await creditOf(account)).toBe(25)
    expect((await patched(first.locator, account, correction)).migrationState).toBe('finished')
    expect(await creditOf(account)).toBe(20)
    expect(await billed()).toMatchObject({ settlementStatus: 'outstanding' })
  })
})
