// Users with their permissions, and the actions on each.

import { type ActionButton, actionButtons } from '../action-buttons.ts'
import { get, queryOf } from '../api.ts'
import { type Child, h, type View } from '../element.ts'
import { moment } from '../format.ts'
import { addressedList, choiceFault } from '../lists/address-list.ts'
import { choiceForm, input, type Option, select } from '../lists/filters.ts'
import { badge, type Column, emptyNote, facts, loadedSection, table } from '../parts.ts'
import { session } from '../session.ts'
import type { User, UserList } from '../wire.ts'
import { addressOf, PAGE_SIZE, pagesOf, readFilters } from './address.ts'
import { backLine, confirmButton, mayAny, type Opened, type Shown } from './page.ts'
import { permissionList, typeName } from './permission-list.ts'
import { giveButton } from './roles.ts'
import { makeButton, tokensOf } from './tokens.ts'
import { PAGES, TENANT, TOKENS, USERS as WORDS } from './words.ts'

const NAMES = ['username', 'accountType', 'role', 'disabled', 'service'] as const
type Chosen = Record<(typeof NAMES)[number], string>

const TYPES: readonly User['accountType'][] = [
  'account.tenant.admin',
  'account.test.tenant.admin',
  'account.tenant.employee',
  'account.tenant.claims.only.user',
  'account.tenant.read.only.user',
]

const TYPE_OPTIONS = TYPES.map((type): Option => [type, typeName(type)])
const STATE_OPTIONS: readonly Option[] = [
  ['true', WORDS.onlyDisabled],
  ['false', WORDS.onlyOthers],
]
const SERVICE_OPTIONS: readonly Option[] = [
  ['false', WORDS.people],
  ['true', WORDS.programs],
]

export function usersPage({ query, signal, held }: Opened): Shown {
  const chosen = readFilters(query, NAMES)
  const from = query.get('page') ?? ''
  return {
    title: PAGES.users.title,
    content: [
      backLine(undefined),
      filters(chosen),
      h('h2', { class: 'hidden' }, WORDS.users),
      addressedList({
        what: 'the users',
        faults: [
          choiceFault(WORDS.type, TYPE_OPTIONS, chosen.accountType),
          choiceFault(TENANT.state, STATE_OPTIONS, chosen.disabled),
          choiceFault(WORDS.service, SERVICE_OPTIONS, chosen.service),
        ],
        from,
        whole: addressOf(['users']),
        firstPage: addressOf(['users'], chosen),
        load: () => page(chosen, from, held, signal),
      }),
    ],
  }
}

const filters = (chosen: Chosen): View =>
  choiceForm(
    [
      input('username', WORDS.username, chosen.username),
      select('accountType', WORDS.type, TYPE_OPTIONS, chosen.accountType),
      input('role', WORDS.role, chosen.role),
      select('disabled', TENANT.state, STATE_OPTIONS, chosen.disabled),
      select('service', WORDS.service, SERVICE_OPTIONS, chosen.service),
    ],
    typed => addressOf(['users'], typed),
  )

async function page(
  chosen: Chosen,
  from: string,
  held: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Child> {
  const asked = queryOf({ ...chosen, offset: from, count: PAGE_SIZE })
  const { items, listCompleted } = await get<UserList>(`/auth/users?${asked}`, signal)
  if (items.length === 0 && from === '') return emptyNote(WORDS.none)
  return [
    items.length > 0 && table(WORDS.users, COLUMNS, items, user => userShown(user, held, signal)),
    pagesOf(['users'], chosen, from, {
      count: items.length,
      next: listCompleted ? undefined : String(Number(from) + items.length),
    }),
  ]
}

const COLUMNS: readonly Column<User>[] = [
  { head: WORDS.user, cell: ({ username }) => username },
  { head: TENANT.name, cell: ({ name }) => name },
  { head: WORDS.type, cell: ({ accountType }) => typeName(accountType) },
  {
    head: TENANT.state,
    cell: ({ locked, disabled, service }) => [
      disabled ? badge('cancelled', WORDS.disabledBadge) : !locked && badge('issued', WORDS.active),
      locked && badge('failed', WORDS.lockedBadge),
      service && badge('draft', WORDS.serviceBadge),
    ],
  },
  { head: WORDS.signIn, cell: signsInWith },
]

function signsInWith({ service, identityProvider }: User): string {
  if (service) return WORDS.tokensOnly
  return identityProvider === undefined ? WORDS.password : WORDS.provider(identityProvider)
}

function userShown(user: User, held: ReadonlySet<string>, signal: AbortSignal): View {
  const { id, username, email, createdTimestamp, permissions, roles, service } = user
  const path = `/auth/users/${encodeURIComponent(id)}/tokens`
  return h(
    'div',
    {},
    facts([
      [WORDS.email, email || '–'],
      [WORDS.created, moment(createdTimestamp)],
      [TENANT.locator, h('code', {}, id)],
      [WORDS.roles, roles.join(', ') || WORDS.rolesOfType],
    ]),
    h('h3', { class: 'minor' }, WORDS.permissions),
    permissionList(permissions),
    mayAny(held, 'users.read', 'users.custom') && [
      h('h3', { class: 'minor' }, WORDS.tokens),
      loadedSection('the tokens', () => tokensOf(`${WORDS.tokens}: ${username}`, path, held, signal)),
    ],
    actionButtons(
      [
        ...(service ? [makeButton(TOKENS.makeFor(username), path, ['users.custom'], held)] : []),
        ...(username === session()?.username ? [] : deedsOf(user)),
      ],
      held,
    ),
  )
}

function deedsOf(user: User): ActionButton[] {
  const { id, username, locked, disabled, identityProvider } = user
  const account = `/account/v1/accounts/${encodeURIComponent(id)}`
  return [
    // The roles of a user of an identity provider come from the provider's mappings.
    ...(identityProvider === undefined ? [giveButton(user)] : []),
    ...(locked
      ? [
          confirmButton({
            text: WORDS.unlock,
            permissions: ['users.write'],
            title: WORDS.unlockTitle(username),
            about: WORDS.unlockAbout,
            method: 'POST',
            path: '/account/unlock',
            body: { username },
            done: WORDS.unlocked(username),
          }),
        ]
      : []),
    disabled
      ? confirmButton({
          text: WORDS.enable,
          permissions: ['users.write'],
          title: WORDS.enableTitle(username),
          about: WORDS.enableAbout,
          method: 'PATCH',
          path: `${account}/enable`,
          done: WORDS.isEnabled(username),
        })
      : confirmButton({
          text: WORDS.disable,
          permissions: ['users.write', 'users.custom'],
          title: WORDS.disableTitle(username),
          about: WORDS.disableAbout,
          method: 'PATCH',
          path: `${account}/disable`,
          done: WORDS.isDisabled(username),
        }),
    confirmButton({
      text: WORDS.revoke,
      permissions: ['users.write', 'users.custom', 'users.revoke'],
      title: WORDS.revokeTitle(username),
      about: WORDS.revokeAbout,
      method: 'POST',
      path: `/auth/users/${encodeURIComponent(id)}/revoke`,
      done: WORDS.revoked(username),
    }),
  ]
}
