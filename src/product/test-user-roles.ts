// Roles of the users of an archive. Those of roles.json are names that the author gave; what an account may do
// follows from the account types of the contract (brief 7).
import type { TestUser } from './configuration.ts'

export type TestUserType =
  | 'account.tenant.admin'
  | 'account.tenant.employee'
  | 'account.tenant.read.only.user'
  | 'account.tenant.claims.only.user'

/** Who has several roles has the rights of all (resources brief 11): each type holds what those below it do. */
const FROM_MOST_TO_LEAST: readonly TestUserType[] = [
  'account.tenant.admin',
  'account.tenant.employee',
  'account.tenant.claims.only.user',
  'account.tenant.read.only.user',
]

/** By the role's letters and digits, without `account.tenant.` before them and `user` after them. */
const TYPE_OF_ROLE: Readonly<Record<string, TestUserType>> = {
  admin: 'account.tenant.admin',
  employee: 'account.tenant.employee',
  fullaccess: 'account.tenant.employee',
  claimsonly: 'account.tenant.claims.only.user',
  claimonly: 'account.tenant.claims.only.user',
  readonly: 'account.tenant.read.only.user',
  reader: 'account.tenant.read.only.user',
  viewer: 'account.tenant.read.only.user',
  viewonly: 'account.tenant.read.only.user',
}

/**
 * The account type that a role names, however it is spelt: `read.only.user`, `account.tenant.read.only.user`,
 * `read-only`, `readOnly`, `READ_ONLY`, `reader`; undefined for the author's own, as `agent`.
 */
export function typeOfRole(role: string): TestUserType | undefined {
  const dotted = role
    .replace(/([a-z])([A-Z])/g, '$1.$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '.')
    .replace(/^\.|\.$/g, '')
  const bare = dotted
    .replace(/^(?:(?:account\.)?(?:test\.)?tenant\.)/, '')
    .replace(/\.?users?$/, '')
    .replaceAll('.', '')
  return Object.hasOwn(TYPE_OF_ROLE, bare) ? TYPE_OF_ROLE[bare] : undefined
}

/**
 * The type of a user's account: the highest that one of the roles names. Roles of the author's own, and none at
 * all, make an employee, who has full access to policy data: so published archives mean their users, who have
 * no roles (resources brief 10.3).
 */
export function accountType({ roles }: Pick<TestUser, 'roles'>): TestUserType {
  const types = roles.map(role => typeOfRole(role) ?? 'account.tenant.employee')
  return FROM_MOST_TO_LEAST.find(type => types.includes(type)) ?? 'account.tenant.employee'
}
