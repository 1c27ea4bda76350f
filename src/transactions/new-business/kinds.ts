// The kinds of operations on a policy until it is issued.
import { locatorSupply, type PolicyLocator, shardOfDigits, supplyOf } from '../../kernel/locators.ts'
import type { PolicyCreateRequest, PolicyUpdateRequest } from '../../policy/contract/requests.ts'
import { digitsForChanges, digitsForNewDraft } from '../../policy/records/transactions.ts'
import { loadNewPolicyContext } from '../../policy/store/loading.ts'
import { defineKind, type FirstKind, json, showNothing, showPolicy } from '../mechanism/kind.ts'
import {
  decideCreation,
  decideDiscard,
  decideFinalization,
  decideIssue,
  decideUnderwriting,
  decideUpdate,
  priceAnswer,
} from './decision.ts'

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    /** `digits` are the locators leased for it; the first is the policy's own. */
    create: { request: PolicyCreateRequest; digits: number[]; summarizeQuotes: boolean }
    update: { request: PolicyUpdateRequest }
    finalize: object
    issue: object
    discard: object
    /** Prices without storing anything; `due` in the form of GET. */
    price: { due: boolean }
    /** The decision as stored, or as it would be now. */
    underwriting: object
  }
}

const creation: FirstKind<'create'> = {
  name: 'create',
  async begin(operation, { context, database, autofill, lease, attemptWith }) {
    const ground = await loadNewPolicyContext(context, database, operation.request)
    const request = await autofill.creation(operation.request, ground)
    const { digits } = operation
    const more = await lease(digitsForNewDraft(request.exposures) - digits.length)
    const locator = digits[0] as PolicyLocator
    const supply = locatorSupply(shardOfDigits(locator), [...digits, ...more])
    const attempt = attemptWith(supplyOf(locator, supply))
    const planned = await autofill.explaining(decideCreation(request, ground, attempt))
    const loaded = { ...ground, aggregate: planned.aggregate }
    return { planned, loaded, attempt, response: showPolicy(operation) }
  },
}

const update = defineKind<'update'>({
  name: 'update',
  fill: async (operation, loaded, autofill) => ({
    ...operation,
    request: await autofill.update(operation.request, loaded),
  }),
  locators: ({ request }) => digitsForChanges(request),
  decide: async (loaded, { request }, { attempt }) => ({
    planned: await decideUpdate(request, loaded, attempt),
  }),
})

const finalization = defineKind<'finalize'>({
  name: 'finalize',
  decide: async (loaded, _, { attempt }) => ({ planned: await decideFinalization(loaded, attempt) }),
})

const issue = defineKind<'issue'>({
  name: 'issue',
  decide: async (loaded, _, { attempt }) => ({ planned: await decideIssue(loaded, attempt) }),
})

const discard = defineKind<'discard'>({
  name: 'discard',
  decide: (loaded, _, { attempt }) => ({ planned: decideDiscard(loaded, attempt), response: showNothing }),
})

const price = defineKind<'price'>({
  name: 'price',
  isReadOnly: () => true,
  decide: async (loaded, { due }, { attempt }) => ({ answer: await priceAnswer(loaded, due, attempt) }),
})

const underwriting = defineKind<'underwriting'>({
  name: 'underwriting',
  isReadOnly: () => true,
  decide: async (loaded, _, { attempt }) => ({ answer: json(await decideUnderwriting(loaded, attempt)) }),
})

export const newBusinessKinds = [creation, update, finalization, issue, discard, price, underwriting]
