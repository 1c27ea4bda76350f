// What a transaction charges, before it is known when it is paid. Charges follow from the priced perils and
// the fees that the transaction made; neither changes later, so charges need no rows of their own.
import type { Uuid } from '../../kernel/locators.ts'
import { type Money, negated, sum } from '../../kernel/money.ts'
import type { Instant, Span } from '../../kernel/time.ts'
import type { Fee, PerilRun } from '../records/aggregate.ts'
import type { PlannedInstallment } from '../records/installment.ts'

type PerilSource = {
  readonly perilRunLocator: Uuid
  readonly perilLocator: Uuid
  readonly perilName: string
}

/** One amount that a transaction charges over a span: of one peril run its premium, a tax or a commission, or a fee. */
export type Charge = Span & {
  /** Unique in the policy; the same charge has the same id whenever it is derived. */
  readonly id: string
  /** Never zero. */
  readonly amount: Money
  /** The transaction that made it. */
  readonly policyModificationLocator: Uuid
  /** The stretch that it pays for, where that is not its whole span: of it the rest was billed, or stays as it was. */
  readonly rest?: Span
  /** Of a rest that a plan keeps apart from others (continued-plan.ts): the installment that would have billed it. */
  readonly from?: Uuid
  /** Of a change of what was charged before: until when that stays as it was; 0 where nothing of it stays. */
  readonly keptUntil?: Instant
} & (
    | (PerilSource & { readonly type: 'premium' })
    | (PerilSource & { readonly type: 'tax'; readonly taxName: string })
    | (PerilSource & { readonly type: 'commission'; readonly commissionRecipient: string })
    | { readonly type: 'fee'; readonly feeLocator: Uuid; readonly feeName: string }
    /** Of a premium, of a tax where it names one, or of a fee. */
    | (PerilSource & { readonly type: 'holdback'; readonly taxName?: string })
    | { readonly type: 'holdback'; readonly feeLocator: Uuid; readonly feeName: string }
  )

/** `keptUntil` of a charge that takes everything back. */
export const NOTHING_KEPT = 0 as Instant

const isCharged = (charge: Charge): boolean => charge.amount.minor !== 0

/** The charges of a peril run: premium, then taxes, then commissions. None while the run is not priced. */
export function perilCharges(run: PerilRun, perilName: string): Charge[] {
  if (run.price === undefined) return []
  const source = {
    start: run.start,
    end: run.end,
    policyModificationLocator: run.madeBy,
    perilRunLocator: run.locator,
    perilLocator: run.perilLocator,
    perilName,
  }
  const charges: Charge[] = [
    { ...source, id: `${run.locator}/premium`, type: 'premium', amount: run.price.premium.amount },
    ...run.price.taxes.map(
      (tax): Charge => ({
        ...source,
        id: `${run.locator}/tax/${tax.name}`,
        type: 'tax',
        amount: tax.amount,
        taxName: tax.name,
      }),
    ),
    // A recipient may have several commissions on one peril; the position distinguishes them.
    ...run.price.commissions.map(
      (commission, position): Charge => ({
        ...source,
        id: `${run.locator}/commission/${position}`,
        type: 'commission',
        amount: commission.amount,
        commissionRecipient: commission.recipient,
      }),
    ),
  ]
  return charges.filter(isCharged)
}

/** The id of a fee's own charge. */
export const feeChargeId = ({ locator }: Pick<Fee, 'locator'>): string => `${locator}/fee`

/** The fees of the plan's installments, each as a charge of the transaction over the installment's span. */
export const installmentFeeCharges = (plan: Iterable<PlannedInstallment>): Charge[] =>
  Array.from(plan).flatMap(({ start, end, modificationLocator, fees = [] }) =>
    fees.map(
      (fee): Charge => ({
        id: feeChargeId(fee),
        type: 'fee',
        amount: fee.amount,
        start,
        end,
        policyModificationLocator: modificationLocator,
        feeLocator: fee.locator,
        feeName: fee.name,
      }),
    ),
  )

/** The refunds for fees of installments that a modification reversed. */
export const installmentFeeReversals = (installments: Iterable<PlannedInstallment>, by: Uuid): Charge[] =>
  Array.from(installments).flatMap(({ start, end, fees = [] }) =>
    fees
      .filter(fee => fee.reversedBy === by)
      .map(
        (fee): Charge => ({
          id: `${fee.locator}/${by}/fee`,
          type: 'fee',
          amount: negated(fee.amount),
          keptUntil: NOTHING_KEPT,
          start,
          end,
          policyModificationLocator: by,
          feeLocator: fee.locator,
          feeName: fee.name,
        }),
      ),
  )

/** The charges of fees, in their order. */
export function feeCharges(fees: Iterable<Fee>): Charge[] {
  return Array.from(
    fees,
    (fee): Charge => ({
      id: feeChargeId(fee),
      type: 'fee',
      amount: fee.amount,
      start: fee.start,
      end: fee.end,
      policyModificationLocator: fee.madeBy,
      feeLocator: fee.locator,
      feeName: fee.name,
    }),
  ).filter(isCharged)
}

/** The refunds for fees that a modification reversed. */
export function feeReversals(fees: Iterable<Fee>, by: Uuid): Charge[] {
  return Array.from(fees)
    .flatMap(fee => fee.changes.filter(change => change.by === by).map(change => ({ fee, change })))
    .map(
      ({ fee, change }): Charge => ({
        id: `${fee.locator}/${by}/fee`,
        type: 'fee',
        amount: negated(
          sum(
            change.removed.map(part => part.amount),
            fee.amount.currency,
          ),
        ),
        keptUntil: NOTHING_KEPT,
        start: fee.start,
        end: fee.end,
        policyModificationLocator: by,
        feeLocator: fee.locator,
        feeName: fee.name,
      }),
    )
    .filter(isCharged)
}

/** The same for all charges of one premium, tax, commission or fee, whichever transactions make and change it. */
export function lineOfCharge(charge: Charge): string {
  const source = charge.id.slice(0, charge.id.indexOf('/'))
  switch (charge.type) {
    case 'tax':
      return `${source}/tax/${charge.taxName}`
    case 'commission':
      return `${source}/commission/${charge.id.slice(charge.id.lastIndexOf('/') + 1)}`
    default:
      return `${source}/${charge.type}`
  }
}

/** Whether the policyholder pays it: commissions are itemised but belong to no total (brief 3.1). */
export const isPayable = (charge: Charge): boolean => charge.type !== 'commission'
