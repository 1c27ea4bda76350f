import { z } from '@hono/zod-openapi'
import type { EndorsementLocator } from '../../kernel/locators.ts'
import type { RequestContext } from '../../platform/context.ts'
import { forTenant, LongAnswer, type Route } from '../../platform/http/route.ts'
import {
  AutomatedUnderwritingResultResponse,
  UnderwritingDecisionRequest,
} from '../../policy/contract/billing.ts'
import { DetailQuery } from '../../policy/contract/requests.ts'
import { PolicyResponse } from '../../policy/contract/response.ts'
import { ExplainQuery, explainOf } from '../../policy/contract/worksheet.ts'
import type { Endorsement } from '../../policy/records/transactions.ts'
import { PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import { referralBy } from '../../rating/rate.ts'
import type { PlannedChange, RecordKind } from '../mechanism/kind.ts'
import { operate, recordService } from '../policies/service.ts'
import type {
  RenewalActionRequest,
  RenewalCreateRequest,
  RenewalIssueRequest,
  RenewalResponse,
} from '../renewals/contract.ts'
import {
  EndorsementActionRequest,
  EndorsementCreateRequest,
  EndorsementIssueRequest,
  EndorsementResponse,
} from './contract.ts'
import { type EndorsementOperation, policyWhenIssued } from './plans.ts'
import { ENDORSEMENTS } from './projection.ts'

type Creation = EndorsementCreateRequest | RenewalCreateRequest

const operationOf = (request: Creation): EndorsementOperation =>
  'endorsementName' in request ? { action: 'create', request } : { action: 'renew', request }

const changeOf = (request: Creation): PlannedChange =>
  'endorsementName' in request ? { kind: 'newEndorsement', request } : { kind: 'renewal', request }

/** Endorsements and renewals are one kind of record under two names (docs/design.md, section 4). */
type Variant = {
  readonly kind: 'endorsement' | 'renewal'
  readonly records: RecordKind<EndorsementLocator, Endorsement, EndorsementResponse | RenewalResponse>
  readonly contracts: {
    readonly create: typeof EndorsementCreateRequest | typeof RenewalCreateRequest
    readonly issue: typeof EndorsementIssueRequest | typeof RenewalIssueRequest
    readonly action: typeof EndorsementActionRequest | typeof RenewalActionRequest
    readonly response: typeof EndorsementResponse | typeof RenewalResponse
  }
  readonly texts: {
    readonly create: string
    readonly verb: string
    readonly doing: string
    readonly done: string
  }
  readonly legacyPaths: { readonly issue: string; readonly price: string }
}

/** Returns the routes of endorsements or of renewals, which differ only in names and contracts. */
export function transactionRoutes(heading: 'Endorsements' | 'Renewals', variant: Variant): Route[] {
  const { kind, records, contracts, texts } = variant
  const { get, patch, post } = forTenant(heading)
  const oneRecord = kind === 'endorsement' ? 'an endorsement' : 'a renewal'
  const path = `/${kind}s/{${kind}Locator}`
  const service = recordService(records)
  const locatorIn = (params: unknown) => (params as Record<`${typeof kind}Locator`, string>)[`${kind}Locator`]
  const act = (
    context: RequestContext,
    params: unknown,
    operationOn: (endorsement: EndorsementLocator) => EndorsementOperation,
  ) =>
    service.act(context, locatorIn(params), locator => ({
      kind: 'endorsement',
      operation: operationOn(locator),
    }))
  /** Returns the stored price change or underwriting decision, or computes it if nothing is recorded yet. Stores nothing. */
  const ask = (
    context: RequestContext,
    params: unknown,
    asked: 'price' | 'underwriting',
    explained: ReturnType<typeof explainOf> = {},
  ) =>
    service.act(context, locatorIn(params), endorsement => ({
      kind: 'change',
      of: { kind: 'endorsement', endorsement, asked },
      ...explained,
    }))
  const answer = { schema: contracts.response, description: `The ${kind}.` }
  return [
    get(`/policies/{policyLocator}/${kind}s`, {
      summary: `List the ${kind}s of a policy, oldest first`,
      permission: [`${kind}s.read`, `${kind}s.list`],
      answer: { schema: z.array(contracts.response), description: 'All of them, in any state.' },
      handle: ({ params }, context) => service.list(context, params.policyLocator),
    }),
    get(path, {
      summary: `Get ${oneRecord}`,
      permission: `${kind}s.read`,
      answer,
      handle: ({ params }, context) => service.read(context, locatorIn(params)),
    }),
    patch(path, {
      summary: `Update, quote, accept, issue, invalidate or discard ${oneRecord}`,
      description: `Accepting and issuing first complete every earlier step. An update is merged into the changes of the application: of two values the later one wins, and repeated ends count once. To remove an addition, send the \`locator\` that the answer shows for it: in \`endExposures\` for an exposure of \`addExposures\`, in \`endPerils\` of the same exposure for a peril of \`addPerils\`, in \`removeFieldGroups\` for a group of \`addFieldGroups\`. To change the values of an added exposure, or to add or remove its perils and field groups, use its locator as \`exposureLocator\` in \`updateExposures\`.`,
      permission: `${kind}s.write`,
      body: { schema: contracts.action, required: true },
      answer,
      handle: ({ params, body: { conflictHandling, ...action } }, context) =>
        act(context, params, endorsement =>
          action.action === 'update'
            ? { ...action, endorsement }
            : { ...action, endorsement, conflictHandling },
        ),
    }),
    get(`${path}/price`, {
      summary: `Get the price change of ${oneRecord}`,
      description: 'For an application: the price change as of now. Nothing is stored.',
      permission: [`${kind}s.read`, `${kind}s.price`],
      query: ExplainQuery,
      answer: { schema: PolicyPriceChangeResponse, description: 'The price change.' },
      handle: ({ params, query }, context) => ask(context, params, 'price', explainOf(query)),
    }),
    get(`${path}/automatedUnderwritingResult`, {
      summary: `Get the underwriting decision on ${oneRecord}`,
      description: 'For an application: the decision as of now. Nothing is stored.',
      permission: `${kind}s.read`,
      answer: { schema: AutomatedUnderwritingResultResponse, description: 'The decision and its notes.' },
      handle: ({ params }, context) => ask(context, params, 'underwriting'),
    }),
    post(`${path}/underwriting`, {
      summary: "Replace the underwriting decision on an application with a person's decision",
      description:
        'The decision is valid until the application is updated or the policy changes. Quoting uses it. The person who decided and the note are stored with it.',
      permission: `${kind}s.underwrite`,
      body: { schema: UnderwritingDecisionRequest, required: true },
      answer,
      handle: ({ params, body }, context) =>
        act(context, params, endorsement => ({ action: 'refer', endorsement, ...referralBy(context, body) })),
    }),
    get(`${path}/policyWhenIssued`, {
      summary: `Get the policy as it will be once an accepted ${kind} is issued`,
      description:
        'Exactly the answer of `GET /policy/{policyLocator}` after the issue, except for recording times and for records that the issue itself creates: its documents, and invoices that are due by then.',
      permission: `${kind}s.read`,
      query: DetailQuery,
      answer: { schema: PolicyResponse, description: 'The policy. Nothing is stored.' },
      handle: async ({ params, query }, context) => {
        // Issuing invalidates conflicting transactions of every kind.
        await import('../kinds.ts')
        const { loaded, locator } = await service.load(context, locatorIn(params))
        return new LongAnswer(policyWhenIssued(loaded, locator, context.now, query))
      },
    }),
    post(`/policies/{policyLocator}/${kind}s`, {
      summary: texts.create,
      description: 'With `state`, takes every step up to that state immediately.',
      permission: `${kind}s.write`,
      body: { schema: contracts.create, required: true },
      answer,
      handle: ({ params, body }, context) =>
        service.operate(context, params.policyLocator, {
          kind: 'endorsement',
          operation: operationOf(body),
        }),
    }),
    ...deprecatedRoutes(heading, variant),
  ]
}

/** Returns the routes that issue a transaction, or preview its price, in one step below `/policy`. */
function deprecatedRoutes(
  heading: 'Endorsements' | 'Renewals',
  { kind, contracts, texts, legacyPaths }: Variant,
): Route[] {
  const { post } = forTenant(heading)
  return [
    post(`/policy/{policyLocator}/${legacyPaths.issue}`, {
      deprecated: true,
      summary: `${texts.verb} a policy in one step`,
      permission: [`${kind}s.write`, `${kind}s.issue`],
      body: { schema: contracts.issue, required: true },
      answer: { schema: PolicyResponse, description: `The ${texts.done} policy.` },
      handle: ({ params, body }, context) =>
        operate(context, params.policyLocator, {
          kind: 'endorsement',
          operation: operationOf({ ...body, state: 'issued' }),
          answersPolicy: true,
        }),
    }),
    post(`/policy/{policyLocator}/${legacyPaths.price}`, {
      deprecated: true,
      summary: `Preview the price change of ${texts.doing} a policy`,
      description: `Nothing is stored. The locators of records that the ${kind} would add are not used again.`,
      permission: [`${kind}s.read`, `${kind}s.price`],
      query: ExplainQuery,
      body: { schema: contracts.issue, required: true },
      answer: { schema: PolicyPriceChangeResponse, description: 'The price change.' },
      handle: ({ params, query, body }, context) =>
        operate(context, params.policyLocator, {
          kind: 'change',
          of: changeOf(body),
          ...explainOf(query),
        }),
    }),
  ]
}

export const endorsementRoutes: readonly Route[] = transactionRoutes('Endorsements', {
  kind: 'endorsement',
  records: ENDORSEMENTS,
  contracts: {
    create: EndorsementCreateRequest,
    issue: EndorsementIssueRequest,
    action: EndorsementActionRequest,
    response: EndorsementResponse,
  },
  texts: {
    create: 'Create an endorsement of a policy',
    verb: 'Endorse',
    doing: 'endorsing',
    done: 'endorsed',
  },
  legacyPaths: { issue: 'endorse', price: 'previewEndorsementPrice' },
})
