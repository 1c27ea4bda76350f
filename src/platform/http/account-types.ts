// Types of accounts. They are separate from their permissions because contracts name them, and code for browsers includes
// contracts.

export const TENANT_ACCOUNT_TYPES = [
  'account.tenant.admin',
  'account.test.tenant.admin',
  'account.tenant.employee',
  'account.tenant.claims.only.user',
  'account.tenant.read.only.user',
] as const

export const ACCOUNT_TYPES = ['account.internal', ...TENANT_ACCOUNT_TYPES] as const
export type AccountType = (typeof ACCOUNT_TYPES)[number]
