// Long-lived tokens: their permissions, creating one, and revoking one.

import { type ActionButton, actionButtons } from '../action-buttons.ts'
import { get } from '../api.ts'
import { type Child, h, part, type View } from '../element.ts'
import { moment } from '../format.ts'
import { type Column, emptyNote, loadedSection, table } from '../parts.ts'
import type { LongLivedToken } from '../wire.ts'
import { MakeToken } from './make-token.ts'
import { backLine, confirmButton, type Opened, type Shown } from './page.ts'
import { permissionList } from './permission-list.ts'
import { PAGES, USERS, TOKENS as WORDS } from './words.ts'

/** The tokens of the account that is signed in. */
const OWN = '/auth/users/tokens'

export function tokensPage({ signal, held }: Opened): Shown {
  return {
    title: PAGES.tokens.title,
    content: [
      backLine(undefined),
      loadedSection('the tokens', () => tokensOf(USERS.tokens, OWN, held, signal)),
      actionButtons([makeButton(WORDS.make, OWN, ['users.write', 'users.token'], held)], held),
    ],
  }
}

export const makeButton = (
  title: string,
  path: string,
  permissions: readonly string[],
  held: ReadonlySet<string>,
): ActionButton => ({
  text: WORDS.make,
  permissions,
  open: async close => part(MakeToken, { title, path, held, close }),
})

/** `path` is the path of an account's tokens. The caption must be unique on the page. */
export async function tokensOf(
  caption: string,
  path: string,
  held: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Child> {
  const tokens = await get<LongLivedToken[]>(path, signal)
  return tokens.length === 0
    ? emptyNote(WORDS.none)
    : table(caption, COLUMNS, tokens, token => tokenShown(path, token, held))
}

const COLUMNS: readonly Column<LongLivedToken>[] = [
  { head: WORDS.name, cell: ({ name }) => name },
  { head: WORDS.created, cell: ({ createdAt }) => moment(createdAt) },
  { head: WORDS.expires, cell: ({ expiresAt }) => moment(expiresAt) },
  { head: USERS.permissions, cell: ({ permissions = [] }) => String(permissions.length) },
]

const tokenShown = (
  path: string,
  { name, permissions = [] }: LongLivedToken,
  held: ReadonlySet<string>,
): View => h('div', {}, permissionList(permissions), actionButtons([revokeButton(path, name)], held))

const revokeButton = (path: string, name: string): ActionButton =>
  confirmButton({
    text: WORDS.revoke,
    permissions: ['users.write', 'users.custom'],
    title: WORDS.revokeTitle(name),
    about: WORDS.revokeAbout,
    method: 'DELETE',
    path: `${path}/${encodeURIComponent(name)}`,
    done: WORDS.revoked(name),
  })
