// The fence of a tenant's database: one row that says whose the database is, and whether it serves. A batch that reads has the row with
// what it reads, and a batch that writes holds it as a guard. So an isolate, an object or a run that knew the tenant as it was before
// it was suspended, moved, restored or recreated neither reads nor writes in the wrong place. It takes no round trip.
import type { FenceState } from '../tables.ts'

/** What a caller believes of the tenant whose database it opens. */
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
}

/** SQL with its parameters, as D1 takes it. */
export type FenceStatement = { readonly sql: string; readonly params: readonly (string | number)[] }

/** The fence of one database, for one caller. */
export type Fence = {
  readonly tenant: FencedTenant
  /**
   * Called when the database is not as the caller believes; `row` is undefined where it has no fence. Resolves when the batch may be
   * sent once more; else throws what the caller is to be answered.
   */
  readonly settle: (row: FenceRow | undefined) => Promise<void>
}

export const READ_FENCE: FenceStatement = {
  sql: 'select tenant_locator, generation, state, token_epoch, restores from fence',
  params: [],
}

/** No guard has the name null, so the batch fails unless the row is as the caller believes. */
export const holdFence = ({
  locator,
  generation,
  tokenEpoch,
  restores = [],
}: FencedTenant): FenceStatement => ({
  sql: `insert into guard (name) select null where not exists (
    select 1 from fence where tenant_locator = ? and generation = ? and state = 'serving' and token_epoch <= ? and restores = ?)`,
  params: [locator, generation, tokenEpoch, restores.length],
})

/** Whether a batch failed by `holdFence`. */
export function isFenceTripped(problem: unknown): boolean {
  const { message = '', cause = '' } = problem as Partial<Error>
  return /NOT NULL constraint failed: guard\.name/.test(`${message} ${String(cause)}`)
}

/** As `holdFence`, of a row that was read. A token epoch of the caller's that is ahead is one that has yet to be written to the fence. */
export const isAsBelieved = (
  row: FenceRow | undefined,
  { locator, generation, tokenEpoch, restores = [] }: FencedTenant,
): boolean =>
  row !== undefined &&
  row.tenant_locator === locator &&
  row.generation === generation &&
  row.state === 'serving' &&
  row.token_epoch <= tokenEpoch &&
  row.restores === restores.length

/** Makes a free database the tenant's, or changes the state of one that is. Of a database of another tenant or generation nothing changes. */
export const setFence = (tenant: FencedTenant, state: 'serving' | 'suspended'): FenceStatement => ({
  sql: `insert into fence (id, tenant_locator, generation, state, token_epoch, restores) values (1, ?, ?, ?, ?, ?)
    on conflict (id) do update set state = excluded.state, token_epoch = max(token_epoch, excluded.token_epoch), restores = excluded.restores
    where tenant_locator = excluded.tenant_locator and generation = excluded.generation`,
  params: [tenant.locator, tenant.generation, state, tenant.tokenEpoch, tenant.restores?.length ?? 0],
})

/** Nobody reads or writes the database for this generation of the tenant any more. */
export const closeFence = ({ locator, generation }: Omit<FencedTenant, 'tokenEpoch'>): FenceStatement => ({
  sql: `update fence set state = 'moved' where tenant_locator = ? and generation = ?`,
  params: [locator, generation],
})

/** Makes a closed database free. */
export const removeFence = ({ locator, generation }: Omit<FencedTenant, 'tokenEpoch'>): FenceStatement => ({
  sql: `delete from fence where state = 'moved' and tenant_locator = ? and generation = ?`,
  params: [locator, generation],
})

/** Requests of earlier tokens are refused from now on. */
export const raiseTokenEpoch = ({ locator, generation, tokenEpoch }: FencedTenant): FenceStatement => ({
  sql: `update fence set token_epoch = max(token_epoch, ?) where tenant_locator = ? and generation = ?`,
  params: [tokenEpoch, locator, generation],
})
