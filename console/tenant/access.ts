// Access other than by password or token: identity providers for people, and access of software agents.

import { type ActionButton, actionButtons } from '../action-buttons.ts'
import { get, getAsRead } from '../api.ts'
import { type Child, h, part, type View } from '../element.ts'
import { moment, words } from '../format.ts'
import { emptyNote, facts, loadedSection, section, table } from '../parts.ts'
import { session } from '../session.ts'
import type { IdentityProvider, Role } from '../wire.ts'
import { backLine, confirmButton, mayAny, type Opened, type Shown } from './page.ts'
import { ProviderForm } from './provider-form.ts'
import { PAGES, PROVIDERS, TENANT, ACCESS as WORDS } from './words.ts'

export const accessPage = ({ held, signal }: Opened): Shown => ({
  title: PAGES.access.title,
  content: [
    backLine(undefined),
    mayAny(held, 'users.read', 'users.write') &&
      section(
        WORDS.providers,
        loadedSection(WORDS.loadsProviders, async () => {
          const providers = await get<IdentityProvider[]>('/auth/providers', signal)
          return [
            actionButtons([formButton(PROVIDERS.make, providers)], held),
            providers.length === 0 ? emptyNote(WORDS.noProviders) : providerTable(providers, held),
          ]
        }),
      ),
    mayAny(held, 'tenants.read') &&
      section(
        WORDS.agents,
        loadedSection(WORDS.loadsAgents, () => agents(held, signal)),
      ),
  ],
})

const providerTable = (providers: readonly IdentityProvider[], held: ReadonlySet<string>): View =>
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
    provider => [
      providerShown(provider),
      actionButtons([formButton(PROVIDERS.change, providers, provider), removeButton(provider)], held),
    ],
  )

/** Reads the roles and the provider when the form opens: roles may be new, and the provider may have been changed by others. */
const formButton = (
  text: string,
  providers: readonly IdentityProvider[],
  provider?: IdentityProvider,
): ActionButton => ({
  text,
  permissions: ['users.write'],
  async open(close) {
    const [all, asRead] = await Promise.all([
      get<Role[]>('/auth/roles'),
      provider && getAsRead<IdentityProvider>(`/auth/providers/${encodeURIComponent(provider.name)}`),
    ])
    return part(ProviderForm, {
      taken: providers.map(({ name }) => name),
      close,
      ...(asRead && { asRead }),
      roles: all.filter(({ source }) => source !== 'configuration'),
    })
  },
})

const removeButton = ({ name, label }: IdentityProvider): ActionButton =>
  confirmButton({
    text: PROVIDERS.remove,
    permissions: ['users.write'],
    method: 'DELETE',
    title: PROVIDERS.removeTitle(label),
    about: PROVIDERS.removeAbout,
    path: `/auth/providers/${encodeURIComponent(name)}`,
    done: PROVIDERS.isRemoved(label),
  })

type Mapping = IdentityProvider['mappings'][number]

/** The callback address that a tenant registers at its provider for sign-ins at this host. */
const callbackAddress = (provider: string): string =>
  `${location.origin}/account/authenticateByProvider/callback/${session()?.tenantName}/${provider}`

const providerShown = ({
  name,
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
    [WORDS.comesBackTo, h('code', {}, callbackAddress(name))],
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
    actionButtons(
      [
        confirmButton({
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
