// Policyholders of a generated book whose policies were migrated with their invoices and payments, as a start for further
// operations.

import { locatorSupply, type Uuid } from '../../src/kernel/locators.ts'
import { fromMinor } from '../../src/kernel/money.ts'
import type { Instant } from '../../src/kernel/time.ts'
import { appliedAmount, paymentState } from '../../src/policy/records/invoice.ts'
import type { Loaded } from '../../src/policy/surroundings.ts'
import { convertAccount, digitsNeeded } from '../../src/servicing/migration/convert/account.ts'
import { readAccount } from '../../src/servicing/migration/request.ts'
import { accountsOf } from '../../tools/book/requests.ts'
import { exampleConfiguration, newPolicyContextOf } from './configurations.ts'
import type { Book } from './payment-story.ts'

/** When the accounts are converted. */
export const CONVERTED_AT = Date.UTC(2026, 9, 1, 12) as Instant

const configuration = exampleConfiguration('motor')
let sequence = 6_000_000

/** Converts the accounts of a generated book of motor policies. Throws if one has a problem. */
export function* migratedAccounts(seed: string, accounts: number) {
  for (const { account } of accountsOf({ seed, accounts, asOf: '2026-10-01' })) {
    const { id, data } = account.accountData
    const { request } = readAccount(structuredClone(account) as never, id, true)
    const digits = Array.from({ length: digitsNeeded(request) }, () => sequence++ * 64)
    const ground = newPolicyContextOf('motor', 'private_motor', data, CONVERTED_AT)
    const { policies, failures } = convertAccount(request, {
      configuration,
      configVersion: 1,
      now: CONVERTED_AT,
      supply: locatorSupply(0, digits),
      shard: 0,
      accountLocator: ground.policyholder.locator,
      callerLocator: '5b9a3f61-0000-4000-8000-000000000000' as Uuid,
    })
    if (failures.length > 0) throw new Error(JSON.stringify(failures))
    yield { id, account, ground, policies }
  }
}

/** Returns one book for each account that has a payment on a policy. */
export function migratedBooks(seed: string, accounts: number): Book[] {
  const books: Book[] = []
  for (const { ground, policies } of migratedAccounts(seed, accounts)) {
    const payments = policies
      .flatMap(one => [...one.payments.values()])
      .filter(one => paymentState(one) === 'posted')
    if (payments.length === 0) continue
    const minor = (
      of: readonly (typeof payments)[number][],
      part: (one: (typeof payments)[number]) => number,
    ) => of.reduce((total, one) => total + part(one), 0)
    const used = payments.filter(payment => payment.source === 'credit')
    const credit = minor(payments, one => one.credited.minor) - minor(used, one => one.amount.minor)
    books.push({
      ground,
      policies: policies.map(aggregate => ({ ...ground, aggregate }) as Loaded),
      now: CONVERTED_AT,
      credit: fromMinor(credit, ground.currency),
      cash: BigInt(minor(payments, one => appliedAmount(one).minor) + credit),
    })
  }
  return books
}
