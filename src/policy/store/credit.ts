// What payments say of the credit of their policyholder. The condition is that of the index payment_credit.
import { type SQL, sql } from 'drizzle-orm'
import type { Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, fromMinor, type Money } from '../../kernel/money.ts'
import type { Guard } from '../../platform/commit.ts'
import { type Database, statement } from '../../platform/database.ts'
import type { Position } from '../../platform/paging.ts'
import { disbursements, MOVES_CREDIT, payments } from '../tables/billing.ts'
import { policies } from '../tables/policies.ts'
import { byChoice } from './aggregates.ts'

const CHANGE = sql<number>`case ${payments.source} when 'credit' then -${payments.amount} else ${payments.credited} end`

const standing = (holder: SQL | Uuid): SQL =>
  sql`${payments.policyholderLocator} = ${holder} and (${MOVES_CREDIT}) and ${payments.reversedAt} is null`

export type CreditRow = { currency: string; minor: number }

/** What changed the credit: payments that made or used it, and what was paid out of it. */
const changes = (holder: SQL | Uuid): SQL => sql`(
  select ${payments.currency} as currency, ${CHANGE} as change from ${payments} where ${standing(holder)}
  union all
  select ${disbursements.currency}, -${disbursements.amount} from ${disbursements}
  where ${disbursements.policyholderLocator} = ${holder}) as credit_change`

const balances = (build: Database['build'], holder: SQL | Uuid) =>
  build
    .select({ currency: sql<string>`currency`, minor: sql<number>`sum(change)` })
    .from(changes(holder))
    .groupBy(sql`currency`)

const OF_HOLDER = statement(build => balances(build, sql`${sql.placeholder('holder')}`))

/** The policyholder's credit, by currency; `readCredit` takes the rows. */
export const creditQuery = (database: Database, holder: Uuid) => database.bind(OF_HOLDER, { holder })

/** As `creditQuery`, for the policyholder of a policy. */
export const CREDITS = byChoice((build, condition) =>
  balances(
    build,
    sql`(select ${policies.policyholderLocator} from ${policies} where ${policies.locator} ${condition})`,
  ),
)

/** The credit of that currency, of the rows of all. */
export const readCredit = (rows: readonly CreditRow[], currency: CurrencyCode): Money =>
  fromMinor(rows.find(row => row.currency === currency)?.minor ?? 0, currency)

const CREDIT_IS_UNCHANGED = sql`coalesce((
  select sum(change) from ${changes(sql`${sql.placeholder('holder')}`)}
  where currency = ${sql.placeholder('currency')}), 0) = ${sql.placeholder('minor')}`

/** Trips when the credit is not what was read. */
export const creditGuard = (holder: Uuid, { minor, currency }: Money): Guard => ({
  name: 'guard_policyholder_credit',
  holds: CREDIT_IS_UNCHANGED,
  values: { holder, currency, minor },
})

/** A page of the payments that made or used credit, reversed ones too, oldest first; one more than asked for. */
export const movementsQuery = (
  database: Database,
  holder: Uuid,
  position: Position<Uuid> | undefined,
  pageSize: number,
) =>
  database.build
    .select()
    .from(payments)
    .where(
      sql`${payments.policyholderLocator} = ${holder} and (${MOVES_CREDIT})
        and (${payments.postedAt}, ${payments.locator}) > (${position?.createdAt ?? 0}, ${position?.locator ?? ''})`,
    )
    .orderBy(payments.postedAt, payments.locator)
    .limit(pageSize + 1)
