import type { RequestContext } from '../../platform/context.ts'
import { type JsonText, jsonText, type Route, tenantRoute } from '../../platform/http/route.ts'
import { PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import { ReinstatementCreateRequest, ReinstatementResponse, ReinstatementUpdateRequest } from './contract.ts'
import {
  actOnReinstatement,
  readReinstatement,
  reinstate,
  reinstatementLocator,
  reinstatementPrice,
} from './service.ts'

const tags = ['Reinstatements']
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
  tenantRoute({
    method: 'patch',
    path: '/cancellations/{locator}/reinstate',
    summary: 'Begin to reinstate a cancelled policy',
    description: 'Accepts and issues it too, with `issue`.',
    tags,
    permission: 'reinstatements.write',
    body: { schema: ReinstatementCreateRequest, required: true },
    answer: reinstatement,
    handle: async ({ params, body }, context) => jsonText(await reinstate(context, params.locator, body)),
  }),
  tenantRoute({
    method: 'get',
    path: '/reinstatements/{locator}',
    summary: 'Get a reinstatement',
    tags,
    permission: 'reinstatements.read',
    answer: reinstatement,
    handle: ({ params }, context) => readReinstatement(context, reinstatementLocator(params.locator)),
  }),
  tenantRoute({
    method: 'patch',
    path: '/reinstatements/{locator}',
    summary: 'Update a draft reinstatement',
    tags,
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
  tenantRoute({
    method: 'patch',
    path: '/reinstatements/{locator}/accept',
    summary: 'Accept a reinstatement: it is billed, its coverage not in force yet',
    tags,
    permission: ['reinstatements.accept', 'reinstatements.write'],
    answer: reinstatement,
    handle: ({ params }, context) => act(context, params.locator, 'accept'),
  }),
  tenantRoute({
    method: 'patch',
    path: '/reinstatements/{locator}/issue',
    summary: 'Issue an accepted reinstatement',
    tags,
    permission: ['reinstatements.issue', 'reinstatements.write'],
    answer: reinstatement,
    handle: ({ params }, context) => act(context, params.locator, 'issue'),
  }),
  tenantRoute({
    method: 'patch',
    path: '/reinstatements/{locator}/invalidate',
    summary: 'Take back the acceptance of a reinstatement',
    tags,
    permission: 'reinstatements.write',
    answer: reinstatement,
    handle: ({ params }, context) => act(context, params.locator, 'invalidate'),
  }),
  tenantRoute({
    method: 'get',
    path: '/reinstatements/{locator}/price',
    summary: 'What a reinstatement changes of the price',
    description: 'Of a draft: as it would be now; nothing is stored.',
    tags,
    permission: 'reinstatements.read',
    answer: { schema: PolicyPriceChangeResponse, description: 'The change.' },
    handle: async ({ params }, context) =>
      jsonText(await reinstatementPrice(context, reinstatementLocator(params.locator))),
  }),
]
