// Faults planted into generated books: one of each kind is reported at its path, and a book without faults has no failures.
import { expect, it } from 'vitest'
import { locatorSupply, type Uuid } from '../../src/kernel/locators.ts'
import { convertAccount, digitsNeeded } from '../../src/servicing/migration/convert/account.ts'
import type { ItemFailure } from '../../src/servicing/migration/item.ts'
import { readAccount } from '../../src/servicing/migration/request.ts'
import { FAULT_KINDS } from '../../tools/book/fault-kinds.ts'
import { accountsOf, type BookAccount } from '../../tools/book/requests.ts'
import { exampleConfiguration } from '../support/configurations.ts'
import { size } from '../support/sizes.ts'
import { NOW } from './made-book.ts'

const FAULTS = size(50, 500)
const configuration = exampleConfiguration('motor')

function failuresOf({ account }: BookAccount): ItemFailure[] {
  const { request, failures } = readAccount(account, account.accountData.id, true)
  const digits = Array.from({ length: digitsNeeded(request) }, (_, at) => (4_000_000 + at) * 64)
  const converted = convertAccount(request, {
    configuration,
    configVersion: 1,
    now: NOW,
    supply: locatorSupply(0, digits),
    shard: 0,
    accountLocator: '5b9a3f60-0000-4000-8000-000000000000' as Uuid,
    callerLocator: '5b9a3f61-0000-4000-8000-000000000000' as Uuid,
  })
  return [...failures, ...converted.failures]
}

it(`planted into ${FAULTS} of ${FAULTS * 2} accounts, are all reported with their places, and no other account fails`, () => {
  const kinds = new Map<string, number>()
  for (const one of accountsOf({ accounts: FAULTS * 2, faults: FAULTS, seed: 'planted' })) {
    const { fault } = one
    const failures = failuresOf(one)
    if (!fault) {
      expect(failures).toEqual([])
      continue
    }
    kinds.set(fault.kind, (kinds.get(fault.kind) ?? 0) + 1)
    const told = failures.flatMap(({ problems }) =>
      problems.flatMap(({ locator, errors }) => errors.map(error => `${locator}: ${error}`)),
    )
    expect(
      told.some(text => text.startsWith(`${fault.path}: `) && text.includes(fault.says)),
      `${fault.kind}, ${fault.path}, ${fault.says}: ${told.join('\n')}`,
    ).toBe(true)
    expect(Object.keys(fault.corrected)).not.toEqual([])
  }
  expect(kinds.size).toBe(FAULT_KINDS.length)
  expect([...kinds.values()].reduce((sum, count) => sum + count, 0)).toBe(FAULTS)
}, 600_000)
