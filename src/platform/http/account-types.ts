// Types of accounts. Apart from what they may, since contracts name them, which browsers' code reads too.

export const TENANT_ACCOUNT_TYPES = [
  'account.tenant.admin',
  'account.test.tenant.admin',
  'account.tenant.employee',
  'account.tenant.claims.only.user',
  'account.tenant.read.only.user',
] as const

export const ACCOUNT_TYPES = ['account.internal', ...TENANT_ACCOUNT_TYPES] as const
export type AccountType = (typeof ACCOUNT_TYPES)[number]
