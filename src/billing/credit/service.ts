import { sql } from 'drizzle-orm'
import { notFound } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, fromMinor, toNumber } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { type Position, readPagingToken, UUID_FORM, writePagingToken } from '../../platform/paging.ts'
import type { PaymentSource, PolicyholderCreditsResponse } from '../../policy/contract/billing.ts'
import { textIfAny } from '../../policy/projection/characteristics.ts'
import { disbursements } from '../../policy/tables/billing.ts'
import { placeOf, policyholderQuery } from '../../policyholders/store.ts'
import type { DisbursementListResponse, DisbursementResponse, DisbursementsQuery } from './contract.ts'

/** Returns a page of disbursements, oldest first. Throws 404 for an unknown policyholder. */
export async function disbursementsOf(
  context: RequestContext,
  text: string,
  { pageSize, pagingToken }: DisbursementsQuery,
): Promise<DisbursementListResponse> {
  const { database, locator } = placeOf(context, text)
  const [position] = readPagingToken(pagingToken, UUID_FORM)
  const [holders, rows] = await database.batch([
    policyholderQuery(database, locator),
    disbursementsQuery(database, locator, position, pageSize),
  ])
  if (!holders[0]) throw notFound('policyholder', text)
  const items = rows.slice(0, pageSize)
  const last = rows.length > pageSize ? items.at(-1) : undefined
  return {
    listCompleted: last === undefined,
    items: items.map(disbursementResponse),
    ...(last && { pagingToken: tokenAfter(last.disbursedAt, last.locator) }),
  }
}

const tokenAfter = (at: number, locator: string): string =>
  writePagingToken([{ createdAt: at as Instant, locator: locator as Uuid }], UUID_FORM)

const disbursementResponse = (row: typeof disbursements.$inferSelect): DisbursementResponse => ({
  locator: row.locator,
  policyholderLocator: row.policyholderLocator,
  disbursementType: row.type,
  amount: toNumber(fromMinor(row.amount, row.currency as CurrencyCode)),
  currency: row.currency,
  data: row.data,
  disbursementTimestamp: String(row.disbursedAt),
  createdTimestamp: String(row.createdAt),
})

/** Selects one row more than `pageSize`. */
const disbursementsQuery = (
  { build }: Database,
  holder: Uuid,
  position: Position<Uuid> | undefined,
  pageSize: number,
) => {
  const { policyholderLocator, disbursedAt, locator } = disbursements
  const after = position
    ? sql`(${disbursedAt}, ${locator}) > (${position.createdAt}, ${position.locator})`
    : sql`true`
  return build
    .select()
    .from(disbursements)
    .where(sql`${policyholderLocator} = ${holder} and ${after}`)
    .orderBy(disbursedAt, locator)
    .limit(pageSize + 1)
}

/** A row of a payment that made or used credit. Amounts are in minor units. */
type Movement = {
  readonly locator: string
  readonly policyLocator: number
  readonly invoiceLocator: string
  readonly source: PaymentSource
  readonly amount: number
  readonly credited: number
  readonly currency: string
  readonly postedAt: number
  readonly reversedAt: number | null
}

/** Returns a page of a policyholder's credit. `movements` has one row more than the page if there are more. */
export function policyholderCredits(
  holder: Uuid,
  balances: readonly { currency: string; minor: number }[],
  movements: readonly Movement[],
  pageSize: number,
): PolicyholderCreditsResponse {
  const page = movements.slice(0, pageSize)
  const last = page.at(-1)
  const amounts = (minor: number, currency: string) => ({
    amount: toNumber(fromMinor(minor, currency as CurrencyCode)),
    amountCurrency: currency,
  })
  return {
    policyholderLocator: holder,
    balances: balances
      .filter(({ minor }) => minor !== 0)
      .map(({ currency, minor }) => amounts(minor, currency)),
    movements: page.map(one => ({
      paymentLocator: one.locator,
      policyLocator: String(one.policyLocator),
      invoiceLocator: one.invoiceLocator,
      type: typeOf(one),
      ...amounts(one.source === 'credit' ? -one.amount : one.credited, one.currency),
      postedTimestamp: String(one.postedAt),
      reversedTimestamp: textIfAny(one.reversedAt ?? undefined),
    })),
    ...(last && movements.length > page.length && { pagingToken: tokenAfter(last.postedAt, last.locator) }),
  }
}

function typeOf({ source, amount }: Movement): 'overpayment' | 'refund' | 'use' {
  if (source === 'received') return 'overpayment'
  return amount < 0 ? 'refund' : 'use'
}
