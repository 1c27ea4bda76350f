// What a transaction charges, before it is divided among payment dates. Charges follow from priced perils and fees, which never
// change, so charges have no rows.
import type { Uuid } from '../../kernel/locators.ts'
import { addByName, fromMinor, type Money, minus, negated, plus, sumOf } from '../../kernel/money.ts'
import { earlier, type Instant, later, type Span } from '../../kernel/time.ts'
import { amountsOf, splitBy } from '../fold/shares.ts'
import type { Amounts, Fee, PerilRun } from '../records/aggregate.ts'
import type { PlannedInstallment } from '../records/invoice.ts'

type PerilSource = {
  readonly perilRunLocator: Uuid
  readonly perilLocator: Uuid
  readonly perilName: string
}

/** One amount that a transaction charges over a span: a premium, tax or commission of one peril run, or a fee. */
export type Charge = Span & {
  /** Unique in the policy, and the same each time it is derived. */
  readonly id: string
  /** Never zero. */
  readonly amount: Money
  /** The transaction that made it. */
  readonly policyModificationLocator: Uuid
  /** The span that the charge pays for, if not the whole span: the remaining time was already billed or is unchanged. */
  readonly rest?: Span
  /** For a rest that a plan keeps separate (items.ts): the installment that would have billed it. */
  readonly from?: Uuid
  /** For a change of an earlier charge: the time until which that charge is unchanged. 0 if none of it stays. */
  readonly keptUntil?: Instant
  /** If `keptUntil` is 0 but cover from before a reinstatement stays: the start of the change (`Replanned.keepsCover`). */
  readonly coverUntil?: Instant
  /** The charge that this one takes back whole. Its characteristics are therefore those that its transaction replaced. */
  readonly reverses?: string
  /** The policy segment of those characteristics. If absent, the last segment that the transaction replaced. */
  readonly reversedSegment?: Uuid
} & (
    | (PerilSource & { readonly type: 'premium' })
    | (PerilSource & { readonly type: 'tax'; readonly taxName: string })
    | (PerilSource & { readonly type: 'commission'; readonly commissionRecipient: string })
    | { readonly type: 'fee'; readonly feeLocator: Uuid; readonly feeName: string }
    /** Held back from a premium, from a tax if one is named, or from a fee. */
    | (PerilSource & { readonly type: 'holdback'; readonly taxName?: string })
    | { readonly type: 'holdback'; readonly feeLocator: Uuid; readonly feeName: string }
  )

/** The `keptUntil` of a charge that reverses everything. */
export const NOTHING_KEPT = 0 as Instant

/** Whether the charge counts: charges of zero are left out. */
export const isCharged = (charge: Charge): boolean => charge.amount.minor !== 0

/** Returns the charges of a new peril run: premium, taxes and commissions. Empty until the run is priced. */
export function perilCharges(run: PerilRun, perilName: string): Charge[] {
  if (run.price === undefined) return []
  const total = { start: run.start, end: run.end, amounts: amountsOf(run.price) }
  return runCharges(run, total, run.madeBy, { id: run.locator, perilName }).filter(isCharged)
}

export const feeChargeId = ({ locator }: Pick<Fee, 'locator'>): string => `${locator}/fee`

type ChargedFee = Pick<Fee, 'locator' | 'name'>

const feeCharge = (fee: ChargedFee, by: Uuid, amount: Money, { start, end }: Span): Charge => ({
  id: feeChargeId(fee),
  type: 'fee',
  amount,
  start,
  end,
  policyModificationLocator: by,
  feeLocator: fee.locator,
  feeName: fee.name,
})

/** Like `feeCharge`, for a modification that changes the fee. */
export const feeChange = (fee: ChargedFee, by: Uuid, amount: Money, span: Span): Charge => ({
  ...feeCharge(fee, by, amount, span),
  id: `${fee.locator}/${by}/fee`,
})

const feeReversal = (fee: ChargedFee, by: Uuid, amount: Money, span: Span): Charge => ({
  ...feeChange(fee, by, negated(amount), span),
  keptUntil: NOTHING_KEPT,
})

/** Returns the fees of the plan's installments, each as a charge of the transaction over the span of its installment. */
export const installmentFeeCharges = (plan: Iterable<PlannedInstallment>): Charge[] =>
  Array.from(plan).flatMap(installment =>
    (installment.fees ?? []).map(fee =>
      feeCharge(fee, installment.modificationLocator, fee.amount, installment),
    ),
  )

/** Returns the charges with which the modification takes back fees of installments. */
export const installmentFeeReversals = (installments: Iterable<PlannedInstallment>, by: Uuid): Charge[] =>
  Array.from(installments).flatMap(installment =>
    (installment.fees ?? [])
      .filter(fee => fee.reversedBy === by)
      .map(fee => feeReversal(fee, by, fee.amount, installment)),
  )

/** Returns the charges that add the fees. Leaves out fees of zero. */
export const feeCharges = (fees: readonly Fee[]): Charge[] =>
  fees.map(fee => feeCharge(fee, fee.madeBy, fee.amount, fee)).filter(isCharged)

/** Returns the charges with which the modification takes back what it removed from the fees. */
export const feeReversals = (fees: readonly Fee[], by: Uuid): Charge[] =>
  fees
    .flatMap(fee =>
      fee.changes
        .filter(change => change.by === by)
        .map(({ removed }) =>
          feeReversal(
            fee,
            by,
            sumOf(removed, part => part.amount, fee.amount.currency),
            fee,
          ),
        ),
    )
    .filter(isCharged)

/** Returns the locator of the peril run or fee that is charged for. */
export const sourceOfCharge = ({ id }: Charge): string => id.slice(0, id.indexOf('/'))

/** Returns the key by which charges are grouped: the same for all charges of one premium, tax, commission or fee. */
export function lineOfCharge(charge: Charge): string {
  const source = sourceOfCharge(charge)
  switch (charge.type) {
    case 'tax':
      return `${source}/tax/${charge.taxName}`
    case 'commission':
      return `${source}/commission/${charge.id.slice(charge.id.lastIndexOf('/') + 1)}`
    default:
      return `${source}/${charge.type}`
  }
}

/** Whether the charge is an amount that a cancellation holds back, of a commission too. */
export const isHoldback = ({ type, id }: Charge): boolean => type === 'holdback' || id.includes('/holdback/')

/** Returns the key of what is charged for: a premium, tax, commission or fee, no matter how often the peril was rated. */
function subjectOf(charge: Charge): string {
  if ('feeLocator' in charge) return `${charge.type}/${charge.feeLocator}`
  const of = `${charge.type}/${charge.perilLocator}`
  if ('commissionRecipient' in charge) return `${of}/${charge.commissionRecipient}`
  return 'taxName' in charge ? `${of}/${charge.taxName}` : of
}

/** Whether the items cancel out, for each premium, tax, commission and fee. */
export function cancelOut(items: readonly { readonly charge: Charge; readonly amount: Money }[]): boolean {
  const sums = new Map<string, Money>()
  for (const { charge, amount } of items) addByName(sums, subjectOf(charge), amount)
  return [...sums.values()].every(({ minor }) => minor === 0)
}

/** Whether the policyholder pays the charge. Commissions are itemised but belong to no total (brief 3.1). */
export const isPayable = (charge: Charge): boolean => charge.type !== 'commission'

/** Returns the charges without the part that was paid. */
export function unpaidPart(charges: readonly Charge[], paidMinor: number): Charge[] {
  const paid = paidParts(charges, paidMinor)
  return charges
    .map((one, at): Charge => ({ ...one, amount: minus(one.amount, paid[at]!) }))
    .filter(one => one.amount.minor !== 0)
}

/** Returns the paid part of each charge, in proportion to their payable amounts. All parts are zero if nothing is payable. */
export function paidParts(charges: readonly Charge[], paidMinor: number): Money[] {
  const weights = charges.map(one => (isPayable(one) ? BigInt(Math.max(0, one.amount.minor)) : 0n))
  const [first] = charges
  if (weights.every(weight => weight === 0n)) return charges.map(one => fromMinor(0, one.amount.currency))
  return splitBy(weights)(fromMinor(paidMinor, first!.amount.currency))
}

/** Joins the rests with the same key and omits those that total zero. */
export function joinedRests(all: Iterable<Charge>, keyOf: (rest: Charge) => string): Charge[] {
  const rests = new Map<string, Charge>()
  for (const rest of all) {
    const key = keyOf(rest)
    const other = rests.get(key)
    rests.set(key, other ? joinTwoRests(other, rest) : rest)
  }
  return [...rests.values()].filter(rest => rest.amount.minor !== 0)
}

/** Joins two rests of one charge that two plans left. */
const joinTwoRests = (a: Charge, b: Charge): Charge => ({
  ...a,
  amount: plus(a.amount, b.amount),
  rest: { start: earlier(a.rest!.start, b.rest!.start), end: later(a.rest!.end, b.rest!.end) },
})

/** `rest` and `keptUntil` are for a run that was charged before: the span that is charged again, and the end of what stays. */
type RunChargeSource = { id: string; perilName: string } & Pick<
  Charge,
  'rest' | 'keptUntil' | 'coverUntil' | 'reverses' | 'reversedSegment'
>

/** Returns the id of a tax. `source` begins all ids of the charges of its run. */
export const taxChargeId = (source: string, taxName: string): string => `${source}/tax/${taxName}`

/** Returns the id of a commission. The position distinguishes several commissions of one recipient on one peril. */
export const commissionChargeId = (source: string, at: number): string => `${source}/commission/${at}`

/** The amounts of a piece of a run, or of several pieces together. */
export type PieceTotal = Span & { readonly amounts: Amounts }

/** Returns the charges of a run. Their ids begin with `id`; the ids of the charges that they take back begin with `reverses`. */
export function runCharges(
  run: PerilRun,
  { start, end, amounts }: PieceTotal,
  by: Uuid,
  { id, perilName, reverses, ...change }: RunChargeSource,
): Charge[] {
  const source = {
    start,
    end,
    ...change,
    policyModificationLocator: by,
    perilRunLocator: run.locator,
    perilLocator: run.perilLocator,
    perilName,
  }
  const withChargeIds = (idOf: (source: string) => string) => ({
    id: idOf(id),
    ...(reverses !== undefined && { reverses: idOf(reverses) }),
  })
  const { taxes, commissions } = run.price!
  return [
    { ...source, ...withChargeIds(of => `${of}/premium`), type: 'premium', amount: amounts.premium },
    ...taxes.map(({ name: taxName }, at): Charge => {
      return {
        ...source,
        ...withChargeIds(of => taxChargeId(of, taxName)),
        type: 'tax',
        amount: amounts.taxes[at]!,
        taxName,
      }
    }),
    ...commissions.map(
      ({ recipient }, at): Charge => ({
        ...source,
        ...withChargeIds(of => commissionChargeId(of, at)),
        type: 'commission',
        amount: amounts.commissions[at]!,
        commissionRecipient: recipient,
      }),
    ),
  ]
}
