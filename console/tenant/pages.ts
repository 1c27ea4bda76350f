// The pages that administer a tenant, each with its permissions: any one of them suffices. The frame links to the pages if any
// may be opened.
export const TENANT_PAGES = {
  deployments: ['deployments.read'],
  tables: ['resources.list', 'deployments.download'],
  users: ['users.list', 'users.read'],
  roles: ['users.list', 'users.read', 'roles.write'],
  tokens: ['users.read', 'users.custom'],
  access: ['users.read', 'users.write', 'tenants.read'],
  webhooks: ['webhooks.read', 'webhooks.list'],
  plugins: ['plugins.read'],
  audit: ['audit.list'],
  migrations: ['migration.list'],
} as const satisfies Record<string, readonly string[]>

export type TenantPage = keyof typeof TENANT_PAGES

export const mayOpen = (held: ReadonlySet<string>, page: TenantPage): boolean =>
  TENANT_PAGES[page].some(one => held.has(one))

/** The pages that the account may open, in the order in which they are shown. */
export const pagesFor = (held: ReadonlySet<string>): TenantPage[] =>
  (Object.keys(TENANT_PAGES) as TenantPage[]).filter(page => mayOpen(held, page))
