// What each operation on grace periods and legacy lapses decides: pure plans over what was loaded.
import { ownBills } from '../../billing/plugin-bills.ts'
import type { Uuid } from '../../kernel/locators.ts'
import { type Money, sum, toNumber } from '../../kernel/money.ts'
import type { Instant } from '../../kernel/time.ts'
import { planOf } from '../../policy/bills/amounts-due.ts'
import { isPayable } from '../../policy/bills/charge.ts'
import { billedItemsOf } from '../../policy/projection/billed-items.ts'
import { isOutstanding } from '../../policy/records/invoice.ts'
import {
  gracePeriodOf,
  lapseReinstatementOf,
  type UnplacedDocument,
} from '../../policy/records/transactions.ts'
import type { Loaded } from '../../policy/surroundings.ts'
import { chain, type Planned } from '../../policy/transitions.ts'
import type { Attempt } from '../../rating/rate.ts'
import { prorated } from '../mechanism/prorating.ts'
import type { ReinstatementAmountDueResponse } from './contract.ts'
import { reinstatementInvoice } from './events.ts'
import {
  DIGITS_FOR_LAPSE,
  type GracePeriodTerms,
  graceStart,
  planGraceEnd,
  planGraceStart,
  planGraceUpdate,
} from './grace-periods.ts'
import { planReinstatementRemoval, planReinstatementUpload } from './kind.ts'
import { preGrace } from './pre-grace.ts'
import {
  digitsForIssue,
  madeFrom,
  planClosing,
  planInvoicing,
  planIssue,
  planOpening,
  planPeriodEnd,
} from './reinstatements.ts'
import { planPastDueNotice } from './timers.ts'
import { assertLapseReinstatementAllows } from './transitions.ts'

export type LapseOperation =
  /** From the clock. */
  /** `tries`: how often the plugin that is to say the grace period's terms has failed; `isGraceOnly`: it was told of. */
  | { action: 'pastDue'; invoice: Uuid; tries?: number; isGraceOnly?: boolean }
  | { action: 'graceEnd'; gracePeriod: Uuid }
  | { action: 'periodEnd'; reinstatement: Uuid }
  | { action: 'updateGrace'; gracePeriod: Uuid; terms: GracePeriodTerms }
  | { action: 'open' }
  | { action: 'invoice'; reinstatement: Uuid; effectiveAt: Instant }
  | { action: 'close'; reinstatement: Uuid }
  | { action: 'addDocument'; reinstatement: Uuid; document: UnplacedDocument }
  | { action: 'removeDocument'; reinstatement: Uuid; document: Uuid }

/** What the answer shows. */
export type LapseSubject = { gracePeriod: Uuid } | { reinstatement: Uuid }

/** What came of it (undefined: nothing was to be done); `shown` where a client asked. */
export type LapseDecision = { planned: Planned | undefined; shown?: LapseSubject }

export async function decideLapse(
  loaded: Loaded,
  operation: LapseOperation,
  attempt: Attempt,
): Promise<LapseDecision> {
  const { aggregate, product } = loaded
  const { now } = attempt
  const context = async (digits: number) => ({ product, now, supply: await attempt.digits(digits) })
  const billed = (digits: number) => ({ digits, ownBills: ownBills('cancellation', loaded, attempt) })
  switch (operation.action) {
    case 'pastDue': {
      const { invoice, tries = 0, isGraceOnly } = operation
      const notice = tries > 0 || isGraceOnly ? undefined : planPastDueNotice(aggregate, invoice, now)
      const start = graceStart(aggregate, invoice, { product, now })
      if (!start) return { planned: notice }
      const told = notice ?? { aggregate, events: [] }
      const asked = await preGrace(loaded, start, tries, attempt)
      if ('again' in asked) return { planned: { ...told, timers: [asked.again] } }
      return { planned: chain(told, planGraceStart(aggregate, start, await context(0), asked.terms)) }
    }
    case 'graceEnd': {
      const grace = aggregate.gracePeriods.get(operation.gracePeriod)
      if (grace?.state !== 'open' || grace.endAt > now) return { planned: undefined }
      const planned = await prorated(loaded, attempt, billed(DIGITS_FOR_LAPSE), context =>
        planGraceEnd(aggregate, grace, context),
      )
      return { planned }
    }
    case 'updateGrace': {
      const { gracePeriod, terms } = operation
      const grace = gracePeriodOf(aggregate, gracePeriod)
      const isOver = (terms.endAt ?? grace.endAt) <= now
      const planned = await prorated(loaded, attempt, billed(isOver ? DIGITS_FOR_LAPSE : 0), context =>
        planGraceUpdate(aggregate, grace, terms, context),
      )
      return { planned, shown: { gracePeriod } }
    }
    case 'open': {
      const { reinstatement, ...planned } = planOpening(aggregate, await context(0))
      return { planned, shown: { reinstatement: reinstatement.locator } }
    }
    case 'invoice': {
      const { reinstatement, effectiveAt } = operation
      const open = lapseReinstatementOf(aggregate, reinstatement)
      const invoiced = await prorated(loaded, attempt, { digits: 2 }, context =>
        planInvoicing(aggregate, open, effectiveAt, context),
      )
      const waiting = lapseReinstatementOf(invoiced.aggregate, reinstatement)
      // With nothing to pay no payment will ever come.
      const invoice = reinstatementInvoice(invoiced.aggregate, waiting)!
      const issued = isOutstanding(invoice)
        ? undefined
        : planIssue(
            invoiced.aggregate,
            waiting,
            await context(digitsForIssue(invoiced.aggregate, waiting, now)),
          )
      return { planned: chain(invoiced, issued), shown: { reinstatement } }
    }
    case 'close': {
      const { reinstatement } = operation
      const planned = planClosing(aggregate, lapseReinstatementOf(aggregate, reinstatement), now)
      return { planned, shown: { reinstatement } }
    }
    case 'addDocument': {
      const { reinstatement, document } = operation
      const owner = lapseReinstatementOf(aggregate, reinstatement)
      return { planned: planReinstatementUpload(aggregate, owner, document, now), shown: { reinstatement } }
    }
    case 'removeDocument': {
      const { reinstatement, document } = operation
      const owner = lapseReinstatementOf(aggregate, reinstatement)
      return { planned: planReinstatementRemoval(aggregate, owner, document), shown: { reinstatement } }
    }
    case 'periodEnd':
      return {
        planned: planPeriodEnd(aggregate, aggregate.lapseReinstatements.get(operation.reinstatement), now),
      }
  }
}

/** What the reinstatement's invoice would ask for, from that time on; nothing is stored. */
export async function decideAmountDue(
  loaded: Loaded,
  locator: Uuid,
  effectiveAt: Instant,
  attempt: Attempt,
): Promise<ReinstatementAmountDueResponse> {
  const { aggregate } = loaded
  const reinstatement = lapseReinstatementOf(aggregate, locator)
  assertLapseReinstatementAllows(reinstatement, 'invoice')
  const made = await prorated(loaded, attempt, { digits: 1 }, context =>
    madeFrom(aggregate, reinstatement, effectiveAt, context),
  )
  const first = planOf(made.aggregate, made.modification)[0]!
  const items = billedItemsOf(made.aggregate)(first).filter(item => isPayable(item.charge))
  const { currency } = aggregate.policy
  const due = (type?: string): Money =>
    sum(
      items.filter(item => type === undefined || item.charge.type === type).map(item => item.amount),
      currency,
    )
  return {
    grossPremiumDue: toNumber(due('premium')),
    grossTaxesDue: toNumber(due('tax')),
    grossFeesDue: toNumber(due('fee')),
    totalDue: toNumber(due()),
  }
}
