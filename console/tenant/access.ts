// Who comes in beside passwords and tokens: people by identity providers, and software agents.
import { get } from '../api.ts'
import { deedButtons } from '../deed-buttons.ts'
import { type Child, h, type View } from '../element.ts'
import { moment, words } from '../format.ts'
import { empty, facts, loaded, section, table } from '../parts.ts'
import type { IdentityProvider } from '../wire.ts'
import { confirmed, mayAny, type Opened, type Shown, under } from './opened.ts'
import { PAGES, TENANT, ACCESS as WORDS } from './words.ts'

export const accessPage = ({ held, signal }: Opened): Shown => ({
  title: PAGES.access.title,
  content: [
    under(undefined),
    mayAny(held, 'users.read', 'users.write') &&
      section(
        WORDS.providers,
        loaded('the providers', async () => {
          const providers = await get<IdentityProvider[]>('/auth/providers', signal)
          return providers.length === 0 ? empty(WORDS.noProviders) : providerTable(providers)
        }),
      ),
    mayAny(held, 'tenants.read') &&
      section(
        WORDS.agents,
        loaded('whether agents may come', () => agents(held, signal)),
      ),
  ],
})

const providerTable = (providers: readonly IdentityProvider[]): View =>
  table<IdentityProvider>(
    WORDS.providers,
    [
      { head: TENANT.name, cell: ({ label, name }) => [label, label !== name && ` (${name})`] },
      { head: WORDS.issuer, cell: ({ issuer }) => issuer },
      {
        head: WORDS.passwords,
        cell: ({ replacesPasswords }) => (replacesPasswords ? WORDS.replaced : WORDS.beside),
      },
      { head: WORDS.changed, cell: ({ updatedAt }) => moment(updatedAt) },
    ],
    providers,
    providerShown,
  )

type Mapping = IdentityProvider['mappings'][number]

const providerShown = ({
  clientId,
  hasClientSecret,
  audience,
  scopes,
  mappings,
}: IdentityProvider): Child => [
  facts([
    [WORDS.clientId, clientId],
    [WORDS.secret, hasClientSecret ? WORDS.stored : WORDS.notStored],
    [WORDS.audience, audience],
    [WORDS.scopes, scopes.join(' ')],
  ]),
  h('h3', { class: 'minor' }, WORDS.mappings),
  table<Mapping>(
    WORDS.mappings,
    [
      { head: WORDS.claim, cell: ({ claim }) => h('code', {}, claim) },
      { head: WORDS.value, cell: ({ value }) => value },
      { head: WORDS.roles, cell: ({ roles }) => roles.map(words).join(', ') },
    ],
    mappings,
  ),
]

async function agents(held: ReadonlySet<string>, signal: AbortSignal): Promise<Child> {
  const { allowed } = await get<{ allowed: boolean }>('/tenant/agentAccess', signal)
  return [
    h('p', {}, allowed ? WORDS.agentsMay : WORDS.agentsMayNot),
    deedButtons(
      [
        confirmed({
          text: allowed ? WORDS.keepOut : WORDS.letIn,
          permissions: ['tenants.write'],
          title: allowed ? WORDS.keepOut : WORDS.letIn,
          about: allowed ? WORDS.keepOutAbout : WORDS.letInAbout,
          method: 'PUT',
          path: '/tenant/agentAccess',
          body: { allowed: !allowed },
          done: allowed ? WORDS.keptOut : WORDS.letInDone,
        }),
      ],
      held,
    ),
  ]
}
