// The contract defines adding and unlocking accounts and changing your own password. The other paths extend it.
import { forSignedIn, forTenant, type Route } from '../../platform/http/route.ts'
import * as contract from '../contract.ts'
import { changeOwnPassword, unlock } from './password-changes.ts'
import * as service from './service.ts'

const { delete: remove, get, patch, post, put } = forTenant('Accounts')
const signedIn = forSignedIn('Accounts')
const account = { schema: contract.AccountResponse, description: 'The account.' }
const CUSTOM = 'With `users.custom` only: your own account and those that you made.'

export const accountAdministrationRoutes: readonly Route[] = [
  signedIn.post('/account/unlock', {
    summary: 'Unlock an account that failed to sign in too often',
    description:
      'A user of the tenant that `hostName` or `tenantName` names. Without them an administrator of a tenant unlocks a user of that, with `users.write`, and an administration account another one. Without it a lock ends after 30 minutes.',
    permission: 'users.write',
    body: { schema: contract.AccountUnlockRequest, required: true },
    answer: { description: 'The account is not locked.' },
    handle: ({ body }, context) => unlock(body, context),
  }),
  signedIn.patch('/account/v1/accounts/password', {
    summary: 'Change your own password',
    description:
      'Ends all your access tokens, this one too: sign in with the new password. Long-lived tokens stay. A wrong old password counts as a failed sign-in.',
    body: { schema: contract.PasswordChangeRequest, required: true },
    answer: { description: 'The password is changed.' },
    handle: ({ body }, context) => changeOwnPassword(body, context),
  }),
  post('/account/v1/account', {
    summary: 'Add an account',
    description:
      'Of a person, whose password fits the rules of the tenant; or with `type` `service` of a program, which gets long-lived tokens with `POST /auth/users/{locator}/tokens`. Of no type that may what you may not.',
    permission: 'users.write',
    body: { schema: contract.AccountAddRequest, required: true },
    answer: account,
    handle: ({ body }, context) => service.addAccount(body, context),
  }),
  get('/account/v1/accounts/list', {
    summary: 'List the accounts of the tenant',
    permission: ['users.list', 'users.read'],
    query: contract.AccountsQuery,
    answer: { schema: contract.AccountListResponse, description: 'In the order in which they were made.' },
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
    summary: 'Disable an account',
    description: `Nothing signs it in, and all its tokens are refused everywhere within 5 seconds. Not your own, and not that of the last person who may change users and can sign in (409). ${CUSTOM}`,
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
    description: `For good, with all its tokens; the user name is free. Not your own, and not that of the last person who may change users and can sign in (409). ${CUSTOM}`,
    permission: ['users.write', 'users.custom'],
    answer: { description: 'It is deleted.' },
    handle: ({ params }, context) => service.deleteAccount(params.locator, context),
  }),
  put('/account/v1/accounts/{locator}/password', {
    summary: "Set another person's password",
    description:
      'For who forgot it: unlocks the account and ends its access tokens. Not of accounts that may what you may not.',
    permission: 'users.write',
    body: { schema: contract.PasswordSetRequest, required: true },
    answer: { description: 'The password is set.' },
    handle: ({ params, body }, context) => service.setPassword(params.locator, body, context),
  }),
  get('/account/v1/passwordRules', {
    summary: 'What the tenant asks of passwords',
    permission: ['users.read', 'users.write'],
    answer: { schema: contract.PasswordRulesResponse, description: 'The rules.' },
    handle: (_, context) => service.readPasswordRules(context),
  }),
  put('/account/v1/passwordRules', {
    summary: 'Set what the tenant asks of passwords',
    description:
      'Every password has 12 characters at least and is not a common one. What is left out is as strict tenants have it: 16 to 64 characters, a digit, an upper-case and a lower-case letter, a sign, none of the last four, 90 days.',
    permission: 'users.write',
    body: { schema: contract.PasswordRulesRequest, required: true },
    answer: { schema: contract.PasswordRulesResponse, description: 'The rules.' },
    handle: ({ body }, context) => service.writePasswordRules(body, context),
  }),
]
