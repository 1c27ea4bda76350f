// Every route of every capability. `npm run config` writes an index from this list, from which the service mounts the routes. The
// service loads the routes of a capability on the first call to one of them.
import { auditRoutes } from './access/audit/routes.ts'
import { identityProviderRoutes } from './access/identity-providers/routes.ts'
import { accountRoutes, ownPermissionRoutes } from './access/routes.ts'
import { loadDocumentWords } from './bundles/load.ts'
import { auxDataRoutes } from './extension/auxdata/routes.ts'
import { autofillRoutes, integrationRoutes } from './extension/integrations/routes.ts'
import { pluginRoutes } from './extension/plugins/routes.ts'
import { fileRoutes } from './platform/http/files.ts'
import { serviceRoutes } from './platform/http/health.ts'
import { openApiDocument } from './platform/http/openapi.ts'
import type { Examples } from './platform/http/reference/operations.ts'
import { jsonText, publicRoutes, type Route } from './platform/http/route.ts'
import { resourceRoutes } from './reference/routes.ts'
import { secretRoutes } from './reference/secrets/routes.ts'
import {
  constraintTableRoutes,
  dataTableRoutes,
  fileResourceRoutes,
  rangeTableRoutes,
  templateRoutes,
  templateSnippetRoutes,
} from './reference/uploads/routes.ts'
import { booksRoutes } from './reporting/books/routes.ts'
import { exportRoutes } from './reporting/export/routes.ts'
import { reportRoutes } from './reporting/routes.ts'
import { billingRoutes } from './servicing/billing/routes.ts'
import { calculationRoutes } from './servicing/calculations/routes.ts'
import { deprecatedRoutes } from './servicing/deprecated/routes.ts'
import { documentRoutes, templateRenderRoutes } from './servicing/documents/routes.ts'
import { eventNotifications } from './servicing/events/stream/notifications.ts'
import { eventInterfaceRoutes, streamRoutes } from './servicing/events/stream/routes.ts'
import { webhookRoutes } from './servicing/events/webhooks/routes.ts'
import { impactRoutes } from './servicing/impact/routes.ts'
import { mediaRoutes } from './servicing/media/routes.ts'
import { migrationRoutes } from './servicing/migration/routes.ts'
import { noteRoutes } from './servicing/notes/routes.ts'
import { policyholderRoutes } from './servicing/policyholders/routes.ts'
import { quickQuoteRoutes } from './servicing/quick-quotes/routes.ts'
import { searchRoutes } from './servicing/search/routes.ts'
import { secretUsageRoutes } from './servicing/secrets/routes.ts'
import { workListRoutes } from './servicing/work-lists/routes.ts'
import { bootstrapRoutes } from './tenants/bootstrap/routes.ts'
import { configurationRoutes } from './tenants/deployment/routes.ts'
import { settingRoutes, tenantRoutes } from './tenants/routes.ts'
import { cancellationRoutes } from './transactions/cancellations/routes.ts'
import { constraintRoutes } from './transactions/constraints/routes.ts'
import { scheduleRoutes } from './transactions/custom-events/routes.ts'
import { endorsementRoutes } from './transactions/endorsements/routes.ts'
import { lapseRoutes } from './transactions/lapses/routes.ts'
import { policyRoutes, tableRevisionRoutes } from './transactions/policies/routes.ts'
import { previewRoutes } from './transactions/preview/routes.ts'
import { quoteRoutes } from './transactions/quotes/routes.ts'
import { reinstatementRoutes } from './transactions/reinstatements/routes.ts'
import { renewalRoutes } from './transactions/renewals/routes.ts'
import { upgradeRoutes } from './transactions/upgrade/routes.ts'

const { get } = publicRoutes('Service')

const documentRoute = get('/openapi.json', {
  summary: 'Read this document, OpenAPI 3.1',
  answer: { description: 'The contract of every path.' },
  handle: async () => jsonText({ status: 200, text: await document() }),
})

export const ROUTES: readonly Route[] = [
  ...serviceRoutes,
  documentRoute,
  ...accountRoutes,
  ...ownPermissionRoutes,
  ...identityProviderRoutes,
  ...streamRoutes,
  ...webhookRoutes,
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
  ...secretUsageRoutes,
  ...bootstrapRoutes,
  ...fileResourceRoutes,
  ...templateRoutes,
  ...templateRenderRoutes,
  ...templateSnippetRoutes,
  ...integrationRoutes,
  ...deprecatedRoutes,
  ...searchRoutes,
  ...workListRoutes,
  ...noteRoutes,
  ...dataTableRoutes,
  ...tableRevisionRoutes,
  ...rangeTableRoutes,
  ...constraintTableRoutes,
  ...migrationRoutes,
  ...impactRoutes,
  ...reportRoutes,
  ...booksRoutes,
  ...exportRoutes,
  ...tenantRoutes,
  ...settingRoutes,
  ...fileRoutes,
]

let cachedDocument: string | undefined

async function document(): Promise<string> {
  if (cachedDocument !== undefined) return cachedDocument
  const { describeDocument, examples } = await loadDocumentWords()
  cachedDocument = openApiDocument(ROUTES, eventNotifications(), examples as Examples, describeDocument)
  return cachedDocument
}
