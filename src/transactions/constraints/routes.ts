import type { RequestContext } from '../../platform/context.ts'
import type { Permission } from '../../platform/http/permissions.ts'
import { forTenant, type Route } from '../../platform/http/route.ts'
import {
  AccountEvaluationRequest,
  DependencyResponse,
  EvaluationRequest,
  EvaluationResponse,
} from '../../reference/constraints/contract.ts'
import type { Constrainable } from './service.ts'

// Imported on demand to keep start-up small.
const service = () => import('./service.ts')

const ALLOWED =
  'Of the constraint table in force: the values in the rows in which every other column has what is assumed for it, else what is stored. Columns are named by themselves or by the field that governs them; an empty text assumes that it is unset. Fields asked together are a chain: a value assumed for one holds for all that it governs. An empty body asks for all constrained fields. Nothing is stored.'
const options = {
  schema: EvaluationResponse,
  description: 'The values that each field may have, by static locator.',
}
const governing = {
  schema: DependencyResponse,
  description: 'By static locator and constrained field: its table, and what governs each column.',
}

const { get, post } = forTenant('Constraints')

type Subject = {
  readonly path:
    | `/policy/{tenantLocator}/${'quotes' | 'quickquotes'}/{locator}`
    | '/policy/{tenantLocator}/transactions/{locator}/elements'
  readonly of: string
  readonly permission: Permission
  readonly content: (context: RequestContext, locator: string) => Promise<Constrainable>
}

export const constraintRoutesOf = ({ path, of, permission, content }: Subject): readonly Route[] => [
  post(`${path}/constraints/evaluate`, {
    summary: `What fields of ${of} may be, given other values`,
    description: ALLOWED,
    permission,
    body: { schema: EvaluationRequest, required: true },
    answer: options,
    handle: async ({ params, body }, context) => {
      const { evaluated } = await service()
      return await evaluated(context, await content(context, params.locator), body)
    },
  }),
  get(`${path}/constraints/dependency`, {
    summary: `Which fields of ${of} govern which`,
    permission,
    answer: governing,
    handle: async ({ params }, context) => {
      const { dependenciesOf } = await service()
      return dependenciesOf(await content(context, params.locator))
    },
  }),
]

export const constraintRoutes: readonly Route[] = [
  post('/policy/{tenantLocator}/accounts/{locator}/constraints/evaluate', {
    summary: 'What fields of a policyholder may be, given other values',
    description: `${ALLOWED} The request has no level of locators.`,
    permission: 'accounts.read',
    body: { schema: AccountEvaluationRequest, required: true },
    answer: options,
    handle: async ({ params, body }, context) => {
      const { evaluateAccount } = await service()
      return await evaluateAccount(context, params.locator, body)
    },
  }),
  get('/policy/{tenantLocator}/accounts/{locator}/constraints/dependency', {
    summary: 'Which fields of a policyholder govern which',
    permission: 'accounts.read',
    answer: governing,
    handle: async ({ params }, context) => {
      const { accountContent, dependenciesOf } = await service()
      return dependenciesOf(await accountContent(context, params.locator))
    },
  }),
  ...constraintRoutesOf({
    path: '/policy/{tenantLocator}/quotes/{locator}',
    of: 'a quote',
    permission: 'quotes.read',
    content: async (context, locator) => (await service()).quoteContent(context, locator),
  }),
  ...constraintRoutesOf({
    path: '/policy/{tenantLocator}/transactions/{locator}/elements',
    of: 'an endorsement, a renewal or a quote',
    permission: 'transactions.read',
    content: async (context, locator) => (await service()).transactionContent(context, locator),
  }),
]
