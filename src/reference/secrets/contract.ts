// Secrets on the wire (contract 2, Secrets; resources brief 5).
import { z } from '@hono/zod-openapi'
import { component, Name, optional, Text, Texts } from '../../platform/wire.ts'
import { BasicResourceResponse, Jurisdictions, ResourceName } from '../contract.ts'

const Items = z.record(z.string(), z.unknown()).openapi({
  description: 'Values, by the names of the items.',
  example: { apiKey: 'k-1', user: 'rating' },
})

const AllowedHosts = z.array(Name).openapi({
  description:
    'Hosts to which headers can send the secret: names without port, or `*.example.com` for all subdomains. Absent: every permitted address. Empty: none.',
  example: ['rater.example.com'],
})

/** Jurisdictions may be in the body or, as for other resources, in the query. */
export const SecretCreateRequest = component('SecretCreateRequest', {
  staticName: ResourceName,
  name: Name,
  secret: Items,
  jurisdictions: Jurisdictions.optional(),
  allowedHosts: optional(AllowedHosts),
})
export type SecretCreateRequest = z.output<typeof SecretCreateRequest>

export const SecretCreateQuery = z.object({ jurisdiction: Jurisdictions.optional() })
export type SecretCreateQuery = z.output<typeof SecretCreateQuery>

export const SecretUpdateRequest = Items
export type SecretUpdateRequest = z.output<typeof SecretUpdateRequest>

export const SecretUpdateQuery = z.object({
  allowedHosts: z
    .preprocess(
      wire => (typeof wire === 'string' ? [wire] : wire),
      z.array(z.string().max(256)).max(100).optional(),
    )
    .describe('The hosts that replace the previous ones. Empty: every address again.'),
})
export type SecretUpdateQuery = z.output<typeof SecretUpdateQuery>

export const SecretResponse = component('SecretResponse', {
  resource: BasicResourceResponse,
  secret: z.record(Text, Text).openapi({
    description: 'The names of the items, each with `********`.',
    example: { apiKey: '********' },
  }),
  allowedHosts: Texts.optional().describe('Absent if the secret can be sent to every permitted address.'),
})
export type SecretResponse = z.output<typeof SecretResponse>
