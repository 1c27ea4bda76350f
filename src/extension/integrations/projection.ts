import { MASK } from '../../platform/outbound/masking.ts'
import type { Tenant } from '../../platform/tenancy.ts'
import type { ExternalServiceIntegrationResponse, ExternalServiceIntegrationsResponse } from './contract.ts'
import type { Integration } from './integration.ts'
import { maskedHeaders, maskedUrl } from './secrecy.ts'

/** All integrations for the wire, without their secrets. */
export const integrationsResponse = (
  tenant: Tenant,
  integrations: Iterable<Integration>,
): ExternalServiceIntegrationsResponse => ({
  externalServiceIntegrations: [...integrations].map(one => integrationResponse(tenant, one)),
})

function integrationResponse(
  { locator }: Tenant,
  { name, headers, type, url, security }: Integration,
): ExternalServiceIntegrationResponse {
  return {
    name,
    headers: maskedHeaders(headers),
    tenantLocator: locator,
    type,
    url: maskedUrl(url),
    ...(security && {
      securitySpec: {
        hmacEnabled: security.hmacEnabled,
        ...(security.secret !== undefined && { secret: MASK }),
        secureSSL: security.secureSsl,
        ...(security.tag !== undefined && { tag: security.tag }),
      },
    }),
  }
}
