import { beforeAll, describe, expect, it } from 'vitest'
import type { DisbursementResponse } from '../../src/billing/credit/contract.ts'
import type { PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type {
  AccountMigrationIdMappingsResponse,
  AccountMigrationResponse,
  MigrationFailuresResponse,
  MigrationListResponse,
  MigrationResponse,
} from '../../src/servicing/migration/contract.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { boundDatabase, poolBinding } from '../support/databases.ts'
import { migratedAccount, migratedInvoice, migratedPayment, migratedPolicy } from '../support/migrated.ts'
import { type Motor, plainYear } from '../support/motor.ts'
import { migratingTenant, settledMigration } from '../support/settled-migration.ts'

let motor: Motor
let root: string
let token: string

beforeAll(async () => {
  ;({ motor, token, root } = await migratingTenant('migration'))
})

/** Reads like a response's name of a file. */
const FORGED_FILE = {
  url: 'file:media/00000000-0000-4000-8000-000000000000/photo.png',
  expiresTimestamp: '0',
}

type List<T> = { listCompleted: boolean; items: T[] }

const accountData = (id: string, changes: object = {}) => ({
  id,
  data: plainYear().request.policyholder.values,
  ...changes,
})

const send = (body: unknown, query = '', headers: Record<string, string> = {}) =>
  callApi<MigrationResponse>('POST', `${root}${query}`, { token, body, headers })

const settled = (locator: string): Promise<MigrationResponse> => settledMigration(`${root}/${locator}`, token)

async function migrated(body: unknown, query = ''): Promise<MigrationResponse> {
  const { status, body: sent } = await send(body, query)
  if (status !== 200) throw new Error(JSON.stringify(sent))
  return await settled(sent.locator)
}

const read = <T>(path: string): Promise<T> => callOk<T>('GET', `${root}/${path}`, { token })

const patch = (path: string, body?: unknown): Promise<Answer<MigrationFailuresResponse>> =>
  callApi('PATCH', `${root}/${path}`, { token, body })

describe('accounts sent to a migration', () => {
  it('become policyholders, and the migration reports progress', async () => {
    const { body: submitted } = await send([
      { accountData: accountData('A-1') },
      { accountData: accountData('A-2') },
    ])
    expect(submitted).toMatchObject({
      migrationState: 'submitted',
      migrationType: 'fullMigration',
      processedAccounts: 0,
      totalAccounts: 2,
    })
    const migration = await settled(submitted.locator)
    expect(migration).toMatchObject({ migrationState: 'finished', processedAccounts: 2, totalAccounts: 2 })
    const { items, listCompleted } = await read<List<AccountMigrationResponse>>(
      `${submitted.locator}/accounts/list`,
    )
    expect(listCompleted).toBe(true)
    expect(items.map(one => [one.accountOriginalId, one.accountMigrationState, one.processedItems])).toEqual([
      ['A-1', 'completed', 1],
      ['A-2', 'completed', 1],
    ])
    const holder = await motor.get<{ entity: { values: Record<string, string[]> } }>(
      `/policyholder/${items[0]!.accountLocator}`,
    )
    expect(holder.body.entity.values.city).toEqual(['Berlin'])
    expect(await patch(`${submitted.locator}/pause`)).toMatchObject({ status: 409 })
  })

  it('fail if their id was migrated before, and are migrated once they get another id', async () => {
    await migrated([{ accountData: accountData('B-1') }])
    const again = await migrated([{ accountData: accountData('B-1') }, { accountData: accountData('B-2') }])
    expect(again).toMatchObject({ migrationState: 'failed', processedAccounts: 1 })
    const failures = await read<List<MigrationFailuresResponse>>(`${again.locator}/failures/list`)
    expect(failures.items).toHaveLength(1)
    const [failure] = failures.items
    expect(failure!.accountError!.errors.validationItems[0]!.errors[0]).toContain("'id' must be unique")
    const answer = await patch(again.locator, {
      accountLocator: failure!.accountLocator,
      accountData: accountData('B-3'),
    })
    expect(answer.body).toEqual({
      accountLocator: failure!.accountLocator,
      accountOriginalId: 'B-3',
      policies: {},
      invoices: {},
      payments: {},
      disbursements: {},
    })
    expect(await settled(again.locator)).toMatchObject({ migrationState: 'finished', processedAccounts: 2 })
    expect((await read<List<MigrationFailuresResponse>>(`${again.locator}/failures/list`)).items).toEqual([])
  })

  it('are migrated once for an idempotency key; the key with another body returns 409', async () => {
    const key = { 'x-idempotency-key': 'once' }
    const first = await send([{ accountData: accountData('C-1') }], '', key)
    const again = await send([{ accountData: accountData('C-1') }], '', key)
    expect(again).toMatchObject({ status: 200, body: first.body })
    expect(await send([{ accountData: accountData('C-2') }], '', key)).toMatchObject({ status: 409 })
    await settled(first.body.locator)
  })

  it('must satisfy the same rules as a policyholder created live, and get all errors together', async () => {
    const wrong = { nose: 'big', children: 'many', date_of_birth: '1899-01-01', postcode: 'x' }
    // Required fields are enforced by user interfaces only, for both.
    const data: [string, object | undefined][] = [
      ['empty', {}],
      ['absent', undefined],
      ['wrong', wrong],
    ]
    const sent = data.map(([name, values]) => ({ accountData: { id: `Q-${name}`, data: values } }))
    const { locator } = await migrated([...sent, { accountData: 'none' }])
    const { items } = await read<List<MigrationFailuresResponse>>(`${locator}/failures/list`)
    const told = Object.fromEntries(
      items.map(one => [one.accountOriginalId, one.accountError!.errors.validationItems[0]!.errors]),
    )
    for (const [name, values] of data) {
      const { status, body } = await callApi<{ fieldErrors: { message: string }[] }>(
        'POST',
        '/policyholder/create',
        { token, body: { completed: true, values: values ?? {} } },
      )
      const live = status === 200 ? undefined : body.fieldErrors.map(one => one.message)
      expect([name, told[`Q-${name}`]]).toEqual([name, live])
    }
    expect(told['Q-wrong']).toHaveLength(4)
    expect(told['accounts[3]']).toEqual(["'accountData' must be an object."])
  })

  it('are only checked with validateOnly=true', async () => {
    const migration = await migrated([{ accountData: accountData('D-1') }], '?validateOnly=true')
    expect(migration).toMatchObject({ migrationState: 'finished', validateOnly: true })
    const { items } = await read<List<AccountMigrationResponse>>(`${migration.locator}/accounts/list`)
    expect((await motor.get(`/policyholder/${items[0]!.accountLocator}`)).status).toBe(404)
    expect((await migrated([{ accountData: accountData('D-1') }])).migrationState).toBe('finished')
  })

  it.each([
    ['no JSON', '[{"a":', 400],
    ['no list', '{}', 400],
    ['an empty list', '[]', 400],
    ['JSON that breaks within an account', '[{"a":}]', 400],
    ['too many', JSON.stringify(Array.from({ length: 1001 }, () => ({}))), 413],
    ['too many items', JSON.stringify([{ invoices: Array.from({ length: 5000 }, () => 0) }]), 413],
  ])('are rejected as a whole for %s', async (_, body, status) => {
    expect((await send(body)).status).toBe(status)
  })
})

describe('a migrated account with a policy', () => {
  let migration: MigrationResponse
  let account: string
  let mappings: AccountMigrationIdMappingsResponse
  let policy: PolicyResponse

  beforeAll(async () => {
    const sent = migratedAccount('E-1')
    const disbursements = sent.disbursements!.map(one => ({ ...one, data: FORGED_FILE }))
    migration = await migrated([{ ...sent, disbursements }])
    const failures = await read<List<unknown>>(`${migration.locator}/failures/list`)
    expect(failures.items).toEqual([])
    expect(migration.migrationState).toBe('finished')
    const { items } = await read<List<AccountMigrationResponse>>(`${migration.locator}/accounts/list`)
    account = items[0]!.accountLocator
    expect(items[0]).toMatchObject({ totalItems: 6, processedItems: 6, errorItems: 0 })
    expect(await read(`${migration.locator}/accounts/${account}`)).toEqual(items[0])
    mappings = await read(`${migration.locator}/accounts/${account}/mappings`)
    policy = (await motor.get(`/policy/${Object.keys(mappings.policies)[0]}`)).body
  })

  it('is read like any other, with its invoice, payments, credit and disbursement', async () => {
    expect(policy).toMatchObject({ policyholderLocator: account, productName: 'private_motor' })
    expect(policy.exposures).toHaveLength(1)
    const { body: price } = await motor.post<PolicyPriceResponse>(`/policy/${policy.locator}/price`)
    expect([price.grossPremium, price.grossTaxes, price.grossFees, price.total].map(String)).toEqual([
      '120.84',
      '22.96',
      '12.5',
      '156.3',
    ])
    expect(policy.invoices.map(one => [one.totalDue, one.settlementStatus])).toEqual([[84.4, 'settled']])
    const { body: credits } = await motor.get(`/policyholder/${account}/credits`)
    expect(JSON.stringify(credits)).toContain('20')
    const { body: paidOut } = await motor.get<List<DisbursementResponse>>(
      `/policyholder/${account}/disbursements`,
    )
    expect(paidOut.items).toMatchObject([
      { amount: 5, currency: 'EUR', disbursementType: 'refund', data: FORGED_FILE },
    ])
    const { body: kept } = await motor.get<{ value: string }>(`/auxData/${policy.locator}/legacyNumber`)
    expect(kept.value).toBe('L-P1')
    const [payment] = policy.invoices[0]!.payments
    const { body: origin } = await motor.get<{ value: string }>(
      `/auxData/${payment!.locator}/migration.origin`,
    )
    expect(JSON.parse(origin.value)).toEqual({ paymentType: 'transfer' })
  })

  it('has its ids as a tree, by locator or by original id', async () => {
    const [tree] = Object.values(mappings.policies)
    expect(tree!.originalId).toBe('P1')
    expect(Object.values(mappings.invoices)[0]!.originalId).toBe('I1')
    const byId = await read<AccountMigrationIdMappingsResponse>(
      `${migration.locator}/accounts/${account}/mappings?by=originalId`,
    )
    expect(byId.policies.P1!.locator).toBe(policy.locator)
    const list = await read<List<AccountMigrationIdMappingsResponse>>(`${migration.locator}/mappings/list`)
    expect(list).toEqual({ listCompleted: true, items: [mappings] })
    expect(await read(`${migration.locator}/mappings/list?extended=false`)).toEqual([mappings])
  })

  it('accepts further items, but none with an id that was migrated before', async () => {
    const add = async (policy: string, invoice: string) => {
      const { body } = await callApi<MigrationResponse>('POST', `${root}/accounts/${account}`, {
        token,
        body: { policies: [migratedPolicy(policy, invoice)], invoices: [migratedInvoice(invoice)] },
      })
      return await settled(body.locator)
    }
    expect(await add('P9', 'I9')).toMatchObject({
      migrationType: 'addAccountItems',
      migrationState: 'finished',
      processedAccounts: 1,
    })
    const again = await add('P9', 'I9')
    expect(again.migrationState).toBe('failed')
    const [failure] = (await read<List<MigrationFailuresResponse>>(`${again.locator}/failures/list`)).items
    expect(failure!.policies.P9!.errors.validationItems[0]!.errors).toEqual([
      "'id' must be unique within the account: 'P9' was migrated by an earlier migration.",
    ])
  })

  it('is shown with its original id in failures of further items', async () => {
    const body = {
      payments: [migratedPayment('M9', [{ amount: 3 }])],
      accounting: { originalAccountBalances: { paid: 4 } },
    }
    const path = `${root}/accounts/${account}`
    const { locator } = await callOk<MigrationResponse>('POST', path, { token, body })
    expect((await settled(locator)).migrationState).toBe('failed')
    const [failure] = (await read<List<MigrationFailuresResponse>>(`${locator}/failures/list`)).items
    expect([failure!.accountOriginalId, failure!.accountError!.originalId]).toEqual(['E-1', 'E-1'])
    expect(failure!.accountError!.errors.validationItems).toEqual([
      {
        elementType: 'account',
        locator: 'E-1',
        errors: ['accounting.originalAccountBalances.paid is 4, but the total of the request is 3.00 EUR.'],
      },
    ])
    expect(failure!.payments.M9!.errors.validationItems[0]!.errors).toEqual(['blocked by E-1'])
    const accounting = { originalAccountBalances: { paid: 3 } }
    expect((await patch(locator, { accountLocator: account, accounting })).status).toBe(200)
    expect((await settled(locator)).migrationState).toBe('finished')
    const tree = await read<AccountMigrationIdMappingsResponse>(`${locator}/accounts/${account}/mappings`)
    expect(tree.originalAccountId).toBe('E-1')
  })

  it('accepts further policies, which are billed by the preferences of the account', async () => {
    const preferences = { installmentPreferences: { cadence: 'quarterly', dayOfMonth: null } }
    const { locator } = await migrated([{ accountData: accountData('G-1', { preferences }) }])
    const { items } = await read<List<AccountMigrationResponse>>(`${locator}/accounts/list`)
    const [{ accountLocator }] = items as [AccountMigrationResponse]
    const body = { policies: [migratedPolicy('P1', 'I1')], invoices: [migratedInvoice('I1')] }
    const more = await callOk<MigrationResponse>('POST', `${root}/accounts/${accountLocator}`, {
      token,
      body,
    })
    expect((await settled(more.locator)).migrationState).toBe('finished')
    const { policies } = await read<AccountMigrationIdMappingsResponse>(
      `${more.locator}/accounts/${accountLocator}/mappings?by=originalId`,
    )
    const { body: further } = await motor.get<PolicyResponse>(`/policy/${policies.P1!.locator}`)
    expect(further.paymentScheduleName).toBe('quarterly')
  })

  it('can be cancelled, reinstated and billed like any policy', async () => {
    const effectiveTimestamp = Date.UTC(2026, 11, 1)
    const { body: cancellation } = await motor.post<CancellationResponse>(
      `/policies/${policy.locator}/cancellations`,
      { name: 'customer_request', cancellationCategory: 'other', effectiveTimestamp },
    )
    const issue = await callApi('PATCH', `/cancellations/${cancellation.locator}/issue`, { token })
    expect(issue.status).toBe(200)
    const back = await callApi('PATCH', `/cancellations/${cancellation.locator}/reinstate`, {
      token,
      body: { issue: true },
    })
    expect(back.status).toBe(200)
    const { body: price } = await motor.post<PolicyPriceResponse>(`/policy/${policy.locator}/price`)
    expect(price.total).toBe(156.3)
    const { status, body: invoice } = await motor.post<{ totalDue: number }>(
      `/policy/${policy.locator}/issueNextInvoice`,
    )
    expect([status, invoice.totalDue]).toEqual([200, 71.9])
  })
})

describe('an account with failing items', () => {
  it('keeps items that do not depend on a failure, and gets the others when they are corrected', async () => {
    const broken = migratedPolicy('P2', 'I2', { productName: 'unknown' })
    const account = migratedAccount('F-1', {
      policies: [migratedPolicy('P1', 'I1'), broken],
      invoices: [
        migratedInvoice('I1'),
        migratedInvoice('I2'),
        { ...migratedInvoice('I3'), startTime: 'soon' },
      ],
      accounting: undefined,
    })
    const migration = await migrated([account])
    expect(migration.migrationState).toBe('failed')
    const [failure] = (await read<List<MigrationFailuresResponse>>(`${migration.locator}/failures/list`))
      .items
    expect(Object.keys(failure!.policies)).toEqual(['P2'])
    expect(Object.keys(failure!.invoices).sort()).toEqual(['I2', 'I3'])
    expect(failure!.policies.P2!.errors.validationItems[0]!.locator).toBe('P2')
    expect(failure!.invoices.I2!.errors.validationItems[0]!.errors[0]).toContain('blocked by P2')
    const { accountLocator } = failure!
    const tree = await read<AccountMigrationIdMappingsResponse>(
      `${migration.locator}/accounts/${accountLocator}/mappings`,
    )
    expect(Object.values(tree.policies).map(one => one.originalId)).toEqual(['P1'])

    const wrong = await patch(migration.locator, {
      accountLocator,
      policies: { P1: migratedPolicy('P1', 'I1') },
    })
    expect(wrong.status).toBe(409)
    expect(JSON.stringify(wrong.body)).toContain("policies 'P1' is completed")
    const answer = await patch(migration.locator, {
      accountLocator,
      policies: { P2: migratedPolicy('P2', 'I2', { terms: [...migratedPolicy('P2', 'I2').terms] }) },
      invoices: { I2: migratedInvoice('I2') },
    })
    expect(answer.status).toBe(200)
    const again = await settled(migration.locator)
    expect(again.migrationState).toBe('failed')
    const [left] = (await read<List<MigrationFailuresResponse>>(`${migration.locator}/failures/list`)).items
    expect(Object.keys(left!.policies)).toEqual([])
    expect(Object.keys(left!.invoices)).toEqual(['I3'])
    const after = await read<AccountMigrationIdMappingsResponse>(
      `${migration.locator}/accounts/${accountLocator}/mappings`,
    )
    expect(
      Object.values(after.policies)
        .map(one => one.originalId)
        .sort(),
    ).toEqual(['P1', 'P2'])
  })

  it('reports an invalid correction immediately, without trying the account again', async () => {
    const { id: _, ...nameless } = migratedInvoice('I1')
    const account = { accountData: accountData('S-1'), invoices: [nameless], payments: [{ id: 'M1' }] }
    const { locator } = await migrated([account])
    const failures = () => read<List<MigrationFailuresResponse>>(`${locator}/failures/list`)
    const [failure] = (await failures()).items
    expect(Object.keys(failure!.invoices)).toEqual(['invoices[0]'])
    expect(failure!.payments.M1!.errors.validationItems).toEqual([
      {
        elementType: 'payment',
        locator: 'M1',
        errors: [
          expect.stringMatching(/^'paymentTime' is missing; it must be a time/),
          "'paymentItems' is missing; it must be a list.",
          "Field 'method' is required; send a value.",
        ],
      },
    ])
    const { accountLocator } = failure!
    const to = (body: object) => patch(locator, { accountLocator, ...body })
    expect((await to({ policies: { P1: {} } })).status).toBe(409)
    expect((await to({ invoices: [] })).status).toBe(400)
    const half = await to({ payments: { M1: { id: 'M1', paymentTime: 'now', paymentItems: [{}] } } })
    expect([half.status, half.body.payments.M1!.errors.validationItems]).toEqual([
      200,
      [
        {
          elementType: 'payment',
          locator: 'M1',
          errors: [
            expect.stringMatching(/^'paymentTime' must be a time/),
            expect.stringMatching(/^'paymentItems\[0\]\.amount' is missing/),
          ],
        },
      ],
    ])
    expect((await read<MigrationResponse>(locator)).migrationState).toBe('failed')
    const renamed = await to({ payments: { M1: migratedPayment('M2', [{ amount: 1 }]) } })
    expect(JSON.stringify(renamed.body.payments.M1)).toContain("must be the 'M1' by which the patch names it")
    const fixed = await to({
      invoices: { 'invoices[0]': migratedInvoice('I7') },
      payments: { M1: migratedPayment('M1', [{ amount: 1 }]) },
    })
    expect(fixed.body).toMatchObject({ invoices: {}, payments: {} })
    await settled(locator)
    const [left] = (await failures()).items
    expect(Object.keys(left!.invoices)).toEqual(['I7'])
    expect(left!.invoices.I7!.errors.validationItems[0]!.errors[0]).toContain(
      'an invoice without installments bills nothing',
    )
  })

  it('counts every item if an id is repeated or taken, and rejects control totals for a part', async () => {
    const twice = {
      accountData: accountData('S-3'),
      policies: [migratedPolicy('P1', 'I1')],
      invoices: [migratedInvoice('I1'), migratedInvoice('I1')],
      payments: [migratedPayment('M1', [{ amount: 0 }])],
    }
    const { locator } = await migrated([twice])
    const account = async () => (await read<List<AccountMigrationResponse>>(`${locator}/accounts/list`)).items
    expect(await account()).toMatchObject([{ totalItems: 5, processedItems: 1, errorItems: 4 }])
    const [failure] = (await read<List<MigrationFailuresResponse>>(`${locator}/failures/list`)).items
    expect(failure!.payments.M1!.errors.validationItems[0]!.errors).toEqual([
      'paymentItems must not total zero.',
    ])
    const { accountLocator } = failure!
    const totals = { accounting: { originalAccountBalances: { paid: 5 } } }
    const invoices = { I1: migratedInvoice('I1') }
    const whole = await patch(locator, { accountLocator, invoices, ...totals })
    expect([whole.status, JSON.stringify(whole.body)]).toEqual([
      409,
      expect.stringContaining('control totals are for a whole account, and items of this one are completed'),
    ])
    const payments = { M1: migratedPayment('M1', [{ amount: 5 }]) }
    expect((await patch(locator, { accountLocator, invoices, payments })).status).toBe(200)
    await settled(locator)
    expect(await account()).toMatchObject([
      { accountMigrationState: 'completed', totalItems: 4, processedItems: 4, errorItems: 0 },
    ])
    const again = await callOk<MigrationResponse>('POST', `${root}/accounts/${accountLocator}`, {
      token,
      body: { payments: [migratedPayment('M1', [{ amount: 5 }])] },
    })
    expect((await settled(again.locator)).migrationState).toBe('failed')
    const taken = await patch(again.locator, { accountLocator, payments })
    expect([taken.status, JSON.stringify(taken.body)]).toEqual([
      409,
      expect.stringContaining("payments 'M1' was migrated by another migration"),
    ])
  })

  it('gets malformed values, broken rules and dependent items reported together', async () => {
    const wrong = migratedPolicy('P1', 'I1')
    const [first] = wrong.terms[0]!.transactions
    Object.assign(first!, { createdAt: 'someday' })
    Object.assign(first!.segment!.rootElement.data, { no_such_field: '1' })
    const account = {
      accountData: { ...accountData('S-4'), billingLevel: 'nobody', data: { postcode: 'x', nose: 'big' } },
      policies: [wrong, migratedPolicy('P2', 'I1', { currency: 'USD' })],
      invoices: [{ ...migratedInvoice('I1'), timezone: 'Nowhere', generateTime: 'soon' }],
      payments: [{ ...migratedPayment('M1', [{ amount: 5, invoiceId: 'I1' }]), currency: 'CHF' }],
    }
    const { locator } = await migrated([account])
    const [failure] = (await read<List<MigrationFailuresResponse>>(`${locator}/failures/list`)).items
    const said = ({ errors }: { errors: { validationItems: { locator: string; errors: string[] }[] } }) =>
      errors.validationItems.flatMap(one => one.errors.map(text => `${one.locator}: ${text}`)).join('\n')
    expect(said(failure!.accountError!)).toMatch(/'billingLevel' must be one of[\s\S]*postcode[\s\S]*nose/)
    expect(said(failure!.policies.P1!)).toMatch(/createdAt' must be a time[\s\S]*no_such_field/)
    expect(said(failure!.policies.P2!)).toMatch(/blocked by [\s\S]*P2: currency must be EUR/)
    expect(said(failure!.invoices.I1!)).toMatch(/'generateTime' must be a time/)
    expect(said(failure!.payments.M1!)).toMatch(/blocked by [\s\S]*M1: currency must be EUR/)
  })

  it('gets a warning about times without a zone, at the first one of each item', async () => {
    const payment = { ...migratedPayment('M1', [{ amount: 5 }]), paymentTime: '2026-01-31 10:00' }
    const account = {
      accountData: { ...accountData('S-5'), createdAt: '2026-01-01T00:00:00-05:00' },
      policies: [migratedPolicy('P1', 'I1')],
      invoices: [{ ...migratedInvoice('I1'), startTime: '2026-02-01', dueTime: '2026-03-01' }],
      payments: [payment],
    }
    const { locator } = await migrated([account])
    const { items } = await read<List<AccountMigrationResponse>>(`${locator}/accounts/list`)
    const told = items[0]!.warnings!.flatMap(one => one.errors.map(text => `${one.locator}: ${text}`))
    expect(told).toContain(
      "M1: paymentTime '2026-01-31 10:00' has no time zone and is read as UTC. Write an offset, as in 2026-01-31T00:00:00-05:00.",
    )
    expect(told).toContainEqual(
      expect.stringMatching(
        /^I1: startTime '2026-02-01' has no time zone and is read as UTC, and so are 1 more/,
      ),
    )
    expect(told.some(one => one.startsWith('S-5'))).toBe(false)
  })

  it('cannot be patched once it is completed: 409 lists the given items', async () => {
    const { locator } = await migrated([
      { accountData: accountData('S-6') },
      { accountData: { id: 7, data: [] } },
    ])
    const { items } = await read<List<AccountMigrationResponse>>(`${locator}/accounts/list`)
    const { accountLocator } = items.find(one => one.accountOriginalId === 'S-6')!
    const answer = await patch(locator, {
      accountLocator,
      policies: { P9: migratedPolicy('P9', 'I9') },
      payments: { M9: migratedPayment('M9', [{ amount: 1 }]) },
    })
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([
      409,
      expect.stringContaining("policies 'P9' is not in the migration; payments 'M9' is not in the migration"),
    ])
  })

  it('gets all errors even if none of its items can be kept', async () => {
    const account = {
      accountData: { ...accountData('S-2'), data: { city: 'Berlin' }, billingLevel: 'nobody' },
      policies: [migratedPolicy('P1', 'I1'), migratedPolicy('P2', 'I2', { productName: 'unknown' })],
      invoices: [migratedInvoice('I1'), migratedInvoice('I2')],
    }
    const { locator } = await migrated([account])
    const [failure] = (await read<List<MigrationFailuresResponse>>(`${locator}/failures/list`)).items
    const said = ({ errors }: { errors: { validationItems: { errors: string[] }[] } }) =>
      errors.validationItems.flatMap(one => one.errors)
    expect(said(failure!.accountError!)[0]).toContain("'billingLevel' must be one of")
    expect(said(failure!.policies.P1!)).toEqual(['blocked by S-2'])
    expect(said(failure!.policies.P2!)[0]).toContain("productName 'unknown' must be a product")
    expect(said(failure!.invoices.I1!)).toEqual(['blocked by S-2'])
    expect(said(failure!.invoices.I2!)).toEqual(['blocked by P2'])
    const { items } = await read<List<AccountMigrationResponse>>(`${locator}/accounts/list`)
    expect(items).toMatchObject([{ totalItems: 5, processedItems: 0, errorItems: 5 }])
  })
})

describe('the list of migrations', () => {
  it('is in order of creation and paged, and can be filtered by `open`', async () => {
    const known = await read<MigrationListResponse>('list?pageSize=1000')
    const finished = await migrated([{ accountData: accountData('L-1') }])
    const failed = await migrated([{ accountData: accountData('L-1') }])
    expect([finished.migrationState, failed.migrationState]).toEqual(['finished', 'failed'])
    const all = await read<MigrationListResponse>('list?pageSize=1000')
    expect(all.items.slice(known.items.length)).toEqual([
      expect.objectContaining({
        locator: finished.locator,
        migrationState: 'finished',
        username: 'anna.admin',
      }),
      expect.objectContaining({ locator: failed.locator, migrationState: 'failed', totalAccounts: 1 }),
    ])
    const locators = async (query: string) =>
      (await read<MigrationListResponse>(`list?pageSize=1000&${query}`)).items.map(({ locator }) => locator)
    const open = await locators('open=true')
    expect(open).toContain(failed.locator)
    expect(open).not.toContain(finished.locator)
    expect(await locators('open=false')).toEqual(
      all.items.map(({ locator }) => locator).filter(locator => !open.includes(locator)),
    )
    const first = await read<MigrationListResponse>('list?pageSize=1')
    const second = await read<MigrationListResponse>(`list?pageSize=1&pagingToken=${first.pagingToken}`)
    expect([...first.items, ...second.items]).toEqual(all.items.slice(0, 2))
    expect((await callApi('GET', `${root}/list?open=perhaps`, { token })).status).toBe(400)
  })

  it('is read from an index, and open migrations from a partial index', async () => {
    const planOf = async (where: string) => {
      const { results } = await boundDatabase(poolBinding(1))
        .prepare(
          `explain query plan select * from migration_run ${where} order by migration_run.created_at, migration_run.locator limit 10`,
        )
        .all<{ detail: string }>()
      return results.map(({ detail }) => detail)
    }
    expect(await planOf('')).toEqual(['SCAN migration_run USING INDEX migration_created'])
    expect(await planOf(`where "migration_run"."state" <> 'finished'`)).toEqual([
      'SCAN migration_run USING INDEX migration_open',
    ])
  })
})
