// Closes accounts when the provider that signs them in is deleted or gets another issuer. Nobody can remove their access at the
// provider any more, so they are disabled, as after a sign-in without a role. A provider that admits them again enables them.
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { wrongState } from '../../kernel/errors.ts'
import { now } from '../../kernel/time.ts'
import type { Commit } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { revocationsOf } from '../revocation.ts'
import { accountIdentities, accounts, identityProviders } from '../tables.ts'

/** Selects accounts that sign in only by the provider of that name: they have no password and no other provider. */
export const dependsOnProvider = (name: string): SQL => {
  const issuersOf = (which: SQL): SQL =>
    sql`(select ${accountIdentities.accountLocator} from ${accountIdentities} where ${accountIdentities.issuer} in
      (select ${identityProviders.issuer} from ${identityProviders} where ${which}))`
  return and(
    isNull(accounts.deletedAt),
    isNull(accounts.disabledAt),
    isNull(accounts.passwordHash),
    sql`${accounts.locator} in ${issuersOf(eq(identityProviders.name, name))}`,
    sql`${accounts.locator} not in ${issuersOf(sql`${identityProviders.name} <> ${name}`)}`,
  )!
}

export type Dependents = { readonly count: number; readonly hasCaller: number | null }

/** Counts the accounts of `dependsOnProvider`. `hasCaller` is 1 if the caller's is one of them, and null if there are none. */
export const dependentsQuery = ({ build }: Database, name: string, caller: string) =>
  build
    .select({
      count: sql<number>`count(*)`,
      hasCaller: sql<number | null>`max(${accounts.locator} = ${caller})`,
    })
    .from(accounts)
    .where(dependsOnProvider(name))

export type Closing = Required<Pick<Commit, 'facts' | 'timers'>> & {
  /** Guard. */
  readonly holds: SQL
  /** Call it after the commit. */
  readonly announce: () => Promise<void>
}

export const NO_CLOSING: Closing = { facts: [], timers: [], holds: sql`true`, announce: async () => {} }

/**
 * Builds the statements that close accounts. They belong to the batch that removes the provider, before the removal. Throws 409 if
 * the caller's own account is one of them.
 */
export function closingOf(
  { name, issuer }: { readonly name: string; readonly issuer: string },
  { count, hasCaller }: Dependents,
  database: Database,
  context: RequestContext,
): Closing {
  const which = dependsOnProvider(name)
  if (count === 0) return { ...NO_CLOSING, holds: sql`not exists (select 1 from ${accounts} where ${which})` }
  if (hasCaller === 1)
    throw wrongState(
      'You sign in only by this provider, and would lock yourself out. Have another administrator or a service account do this.',
    )
  const disabledAt = now()
  const { facts, ...ending } = revocationsOf(context, database, {
    which,
    set: { disabledAt },
    hasCaller: false,
  })
  const noting = database.build
    .update(accountIdentities)
    .set({ closedAt: disabledAt })
    .where(
      and(
        eq(accountIdentities.issuer, issuer),
        sql`${accountIdentities.accountLocator} in (select ${accounts.locator} from ${accounts} where ${which})`,
      ),
    )
  return { ...ending, facts: [noting, ...facts], holds: sql`true` }
}
