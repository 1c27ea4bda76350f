// An account converted as the service does it, without the service.

import { locatorSupply, type Uuid } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import type { NewPolicyContext } from '../../src/policy/surroundings.ts'
import { AccountMigrationRequest } from '../../src/servicing/migration/contract-request.ts'
import { convertAccount, digitsNeeded } from '../../src/servicing/migration/convert/account.ts'
import type { Converted } from '../../src/servicing/migration/convert/converted.ts'

/** Below the digits of what comes after, which are in the order in which they were made. */
let sequence = 100_000

/** `currency` where it is not that of the configuration. */
export type CarriedGround = Pick<NewPolicyContext, 'configuration' | 'policyholder'> &
  Partial<Pick<NewPolicyContext, 'currency'>>

/** What becomes of the account, for the policyholder that it is of. */
export function carriedAgain(
  account: object,
  { configuration, currency, policyholder }: CarriedGround,
  now: Instant,
): Converted {
  const request = AccountMigrationRequest.parse(JSON.parse(JSON.stringify(account)))
  const digits = Array.from({ length: digitsNeeded(request) }, () => sequence++ * 64)
  return convertAccount(request, {
    configuration: { ...configuration.configuration, ...(currency && { currency }) },
    configVersion: 1,
    now,
    supply: locatorSupply(0, digits),
    shard: 0,
    accountLocator: policyholder.locator,
    callerLocator: '5b9a3f61-0000-4000-8000-000000000000' as Uuid,
  })
}
