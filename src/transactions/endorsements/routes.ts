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

export function transactionRoutes(
  heading: 'Endorsements' | 'Renewals',
  { kind, records, contracts, texts, legacyPaths }: Variant,
): Route[] {
  const { get, patch, post } = forTenant(heading)
  const a = kind === 'endorsement' ? 'an endorsement' : 'a renewal'
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
      summary: `${heading} of a policy, oldest first`,
      permission: [`${kind}s.read`, `${kind}s.list`],
      answer: { schema: z.array(contracts.response), description: 'All of them, in every state.' },
      handle: ({ params }, context) => service.list(context, params.policyLocator),
    }),
    get(path, {
      summary: `Get ${a}`,
      permission: `${kind}s.read`,
      answer,
      handle: ({ params }, context) => service.read(context, locatorIn(params)),
    }),
    patch(path, {
      summary: `Update, quote, accept, issue, invalidate or discard ${a}`,
      description: `Accepting and issuing go through every step before them that is not taken yet. An update goes beside what the application asks for already: of a value said twice the later holds, and what is ended twice is ended once. To take an addition back, name the \`locator\` that the answer shows with it: in \`endExposures\` an exposure of \`addExposures\`, in \`endPerils\` of the same exposure a peril of \`addPerils\`, in \`removeFieldGroups\` a group of \`addFieldGroups\`. An added exposure is named as \`exposureLocator\` of \`updateExposures\` to change its values, to add perils and field groups to it, and to take them back.`,
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
      summary: `What ${a} changes of the price`,
      description: 'Of an application: as it would be now; nothing is stored.',
      permission: [`${kind}s.read`, `${kind}s.price`],
      query: ExplainQuery,
      answer: { schema: PolicyPriceChangeResponse, description: 'The change.' },
      handle: ({ params, query }, context) => ask(context, params, 'price', explainOf(query)),
    }),
    get(`${path}/automatedUnderwritingResult`, {
      summary: `Underwriting decision on ${a}`,
      description: 'Of an application: as it would be now; nothing is stored.',
      permission: `${kind}s.read`,
      answer: { schema: AutomatedUnderwritingResultResponse, description: 'The decision and its notes.' },
      handle: ({ params }, context) => ask(context, params, 'underwriting'),
    }),
    post(`${path}/underwriting`, {
      summary: "Put a person's decision on an application in place of underwriting's",
      description:
        'It counts until the application is updated or the policy changes. Quoting goes by it; who decided, and the note, are kept with it.',
      permission: `${kind}s.underwrite`,
      body: { schema: UnderwritingDecisionRequest, required: true },
      answer,
      handle: ({ params, body }, context) =>
        act(context, params, endorsement => ({ action: 'refer', endorsement, ...referralBy(context, body) })),
    }),
    get(`${path}/policyWhenIssued`, {
      summary: `The policy as it will be once an accepted ${kind} is issued`,
      description:
        'Exactly what `GET /policy/{policyLocator}` answers after the issue, apart from times of recording and from what the issue itself makes: its documents, and invoices that are due by then.',
      permission: `${kind}s.read`,
      query: DetailQuery,
      answer: { schema: PolicyResponse, description: 'The policy; nothing is stored.' },
      handle: async ({ params, query }, context) => {
        // Issuing invalidates conflicting transactions of every kind.
        await import('../kinds.ts')
        const { loaded, locator } = await service.load(context, locatorIn(params))
        return new LongAnswer(policyWhenIssued(loaded, locator, context.now, query))
      },
    }),
    post(`/policies/{policyLocator}/${kind}s`, {
      summary: texts.create,
      description: 'With `state` it goes through every step up to that one at once.',
      permission: `${kind}s.write`,
      body: { schema: contracts.create, required: true },
      answer,
      handle: ({ params, body }, context) =>
        service.operate(context, params.policyLocator, {
          kind: 'endorsement',
          operation: operationOf(body),
        }),
    }),
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
      summary: `What ${texts.doing} a policy would change of its price`,
      description: `Nothing is stored; locators of what the ${kind} would add are not used again.`,
      permission: [`${kind}s.read`, `${kind}s.price`],
      query: ExplainQuery,
      body: { schema: contracts.issue, required: true },
      answer: { schema: PolicyPriceChangeResponse, description: 'The change.' },
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
    create: 'Apply for a change of a policy',
    verb: 'Endorse',
    doing: 'endorsing',
    done: 'endorsed',
  },
  legacyPaths: { issue: 'endorse', price: 'previewEndorsementPrice' },
})
