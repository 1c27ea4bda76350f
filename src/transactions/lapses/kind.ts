// Operations on grace periods, legacy lapses and their reinstatements, and how each is decided.
import { ownBills } from '../../billing/plugin-bills.ts'
import type { PreGraceInput } from '../../extension/plugins/contract.ts'
import { invalidAnswer } from '../../extension/plugins/translation.ts'
import { wrongState } from '../../kernel/errors.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { sumOf, toNumber } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import { jsonAnswer, type NewTimer } from '../../platform/commit.ts'
import { planOf } from '../../policy/bills/amounts-due.ts'
import { isPayable } from '../../policy/bills/charge.ts'
import { billedItemsOf } from '../../policy/projection/billed-items.ts'
import { isOutstanding } from '../../policy/records/invoice.ts'
import {
  gracePeriodOf,
  type LapseReinstatement,
  lapseReinstatementOf,
  reinstatementStatus,
  type UnplacedDocument,
} from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { combineSteps, type Planned } from '../../policy/transitions.ts'
import { hasPlugin } from '../../product/configuration.ts'
import { type Attempt, policyInfo, requestPluginAnswer } from '../../rating/rate.ts'
import { planRemoval, planUpload } from '../documents/kinds.ts'
import type { UploadOwner } from '../documents/upload.ts'
import { defineKind, type Response, showNothing } from '../mechanism/kind.ts'
import { planWithProration } from '../mechanism/prorating.ts'
import { withOffsets } from '../payments/settling.ts'
import type { ReinstatementAmountDueResponse } from './contract.ts'
import {
  cancelEffectiveProblem,
  DIGITS_FOR_LAPSE,
  type GracePeriodTerms,
  type GraceStart,
  type GraceStartTerms,
  graceStart,
  isGraceEndSet,
  pastDueRetryTimer,
  planGraceEnd,
  planGraceStart,
  planGraceUpdate,
  planPastDueNotice,
} from './grace-periods.ts'
import { gracePeriodResponse, lapseReinstatementResponse } from './projection.ts'
import {
  digitsForIssue,
  planClosing,
  planInvoicing,
  planIssue,
  planOpening,
  planPeriodEnd,
  prepareReinstatement,
} from './reinstatements.ts'
import { assertLapseReinstatementAllows, reinstatementInvoice } from './transitions.ts'

export type LapseOperation =
  /**
   * From the clock. `tries`: failures of the plugin so far. `isReported`: the past-due event was sent for this due time.
   * `isGraceOnly`: likewise, and set by an upgrade.
   */
  | { action: 'pastDue'; invoice: Uuid; tries?: number; isReported?: boolean; isGraceOnly?: boolean }
  | { action: 'graceEnd'; gracePeriod: Uuid }
  | { action: 'periodEnd'; reinstatement: Uuid }
  | { action: 'updateGrace'; gracePeriod: Uuid; terms: GracePeriodTerms }
  | { action: 'open' }
  | { action: 'invoice'; reinstatement: Uuid; effectiveAt: Instant }
  | { action: 'close'; reinstatement: Uuid }
  | { action: 'addDocument'; reinstatement: Uuid; document: UnplacedDocument }
  | { action: 'removeDocument'; reinstatement: Uuid; document: Uuid }

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    lapse: { operation: LapseOperation }
    /** The cost of reinstating a lapsed policy. Stores nothing. */
    amountDue: { reinstatement: Uuid; effectiveAt: Instant }
  }
}

const showGracePeriod =
  (locator: Uuid): Response =>
  ({ aggregate, product }) =>
    gracePeriodResponse(aggregate, gracePeriodOf(aggregate, locator), product)

const showReinstatement =
  (locator: Uuid): Response =>
  ({ aggregate }) =>
    lapseReinstatementResponse(aggregate, lapseReinstatementOf(aggregate, locator))

export const lapseKind = defineKind<'lapse'>({
  name: 'lapse',
  record({ operation }) {
    if ('gracePeriod' in operation) return showGracePeriod(operation.gracePeriod)
    return 'reinstatement' in operation ? showReinstatement(operation.reinstatement) : undefined
  },
  async decide(loaded, { operation }, { attempt }) {
    const { planned, shown } = await decideLapse(loaded, operation, attempt)
    if (!planned) return undefined
    if (!shown) return { planned, response: showNothing }
    return 'gracePeriod' in shown
      ? { planned, response: showGracePeriod(shown.gracePeriod), subject: `gracePeriod/${shown.gracePeriod}` }
      : {
          planned,
          response: showReinstatement(shown.reinstatement),
          subject: `reinstatement/${shown.reinstatement}`,
        }
  },
  // An open reinstatement is a draft: it blocks nothing, and remains when the policy is cancelled or withdrawn, as applications
  // and drafts of other kinds do. It can then only be closed, by a client or at the end of its period.
  pending: ({ lapseReinstatements }) =>
    [...lapseReinstatements.values()]
      .filter(one => reinstatementStatus(one) === 'invoiced')
      .map(({ locator, createdAt }) => ({
        kind: 'reinstatement',
        locator,
        state: 'accepted',
        createdAt,
        takeBack: (from, now) => planClosing(from, from.lapseReinstatements.get(locator)!, now),
      })),
})

export const amountDueKind = defineKind<'amountDue'>({
  name: 'amountDue',
  isReadOnly: () => true,
  async decide(loaded, { reinstatement, effectiveAt }, { attempt }) {
    return { answer: jsonAnswer(await decideAmountDue(loaded, reinstatement, effectiveAt, attempt)) }
  },
})

/** `planned` is undefined when there was nothing to do. `shown` is set for a client's request. */
type LapseDecision = { planned: Planned | undefined; shown?: { gracePeriod: Uuid } | { reinstatement: Uuid } }

/** Plans an operation on a grace period, a lapse or the reinstatement of a lapse. */
export async function decideLapse(
  loaded: Loaded,
  operation: LapseOperation,
  attempt: Attempt,
): Promise<LapseDecision> {
  const { aggregate, product } = loaded
  const { now } = attempt
  const context = async () => ({ product, now, supply: await attempt.digits(0) })
  const billed = (digits: number) => ({ digits, ownBills: ownBills('cancellation', loaded, attempt) })
  switch (operation.action) {
    case 'pastDue':
      return { planned: await planPastDue(loaded, operation, attempt) }
    case 'graceEnd': {
      const grace = aggregate.gracePeriods.get(operation.gracePeriod)
      if (grace?.state !== 'open' || grace.endAt > now) return { planned: undefined }
      const planned = await planWithProration(loaded, attempt, billed(DIGITS_FOR_LAPSE), context =>
        planGraceEnd(aggregate, grace, context),
      )
      return { planned }
    }
    case 'updateGrace': {
      const { gracePeriod, terms } = operation
      const grace = gracePeriodOf(aggregate, gracePeriod)
      const isOver = (terms.endAt ?? grace.endAt) <= now
      const planned = await planWithProration(
        loaded,
        attempt,
        billed(isOver ? DIGITS_FOR_LAPSE : 0),
        context => planGraceUpdate(aggregate, grace, terms, context),
      )
      return { planned, shown: { gracePeriod } }
    }
    case 'open': {
      const { reinstatement, ...planned } = planOpening(aggregate, await context())
      return { planned, shown: { reinstatement: reinstatement.locator } }
    }
    case 'periodEnd': {
      const reinstatement = aggregate.lapseReinstatements.get(operation.reinstatement)
      return { planned: planPeriodEnd(aggregate, reinstatement, now) }
    }
    default:
      return await decideReinstatement(loaded, operation, attempt)
  }
}

/**
 * Reports the past-due invoice and opens its grace period. Open refunds of the policy pay it first: invoices that were migrated have
 * not settled each other yet, and nobody loses cover for a debt that the insurer's own refund covers (brief 4.5). Undefined when
 * there is nothing to do.
 */
async function planPastDue(
  loaded: Loaded,
  operation: Extract<LapseOperation, { action: 'pastDue' }>,
  attempt: Attempt,
): Promise<Planned | undefined> {
  const { invoice, tries = 0, isReported = false, isGraceOnly = false } = operation
  const { product } = loaded
  const { now } = attempt
  const settled = await withOffsets(undefined, loaded, { aggregate: loaded.aggregate, events: [] }, attempt)
  const { aggregate } = settled
  const isSent = isReported || isGraceOnly || tries > 0
  const noticed = combineSteps(settled, isSent ? undefined : planPastDueNotice(aggregate, invoice, now))
  const start = graceStart(aggregate, invoice, { product, now, isUpgraded: isGraceOnly })
  if (!start) return noticed.events.length === 0 ? undefined : noticed
  const answer = await requestGraceTerms(
    { ...loaded, aggregate },
    start,
    { tries, isUpgraded: isGraceOnly },
    attempt,
  )
  if ('retryTimer' in answer) return { ...noticed, timers: [...(noticed.timers ?? []), answer.retryTimer] }
  const supply = await attempt.digits(0)
  return combineSteps(noticed, planGraceStart(aggregate, start, { now, supply }, answer.terms))
}

async function decideReinstatement(
  loaded: Loaded,
  operation: Extract<LapseOperation, { action: 'invoice' | 'close' | 'addDocument' | 'removeDocument' }>,
  attempt: Attempt,
): Promise<LapseDecision> {
  const { aggregate, product } = loaded
  const { now } = attempt
  const reinstatement = lapseReinstatementOf(aggregate, operation.reinstatement)
  const shown = { reinstatement: reinstatement.locator }
  switch (operation.action) {
    case 'close':
      return { planned: planClosing(aggregate, reinstatement, now), shown }
    case 'addDocument': {
      const { subject, subjectLocator } = ownerOfUpload(reinstatement)
      return {
        planned: planUpload(aggregate, { ...operation.document, subject, subjectLocator }, now),
        shown,
      }
    }
    case 'removeDocument':
      return { planned: planRemoval(aggregate, asOwner(reinstatement), operation.document), shown }
    case 'invoice': {
      const invoiced = await planWithProration(loaded, attempt, { digits: 2 }, context =>
        planInvoicing(aggregate, reinstatement, operation.effectiveAt, context),
      )
      const after = invoiced.aggregate
      const waiting = lapseReinstatementOf(after, reinstatement.locator)
      // With nothing to pay, no payment will ever issue it.
      if (isOutstanding(reinstatementInvoice(after, waiting)!)) return { planned: invoiced, shown }
      const supply = await attempt.digits(digitsForIssue(after, waiting, now))
      return { planned: combineSteps(invoiced, planIssue(after, waiting, { product, now, supply })), shown }
    }
  }
}

/**
 * Returns the first invoice of the reinstatement, in major units and by type of charge. Stores nothing. Throws 409 unless it is
 * open.
 */
export async function decideAmountDue(
  loaded: Loaded,
  locator: Uuid,
  effectiveAt: Instant,
  attempt: Attempt,
): Promise<ReinstatementAmountDueResponse> {
  const { aggregate } = loaded
  const reinstatement = lapseReinstatementOf(aggregate, locator)
  assertLapseReinstatementAllows(reinstatement, 'invoice')
  const prepared = await planWithProration(loaded, attempt, { digits: 1 }, context =>
    prepareReinstatement(aggregate, reinstatement, effectiveAt, context),
  )
  const first = planOf(prepared.aggregate, prepared.modification)[0]!
  const items = billedItemsOf(prepared.aggregate)(first).filter(item => isPayable(item.charge))
  const dueOfTypes = (...types: string[]): number => {
    const counted = types.length === 0 ? items : items.filter(item => types.includes(item.charge.type))
    return toNumber(sumOf(counted, item => item.amount, aggregate.policy.currency))
  }
  return {
    grossPremiumDue: dueOfTypes('premium'),
    grossTaxesDue: dueOfTypes('tax'),
    grossFeesDue: dueOfTypes('fee'),
    totalDue: dueOfTypes(),
  }
}

// Documents of a reinstatement can be added unless it is closed, and removed until it is issued (contract 1; brief 0.6).
const asOwner = (reinstatement: LapseReinstatement): UploadOwner => ({
  subject: 'lapseReinstatement',
  subjectLocator: reinstatement.locator,
  title: `Reinstatement ${reinstatement.locator}`,
  isIssued: reinstatementStatus(reinstatement) === 'issued',
})

/** Rejects a closed reinstatement with 409. */
function ownerOfUpload(reinstatement: LapseReinstatement): UploadOwner {
  const owner = asOwner(reinstatement)
  if (reinstatementStatus(reinstatement) === 'closed')
    throw wrongState(`${owner.title} is closed; no more documents can be added to it.`)
  return owner
}

// The plugin's terms for a new grace period (brief 5.6, getPreGraceResult).
//
// No client waits when an invoice becomes past due, so nobody would receive an error if the plugin fails. Bindery calls it again,
// with growing pauses over a day, during which you can repair the script. The delay does no harm: a grace period starts at its
// invoice's due time even if it is recorded later, and the policyholder is covered meanwhile. After the last try the product's
// days apply, because unpaid cover must end. The plugin's log shows every try and its consequence.
const MINUTE_MS = 60_000

/** About a day in total. */
const PAUSES_MS = [1, 10, 60, 360, 1_009].map(minutes => minutes * MINUTE_MS)

/** The terms, or the timer that calls the failed plugin again. */
type PreGrace = { readonly terms: GraceStartTerms } | { readonly retryTimer: NewTimer }

/**
 * Calls the plugin for the terms. Returns empty terms when the product has no such plugin, or when the invoice already sets the
 * end. `tries`: how often the plugin has failed so far.
 */
async function requestGraceTerms(
  loaded: Loaded,
  start: GraceStart,
  { tries, isUpgraded }: { tries: number; isUpgraded: boolean },
  attempt: Attempt,
): Promise<PreGrace> {
  const { aggregate, product } = loaded
  const { policy } = aggregate
  if (!hasPlugin(product, 'getPreGraceResult') || isGraceEndSet(start.invoice, start.startAt))
    return { terms: {} }
  const input: PreGraceInput = {
    invoiceLocator: start.invoice.locator,
    defaultGracePeriodDays: String(product.lapse.gracePeriodDays),
    policy: policyInfo(aggregate),
    tenantTimeZone: policy.timeZone,
  }
  const pause = PAUSES_MS[tries]
  const againAt = pause === undefined ? undefined : ((attempt.now + pause) as Instant)
  const terms = await requestPluginAnswer(loaded, attempt, {
    name: 'getPreGraceResult',
    answer: contract => contract.PreGraceResult,
    input,
    accept: ({ gracePeriodEndTimestamp: endAt, cancelEffectiveTimestamp: cancelEffectiveAt }) => {
      const problems = [
        endAt !== undefined && endAt < start.startAt
          ? `gracePeriodEndTimestamp ${endAt} is before the grace period's start ${start.startAt}`
          : undefined,
        cancelEffectiveProblem(policy, cancelEffectiveAt),
      ].filter(one => one !== undefined)
      if (problems.length > 0)
        throw invalidAnswer('getPreGraceResult', problems, product.plugins.getPreGraceResult!.path)
      return { endAt, cancelEffectiveAt }
    },
    onFailure:
      againAt === undefined
        ? `It has failed ${tries + 1} times: the product's ${product.lapse.gracePeriodDays} days apply.`
        : `It is called again at ${againAt}; after ${PAUSES_MS.length + 1} failures the product's days apply.`,
  })
  if (terms) return { terms }
  if (againAt === undefined) return { terms: {} }
  const retry = { tries: tries + 1, isUpgraded }
  return { retryTimer: pastDueRetryTimer(policy.locator, start.invoice.locator, againAt, retry) }
}
