// Policies that ended in other ways than at the end of their term, in another tenant: lapsed, written off, or with holdbacks.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Instant } from '../../src/kernel/time.ts'
import type { PolicyResponse } from '../../src/policy/contract/response.ts'
import type { AccountMigration } from '../../src/reporting/export/account/account.ts'
import type {
  GraceLapseReinstatementResponse,
  GracePeriodResponse,
} from '../../src/transactions/lapses/contract.ts'
import { type Boats, boatTenant } from '../support/boat.ts'
import { boatFiles, month } from '../support/boat-product.ts'
import { prepareDatabases } from '../support/databases.ts'
import { expectSameNow, exportedAccounts, migrate } from '../support/export-to-migration.ts'

const json = (content: unknown): string => JSON.stringify(content)

/**
 * A product 'boat', which lapses because it has no cancellation types, and a product 'skiff', whose cancellations may have
 * holdbacks.
 */
function twoProducts(suffix: string): Promise<Boats> {
  const skiffs = Object.entries(boatFiles('EUR', true))
    .filter(([path]) => path.startsWith('products/boat/'))
    .map(([path, text]) => [path.replace('/boat/', '/skiff/'), text])
  return boatTenant(suffix, 'EUR', {
    taxed: true,
    files: {
      ...Object.fromEntries(skiffs),
      'security/test_users.json': json([
        { username: 'alice.agent', name: 'Alice', password: 'password', roles: ['agent'] },
        { username: 'anna.admin', name: 'Anna', password: 'password', roles: ['admin'] },
      ]),
      'products/skiff/policy/cancellations.json': json({
        cancellationTypes: [
          { name: 'fifty_kept', title: 'Less 50', documents: [], holdback: { amount: 50 } },
          {
            name: 'tenth_kept',
            title: 'Less a tenth',
            documents: [],
            holdback: { percent: 10 },
            reinstatement: { defaultDeadlineDays: 30, documents: [] },
          },
        ],
      }),
      'products/boat/policy/policy.json': json({
        fields: [],
        paymentSchedules: [{ type: 'total', name: 'upfront', displayName: 'At once' }],
        defaultPaymentTerms: { amount: 10, unit: 'day' },
        lapse: { gracePeriodDays: 15, reinstatementPeriodDays: 60 },
      }),
    },
    without: ['products/boat/policy/cancellations.json'],
  })
}

let from: Boats
let to: Boats
const sold: Record<string, string> = {}
const tokens = { from: '', to: '' }
const target = () => ({ tenantLocator: to.tenantLocator, token: tokens.to })

const nextDay = (timestamp: string): Instant => (Number(timestamp) + 60_000) as Instant

async function issued(name: string, productName: 'boat' | 'skiff'): Promise<PolicyResponse> {
  const policy = await from.insured({ yearly: '1200', paymentScheduleName: 'upfront', productName })
  sold[name] = policy.locator
  return policy
}

const pay = ({ invoices }: PolicyResponse, changes: object = {}) =>
  from.ok<{ locator: string }>('POST', `/invoice/${invoices.at(-1)!.locator}/pay`, {
    fieldValues: {},
    ...changes,
  })

/** Returns the locator of the cancellation. */
const cancel = async ({ locator }: PolicyResponse, name: string): Promise<string> => {
  const made = await from.ok<{ locator: string }>('POST', `/policies/${locator}/cancellations`, {
    name,
    effectiveTimestamp: month(6),
    issue: true,
  })
  return made.locator
}

/** Reinstates the policy from its lapse on by paying the invoice of the reinstatement. */
async function reinstated({ locator }: PolicyResponse): Promise<void> {
  const [story] = await from.ok<GraceLapseReinstatementResponse[]>(
    'GET',
    `/policy/${locator}/graceLapseReinstatements`,
  )
  const opened = await from.ok<{ locator: string }>('POST', `/policy/${locator}/createReinstatement`)
  const { invoiceLocator } = await from.ok<{ invoiceLocator: string }>(
    'POST',
    `/reinstatement/${opened.locator}/invoice`,
    { reinstatementTimestamp: story!.lapse!.lapseTimestamp },
  )
  await from.ok('POST', `/invoice/${invoiceLocator}/pay`, { fieldValues: {} })
}

beforeAll(async () => {
  await prepareDatabases({ tenants: 2 })
  from = await twoProducts('ends-from')
  to = await twoProducts('ends-to')
  tokens.from = await from.signIn('anna.admin')
  tokens.to = await to.signIn('anna.admin')

  await issued('lapsed, nothing paid', 'boat')
  await pay(await issued('lapsed, 500.00 of 1,320.00 paid', 'boat'), { amount: 500 })
  const bounced = await issued('lapsed, and what was paid bounced', 'boat')
  const { locator: payment } = await pay(bounced, { amount: 500 })
  const back = await issued('lapsed and reinstated', 'boat')
  await pay(await issued('in force and paid', 'boat'))

  await cancel(await issued('50.00 held back, nothing paid', 'skiff'), 'fifty_kept')
  const given = await issued('50.00 held back, and the rest paid out', 'skiff')
  await pay(given)
  await cancel(given, 'fifty_kept')
  await pay(await from.read(given))
  const again = await issued('a tenth held back, and reinstated', 'skiff')
  await pay(again)
  const cancellation = await cancel(again, 'tenth_kept')
  await from.ok('PATCH', `/cancellations/${cancellation}/reinstate`, { issue: true })

  await from.until(nextDay(back.invoices[0]!.dueTimestamp!))
  const [grace] = await from.ok<GracePeriodResponse[]>('GET', `/policy/${back.locator}/gracePeriods`)
  await from.until(nextDay(grace!.endTimestamp))
  await from.ok('POST', `/payments/${payment}/reverse`)
  await reinstated(back)
  await to.until((Number(grace!.endTimestamp) + 3_600_000) as Instant)
}, 120_000)

const states = async (): Promise<Record<string, (string | undefined)[]>> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(sold).map(async ([name, locator]) => {
        const { invoices } = await from.ok<PolicyResponse>('GET', `/policy/${locator}`)
        return [name, invoices.map(one => one.settlementType ?? 'open')] as const
      }),
    ),
  )

describe('an export of policies that lapsed, were written off or held something back', () => {
  let accounts: AccountMigration[]

  it('contains each policy with its history or as of now', async () => {
    expect(await states()).toEqual({
      'lapsed, nothing paid': ['writtenOff', 'writtenOff'],
      'lapsed, 500.00 of 1,320.00 paid': ['writtenOff', 'open'],
      'lapsed, and what was paid bounced': ['writtenOff', 'open'],
      'lapsed and reinstated': ['writtenOff', 'writtenOff', 'paid'],
      'in force and paid': ['paid'],
      '50.00 held back, nothing paid': ['open', 'paid'],
      '50.00 held back, and the rest paid out': ['paid', 'paid'],
      'a tenth held back, and reinstated': ['paid', 'paid', 'paid'],
    })
    accounts = await exportedAccounts(tokens.from)
    const names = new Map(Object.entries(sold).map(([name, one]) => [one, name]))
    const as = accounts.flatMap(one => one.policies).map(one => [names.get(one.locator), one.as] as const)
    expect(Object.fromEntries(as)).toEqual({
      'in force and paid': 'history',
      '50.00 held back, nothing paid': 'history',
      '50.00 held back, and the rest paid out': 'history',
      'a tenth held back, and reinstated': 'asNow',
      'lapsed, nothing paid': 'asNow',
      'lapsed, 500.00 of 1,320.00 paid': 'asNow',
      'lapsed, and what was paid bounced': 'asNow',
      'lapsed and reinstated': 'asNow',
    })
  })

  it('migrates to the same policies as of now in another tenant', async () => {
    const migration = await migrate(accounts, target())
    expect([migration.migrationState, migration.accounts.failed]).toEqual(['finished', 0])
    await expectSameNow({ token: tokens.from }, target(), {
      migration: migration.locator,
      count: Object.keys(sold).length,
      names: Object.fromEntries(Object.entries(sold).map(([name, one]) => [one, name])),
    })
  })
})
