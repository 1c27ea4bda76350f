// The contract defines adding and unlocking accounts and changing your own password. The other paths extend it.
import { forSignedIn, forTenant, type Route } from '../../platform/http/route.ts'
import * as contract from '../contract.ts'
import { changeOwnPassword, unlock } from './password-changes.ts'
import * as service from './service.ts'

const { delete: remove, get, patch, post, put } = forTenant('Accounts')
const signedIn = forSignedIn('Accounts')
const account = { schema: contract.AccountResponse, description: 'The account.' }
const CUSTOM = 'With only `users.custom`: your own account and those that you created.'

export const accountAdministrationRoutes: readonly Route[] = [
  signedIn.post('/account/unlock', {
    worksWhenFull: true,
    summary: 'Unlock an account that failed to sign in too often',
    description:
      'Unlocks a user of the tenant that `hostName` or `tenantName` names. Without them, an administrator of a tenant unlocks a user of that tenant, with `users.write`, and an administration account unlocks another administration account. A lock ends by itself after 30 minutes.',
    permission: 'users.write',
    body: { schema: contract.AccountUnlockRequest, required: true },
    answer: { description: 'The account is not locked.' },
    handle: ({ body }, context) => unlock(body, context),
  }),
  signedIn.patch('/account/v1/accounts/password', {
    worksWhenFull: true,
    summary: 'Change your own password',
    description:
      'Ends all your access tokens, including the one of this request: sign in with the new password. Long-lived tokens stay. A wrong old password counts as a failed sign-in.',
    body: { schema: contract.PasswordChangeRequest, required: true },
    answer: { description: 'The password is changed.' },
    handle: ({ body }, context) => changeOwnPassword(body, context),
  }),
  post('/account/v1/account', {
    summary: 'Add an account',
    description:
      'For a person, whose password must follow the rules of the tenant; or with `type` `service` for a program, which gets long-lived tokens with `POST /auth/users/{locator}/tokens`. The type must not have more permissions than you.',
    permission: 'users.write',
    body: { schema: contract.AccountAddRequest, required: true },
    answer: account,
    handle: ({ body }, context) => service.addAccount(body, context),
  }),
  get('/account/v1/accounts/list', {
    summary: 'List the accounts of the tenant',
    permission: ['users.list', 'users.read'],
    query: contract.AccountsQuery,
    answer: { schema: contract.AccountListResponse, description: 'Oldest first.' },
    handle: ({ query }, context) => service.listAccounts(query, context),
  }),
  get('/account/v1/accounts/{locator}', {
    summary: 'Read an account',
    description: CUSTOM,
    permission: ['users.read', 'users.custom'],
    answer: account,
    handle: ({ params }, context) => service.readOneAccount(params.locator, context),
  }),
  patch('/account/v1/accounts/{locator}/disable', {
    worksWhenFull: true,
    summary: 'Disable an account',
    description: `The account cannot sign in, and all its tokens are rejected everywhere within 5 seconds. Not for your own account, and not for that of the last person who may change users and can sign in (409). ${CUSTOM}`,
    permission: ['users.write', 'users.custom'],
    answer: account,
    handle: ({ params }, context) => service.disableAccount(params.locator, context),
  }),
  patch('/account/v1/accounts/{locator}/enable', {
    summary: 'Enable a disabled account',
    description: 'Its password and its long-lived tokens work again.',
    permission: 'users.write',
    answer: account,
    handle: ({ params }, context) => service.enableAccount(params.locator, context),
  }),
  remove('/account/v1/accounts/{locator}', {
    summary: 'Delete an account',
    description: `Permanent. Deletes all its tokens too; the user name becomes available. Not for your own account, and not for that of the last person who may change users and can sign in (409). ${CUSTOM}`,
    permission: ['users.write', 'users.custom'],
    answer: { description: 'The account is deleted.' },
    handle: ({ params }, context) => service.deleteAccount(params.locator, context),
  }),
  put('/account/v1/accounts/{locator}/password', {
    worksWhenFull: true,
    summary: "Set another person's password",
    description:
      'For a person who forgot it: unlocks the account and ends its access tokens. Not for accounts that have permissions that you lack.',
    permission: 'users.write',
    body: { schema: contract.PasswordSetRequest, required: true },
    answer: { description: 'The password is set.' },
    handle: ({ params, body }, context) => service.setPassword(params.locator, body, context),
  }),
  get('/account/v1/passwordRules', {
    summary: 'Read the password rules of the tenant',
    permission: ['users.read', 'users.write'],
    answer: { schema: contract.PasswordRulesResponse, description: 'The rules.' },
    handle: (_, context) => service.readPasswordRules(context),
  }),
  put('/account/v1/passwordRules', {
    summary: 'Set the password rules of the tenant',
    description:
      'Every password has at least 12 characters and is not a common one. Rules that you leave out get the strict defaults: 16 to 64 characters, a digit, an upper-case and a lower-case letter, a symbol, none of the last four passwords, 90 days.',
    permission: 'users.write',
    body: { schema: contract.PasswordRulesRequest, required: true },
    answer: { schema: contract.PasswordRulesResponse, description: 'The rules.' },
    handle: ({ body }, context) => service.writePasswordRules(body, context),
  }),
]
