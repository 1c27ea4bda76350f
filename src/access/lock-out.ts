// After several consecutive failures, no password signs in for a while (brief 7). The database counts: each failure is added by
// its own commit, and a right password counts only if the account is still open at its commit. Therefore, of any number of
// simultaneous guesses, no more than the limit can succeed.
import { and, eq, or, type SQL, sql } from 'drizzle-orm'
import type { Uuid } from '../kernel/locators.ts'
import type { Instant } from '../kernel/time.ts'
import type { Database, Query } from '../platform/database.ts'
import { administrators } from '../platform/tenancy/control-tables.ts'
import { accounts } from './tables.ts'

/** Consecutive failures that lock an account. */
export const MOST_FAILURES = 5

/** In real time. Further guesses do not extend it. */
export const LOCKED_MS = 30 * 60 * 1000

/** Whether the account is locked. `now` is the real time. */
export const isLocked = ({ lockedUntil }: { lockedUntil: number | null }, now: Instant): boolean =>
  lockedUntil !== null && lockedUntil > now

type Lockable = typeof accounts | typeof administrators

const isOpen = ({ lockedUntil }: Lockable, now: Instant) =>
  or(sql`${lockedUntil} is null`, sql`${lockedUntil} <= ${now}`)

/** Counts a failure and locks the account at the limit. A locked account is not changed and stays locked until its time. */
export const failureQuery = (database: Database, table: Lockable, locator: Uuid, now: Instant): Query =>
  database.build
    .update(table as typeof administrators)
    .set({
      // An expired lock starts a new count.
      failedSignIns: sql`case when ${table.lockedUntil} is null then ${table.failedSignIns} + 1 else 1 end`,
      lockedUntil: sql`case when ${table.lockedUntil} is null and ${table.failedSignIns} + 1 >= ${MOST_FAILURES} then ${now + LOCKED_MS} end`,
    })
    .where(and(eq(table.locator, locator), isOpen(table, now)))

/** Clears failures and the lock. Writes nothing when there is nothing to clear. */
export const openQuery = (database: Database, table: Lockable, locator: Uuid): Query =>
  database.build
    .update(table as typeof administrators)
    .set({ failedSignIns: 0, lockedUntil: null })
    .where(
      and(
        eq(table.locator, locator),
        or(sql`${table.failedSignIns} > 0`, sql`${table.lockedUntil} is not null`),
      ),
    )

/** As read before the password was checked. */
type AccountState = { readonly locator: Uuid; readonly tokenEpoch: number }

/**
 * Guard: the account is open and its password unchanged. Each change of the password raises the epoch. The hash cannot be
 * compared, because another sign-in may have hashed the same password again.
 */
export const mayEnter = ({ locator, tokenEpoch }: AccountState, now: Instant): SQL =>
  sql`exists (select 1 from ${accounts} where ${and(
    eq(accounts.locator, locator),
    eq(accounts.tokenEpoch, tokenEpoch),
    isOpen(accounts, now),
    sql`${accounts.disabledAt} is null`,
    sql`${accounts.deletedAt} is null`,
  )})`

/** Like `mayEnter`, but as a condition on the row of the administration account, which cannot be disabled. */
export const administratorMayEnter = ({ locator, tokenEpoch }: AccountState, now: Instant): SQL =>
  and(
    eq(administrators.locator, locator),
    eq(administrators.tokenEpoch, tokenEpoch),
    isOpen(administrators, now),
  )!
