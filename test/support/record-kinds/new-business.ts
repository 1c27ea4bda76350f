// Policies and quotes.

import type { QuoteLocator } from '../../../src/kernel/locators.ts'
import { FeeUpdateRequest } from '../../../src/policy/contract/billing.ts'
import { PolicyUpdateRequest } from '../../../src/policy/contract/requests.ts'
import type { QuoteState } from '../../../src/policy/contract/response.ts'
import { selectedQuote } from '../../../src/policy/records/aggregate.ts'
import type { Loaded } from '../../../src/policy/surroundings.ts'
import {
  type Planned,
  POLICY_TRANSITIONS,
  type PolicyAction,
  type PolicyState,
  policyState,
} from '../../../src/policy/transitions.ts'
import { decideEndorsement } from '../../../src/transactions/endorsements/kind.ts'
import { DIGITS_FOR_FEE_UPDATE, planFeeUpdate } from '../../../src/transactions/fees/fee-update.ts'
import {
  decideDiscard,
  decideFinalization,
  decideIssue,
  decideUpdate,
} from '../../../src/transactions/new-business/decision.ts'
import { PolicyQuoteUpdateRequest } from '../../../src/transactions/quotes/contract-quote.ts'
import { decideQuote, type QuoteOperation } from '../../../src/transactions/quotes/decision.ts'
import { QUOTE_TRANSITIONS, type QuoteAction } from '../../../src/transactions/quotes/plans.ts'
import { decideScheduleChange } from '../../../src/transactions/schedule/schedule-change.ts'
import { PolicyUpgradeRequest } from '../../../src/transactions/upgrade/contract.ts'
import { decideUpgrade } from '../../../src/transactions/upgrade/decision.ts'
import { STORY_BEGINS } from '../policy-story.ts'
import {
  after,
  attempt,
  carriedOut,
  draftPolicy,
  endorsing,
  finalized,
  halfway,
  INSURABLE,
  issuedPolicy,
  renewing,
  UNINSURABLE,
} from './motor-policies.ts'
import { kind, type Situation } from './record-kind.ts'

const ofPolicy = (loaded: Loaded): Situation => ({ loaded, record: undefined })

export const policyKind = kind<PolicyAction, PolicyState, undefined>('policy', POLICY_TRANSITIONS, {
  stateOf: policyState,
  situations: {
    created: async () => [ofPolicy(await draftPolicy(INSURABLE)), ofPolicy(await draftPolicy(UNINSURABLE))],
    quoted: async () => {
      const draft = await draftPolicy(INSURABLE)
      return [ofPolicy(await onQuote(draft, selectedQuote(draft.aggregate).locator, { action: 'quote' }))]
    },
    finalized: async () => [ofPolicy(await finalized(INSURABLE))],
    declined: async () => [ofPolicy(await finalized(UNINSURABLE))],
    unselected: async () => {
      const draft = await draftPolicy(INSURABLE)
      return [ofPolicy(await onQuote(draft, selectedQuote(draft.aggregate).locator, { action: 'discard' }))]
    },
    issued: async () => [ofPolicy(await issuedPolicy())],
    withdrawn: async () => {
      const issued = await issuedPolicy()
      return [ofPolicy(after(issued, await carriedOut(issued, { action: 'withdraw' })))]
    },
    discarded: async () => {
      const draft = await draftPolicy(INSURABLE)
      return [ofPolicy(after(draft, decideDiscard(draft, attempt())))]
    },
  },
  act: {
    update: loaded => decideUpdate(PolicyUpdateRequest.parse({ finalize: false }), loaded, attempt()),
    finalize: loaded => decideFinalization(loaded, attempt()),
    issue: loaded => decideIssue(loaded, attempt()),
    discard: async loaded => decideDiscard(loaded, attempt()),
    endorse: async loaded =>
      (await decideEndorsement(loaded, endorsing(loaded, 'issued'), attempt())).planned,
    renew: async loaded => (await decideEndorsement(loaded, renewing(loaded, 'issued'), attempt())).planned,
    cancel: loaded => carriedOut(loaded, { action: 'legacy', coverageEndAt: halfway(loaded) }),
    withdraw: loaded => carriedOut(loaded, { action: 'withdraw' }),
    upgrade: async loaded => {
      const { configuration } = loaded
      const request = PolicyUpgradeRequest.parse({})
      return decideUpgrade(loaded, { configuration, configVersion: 2 }, request, STORY_BEGINS).upgraded
        ?.planned
    },
    changeFees: async loaded => {
      const { policy } = loaded.aggregate
      const span = { startTimestamp: policy.originalStart, endTimestamp: policy.originalEnd }
      const request = { newFees: [{ feeName: 'policy_fee', amount: '1', ...span }], reverseFees: [] }
      const { now, digits } = attempt()
      const context = { product: loaded.product, now, supply: await digits(DIGITS_FOR_FEE_UPDATE) }
      return planFeeUpdate(loaded.aggregate, FeeUpdateRequest.parse(request), context)
    },
    reschedule: async loaded => {
      const other = loaded.product.paymentSchedules.find(
        one => one.name !== loaded.aggregate.policy.paymentScheduleName,
      )!
      return await decideScheduleChange(loaded, other.name, attempt())
    },
  },
})

const onQuote = async (loaded: Loaded, quote: QuoteLocator, operation: QuoteOperation): Promise<Loaded> =>
  after(loaded, (await decideQuote(loaded, quote, operation, attempt())).planned)

const NO_CHANGES = PolicyQuoteUpdateRequest.parse({})

/** The quote that a policy was created with, which is selected, after the actions. */
async function selectedAfter(name: string, ...actions: QuoteOperation[]): Promise<Situation> {
  let loaded = await draftPolicy(name)
  const quote = selectedQuote(loaded.aggregate).locator
  for (const action of actions) loaded = await onQuote(loaded, quote, action)
  return { loaded, record: quote }
}

/** A second quote of a policy, which is not selected, after the actions. */
async function quoteAfter(name: string, ...actions: QuoteOperation[]): Promise<Situation> {
  const draft = await draftPolicy(name)
  const copy: QuoteOperation = { action: 'copy', request: NO_CHANGES }
  const { planned, quote } = await decideQuote(draft, selectedQuote(draft.aggregate).locator, copy, attempt())
  let loaded = after(draft, planned)
  for (const action of actions) loaded = await onQuote(loaded, quote, action)
  return { loaded, record: quote }
}

export const quoteAction =
  (operation: QuoteOperation) =>
  async (loaded: Loaded, quote: QuoteLocator): Promise<Planned> =>
    (await decideQuote(loaded, quote, operation, attempt())).planned

export const quoteKind = kind<QuoteAction, QuoteState, QuoteLocator>('quote', QUOTE_TRANSITIONS, {
  stateOf: ({ quotes }, locator) => quotes.get(locator)!.state,
  situations: {
    draft: async () => [
      await quoteAfter(INSURABLE),
      await quoteAfter(UNINSURABLE),
      await selectedAfter(INSURABLE),
    ],
    quoted: async () => [
      await quoteAfter(INSURABLE, { action: 'quote' }),
      await selectedAfter(INSURABLE, { action: 'quote' }),
    ],
    accepted: async () => [await quoteAfter(INSURABLE, { action: 'quote' }, { action: 'accept' })],
    declined: async () => [
      await quoteAfter(UNINSURABLE, { action: 'quote' }),
      await selectedAfter(UNINSURABLE, { action: 'quote' }),
    ],
    discarded: async () => [
      await quoteAfter(INSURABLE, { action: 'discard' }),
      await selectedAfter(INSURABLE, { action: 'discard' }),
    ],
  },
  act: {
    update: quoteAction({ action: 'update', request: NO_CHANGES }),
    quote: quoteAction({ action: 'quote' }),
    accept: quoteAction({ action: 'accept' }),
    invalidate: quoteAction({ action: 'invalidate' }),
    discard: quoteAction({ action: 'discard' }),
    select: quoteAction({ action: 'select' }),
    copy: quoteAction({ action: 'copy', request: NO_CHANGES }),
    refer: async (loaded, quote) => {
      const decision = loaded.aggregate.quotes.get(quote)!.state === 'quoted' ? 'reject' : 'accept'
      return await quoteAction({ action: 'refer', decision, notes: ['seen'] })(loaded, quote)
    },
  },
})
