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
  'Returns the values from those rows of the constraint table in force in which every other column has its assumed value, or its stored value if none is assumed. Name a column by itself or by the field that governs it; an empty text assumes that it is unset. Fields in one request form a chain: a value assumed for one applies to every field that it governs. An empty body requests all constrained fields. Nothing is stored.'
const options = {
  schema: EvaluationResponse,
  description: 'The permitted values of each field, by static locator.',
}
const governing = {
  schema: DependencyResponse,
  description:
    'For each static locator and constrained field: its table, and the field that governs each column.',
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

/** Declares both routes of one kind of subject. `content` throws 404 for a locator that is not known. */
export const constraintRoutesOf = ({ path, of, permission, content }: Subject): readonly Route[] => [
  post(`${path}/constraints/evaluate`, {
    summary: `Get the permitted values of fields of ${of}, given other values`,
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
    summary: `List which fields of ${of} govern which other fields`,
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
    summary: 'Get the permitted values of fields of a policyholder, given other values',
    description: `${ALLOWED} The request is not nested by locator.`,
    permission: 'accounts.read',
    body: { schema: AccountEvaluationRequest, required: true },
    answer: options,
    handle: async ({ params, body }, context) => {
      const { evaluateAccount } = await service()
      return await evaluateAccount(context, params.locator, body)
    },
  }),
  get('/policy/{tenantLocator}/accounts/{locator}/constraints/dependency', {
    summary: 'List which fields of a policyholder govern which other fields',
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
