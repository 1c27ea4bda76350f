// Every route of every capability, and the OpenAPI document made of them. The service mounts them by the index that
// `npm run config` writes of this list, and so reads a capability's routes when one is first called.
import { ownPermissionRoutes } from './accounts/own-permissions.ts'
import { accountRoutes } from './accounts/routes.ts'
import { auditRoutes } from './audit/routes.ts'
import { autofillRoutes } from './autofill/routes.ts'
import { auxDataRoutes } from './auxdata/routes.ts'
import { billingRoutes } from './billing/routes.ts'
import { calculationRoutes } from './calculations/routes.ts'
import { cancellationRoutes } from './cancellations/routes.ts'
import { configurationRoutes } from './configuration/routes.ts'
import { deprecatedRoutes } from './deprecated/routes.ts'
import { documentRoutes } from './documents/routes.ts'
import { endorsementRoutes } from './endorsements/routes.ts'
import { eventNotifications } from './events/catalogue/webhooks.ts'
import { eventInterfaceRoutes } from './events/interface/routes.ts'
import { eventRoutes } from './events/routes.ts'
import { scheduleRoutes } from './events/schedules/routes.ts'
import { integrationRoutes } from './integrations/routes.ts'
import { lapseRoutes } from './lapses/routes.ts'
import { mediaRoutes } from './media/routes.ts'
import { migrationRoutes } from './migration/routes.ts'
import { fileRoutes } from './platform/http/files.ts'
import { serviceRoutes } from './platform/http/health.ts'
import { openApiDocument } from './platform/http/openapi.ts'
import type { Examples } from './platform/http/reference/examples.ts'
import { jsonText, publicRoute, type Route } from './platform/http/route.ts'
import { pluginRoutes } from './plugins/routes.ts'
import { constraintRoutes } from './policies/constraints/routes.ts'
import { previewRoutes } from './policies/preview/routes.ts'
import { policyRoutes } from './policies/routes.ts'
import { upgradeRoutes } from './policies/upgrade/routes.ts'
import { policyholderRoutes } from './policyholders/routes.ts'
import { quickQuoteRoutes } from './quick-quotes/routes.ts'
import { quoteRoutes } from './quotes/routes.ts'
import { reinstatementRoutes } from './reinstatements/routes.ts'
import { renewalRoutes } from './renewals/routes.ts'
import { bootstrapRoutes } from './resources/bootstrap/routes.ts'
import { constraintTableRoutes } from './resources/constraints/routes.ts'
import { dataTableRoutes } from './resources/data-tables/routes.ts'
import { fileResourceRoutes } from './resources/files/routes.ts'
import { resourceRoutes } from './resources/routes.ts'
import { secretRoutes } from './resources/secrets/routes.ts'
import { templateRoutes } from './resources/templates/routes.ts'
import { tenantRoutes } from './tenants/routes.ts'
import { settingRoutes } from './tenants/settings.ts'

const documentRoute = publicRoute({
  method: 'get',
  path: '/openapi.json',
  summary: 'This document, OpenAPI 3.1',
  tags: ['Service'],
  answer: { description: 'The contract of every path.' },
  handle: async () => jsonText({ status: 200, text: await document() }),
})

/** Every route of the service; a capability adds its array. */
export const ROUTES: readonly Route[] = [
  ...serviceRoutes,
  documentRoute,
  ...accountRoutes,
  ...ownPermissionRoutes,
  ...eventRoutes,
  ...eventInterfaceRoutes,
  ...scheduleRoutes,
  ...configurationRoutes,
  ...policyRoutes,
  ...documentRoutes,
  ...mediaRoutes,
  ...previewRoutes,
  ...constraintRoutes,
  ...upgradeRoutes,
  ...policyholderRoutes,
  ...quoteRoutes,
  ...quickQuoteRoutes,
  ...endorsementRoutes,
  ...renewalRoutes,
  ...cancellationRoutes,
  ...reinstatementRoutes,
  ...lapseRoutes,
  ...billingRoutes,
  ...calculationRoutes,
  ...autofillRoutes,
  ...auxDataRoutes,
  ...auditRoutes,
  ...pluginRoutes,
  ...resourceRoutes,
  ...secretRoutes,
  ...bootstrapRoutes,
  ...fileResourceRoutes,
  ...templateRoutes,
  ...integrationRoutes,
  ...deprecatedRoutes,
  ...dataTableRoutes,
  ...constraintTableRoutes,
  ...migrationRoutes,
  ...tenantRoutes,
  ...settingRoutes,
  ...fileRoutes,
]

let cachedDocument: string | undefined

async function document(): Promise<string> {
  if (cachedDocument !== undefined) return cachedDocument
  const { default: examples } = await import('./platform/http/reference/examples.json')
  cachedDocument = openApiDocument(ROUTES, eventNotifications(), examples as Examples)
  return cachedDocument
}
