// One row in a tenant's database names the tenant that it serves, and whether it is serving. Batches that read also read it;
// batches that write use it as a guard. Isolates, objects and runs with an outdated tenant (suspended, moved, restored, recreated)
// can therefore neither read nor write the wrong database. This needs no additional round trip. The accounts whose access tokens
// were revoked recently are in a table of the same database. The same statement checks them for the token of the request. In the
// database that has the tenant's accounts, it checks a long-lived token by its row.
import type { AccessToken, Calls, LongLivedToken } from '../calls.ts'
import type { FenceState } from '../tables.ts'

/** The tenant as a caller knows it when it opens the database. */
export type FencedTenant = {
  readonly locator: string
  readonly generation: number
  readonly tokenEpoch: number
  readonly restores?: readonly unknown[]
}

export type FenceRow = {
  readonly tenant_locator: string
  readonly generation: number
  readonly state: FenceState
  readonly token_epoch: number
  readonly restores: number
  /** 1 when the request's token has ended. */
  readonly is_revoked: number
}

export type FenceStatement = { readonly sql: string; readonly params: readonly (string | number)[] }

/** The fence of one database, for one caller. */
export type Fence = {
  readonly tenant: FencedTenant
  /** Whether the database has the tenant's accounts and long-lived tokens. Only the home shard does. */
  readonly hasAccounts: boolean
  /**
   * Called when the database does not match what the caller expects. `row` is undefined without a fence. Resolves if the batch may
   * be sent once more; otherwise throws the error for the caller.
   */
  readonly resolveMismatch: (row: FenceRow | undefined) => Promise<void>
}

/** The token of a request that the database can check. Undefined for background work, which has no token. */
export type CheckedToken = AccessToken | LongLivedToken | undefined

/** Returns the request's token, unless only the home shard can check it. */
export const tokenFor = ({ hasAccounts }: Pick<Fence, 'hasAccounts'>, { token }: Calls): CheckedToken =>
  token && 'tokenLocator' in token && !hasAccounts ? undefined : token

/**
 * Whether the token has ended: the account's access tokens were revoked after this one was issued; a long-lived token was deleted,
 * or its account is disabled or deleted. False without a token.
 */
const hasEnded = (token: CheckedToken): FenceStatement =>
  token && 'tokenLocator' in token
    ? {
        sql: `not exists (select 1 from auth_token join account on account.locator = auth_token.account_locator
          where auth_token.locator = ? and account.disabled_at is null and account.deleted_at is null)`,
        params: [token.tokenLocator],
      }
    : {
        sql: 'exists (select 1 from revoked_account where account_locator = ? and epoch > ?)',
        params: [token?.accountLocator ?? '', token?.epoch ?? 0],
      }

/** Reads the only row of the fence. `is_revoked` is 1 if the token has ended. */
export function readFence(token?: CheckedToken): FenceStatement {
  const { sql, params } = hasEnded(token)
  return {
    sql: `select tenant_locator, generation, state, token_epoch, restores, ${sql} as is_revoked from fence`,
    params,
  }
}

/** Fails the batch unless the row is as the caller expects: the name of a guard must not be null. */
export function guardFence(
  { locator, generation, tokenEpoch, restores = [] }: FencedTenant,
  token?: CheckedToken,
): FenceStatement {
  const { sql, params } = hasEnded(token)
  return {
    sql: `insert into guard (name) select null where not exists (
    select 1 from fence where tenant_locator = ? and generation = ? and state = 'serving' and token_epoch <= ? and restores = ?
      and not ${sql})`,
    params: [locator, generation, tokenEpoch, restores.length, ...params],
  }
}

/** Whether `guardFence` failed the batch. D1 reports only the text of the constraint. */
export function isFenceTripped(problem: unknown): boolean {
  const { message = '', cause = '' } = problem as Partial<Error>
  return /NOT NULL constraint failed: guard\.name/.test(`${message} ${String(cause)}`)
}

/** Like `guardFence`, for a row that was read. The caller's token epoch may be ahead, because the fence is written later. */
export const matchesFence = (
  row: FenceRow | undefined,
  { locator, generation, tokenEpoch, restores = [] }: FencedTenant,
): boolean =>
  row !== undefined &&
  row.tenant_locator === locator &&
  row.generation === generation &&
  row.state === 'serving' &&
  row.token_epoch <= tokenEpoch &&
  row.restores === restores.length &&
  row.is_revoked === 0

/** Claims a free database or changes the tenant's state. Ignores databases of other tenants and generations. */
export const setFence = (tenant: FencedTenant, state: 'serving' | 'suspended'): FenceStatement => ({
  sql: `insert into fence (id, tenant_locator, generation, state, token_epoch, restores) values (1, ?, ?, ?, ?, ?)
    on conflict (id) do update set state = excluded.state, token_epoch = max(token_epoch, excluded.token_epoch), restores = excluded.restores
    where tenant_locator = excluded.tenant_locator and generation = excluded.generation`,
  params: [tenant.locator, tenant.generation, state, tenant.tokenEpoch, tenant.restores?.length ?? 0],
})

/** Ends reads and writes for this generation of the tenant. */
export const closeFence = ({ locator, generation }: Omit<FencedTenant, 'tokenEpoch'>): FenceStatement => ({
  sql: `update fence set state = 'moved' where tenant_locator = ? and generation = ?`,
  params: [locator, generation],
})

/** Frees a closed database. */
export const removeFence = ({ locator, generation }: Omit<FencedTenant, 'tokenEpoch'>): FenceStatement => ({
  sql: `delete from fence where state = 'moved' and tenant_locator = ? and generation = ?`,
  params: [locator, generation],
})

/** Rejects requests with earlier tokens from now on. */
export const raiseTokenEpoch = ({ locator, generation, tokenEpoch }: FencedTenant): FenceStatement => ({
  sql: `update fence set token_epoch = max(token_epoch, ?) where tenant_locator = ? and generation = ?`,
  params: [tokenEpoch, locator, generation],
})
