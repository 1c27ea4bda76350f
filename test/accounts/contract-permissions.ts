// The permissions that the contracts require of each route, any one of which is enough. Paths of both contracts, by permission.

export const CONTRACT_PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  // The contract says users.write; users.token, which has no other use, creates tokens too (resources brief 11).
  'users.write users.token': ['POST /auth/users/tokens'],
  'users.custom': ['POST /auth/users/{locator}/tokens'],
  'users.read users.custom': ['GET /auth/users/tokens', 'GET /auth/users/{locator}/tokens'],
  'users.write users.custom': [
    'DELETE /auth/users/tokens/{tokenOrName}',
    'DELETE /auth/users/{locator}/tokens/{tokenOrName}',
    'DELETE /auth/users/{locator}/credentials',
  ],
  'users.write users.custom users.revoke': ['POST /auth/users/{locator}/revoke'],
  'tables.read': [
    'GET /resource/{tenantLocator}/tables/{name}/record',
    'GET /resource/{tenantLocator}/tables/{name}',
    'GET /resource/{tenantLocator}/rangeTables/{name}/record',
    'GET /resource/{tenantLocator}/rangeTables/{name}',
  ],
  'tables.upload': [
    'POST /resource/{tenantLocator}/tables',
    'PATCH /resource/{tenantLocator}/tables/{name}',
    'POST /resource/{tenantLocator}/rangeTables',
    'PATCH /resource/{tenantLocator}/rangeTables/{name}',
  ],
  'constraints.read': [
    'GET /resource/{tenantLocator}/constraints/{name}/record',
    'GET /resource/{tenantLocator}/constraints/{name}',
  ],
  'constraints.upload': [
    'POST /resource/{tenantLocator}/constraints',
    'PATCH /resource/{tenantLocator}/constraints/{name}',
  ],
  'accounts.read': [
    'POST /policy/{tenantLocator}/accounts/{locator}/constraints/evaluate',
    'GET /policy/{tenantLocator}/accounts/{locator}/constraints/dependency',
  ],
  'quotes.read': [
    'POST /policy/{tenantLocator}/quotes/{locator}/constraints/evaluate',
    'GET /policy/{tenantLocator}/quotes/{locator}/constraints/dependency',
  ],
  'quick-quotes.read': [
    'POST /policy/{tenantLocator}/quickquotes/{locator}/constraints/evaluate',
    'GET /policy/{tenantLocator}/quickquotes/{locator}/constraints/dependency',
  ],
  'transactions.read': [
    'POST /policy/{tenantLocator}/transactions/{locator}/elements/constraints/evaluate',
    'GET /policy/{tenantLocator}/transactions/{locator}/elements/constraints/dependency',
  ],
  'resource-groups.read': ['GET /resource/{tenantLocator}/groups/{locator}'],
  'resource-groups.list': ['GET /resource/{tenantLocator}/groups/list'],
  'resource-groups.write': [
    'POST /resource/{tenantLocator}/groups',
    'PATCH /resource/{tenantLocator}/groups/{locator}',
    'PATCH /resource/{tenantLocator}/groups/{locator}/retire',
  ],
  'resources.read': ['GET /resource/{tenantLocator}/resources/{name}'],
  'resources.list': [
    'GET /resource/{tenantLocator}/resources/list',
    'GET /resource/{tenantLocator}/resources/type/{type}/list',
  ],
  'documents.read': ['GET /resource/{tenantLocator}/documents/{name}'],
  'documents.upload': ['POST /resource/{tenantLocator}/documents'],
  'documents.update': ['PATCH /resource/{tenantLocator}/documents/{name}'],
  'templates.read': [
    'GET /resource/{tenantLocator}/templates/{name}',
    'GET /resource/{tenantLocator}/templateSnippets/{name}',
  ],
  'templates.upload': [
    'POST /resource/{tenantLocator}/templates/velocity',
    'PATCH /resource/{tenantLocator}/templates/velocity',
    'POST /resource/{tenantLocator}/templates/liquid',
    'PATCH /resource/{tenantLocator}/templates/liquid',
    'POST /resource/{tenantLocator}/templateSnippets/velocity',
    'PATCH /resource/{tenantLocator}/templateSnippets/velocity',
    'POST /resource/{tenantLocator}/templateSnippets/liquid',
    'PATCH /resource/{tenantLocator}/templateSnippets/liquid',
  ],
  'fonts.upload': ['POST /resource/{tenantLocator}/fonts'],
  'secrets.read': ['GET /resource/{tenantLocator}/secrets/{name}'],
  'secrets.write': [
    'POST /resource/{tenantLocator}/secrets',
    'PATCH /resource/{tenantLocator}/secrets/{name}',
    'DELETE /resource/{tenantLocator}/secrets/{name}',
  ],
  'webhooks.read': ['GET /event/{tenantLocator}/webhooks/{webhookLocator}'],
  'webhooks.read webhooks.list': ['GET /event/{tenantLocator}/webhooks/list'],
  'webhooks.write': [
    'POST /event/{tenantLocator}/webhooks',
    'PATCH /event/{tenantLocator}/webhooks/{webhookLocator}',
    'PATCH /event/{tenantLocator}/webhooks/{webhookLocator}/unsuspend',
    'DELETE /event/{tenantLocator}/webhooks/{webhookLocator}',
  ],
  'events.read': [
    'GET /event/{tenantLocator}/events/{locator}',
    'GET /event/{tenantLocator}/events/request/{locator}',
  ],
  'events.read events.list': ['GET /event/{tenantLocator}/events/list'],
  'migration.write': [
    'POST /migration/{tenantLocator}/migrations',
    'POST /migration/{tenantLocator}/migrations/accounts/{accountLocator}',
    'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}/resume',
    'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}/recover',
    'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}/pause',
    'PATCH /migration/{tenantLocator}/migrations/{migrationLocator}',
  ],
  'migration.read': [
    'GET /migration/{tenantLocator}/migrations/{migrationLocator}',
    'GET /migration/{tenantLocator}/migrations/{migrationLocator}/accounts/{accountLocator}/mappings',
    'GET /migration/{tenantLocator}/migrations/{migrationLocator}/accounts/{accountLocator}',
  ],
  'migration.read migration.list': [
    'GET /migration/{tenantLocator}/migrations/{migrationLocator}/mappings/list',
    'GET /migration/{tenantLocator}/migrations/{migrationLocator}/accounts/list',
    'GET /migration/{tenantLocator}/migrations/{migrationLocator}/failures/list',
  ],
}
