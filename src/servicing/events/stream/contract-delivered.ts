import { z } from '@hono/zod-openapi'
import { Integer, Text, Timestamp } from '../../../platform/wire.ts'
import { EventResponse, EventStreamData, OlderType } from './contract.ts'

// What a webhook receives (contract 2; brief 9; resources brief 7.3). The name through which its types matched an event decides
// between the two; beside its own properties each has those of the other that do not clash, and `sequence`.
const Sequence = Integer.openapi({ description: 'Rises from event to event of a policy, with gaps.' })

/** By a name of the event stream, as older webhooks have it. */
export const WebhookEvent = z
  .object({
    id: Text.openapi({ description: 'Also the `webhook-id` of every attempt.' }),
    locator: Text.openapi({ description: 'The same as `id`.' }),
    type: z.union([OlderType, z.literal('webhook.test')]),
    timestamp: Timestamp.openapi({ description: 'Milliseconds, as text.' }),
    sequence: Sequence,
    transactionId: Text.openapi({ description: 'The same for all events of one request.' }),
    requestId: Text.openapi({ description: 'The same as `transactionId`.' }),
    username: Text,
    userLocator: Text,
    data: EventStreamData,
  })
  .openapi('WebhookEvent')

export type WebhookEvent = z.infer<typeof WebhookEvent>

/** By a name of the events interface, and by no name of the stream: what the interface answers for the event, and more. */
export const WebhookEventResponse = EventResponse.extend({
  id: Text.openapi({ description: 'The same as `locator`; also the `webhook-id` of every attempt.' }),
  sequence: Sequence,
  transactionId: Text.openapi({ description: 'The same as `requestId`.' }),
  username: Text,
}).openapi('WebhookEventResponse')

export type WebhookEventResponse = z.infer<typeof WebhookEventResponse>
