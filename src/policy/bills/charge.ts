// What a transaction charges, before payment dates. Charges follow from priced perils and fees, which never change,
// so charges have no rows.
import type { Uuid } from '../../kernel/locators.ts'
import { fromMinor, type Money, minus, negated, plus, sumOf, zero } from '../../kernel/money.ts'
import { earlier, type Instant, later, type Span } from '../../kernel/time.ts'
import { feeInForce, holdbacksInForce, type Line, lineUpTo } from '../fold/line.ts'
import { type Piece, piecesOf } from '../fold/pieces.ts'
import { reaches } from '../fold/premium.ts'
import { amountsOf, each, plusAmounts, splitBy } from '../fold/shares.ts'
import type { Amounts, Fee, Holdback, Modification, PerilRun, PolicyAggregate } from '../records/aggregate.ts'
import { acceptedQuote } from '../records/aggregate.ts'
import type { PlannedInstallment } from '../records/invoice.ts'

type PerilSource = {
  readonly perilRunLocator: Uuid
  readonly perilLocator: Uuid
  readonly perilName: string
}

/** One amount that a transaction charges over a span: a premium, tax or commission of one peril run, or a fee. */
export type Charge = Span & {
  /** Unique in the policy, and stable whenever it is derived. */
  readonly id: string
  /** Never zero. */
  readonly amount: Money
  /** The transaction that made it. */
  readonly policyModificationLocator: Uuid
  /** The span that it pays for, if not the whole: the rest was already billed or is unchanged. */
  readonly rest?: Span
  /** For a rest that a plan keeps apart (continued-plan.ts): the installment that would have billed it. */
  readonly from?: Uuid
  /** For a change of an earlier charge: that charge is unchanged until then; 0 if none of it stays. */
  readonly keptUntil?: Instant
  /** Where `keptUntil` is 0: the start of the change, if cover of before a reinstatement stays (`Replanned.keepsCover`). */
  readonly coverUntil?: Instant
  /** The charge that it takes back as a whole; so it is of the characteristics that its transaction replaced. */
  readonly reverses?: string
} & (
    | (PerilSource & { readonly type: 'premium' })
    | (PerilSource & { readonly type: 'tax'; readonly taxName: string })
    | (PerilSource & { readonly type: 'commission'; readonly commissionRecipient: string })
    | { readonly type: 'fee'; readonly feeLocator: Uuid; readonly feeName: string }
    /** Held back from a premium, from a tax if named, or from a fee. */
    | (PerilSource & { readonly type: 'holdback'; readonly taxName?: string })
    | { readonly type: 'holdback'; readonly feeLocator: Uuid; readonly feeName: string }
  )

/** `keptUntil` of a charge that reverses everything. */
export const NOTHING_KEPT = 0 as Instant

const isCharged = (charge: Charge): boolean => charge.amount.minor !== 0

/** Charges of a new peril run: premium, taxes, commissions. Empty until the run is priced. */
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

/** Like `feeCharge`, for a modification that changes a fee. */
const feeChange = (fee: ChargedFee, by: Uuid, amount: Money, span: Span): Charge => ({
  ...feeCharge(fee, by, amount, span),
  id: `${fee.locator}/${by}/fee`,
})

const feeReversal = (fee: ChargedFee, by: Uuid, amount: Money, span: Span): Charge => ({
  ...feeChange(fee, by, negated(amount), span),
  keptUntil: NOTHING_KEPT,
})

/** Fees of the plan's installments, each as a charge of the transaction over its installment's span. */
export const installmentFeeCharges = (plan: Iterable<PlannedInstallment>): Charge[] =>
  Array.from(plan).flatMap(installment =>
    (installment.fees ?? []).map(fee =>
      feeCharge(fee, installment.modificationLocator, fee.amount, installment),
    ),
  )

export const installmentFeeReversals = (installments: Iterable<PlannedInstallment>, by: Uuid): Charge[] =>
  Array.from(installments).flatMap(installment =>
    (installment.fees ?? [])
      .filter(fee => fee.reversedBy === by)
      .map(fee => feeReversal(fee, by, fee.amount, installment)),
  )

export const feeCharges = (fees: readonly Fee[]): Charge[] =>
  fees.map(fee => feeCharge(fee, fee.madeBy, fee.amount, fee)).filter(isCharged)

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

/** Groups charges: one key for all charges of the same premium, tax, commission or fee. */
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

/** Whether the policyholder pays it. Commissions are itemised but belong to no total (brief 3.1). */
export const isPayable = (charge: Charge): boolean => charge.type !== 'commission'

/** The charges without the paid part. */
export function unpaidPart(charges: readonly Charge[], paidMinor: number): Charge[] {
  const paid = paidParts(charges, paidMinor)
  return charges
    .map((one, at): Charge => ({ ...one, amount: minus(one.amount, paid[at]!) }))
    .filter(one => one.amount.minor !== 0)
}

/** The paid part of each charge, in proportion to their payable amounts; nothing where none is payable. */
export function paidParts(charges: readonly Charge[], paidMinor: number): Money[] {
  const weights = charges.map(one => (isPayable(one) ? BigInt(Math.max(0, one.amount.minor)) : 0n))
  const [first] = charges
  if (weights.every(weight => weight === 0n)) return charges.map(one => fromMinor(0, one.amount.currency))
  return splitBy(weights)(fromMinor(paidMinor, first!.amount.currency))
}

/** Joins the rests with the same key, and omits those of zero. */
export function joinedRests(all: Iterable<Charge>, keyOf: (rest: Charge) => string): Charge[] {
  const rests = new Map<string, Charge>()
  for (const rest of all) {
    const key = keyOf(rest)
    const other = rests.get(key)
    rests.set(key, other ? joined(other, rest) : rest)
  }
  return [...rests.values()].filter(rest => rest.amount.minor !== 0)
}

/** Two rests of one charge, left by two plans. */
const joined = (a: Charge, b: Charge): Charge => ({
  ...a,
  amount: plus(a.amount, b.amount),
  rest: { start: earlier(a.rest!.start, b.rest!.start), end: later(a.rest!.end, b.rest!.end) },
})

// Charges of a later modification: the cost of its pieces and fees minus the cost of what they replace. A cancellation's
// are negative. An endorsement reverses the whole changed charge, then charges the kept part again and the new one
// (brief 4.3): the first two pay for the time from the change on.
export function netCharges(aggregate: PolicyAggregate, modification: Modification): Charge[] {
  const quote = acceptedQuote(aggregate)!
  const by = modification.locator
  // Later transactions must not change what this one charged.
  const line = lineUpTo(aggregate, quote, modification)
  const { timeZone, currency } = aggregate.policy
  const makers = new Set(line.map(step => step.modification.locator))
  const step = line.find(one => one.modification.locator === by)
  const charges: Charge[] = []
  for (const run of aggregate.perilRuns.values()) {
    if (!run.price || !makers.has(run.madeBy) || !step || !reaches(step, run)) continue
    const pieces = piecesOf(run, line, timeZone)
    const madeTotal = totalOfPieces(pieces.filter(piece => piece.madeBy === by))
    const replaced = pieces.filter(piece => piece.replacedBy === by)
    const replacedTotal = totalOfPieces(replaced)
    const perilName = aggregate.perils.get(run.perilLocator)?.name ?? ''
    const own = { id: `${run.locator}/${by}`, perilName }
    if (!replacedTotal) {
      if (madeTotal) charges.push(...runCharges(run, madeTotal, by, own))
      continue
    }
    const reversedTotal = { ...replacedTotal, amounts: each(replacedTotal.amounts, negated) }
    const net = madeTotal ? plusAmounts(madeTotal.amounts, reversedTotal.amounts) : reversedTotal.amounts
    if (isNothing(net)) continue
    const keptUntil = madeTotal?.end ?? NOTHING_KEPT
    // The change of the run begins where the kept part ends.
    const changed = { start: madeTotal?.end ?? replacedTotal.start, end: replacedTotal.end }
    const rest =
      changed.start < changed.end ? changed : { start: replacedTotal.start, end: replacedTotal.end }
    if (madeTotal && modification.kind === 'endorsement')
      charges.push(
        ...runCharges(run, reversedTotal, by, {
          ...own,
          id: `${own.id}/reversal`,
          rest,
          keptUntil,
          reverses: chargedAs(run, replaced),
        }),
        ...runCharges(run, madeTotal, by, { ...own, rest, keptUntil }),
      )
    else {
      // All of a piece that a reinstatement made goes: what is before it stays, and is billed by the same line.
      const isStanding = ({ start, replacedBy }: Piece): boolean =>
        replacedBy === undefined && start < replacedTotal.start
      const coverUntil = !madeTotal && pieces.some(isStanding) ? { coverUntil: replacedTotal.start } : {}
      charges.push(...runCharges(run, { ...rest, amounts: net }, by, { ...own, keptUntil, ...coverUntil }))
    }
  }
  const before = line.filter(step => step.modification.locator !== by)
  for (const fee of aggregate.fees.values()) {
    if (!makers.has(fee.madeBy)) continue
    const previous = fee.madeBy === by ? undefined : feeInForce(fee, before)
    const amount = minus(feeInForce(fee, line).amount, previous?.amount ?? zero(currency))
    const { parts = [], removed: [removed] = [] } = fee.changes.find(change => change.by === by) ?? {}
    // A flat fee comes back for its whole span, including the gap.
    const restoredPart = parts.find(
      one => previous && !previous.parts.some(known => known.start === one.start),
    )
    const changeStart = later(fee.start, modification.effectiveAt)
    const isRestored = modification.kind === 'reinstatement' && restoredPart !== undefined
    const from = removed?.start ?? (isRestored ? earlier(restoredPart.start, changeStart) : changeStart)
    charges.push({
      ...feeChange(fee, by, amount, { start: from < fee.end ? from : fee.start, end: fee.end }),
      ...(removed && { keptUntil: parts.length > 0 ? removed.start : NOTHING_KEPT }),
    })
  }
  charges.push(...holdbackCharges(aggregate, modification, before, line))
  return charges.filter(isCharged)
}

/** The prefix of the ids of the charges by which the last of the pieces was charged. */
function chargedAs(run: PerilRun, pieces: readonly Piece[]): string {
  const { madeBy } = pieces.at(-1)!
  return madeBy === run.madeBy ? run.locator : `${run.locator}/${madeBy}`
}

/** The cost of several pieces of a run together, from the start of the first to the end of the last. */
type PieceTotal = Span & { readonly amounts: Amounts }

function totalOfPieces(pieces: readonly Piece[]): PieceTotal | undefined {
  let total: PieceTotal | undefined
  for (const { start, end, amounts } of pieces)
    if (amounts)
      total = total
        ? {
            start: earlier(total.start, start),
            end: later(total.end, end),
            amounts: plusAmounts(total.amounts, amounts),
          }
        : { start, end, amounts }
  return total
}

const isNothing = ({ premium, taxes, commissions }: Amounts): boolean =>
  [premium, ...taxes, ...commissions].every(amount => amount.minor === 0)

/** `rest` and `keptUntil` are for a run that was charged before: the recharged span, and the end of what stays. */
type RunChargeSource = { id: string; perilName: string } & Pick<
  Charge,
  'rest' | 'keptUntil' | 'coverUntil' | 'reverses'
>

export const taxChargeId = (source: string, taxName: string): string => `${source}/tax/${taxName}`

/** A recipient may have several commissions on one peril; the position distinguishes them. */
export const commissionChargeId = (source: string, at: number): string => `${source}/commission/${at}`

/** `id` prefixes the ids of the charges, `reverses` those of what they take back. */
function runCharges(
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
  const named = (idOf: (source: string) => string) => ({
    id: idOf(id),
    ...(reverses !== undefined && { reverses: idOf(reverses) }),
  })
  const { taxes, commissions } = run.price!
  return [
    { ...source, ...named(of => `${of}/premium`), type: 'premium', amount: amounts.premium },
    ...taxes.map(({ name: taxName }, at): Charge => {
      return {
        ...source,
        ...named(of => taxChargeId(of, taxName)),
        type: 'tax',
        amount: amounts.taxes[at]!,
        taxName,
      }
    }),
    ...commissions.map(
      ({ recipient }, at): Charge => ({
        ...source,
        ...named(of => commissionChargeId(of, at)),
        type: 'commission',
        amount: amounts.commissions[at]!,
        commissionRecipient: recipient,
      }),
    ),
  ]
}

// Holdbacks that a modification adds or drops, as charges (brief 1.6, 3.2). A held-back commission reduces what is taken
// back from its recipient; the policyholder is not charged. `before` and `after`: the line without and with the
// modification. May include zero charges.
function holdbackCharges(
  aggregate: PolicyAggregate,
  modification: Modification,
  before: Line,
  after: Line,
): Charge[] {
  const changes = new Map<string, Holdback>()
  const none = zero(aggregate.policy.currency)
  const add = (of: Holdback, amount: Money): void => {
    const id = idOf(of, modification.locator)
    changes.set(id, { ...of, amount: plus(changes.get(id)?.amount ?? none, amount) })
  }
  for (const one of holdbacksInForce(before)) add(one, negated(one.amount))
  for (const one of holdbacksInForce(after)) add(one, one.amount)
  return [...changes].map(([id, change]) => chargeOf(aggregate, modification, id, change))
}

/** The same for one source, whichever modification held it back. */
function idOf(of: Holdback, by: Uuid): string {
  const id = `${of.type === 'fee' ? of.feeLocator : of.perilRunLocator}/${by}/holdback`
  if (of.type === 'tax') return `${id}/tax/${of.taxName}`
  return of.type === 'commission' ? `${id}/commission/${of.position}` : id
}

function chargeOf(
  { perilRuns, perils, fees }: PolicyAggregate,
  { locator, effectiveAt: start }: Modification,
  id: string,
  of: Holdback,
): Charge {
  const charge = (end: Instant) => ({
    id,
    amount: of.amount,
    policyModificationLocator: locator,
    start,
    end: later(end, (start + 1) as Instant),
  })
  if (of.type === 'fee') {
    const { name, end } = fees.get(of.feeLocator)!
    return { ...charge(end), type: 'holdback', feeLocator: of.feeLocator, feeName: name }
  }
  const { perilRunLocator } = of
  const { perilLocator, end, price } = perilRuns.get(perilRunLocator)!
  const perilName = perils.get(perilLocator)?.name ?? ''
  const source = { ...charge(end), perilRunLocator, perilLocator, perilName }
  if (of.type === 'commission') {
    const { recipient } = price!.commissions[of.position]!
    return { ...source, type: 'commission', commissionRecipient: recipient }
  }
  return { ...source, type: 'holdback', ...(of.type === 'tax' && { taxName: of.taxName }) }
}
