// Bills that a product plans by its own plugin, through HTTP: the whole of every charge is on its installments, fees of
// installments are asked for with them and with nothing else, and no cent is lost or made (brief 3.3, 4.3, 5.6).
import { beforeAll, describe, expect, it } from 'vitest'
import type {
  CheckInvoicesResponse,
  FinancialTransactionResponse,
  FutureInvoiceResponse,
  PolicyInvoiceResponse,
} from '../../src/billing/contract.ts'
import { endOfDay, type TimeZone } from '../../src/platform/time.ts'
import type { PolicyResponse } from '../../src/policies/contract/response.ts'
import type { PolicyPriceResponse } from '../../src/rating/contract.ts'
import { type Boats, boatTenant } from '../support/boat.ts'
import { month } from '../support/boat-product.ts'
import { prepareDatabases } from '../support/databases.ts'
import { exampleFiles } from '../support/examples.ts'
import { ownBillsFiles } from '../support/own-bills.ts'

const BERLIN = 'Europe/Berlin' as TimeZone

beforeAll(() => prepareDatabases({ tenants: 12 }))

let made = 0

/** Boats whose bills the script plans: that of the motor example, unless told, which asks for 2.00 an installment. */
const boats = (script?: string): Promise<Boats> => {
  made += 1
  const scripts = Object.entries(exampleFiles('motor')).filter(([path]) => path.startsWith('scripts/'))
  const texts = Object.fromEntries(scripts.map(([path, bytes]) => [path, new TextDecoder().decode(bytes)]))
  const files = { ...texts, ...ownBillsFiles(script ?? texts['scripts/main/installments.js']!) }
  return boatTenant(`ownbills${made}`, 'EUR', { files })
}

const day = (timestamp: string): string =>
  new Date(Number(timestamp)).toLocaleDateString('en-CA', { timeZone: BERLIN })

const check = (of: Boats, { locator }: PolicyResponse): Promise<CheckInvoicesResponse> =>
  of.ok('GET', `/policy/${locator}/checkInvoices`)

type Item = [type: string, amount: number]
const items = ({
  financialTransactions,
}: {
  financialTransactions: FinancialTransactionResponse[]
}): Item[] => financialTransactions.map(one => [one.feeName ?? one.type, one.amount])

type Asked = [start: string, due: string, items: Item[]]
const asked = (one: PolicyInvoiceResponse | FutureInvoiceResponse): Asked => [
  day(one.startTimestamp),
  day(one.dueTimestamp),
  items(one as FutureInvoiceResponse),
]

describe('new business', () => {
  it('is billed by the plugin, with a fee on each installment but the first', async () => {
    const of = await boats()
    const policy = await of.insured({ yearly: '1200', paymentScheduleName: 'monthly' })
    const { invoices, futureInvoices } = await check(of, policy)
    expect(invoices.map(asked)).toEqual([['2030-01-01', '2030-01-01', [['premium', 100]]]])
    const firsts = Array.from({ length: 11 }, (_, at) => `2030-${String(at + 2).padStart(2, '0')}-01`)
    expect(futureInvoices.map(asked)).toEqual(
      firsts.map(first => [
        first,
        first,
        [
          ['premium', 100],
          ['installment_fee', 2],
        ],
      ]),
    )
    const price = await of.ok<PolicyPriceResponse>('POST', `/policy/${policy.locator}/price`)
    expect([price.total, price.grossFees, policy.fees]).toEqual([1200, 0, []])
    await of.until(month(12))
    const last = await of.read(policy)
    expect(last.invoices.map(one => one.totalDue)).toEqual([100, ...Array(11).fill(102)])
    expect(last.invoices.map(one => Number(one.dueTimestamp))).toEqual(
      Array.from({ length: 12 }, (_, at) => endOfDay(month(at), BERLIN)),
    )
  })
})
