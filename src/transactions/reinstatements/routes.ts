import type { RequestContext } from '../../platform/context.ts'
import { forTenant, type JsonText, jsonText, type Route } from '../../platform/http/route.ts'
import { PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import { ReinstatementCreateRequest, ReinstatementResponse, ReinstatementUpdateRequest } from './contract.ts'
import {
  actOnReinstatement,
  readReinstatement,
  reinstate,
  reinstatementLocator,
  reinstatementPrice,
} from './service.ts'

const { get, patch } = forTenant('Reinstatements')
const reinstatement = { schema: ReinstatementResponse, description: 'The reinstatement.' }

const act = async (
  context: RequestContext,
  locator: string,
  action: 'accept' | 'issue' | 'invalidate',
): Promise<JsonText> =>
  jsonText(
    await actOnReinstatement(context, reinstatementLocator(locator), one => ({ action, reinstatement: one })),
  )

export const reinstatementRoutes: readonly Route[] = [
  patch('/cancellations/{locator}/reinstate', {
    summary: 'Begin to reinstate a cancelled policy',
    description: 'Accepts and issues it too, with `issue`.',
    permission: 'reinstatements.write',
    body: { schema: ReinstatementCreateRequest, required: true },
    answer: reinstatement,
    handle: async ({ params, body }, context) => jsonText(await reinstate(context, params.locator, body)),
  }),
  get('/reinstatements/{locator}', {
    summary: 'Get a reinstatement',
    permission: 'reinstatements.read',
    answer: reinstatement,
    handle: ({ params }, context) => readReinstatement(context, reinstatementLocator(params.locator)),
  }),
  patch('/reinstatements/{locator}', {
    summary: 'Update a draft reinstatement',
    permission: 'reinstatements.write',
    body: { schema: ReinstatementUpdateRequest, required: true },
    answer: reinstatement,
    handle: async ({ params, body }, context) =>
      jsonText(
        await actOnReinstatement(context, reinstatementLocator(params.locator), one => ({
          action: 'update',
          reinstatement: one,
          request: body,
        })),
      ),
  }),
  patch('/reinstatements/{locator}/accept', {
    summary: 'Accept a reinstatement: it is billed, its coverage not in force yet',
    permission: ['reinstatements.accept', 'reinstatements.write'],
    answer: reinstatement,
    handle: ({ params }, context) => act(context, params.locator, 'accept'),
  }),
  patch('/reinstatements/{locator}/issue', {
    summary: 'Issue an accepted reinstatement',
    permission: ['reinstatements.issue', 'reinstatements.write'],
    answer: reinstatement,
    handle: ({ params }, context) => act(context, params.locator, 'issue'),
  }),
  patch('/reinstatements/{locator}/invalidate', {
    summary: 'Take back the acceptance of a reinstatement',
    permission: 'reinstatements.write',
    answer: reinstatement,
    handle: ({ params }, context) => act(context, params.locator, 'invalidate'),
  }),
  get('/reinstatements/{locator}/price', {
    summary: 'What a reinstatement changes of the price',
    description: 'Of a draft: as it would be now; nothing is stored.',
    permission: 'reinstatements.read',
    answer: { schema: PolicyPriceChangeResponse, description: 'The change.' },
    handle: async ({ params }, context) =>
      jsonText(await reinstatementPrice(context, reinstatementLocator(params.locator))),
  }),
]
