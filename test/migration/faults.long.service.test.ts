// Faults of 25 kinds in one migration: exactly the accounts with a fault fail, each with an error at its path according to the
// rule. Once the items are corrected, all records exist, and they total the same as after an undisturbed migration.
import { beforeAll, describe, expect, it } from 'vitest'
import type { CheckInvoicesResponse, PolicyPriceResponse } from '../../src/policy/contract/billing.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type {
  AccountMigrationIdMappingsResponse,
  AccountMigrationResponse,
  ErrorDetailsResponse,
  MigrationFailuresResponse,
  MigrationResponse,
} from '../../src/servicing/migration/contract.ts'
import type { CancellationResponse } from '../../src/transactions/cancellations/contract.ts'
import { generateAccount } from '../../tools/book/account.ts'
import { correctionOf, type ExpectedFailure, FAULT_KINDS, type Wire } from '../../tools/book/fault-kinds.ts'
import { accountsOf } from '../../tools/book/requests.ts'
import { type Answer, callApi, callOk } from '../support/api.ts'
import { boundDatabase, poolBinding } from '../support/databases.ts'
import { migratedAccount, migratedInvoice, migratedPayment, migratedPolicy } from '../support/migrated.ts'
import { migratingTenant, settledMigration } from '../support/settled-migration.ts'
import { size } from '../support/sizes.ts'

/** The number of faulty accounts of each kind, and of valid accounts among them. */
const OF_EACH = size(2, 20)
const SOUND = size(10, 100)
/** The number of faults planted into a generated book, in half of its accounts. */
const PLANTED = size(25, 500)
/**
 * The book is dated the day after tomorrow, so that nothing planned in it falls due before all is corrected, no matter when the
 * test runs. Otherwise the clock would bill what falls due and pay it from credit that a correction may need.
 */
const AS_OF = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10)
/** The number of policies of that book that are changed afterwards. */
const SAMPLE = size(3, 20)

let root: string
let token: string

beforeAll(async () => {
  ;({ token, root } = await migratingTenant('faults'))
})

type List<T> = { listCompleted: boolean; items: T[] }

/** Two independent policies. Without control totals, the valid one is kept when the other fails. */
const account = (id: string): Wire =>
  structuredClone(
    migratedAccount(id, {
      policies: [migratedPolicy('P1', 'I1'), migratedPolicy('P2', 'I2')],
      invoices: [migratedInvoice('I1', { invoiceState: 'settled' }), migratedInvoice('I2')],
      payments: [
        migratedPayment('M1', [{ amount: 84.4, invoiceId: 'I1' }]),
        migratedPayment('M2', [{ amount: 25 }]),
        migratedPayment('M3', [{ amount: 20.4, invoiceId: 'I2' }]),
      ],
      accounting: undefined,
    }),
  )

type Spoiled = { id: string; sound: Wire; sent: Wire; told: ExpectedFailure }

function spoiled(prefix: string): Spoiled[] {
  return FAULT_KINDS.flatMap(({ kind, plant }, number) =>
    Array.from({ length: OF_EACH }, (_, at) => {
      const id = `${prefix}-${number}-${at}`
      const sent = account(id)
      const told = plant(sent)
      if (!told) throw new Error(`${kind} cannot be planted.`)
      return { id, sound: account(id), sent, told }
    }),
  )
}

/** Distributes valid accounts among the faulty ones. */
const bookOf = (prefix: string, faulty: readonly Spoiled[]): Wire[] => {
  const book = faulty.map(one => one.sent)
  for (let at = 0; at < SOUND; at += 1) book.splice(at * 5, 0, account(`${prefix}-sound-${at}`))
  return book
}

const patch = (path: string, body: unknown): Promise<Answer<MigrationFailuresResponse>> =>
  callApi('PATCH', `${root}/${path}`, { token, body })

const settled = (locator: string): Promise<MigrationResponse> =>
  settledMigration(`${root}/${locator}`, token, 150_000)

const submitted = async (body: unknown, query = ''): Promise<MigrationResponse> =>
  await settled((await callOk<MigrationResponse>('POST', `${root}${query}`, { token, body })).locator)

/** Reads pages of twenty until the list is complete. */
async function all<T>(path: string): Promise<T[]> {
  const items: T[] = []
  for (;;) {
    const page = await callOk<List<T>>('GET', `${root}/${path}?count=20&offset=${items.length}`, { token })
    items.push(...page.items)
    if (page.listCompleted) return items
    expect(page.items).toHaveLength(20)
  }
}

const detailsOf = (failure: MigrationFailuresResponse, { item, originalId }: ExpectedFailure) =>
  item === 'account' ? failure.accountError : failure[item][originalId]

const sentences = ({ errors }: ErrorDetailsResponse) =>
  errors.validationItems.flatMap(({ elementType, locator, errors: said }) =>
    said.map(one => ({ elementType, path: locator, one })),
  )

/** Checks that each failing account reports the planted fault, and otherwise only items that are blocked by it. */
function assertTold(faulty: readonly Spoiled[], failures: readonly MigrationFailuresResponse[]): void {
  const byId = assertPlantedTold(faulty, failures)
  for (const { id, told } of faulty) {
    const failure = byId.get(id)!
    const details = detailsOf(failure, told)
    const others = [failure.accountError, ...ITEMS.flatMap(kind => Object.values(failure[kind]))]
      .filter(one => one !== undefined && one !== details)
      .flatMap(one => sentences(one!))
    for (const { one } of others)
      if (!told.besides || !one.includes(told.besides)) expect(one, id).toMatch(/^blocked by /)
  }
}

/**
 * Checks that exactly these accounts fail, and that each reports the planted fault at its path. Returns the failures by account.
 */
function assertPlantedTold(
  faulty: readonly Pick<Spoiled, 'id' | 'told'>[],
  failures: readonly MigrationFailuresResponse[],
): Map<string, MigrationFailuresResponse> {
  expect(failures.map(one => one.accountOriginalId).sort()).toEqual(faulty.map(one => one.id).sort())
  const byId = new Map(failures.map(one => [one.accountOriginalId, one]))
  for (const { id, told } of faulty) {
    const failure = byId.get(id)!
    const details = detailsOf(failure, told)
    expect(details, `${id}: ${JSON.stringify(told)} ${JSON.stringify(failure)}`).toBeDefined()
    const said = sentences(details!)
    expect(said, id).toContainEqual({
      elementType: told.elementType,
      path: told.path,
      one: expect.stringContaining(told.says),
    })
  }
  return byId
}

const ITEMS = ['policies', 'invoices', 'payments', 'disbursements'] as const

const TOTALS = { originalAccountBalances: { invoiced: 168.8, paid: '129.80', credit: 20, disbursed: 5 } }

/** The items to send again. Wrong totals are replaced by correct ones. */
function correction({ sound, sent, told }: Spoiled, accountLocator: string): object {
  const accounting = told.item === 'account' && { accounting: TOTALS }
  return { accountLocator, ...correctionOf(sound, sent), ...accounting }
}

/** Counts and sums of the records of the accounts whose ids have the prefix. */
/** Counts only invoices of first installments, because the clock may have billed the second ones by now. */
async function comesTo(prefix: string): Promise<unknown> {
  const { results } = await boundDatabase(poolBinding(1))
    .prepare(
      `with mine as (select locator from policy where policyholder_locator in
        (select account_locator from migrated_account where original_id like ?1))
      select count(distinct a.original_id) as accounts, count(distinct p.locator) as policies,
        (select count(*) from invoice where installment_number = 1 and policy_locator in (select locator from mine)) as invoices,
        (select sum(amount) from payment where policy_locator in (select locator from mine)) as paid,
        (select sum(amount) from payment where policy_locator in (select locator from mine)
          and source = 'received') as received,
        (select sum(amount) from disbursement where policyholder_locator in
          (select account_locator from migrated_account where original_id like ?1)) as disbursed
      from migrated_account a left join policy p on p.policyholder_locator = a.account_locator
      where a.original_id like ?1`,
    )
    .bind(`${prefix}-%`)
    .all()
  return results[0]
}

describe(`${FAULT_KINDS.length} kinds of faults, ${OF_EACH} of each`, () => {
  it('cover all twelve rules and the contract', () => {
    expect(FAULT_KINDS).toHaveLength(25)
    expect(new Set(FAULT_KINDS.map(one => one.kind)).size).toBe(25)
    expect([...new Set(FAULT_KINDS.map(one => one.rule))]).toEqual(
      expect.arrayContaining([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 'shape']),
    )
  })

  it('fail only their own accounts with an error for each, and are gone after correction', async () => {
    const faulty = spoiled('F')
    const book = bookOf('F', faulty)
    const checked = await submitted(book, '?validateOnly=true')
    expect(checked).toMatchObject({ migrationState: 'failed', accounts: { failed: faulty.length } })
    expect(checked.processedAccounts).toBe(SOUND)
    expect(await comesTo('F')).toMatchObject({ accounts: 0, policies: 0 })
    const migration = await submitted(book)
    expect(migration).toMatchObject({
      migrationState: 'failed',
      processedAccounts: SOUND,
      totalAccounts: faulty.length + SOUND,
      accounts: { pending: 0, processing: 0, completed: SOUND, failed: faulty.length, error: 0 },
    })
    const failures = await all<MigrationFailuresResponse>(`${migration.locator}/failures/list`)
    assertTold(faulty, failures)
    const beforehand = await all<MigrationFailuresResponse>(`${checked.locator}/failures/list`)
    const said = (list: readonly MigrationFailuresResponse[]) =>
      list.map(({ accountLocator: _, ...one }) => JSON.stringify(one).replace(/[0-9a-f-]{36}/g, 'it'))
    expect(said(beforehand)).toEqual(said(failures))

    // Items that do not depend on a fault are already migrated.
    const locators = new Map(failures.map(one => [one.accountOriginalId, one.accountLocator]))
    const product = faulty.find(one => one.told.says.includes('unheard_of'))!
    const tree = await callOk<AccountMigrationIdMappingsResponse>(
      'GET',
      `${root}/${migration.locator}/accounts/${locators.get(product.id)}/mappings?by=originalId`,
      { token },
    )
    expect(Object.keys(tree.policies)).toEqual(['P2'])
    expect(Object.keys(tree.payments).sort()).toEqual(['M2', 'M3'])

    for (const one of faulty) {
      const answer = await patch(migration.locator, correction(one, locators.get(one.id)!))
      expect([answer.status, answer.body], one.id).toMatchObject([
        200,
        { policies: {}, invoices: {}, payments: {}, disbursements: {} },
      ])
    }
    const done = await settled(migration.locator)
    const left = await all<MigrationFailuresResponse>(`${migration.locator}/failures/list`)
    expect(left).toEqual([])
    expect(done).toMatchObject({ migrationState: 'finished', processedAccounts: done.totalAccounts })
    const accounts = await all<AccountMigrationResponse>(`${migration.locator}/accounts/list`)
    for (const one of accounts)
      expect([one.accountMigrationState, one.processedItems, one.errorItems]).toEqual(['completed', 9, 0])

    const undisturbed = faulty.map(({ sound }) => ({
      ...sound,
      accountData: { ...sound.accountData, id: `G-${sound.accountData.id}` },
      accounting: TOTALS,
    }))
    for (let at = 0; at < SOUND; at += 1) undisturbed.push(account(`G-F-sound-${at}`))
    expect(await submitted(undisturbed)).toMatchObject({ migrationState: 'finished' })
    expect(await comesTo('F')).toEqual(await comesTo('G'))
    expect(await comesTo('F')).toMatchObject({
      accounts: faulty.length + SOUND,
      policies: 2 * (faulty.length + SOUND),
    })
  }, 600_000)
})

describe(`a generated book with ${PLANTED} faults`, () => {
  const book = { seed: 'B', accounts: 2 * PLANTED, faults: PLANTED, asOf: AS_OF }
  let migration: MigrationResponse

  it('fails exactly at the planted faults, and is complete after their corrections are sent', async () => {
    const made = [...accountsOf(book)]
    const faulty = made.flatMap(({ account: { accountData }, fault }) =>
      fault ? [{ id: accountData.id, told: fault, corrected: fault.corrected }] : [],
    )
    expect(new Set(faulty.map(one => one.told.kind)).size).toBeGreaterThanOrEqual(FAULT_KINDS.length - 1)
    migration = await submitted(made.map(one => one.account))
    expect(migration).toMatchObject({
      migrationState: 'failed',
      accounts: { pending: 0, processing: 0, completed: PLANTED, failed: PLANTED, error: 0 },
    })
    const failures = await all<MigrationFailuresResponse>(`${migration.locator}/failures/list`)
    assertPlantedTold(faulty, failures)

    const locators = new Map(failures.map(one => [one.accountOriginalId, one.accountLocator]))
    for (const { id, corrected } of faulty) {
      const answer = await patch(migration.locator, { accountLocator: locators.get(id), ...corrected })
      expect([answer.status, answer.body], id).toMatchObject([
        200,
        { policies: {}, invoices: {}, payments: {}, disbursements: {} },
      ])
    }
    const done = await settled(migration.locator)
    expect(await all<MigrationFailuresResponse>(`${migration.locator}/failures/list`)).toEqual([])
    expect(done).toMatchObject({ migrationState: 'finished', processedAccounts: 2 * PLANTED })

    // The control totals of each account were checked. Those of the whole book are the totals of its valid accounts.
    const sound = made.map((_, index) => generateAccount(book, index))
    const cents = (parts: readonly { amount: number }[]): number =>
      parts.reduce((sum, { amount }) => sum + Math.round(amount * 100), 0)
    expect(await comesTo('B')).toMatchObject({
      accounts: 2 * PLANTED,
      policies: sound.flatMap(one => one.policies).length,
      received: cents(sound.flatMap(one => one.payments).flatMap(one => one.paymentItems)),
      disbursed: cents(sound.flatMap(one => one.disbursements).flatMap(one => one.sources)),
    })
  }, 600_000)

  it('can be endorsed, renewed, cancelled and reinstated like any policies, and all amounts add up', async () => {
    const { items } = await callOk<List<AccountMigrationIdMappingsResponse>>(
      'GET',
      `${root}/${migration.locator}/mappings/list?count=100`,
      { token },
    )
    const made = new Map([...accountsOf(book)].map(({ account }) => [account.accountData.id, account]))
    const later = Date.now() + 200 * DAY
    const candidates = items.flatMap(({ originalAccountId, policies }) =>
      Object.entries(policies).flatMap(([locator, { originalId }]) => {
        const terms = made.get(originalAccountId)?.policies.find(one => one.id === originalId)?.terms ?? []
        const names = terms.flatMap(one => one.transactions).map(one => one.segment?.segmentType)
        return Date.parse(terms.at(-1)?.endTime ?? '') > later && !names.includes('gap') ? [locator] : []
      }),
    )
    const sample: string[] = []
    for (const locator of candidates) {
      if (sample.length === SAMPLE) break
      // During the migration of a large book, the clock may have ended some of its unpaid policies.
      const policy = await callOk<PolicyResponse>('GET', `/policy/${locator}`, { token })
      if (Number(policy.effectiveContractEndTimestamp) > later) sample.push(locator)
    }
    expect(sample).toHaveLength(SAMPLE)
    for (const policy of sample) await livesOn(policy)
  }, 600_000)
})

const DAY = 86_400_000

/**
 * Checks that the premium is the sum of the changes, that the bills total the price, and that a reinstated cancellation changes
 * nothing.
 */
async function livesOn(locator: string): Promise<void> {
  const post = <Body>(path: string, body: object = {}) => callOk<Body>('POST', path, { token, body })
  /** The sum of all invoiced and planned amounts, in cents. */
  const billed = async (): Promise<number> => {
    const { invoices, futureInvoices } = await callOk<CheckInvoicesResponse>(
      'GET',
      `/policy/${locator}/checkInvoices`,
      { token },
    )
    return [...invoices.filter(one => one.settlementType !== 'invalidated'), ...futureInvoices]
      .flatMap(one => one.financialTransactions)
      .filter(one => one.type !== 'commission')
      .reduce((sum, { amount }) => sum + Math.round(amount * 100), 0)
  }
  const price = async (): Promise<PolicyPriceResponse> => {
    const { modifications } = await callOk<PolicyResponse>('GET', `/policy/${locator}`, { token })
    const answer = await post<PolicyPriceResponse>(`/policy/${locator}/price`)
    const changes = modifications.map(one => Math.round((one.premiumChange ?? 0) * 100))
    expect(changes.reduce((sum, one) => sum + one, 0)).toBe(Math.round(answer.grossPremium * 100))
    expect(await billed()).toBe(Math.round(answer.total * 100))
    return answer
  }
  const begun = await price()
  await post(`/policies/${locator}/endorsements`, {
    endorsementName: 'change_of_risk',
    startTimestamp: Date.now() + 10 * DAY,
    state: 'issued',
    fieldValues: { claims_free_years: 0 },
  })
  const changed = await price()
  expect(changed.grossPremium).toBeGreaterThan(begun.grossPremium)
  const { effectiveContractEndTimestamp } = await callOk<PolicyResponse>('GET', `/policy/${locator}`, {
    token,
  })
  const renewalEndTimestamp = Number(effectiveContractEndTimestamp) + 365 * DAY
  await post(`/policies/${locator}/renewals`, { renewalEndTimestamp, state: 'issued' })
  const renewed = await price()
  const cancellation = await post<CancellationResponse>(`/policies/${locator}/cancellations`, {
    name: 'customer_request',
    cancellationCategory: 'other',
    issue: true,
    effectiveTimestamp: Date.now() + 40 * DAY,
  })
  expect((await price()).total).toBeLessThan(renewed.total)
  await callOk('PATCH', `/cancellations/${cancellation.locator}/reinstate`, { token, body: { issue: true } })
  expect((await price()).total).toBe(renewed.total)
}
