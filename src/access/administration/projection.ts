import type { Instant } from '../../kernel/time.ts'
import type { Tenant } from '../../platform/tenancy.ts'
import type { AccountResponse } from '../contract.ts'
import { isLocked } from '../lock-out.ts'
import type { StoredAccount } from '../store.ts'

/** The account as the contract shows it; `now` is the real time, in which locks end. */
export const accountResponse = (
  account: StoredAccount,
  { name: tenant }: Pick<Tenant, 'name'>,
  now: Instant,
): AccountResponse => ({
  id: account.locator,
  name: account.name,
  createdTimestamp: String(account.createdAt),
  accountType: account.accountType as AccountResponse['accountType'],
  // One that is deleted is not found.
  deleted: false,
  email: account.email ?? '',
  locked: isLocked(account, now),
  tenant,
  username: account.username,
  disabled: account.disabledAt !== null,
  service: account.isService,
})
