import type { Money } from '../../../../kernel/money.ts'
import type { AccountMigrationRequest, MigrationRequest } from '../../contract-request.ts'
import type { ConvertContext } from '../converted.ts'
import type { Problems } from '../problems.ts'
import type { Findings } from './findings.ts'

/** An account, or (without `accountData`) further items of one that exists. */
export type AccountRequest = MigrationRequest & Partial<Pick<AccountMigrationRequest, 'accountData'>>

/** The account that is being converted: what was sent of it, and what was found wrong or odd so far. */
export type Work = {
  readonly request: AccountRequest
  readonly context: ConvertContext
  readonly findings: Findings
  readonly warnings: Problems
  /** Nothing, in the tenant's currency. */
  readonly none: Money
}

export const accountIdOf = ({ request, context }: Work): string =>
  request.accountData?.id ?? context.accountId ?? context.accountLocator
