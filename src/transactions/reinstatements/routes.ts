import type { Uuid } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import { forTenant, type ReadyAnswer, type Route } from '../../platform/http/route.ts'
import { ExplainQuery, explainOf } from '../../policy/contract/worksheet.ts'
import { PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import { CANCELLATIONS } from '../cancellations/projection.ts'
import { recordService } from '../policies/service.ts'
import { ReinstatementCreateRequest, ReinstatementResponse, ReinstatementUpdateRequest } from './contract.ts'
import type { ReinstatementOperation } from './decision.ts'
import { REINSTATEMENTS } from './projection.ts'

const { get, patch } = forTenant('Reinstatements')
const reinstatement = { schema: ReinstatementResponse, description: 'The reinstatement.' }

const reinstatements = recordService(REINSTATEMENTS)

const act = (
  context: RequestContext,
  text: string,
  operationOn: (reinstatement: Uuid) => ReinstatementOperation,
): Promise<ReadyAnswer> =>
  reinstatements.act(context, text, locator => ({ kind: 'reinstatement', operation: operationOn(locator) }))

export const reinstatementRoutes: readonly Route[] = [
  patch('/cancellations/{locator}/reinstate', {
    summary: 'Create a reinstatement of a cancelled policy',
    description:
      'Of several cancellations in force, only the last can be reinstated: cover ends by it. With `issue`, also accepts and issues the reinstatement.',
    permission: 'reinstatements.write',
    body: { schema: ReinstatementCreateRequest, required: true },
    answer: reinstatement,
    handle: ({ params, body }, context) =>
      recordService(CANCELLATIONS).act(
        context,
        params.locator,
        cancellation => ({
          kind: 'reinstatement',
          operation: { action: 'create', cancellation, request: body },
        }),
        reinstatements.read,
      ),
  }),
  get('/reinstatements/{locator}', {
    summary: 'Get a reinstatement',
    permission: 'reinstatements.read',
    answer: reinstatement,
    handle: ({ params }, context) => reinstatements.read(context, params.locator),
  }),
  patch('/reinstatements/{locator}', {
    summary: 'Update a draft reinstatement',
    permission: 'reinstatements.write',
    body: { schema: ReinstatementUpdateRequest, required: true },
    answer: reinstatement,
    handle: ({ params, body }, context) =>
      act(context, params.locator, reinstatement => ({ action: 'update', reinstatement, request: body })),
  }),
  patch('/reinstatements/{locator}/accept', {
    summary: 'Accept a reinstatement, which bills it without putting its coverage in force yet',
    permission: ['reinstatements.accept', 'reinstatements.write'],
    answer: reinstatement,
    handle: ({ params }, context) =>
      act(context, params.locator, reinstatement => ({ action: 'accept', reinstatement })),
  }),
  patch('/reinstatements/{locator}/issue', {
    summary: 'Issue an accepted reinstatement',
    permission: ['reinstatements.issue', 'reinstatements.write'],
    answer: reinstatement,
    handle: ({ params }, context) =>
      act(context, params.locator, reinstatement => ({ action: 'issue', reinstatement })),
  }),
  patch('/reinstatements/{locator}/invalidate', {
    summary: 'Reverse the acceptance of a reinstatement',
    permission: 'reinstatements.write',
    answer: reinstatement,
    handle: ({ params }, context) =>
      act(context, params.locator, reinstatement => ({ action: 'invalidate', reinstatement })),
  }),
  get('/reinstatements/{locator}/price', {
    summary: 'Get the price change of a reinstatement',
    description: 'For a draft: the price change as of now. Nothing is stored.',
    permission: 'reinstatements.read',
    query: ExplainQuery,
    answer: { schema: PolicyPriceChangeResponse, description: 'The price change.' },
    handle: ({ params, query }, context) =>
      reinstatements.act(context, params.locator, reinstatement => ({
        kind: 'change',
        of: { kind: 'reinstatement', reinstatement },
        ...explainOf(query),
      })),
  }),
]
