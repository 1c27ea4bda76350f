// Roles with their permissions. Roles of the interface are created, changed and deleted here.

import { type ActionButton, actionButtons } from '../action-buttons.ts'
import { get, getAsRead } from '../api.ts'
import { h, part, type View } from '../element.ts'
import { type Column, loadedSection, section, table } from '../parts.ts'
import type { Role, User } from '../wire.ts'
import { backLine, confirmButton, type Opened, type Shown } from './page.ts'
import { permissionList, roleName, typeName } from './permission-list.ts'
import { GiveRoles, RoleForm } from './role-form.ts'
import { PAGES, TENANT, ROLES as WORDS } from './words.ts'

const WRITE = ['roles.write'] as const

export const rolesPage = ({ signal, held }: Opened): Shown => ({
  title: PAGES.roles.title,
  content: [
    backLine(undefined),
    h('p', { class: 'soft' }, WORDS.about),
    actionButtons([formButton(WORDS.make, held)], held),
    loadedSection('the roles', async () => {
      const roles = await get<Role[]>('/auth/roles', signal)
      return section(
        PAGES.roles.title,
        table(PAGES.roles.title, COLUMNS, roles, role => roleShown(role, held)),
      )
    }),
  ],
})

const COLUMNS: readonly Column<Role>[] = [
  { head: WORDS.role, cell: roleName },
  { head: TENANT.name, cell: ({ name }) => h('code', {}, name) },
  { head: WORDS.source, cell: ({ source }) => WORDS.sources[source] },
  {
    head: WORDS.type,
    cell: ({ accountType }) => (accountType === undefined ? WORDS.anyType : typeName(accountType)),
  },
]

const roleShown = (role: Role, held: ReadonlySet<string>): View =>
  h(
    'div',
    {},
    permissionList(role.permissions),
    role.source === 'interface' &&
      actionButtons(
        [
          formButton(WORDS.change, held, role),
          confirmButton({
            text: WORDS.remove,
            permissions: WRITE,
            method: 'DELETE',
            title: WORDS.removeTitle(roleName(role)),
            about: WORDS.removeAbout,
            path: `/auth/roles/${encodeURIComponent(role.name)}`,
            done: WORDS.isRemoved(roleName(role)),
          }),
        ],
        held,
      ),
  )

/** Reads the role when the form opens, because others may have changed it since the page was loaded. */
const formButton = (text: string, held: ReadonlySet<string>, role?: Role): ActionButton => ({
  text,
  permissions: WRITE,
  async open(close) {
    const asRead = role && (await getAsRead<Role>(`/auth/roles/${encodeURIComponent(role.name)}`))
    return part(RoleForm, { held, close, ...(asRead && { asRead }) })
  },
})

/** For an account whose roles come from no other source. */
export const giveButton = ({ id, username, roles }: User): ActionButton => ({
  text: WORDS.give,
  permissions: ['users.write'],
  async open(close) {
    const all = await get<Role[]>('/auth/roles')
    return part(GiveRoles, {
      account: { id, username, roles },
      roles: all.filter(({ source }) => source !== 'configuration'),
      close,
    })
  },
})
