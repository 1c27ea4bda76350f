import { z } from '@hono/zod-openapi'
import { withWorkIndexes } from '../../platform/database/work-indexes.ts'
import { forTenant, type Route } from '../../platform/http/route.ts'
import { WorkListCountQuery, WorkListCountResponse, WorkListQuery, WorkListResponse } from './contract.ts'

const { get } = forTenant('Work lists')

type Service = typeof import('./service.ts')

const withService = <T>(work: (service: Service) => Promise<T>): Promise<T> =>
  withWorkIndexes(async () => await work(await import('./service.ts')))

const LISTS = `- \`referred\`: quotes that underwriting referred to a person (decision \`none\`).
- \`applications\`: endorsements and renewals that are not quoted, including those that underwriting rejected.
- \`quoted\`: quotes, endorsements and renewals that are quoted and not accepted. If a policy has several quotes, the selected one.
- \`expiring\`: policies in force that end within \`days\`, the earliest end first.
- \`pastDue\`: invoices that are due and not paid. Excludes refunds.
- \`inGrace\`: open grace periods, the earliest end first.
- \`reinstatable\`: policies that lapsed and can be reinstated.
- \`failedDocuments\`: documents that could not be created.`

export const workListRoutes: readonly Route[] = [
  get('/workLists', {
    summary: 'Count the open work of each list',
    description: `Bindery only. Counts each list up to 1,000.\n\n${LISTS}`,
    permission: 'policies.list',
    query: WorkListCountQuery,
    answer: { schema: z.array(WorkListCountResponse), description: 'The lists with their counts.' },
    handle: ({ query }, context) => withService(service => service.countWork(context, query)),
  }),
  get('/workLists/{workList}', {
    summary: 'List open work',
    description: `Bindery only. 404 for any other list than these:\n\n${LISTS}`,
    permission: 'policies.list',
    query: WorkListQuery,
    answer: { schema: WorkListResponse, description: 'A page of records, the earliest first.' },
    handle: ({ params, query }, context) =>
      withService(service => service.listWork(context, params.workList, query)),
  }),
]
