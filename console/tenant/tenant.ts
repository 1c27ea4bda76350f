// The pages that administer a tenant: links between them, and the content of each. Each page needs a permission.
import { h, type View } from '../element.ts'
import { permissions } from '../find.ts'
import { emptyNote } from '../parts.ts'
import { DESK } from '../words.ts'
import { accessPage } from './access.ts'
import { auditPage } from './audit.ts'
import { deploymentsPage } from './deployments.ts'
import { migrationsPage } from './migrations.ts'
import type { Opened, Shown } from './page.ts'
import { mayOpen, pagesFor, TENANT_PAGES, type TenantPage } from './pages.ts'
import { pluginsPage } from './plugins.ts'
import { rolesPage } from './roles.ts'
import { tablesPage } from './tables.ts'
import { tokensPage } from './tokens.ts'
import { usersPage } from './users.ts'
import { webhooksPage } from './webhooks.ts'
import { PAGES, TENANT } from './words.ts'

const CONTENT: Readonly<Record<TenantPage, (opened: Opened) => Shown | Promise<Shown>>> = {
  deployments: deploymentsPage,
  tables: tablesPage,
  users: usersPage,
  roles: rolesPage,
  tokens: tokensPage,
  access: accessPage,
  webhooks: webhooksPage,
  plugins: pluginsPage,
  audit: auditPage,
  migrations: migrationsPage,
}

const isPage = (name: string): name is TenantPage => Object.hasOwn(TENANT_PAGES, name)

/** `parts` are the parts of the address after `#/tenant`. */
export async function tenantView(
  [name = '', ...rest]: readonly string[],
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<View> {
  const held = await permissions()
  if (name === '') return overview(held)
  if (!isPage(name))
    return framed(undefined, held, {
      title: DESK.tenant,
      content: [emptyNote(TENANT.noPage), h('p', {}, h('a', { href: '#/tenant' }, TENANT.allPages))],
    })
  if (!mayOpen(held, name))
    return framed(name, held, { title: PAGES[name].title, content: forbidden(TENANT_PAGES[name]) })
  return framed(name, held, await CONTENT[name]({ rest, query, signal, held }))
}

const forbidden = (needed: readonly string[]): View =>
  h(
    'div',
    { class: 'notice', role: 'alert' },
    h('strong', {}, TENANT.forbidden),
    h('p', {}, TENANT.forbiddenAbout(needed)),
  )

const framed = (page: TenantPage | undefined, held: ReadonlySet<string>, { title, content }: Shown): View =>
  h(
    'div',
    { class: 'running' },
    h('h1', { tabindex: -1 }, title),
    h(
      'nav',
      { class: 'tabs', 'aria-label': TENANT.pages },
      pagesFor(held).map(name =>
        h(
          'a',
          { href: `#/tenant/${name}`, ...(name === page && { 'aria-current': 'page' }) },
          PAGES[name].title,
        ),
      ),
    ),
    content,
  )

function overview(held: ReadonlySet<string>): View {
  const pages = pagesFor(held)
  return h(
    'div',
    { class: 'running' },
    h('h1', { tabindex: -1 }, DESK.tenant),
    pages.length === 0
      ? h(
          'div',
          { class: 'notice', role: 'alert' },
          h('strong', {}, TENANT.forbidden),
          h('p', {}, TENANT.nothingAllowed),
        )
      : [
          h('p', { class: 'soft' }, TENANT.about),
          h(
            'ul',
            { class: 'work' },
            pages.map(name =>
              h(
                'li',
                {},
                h(
                  'a',
                  { href: `#/tenant/${name}` },
                  h('strong', {}, PAGES[name].title),
                  h('span', { class: 'soft small' }, PAGES[name].about),
                ),
              ),
            ),
          ),
        ],
  )
}
