// Converts an account as a migration in the service does, without the service.

import { locatorSupply, type Uuid } from '../../src/kernel/locators.ts'
import type { Instant } from '../../src/kernel/time.ts'
import type { NewPolicyContext } from '../../src/policy/surroundings.ts'
import { AccountMigrationRequest } from '../../src/servicing/migration/contract-request.ts'
import { convertAccount, digitsNeeded } from '../../src/servicing/migration/convert/account.ts'
import type { Converted } from '../../src/servicing/migration/convert/converted.ts'

/** Smaller than the digits of later records, because digits are in the order of creation. */
let sequence = 100_000

/** `currency` is given only if it differs from that of the configuration. */
export type ConversionContext = Pick<NewPolicyContext, 'configuration' | 'policyholder'> &
  Partial<Pick<NewPolicyContext, 'currency'>>

/** Converts the account for its policyholder. */
export function convertForTest(
  account: object,
  { configuration, currency, policyholder }: ConversionContext,
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
