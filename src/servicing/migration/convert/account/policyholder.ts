// The account itself, as a policyholder.

import { readUuid } from '../../../../kernel/locators.ts'
import type { Instant } from '../../../../kernel/time.ts'
import type { Policyholder } from '../../../../policyholders/policyholder.ts'
import { changePolicyholderValues } from '../../../../policyholders/values.ts'
import type { Configuration } from '../../../../product/configuration.ts'
import type { AccountMigrationData } from '../../contract-request.ts'
import type { AuxRow } from '../converted.ts'
import { ORIGIN_KEY } from '../origin.ts'
import type { Work } from './work.ts'

/** The account's data as values of a policyholder, with every problem. */
export const accountValues = (
  { policyholderFields, timeZone }: Pick<Configuration, 'policyholderFields' | 'timeZone'>,
  { data }: Pick<AccountMigrationData, 'data'>,
  now: Instant,
): ReturnType<typeof changePolicyholderValues> =>
  changePolicyholderValues(policyholderFields, {}, data, { completed: true, timeZone, now })

export function readPolicyholder(
  { request, context, findings }: Work,
  data: AccountMigrationData,
): Policyholder {
  const { configuration, now, accountLocator, callerLocator, supply } = context
  const { values, errors } = accountValues(configuration, data, now)
  for (const { message } of errors) findings.wrong('account', data.id, message)
  for (const message of context.disallowed ?? []) findings.wrong('account', data.id, message)
  const createdAt = data.createdAt ?? now
  const createdBy = data.createdBy ?? request.defaultCreatedBy
  return {
    locator: accountLocator,
    version: 1,
    completed: true,
    accountLocator: (createdBy && readUuid(createdBy)) || callerLocator,
    entity: { locator: supply.uuid(), values, subEntities: [] },
    createdAt,
    updatedAt: createdAt,
  }
}

/** What the other system said of the account that the policyholder has no place for. */
export const accountOrigin = ({ data: _, ...rest }: AccountMigrationData, locator: string): AuxRow => ({
  locator,
  key: ORIGIN_KEY,
  value: JSON.stringify(rest),
})
