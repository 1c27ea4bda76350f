import { z } from '@hono/zod-openapi'
import { notFound } from '../../kernel/errors.ts'
import { type EndorsementLocator, type PolicyLocator, readDigits } from '../../kernel/locators.ts'
import type { JsonAnswer } from '../../platform/commit.ts'
import type { RequestContext } from '../../platform/context.ts'
import type { Database } from '../../platform/database.ts'
import { forTenant, jsonText, type Route } from '../../platform/http/route.ts'
import { shardDatabase, shardOfPolicy } from '../../platform/tenancy.ts'
import {
  AutomatedUnderwritingResultResponse,
  UnderwritingDecisionRequest,
} from '../../policy/contract/prices.ts'
import { PolicyResponse } from '../../policy/contract/response.ts'
import { type Endorsement, endorsementOf } from '../../policy/records/transactions.ts'
import type { PolicySelection } from '../../policy/store/aggregates.ts'
import { loadPolicy, policyOf } from '../../policy/store/loading.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { PolicyPriceChangeResponse } from '../../rating/contract-change.ts'
import { referralBy } from '../../rating/rate.ts'
import { operate, policyLocator } from '../policies/service.ts'
import type { RenewalActionRequest, RenewalResponse } from '../renewals/contract.ts'
import {
  EndorsementActionRequest,
  EndorsementCreateRequest,
  EndorsementIssueRequest,
  EndorsementResponse,
} from './contract.ts'
import { policyWhenIssued } from './effect.ts'
import type { EndorsementOperation } from './operation.ts'
import { transactionResponse } from './projection.ts'

type Contracts = {
  readonly action: typeof EndorsementActionRequest | typeof RenewalActionRequest
  readonly response: typeof EndorsementResponse | typeof RenewalResponse
}

/**
 * The routes that endorsements and renewals have alike, records of one kind by two names (docs/design.md, section 4):
 * list, get, act on, price, underwriting's decision, and the policy when issued. How each
 * is created, and its legacy routes, stand with it.
 */
export function transactionRoutes(
  kind: Kind,
  { get, patch, post }: ReturnType<typeof forTenant>,
  contracts: Contracts,
): Route[] {
  const a = kind === 'endorsement' ? 'an endorsement' : 'a renewal'
  const path = `/${kind}s/{${kind}Locator}`
  const one = (params: unknown): Named =>
    named(kind, (params as Record<`${Kind}Locator`, string>)[`${kind}Locator`])
  const answer = { schema: contracts.response, description: `The ${kind}.` }
  return [
    get(`/policies/{policyLocator}/${kind}s`, {
      summary: `${kind === 'endorsement' ? 'Endorsements' : 'Renewals'} of a policy, oldest first`,
      permission: [`${kind}s.read`, `${kind}s.list`],
      answer: { schema: z.array(contracts.response), description: 'All of them, in every state.' },
      handle: ({ params }, context) => transactionsOf(context, kind, params.policyLocator),
    }),
    get(path, {
      summary: `Get ${a}`,
      permission: `${kind}s.read`,
      answer,
      handle: ({ params }, context) => readTransaction(context, one(params)),
    }),
    patch(path, {
      summary: `Update, quote, accept, issue, invalidate or discard ${a}`,
      description: `Accepting and issuing go through every step before them that is not taken yet. An update goes beside what the application asks for already: of a value said twice the later holds, and what is ended twice is ended once. To take an addition back, name the \`locator\` that the answer shows with it: in \`endExposures\` an exposure of \`addExposures\`, in \`endPerils\` of the same exposure a peril of \`addPerils\`, in \`removeFieldGroups\` a group of \`addFieldGroups\`. An added exposure is named as \`exposureLocator\` of \`updateExposures\` to change its values, to add perils and field groups to it, and to take them back.`,
      permission: `${kind}s.write`,
      body: { schema: contracts.action, required: true },
      answer,
      handle: async ({ params, body }, context) =>
        jsonText(
          await actOn(context, one(params), locator =>
            body.action === 'update'
              ? { action: 'update', endorsement: locator, update: body.update }
              : { action: body.action, endorsement: locator, conflictHandling: body.conflictHandling },
          ),
        ),
    }),
    get(`${path}/price`, {
      summary: `What ${a} changes of the price`,
      description: 'Of an application: as it would be now; nothing is stored.',
      permission: [`${kind}s.read`, `${kind}s.price`],
      answer: { schema: PolicyPriceChangeResponse, description: 'The change.' },
      handle: async ({ params }, context) => jsonText(await outlook(context, one(params), 'price')),
    }),
    get(`${path}/automatedUnderwritingResult`, {
      summary: `Underwriting decision on ${a}`,
      description: 'Of an application: as it would be now; nothing is stored.',
      permission: `${kind}s.read`,
      answer: { schema: AutomatedUnderwritingResultResponse, description: 'The decision and its notes.' },
      handle: async ({ params }, context) => jsonText(await outlook(context, one(params), 'underwriting')),
    }),
    post(`${path}/underwriting`, {
      summary: "Put a person's decision on an application in place of underwriting's",
      description:
        'It counts until the application is updated or the policy changes. Quoting goes by it; who decided, and the note, are kept with it.',
      permission: `${kind}s.underwrite`,
      body: { schema: UnderwritingDecisionRequest, required: true },
      answer,
      handle: async ({ params, body }, context) =>
        jsonText(
          await actOn(context, one(params), locator => ({
            action: 'refer',
            endorsement: locator,
            ...referralBy(context, body),
          })),
        ),
    }),
    get(`${path}/policyWhenIssued`, {
      summary: `The policy as it will be once an accepted ${kind} is issued`,
      description:
        'Exactly what `GET /policy/{policyLocator}` answers after the issue, apart from times of recording and from what the issue itself makes: its documents, and invoices that are due by then.',
      permission: `${kind}s.read`,
      answer: { schema: PolicyResponse, description: 'The policy; nothing is stored.' },
      handle: ({ params }, context) => readPolicyWhenIssued(context, one(params)),
    }),
  ]
}

const endorsements = forTenant('Endorsements')

export const endorsementRoutes: readonly Route[] = [
  endorsements.post('/policies/{policyLocator}/endorsements', {
    summary: 'Apply for a change of a policy',
    description: 'With `state` it goes through every step up to that one at once.',
    permission: 'endorsements.write',
    body: { schema: EndorsementCreateRequest, required: true },
    answer: { schema: EndorsementResponse, description: 'The endorsement.' },
    handle: async ({ params, body }, context) =>
      jsonText(
        await endorse(context, 'endorsement', policyLocator(params.policyLocator), {
          action: 'create',
          request: body,
        }),
      ),
  }),
  ...transactionRoutes('endorsement', endorsements, {
    action: EndorsementActionRequest,
    response: EndorsementResponse,
  }),
  endorsements.post('/policy/{policyLocator}/endorse', {
    deprecated: true,
    summary: 'Endorse a policy in one step',
    permission: ['endorsements.write', 'endorsements.issue'],
    body: { schema: EndorsementIssueRequest, required: true },
    answer: { schema: PolicyResponse, description: 'The endorsed policy.' },
    handle: async ({ params, body }, context) =>
      jsonText(
        await operate(context, policyLocator(params.policyLocator), {
          kind: 'endorsement',
          operation: { action: 'create', request: { ...body, state: 'issued' } },
          answersPolicy: true,
        }),
      ),
  }),
  endorsements.post('/policy/{policyLocator}/previewEndorsementPrice', {
    deprecated: true,
    summary: 'What endorsing a policy would change of its price',
    description: 'Nothing is stored; locators of what the endorsement would add are not used again.',
    permission: ['endorsements.read', 'endorsements.price'],
    body: { schema: EndorsementIssueRequest, required: true },
    answer: { schema: PolicyPriceChangeResponse, description: 'The change.' },
    handle: async ({ params, body }, context) =>
      jsonText(
        await operate(context, policyLocator(params.policyLocator), {
          kind: 'change',
          of: { kind: 'newEndorsement', request: body },
        }),
      ),
  }),
]

// Endorsements and renewals, as the Worker serves them.
/** The two kinds of records that these functions serve, with their answers. */
type Answers = { endorsement: EndorsementResponse; renewal: RenewalResponse }
export type Kind = keyof Answers

/** The locator of one of them. */
export type Named<K extends Kind = Kind> = { readonly kind: K; readonly locator: EndorsementLocator }

/** The record that a locator in a path names; 404 for text that no locator can be. */
export function named<K extends Kind>(kind: K, text: string): Named<K> {
  const digits = readDigits(text)
  if (digits === undefined) throw notFound(kind, text)
  return { kind, locator: digits as EndorsementLocator }
}

const selectionOf = ({ kind, locator }: Named): PolicySelection =>
  kind === 'renewal' ? { renewalLocator: locator } : { endorsementLocator: locator }

const databaseOf = (
  { env, tenant, calls }: RequestContext,
  locator: EndorsementLocator | PolicyLocator,
): Database => shardDatabase(env, tenant, shardOfPolicy(tenant, locator), calls)

const shown = <K extends Kind>({ aggregate, product }: Loaded, one: Endorsement) =>
  transactionResponse(aggregate, one, product) as Answers[K]

/** All endorsements, or all renewals, of a policy, oldest first: one round trip. */
export async function transactionsOf<K extends Kind>(
  context: RequestContext,
  kind: K,
  policyText: string,
): Promise<Answers[K][]> {
  const locator = policyLocator(policyText)
  const loaded = await loadPolicy(context, databaseOf(context, locator), { locator })
  return [...loaded.aggregate.endorsements.values()]
    .filter(one => one.kind === kind)
    .map(one => shown<K>(loaded, one))
}

const load = (context: RequestContext, one: Named): Promise<Loaded> =>
  loadPolicy(context, databaseOf(context, one.locator), selectionOf(one))

/** One round trip. */
export async function readTransaction<K extends Kind>(
  context: RequestContext,
  one: Named<K>,
): Promise<Answers[K]> {
  const loaded = await load(context, one)
  return shown<K>(loaded, endorsementOf(loaded.aggregate, one.locator))
}

/** The policy as it will be once it is issued; 409 before it is accepted. One round trip. */
export async function readPolicyWhenIssued(context: RequestContext, one: Named): Promise<PolicyResponse> {
  // Issuing takes back conflicting transactions, which all kinds know.
  await import('../kinds.ts')
  return policyWhenIssued(await load(context, one), one.locator, context.now)
}

/** Has the policy's object carry out an action on its endorsements or renewals. */
export async function endorse(
  context: RequestContext,
  kind: Kind,
  policy: PolicyLocator,
  operation: EndorsementOperation,
): Promise<JsonAnswer> {
  return await operate(context, policy, { kind: 'endorsement', operation }, subject =>
    readTransaction(context, named(kind, subject.split('/')[1]!)),
  )
}

/** As `endorse`, for an action that names an endorsement or a renewal: a look-up more. */
export async function actOn(
  context: RequestContext,
  one: Named,
  operation: (endorsement: EndorsementLocator) => EndorsementOperation,
): Promise<JsonAnswer> {
  const policy = await policyOf(databaseOf(context, one.locator), selectionOf(one))
  return await endorse(context, one.kind, policy, operation(one.locator))
}

/** Its change of the price, or underwriting's decision: as recorded, or as it would be now; nothing is stored. */
export async function outlook(
  context: RequestContext,
  one: Named,
  asked: 'price' | 'underwriting',
): Promise<JsonAnswer> {
  const policy = await policyOf(databaseOf(context, one.locator), selectionOf(one))
  return await operate(context, policy, {
    kind: 'change',
    of: { kind: 'endorsement', endorsement: one.locator, asked },
  })
}
