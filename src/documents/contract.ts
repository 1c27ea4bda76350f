import { z } from '@hono/zod-openapi'
import { OptionalText, Text, Timestamp, TimestampIfAny } from '../platform/wire.ts'

export const DocumentType = z.enum(['pdf', 'html'])
export type DocumentType = z.infer<typeof DocumentType>

export const DocumentState = z.enum(['draft', 'ready', 'dataError', 'renderError', 'conversionError'])

/**
 * `url` is signed and holds until `urlExpirationTimestamp`; both are absent until the document is made. `state` and
 * `failureMessage` tell how far that is and why it failed (resources brief 4.2).
 */
export const PolicyDocumentResponse = z
  .object({
    locator: Text,
    displayName: Text,
    fileName: Text,
    type: DocumentType,
    createdTimestamp: TimestampIfAny,
    policyModificationLocator: OptionalText,
    url: OptionalText,
    urlExpirationTimestamp: TimestampIfAny,
    state: DocumentState.optional(),
    failureMessage: OptionalText,
  })
  .openapi('PolicyDocumentResponse')
export type PolicyDocumentResponse = z.infer<typeof PolicyDocumentResponse>

/** A file that a media field names; `url` is signed and holds until `expiresTimestamp` (brief 3.4). */
export const Media = z
  .object({
    locator: Text,
    mimeType: Text,
    url: Text,
    expiresTimestamp: Timestamp,
    fileName: OptionalText,
  })
  .openapi('Media')
export type Media = z.infer<typeof Media>
