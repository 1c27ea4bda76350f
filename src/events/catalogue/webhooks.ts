// The section `webhooks` of the OpenAPI document: what a webhook receives of each type. Made with the document.
import { z } from '@hono/zod-openapi'
import type { Notification } from '../../platform/http/openapi.ts'
import { WebhookEvent } from '../contract.ts'
import { newerTypesOf } from '../newer-types.ts'
import { EVENT_TYPES, eventTypes } from '../types.ts'
import { causesOf } from './causes.ts'
import { dataContract } from './contracts.ts'
import { ENTRIES } from './entries.ts'
import { exampleData } from './example.ts'

/** Every type that the service emits, and what a plugin makes. */
export const eventNotifications = (): Notification[] => [
  ...eventTypes
    .filter(type => !ENTRIES[type].isForeign)
    .map((type): Notification => {
      const newer = newerTypesOf(type)
      return {
        name: type,
        summary: EVENT_TYPES[type],
        description: [
          newer.length > 0 && `Newer name: ${newer.map(name => `\`${name}\``).join(' or ')}.`,
          `Caused by ${causesOf(type)
            .map(cause => `\`${cause}\``)
            .join(', ')}.`,
        ]
          .filter(Boolean)
          .join('\n\n'),
        deprecated: ENTRIES[type].isLegacy ?? false,
        schema: WebhookEvent.extend({
          type: z.literal(type),
          data: dataContract(type).openapi({ example: exampleData(type) }),
        }),
      }
    }),
  {
    name: 'custom.*',
    summary: 'An event of a plugin’s own making.',
    description: 'Also told when the operation failed: then its data has `operationFailed` `true`.',
    deprecated: false,
    schema: WebhookEvent,
  },
]
