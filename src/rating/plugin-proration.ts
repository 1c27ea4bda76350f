// Splits amounts as the product's plugin answers (brief 3.2, 5.6). One call per transaction and time.
import Big from 'big.js'
import type { ProrationAnswer, ProrationInput, ProrationItem } from '../extension/plugins/contract.ts'
import { invalidAnswer, readAnswer } from '../extension/plugins/translation.ts'
import { type EndorsementLocator, shardOfDigits, type Uuid } from '../kernel/locators.ts'
import {
  type Decimal,
  type Money,
  minorDigits,
  minus,
  money,
  plus,
  RATE_PLACES,
  sum,
  toDecimal,
  toText,
  zero,
} from '../kernel/money.ts'
import type { Instant } from '../kernel/time.ts'
import { mapAmounts, type Prorated } from '../policy/fold/shares.ts'
import {
  type FollowingRun,
  mayHoldBack,
  type SplitOfFee,
  type SplitOfRun,
  type Splits,
} from '../policy/fold/splits.ts'
import { perilSegmentLocator } from '../policy/projection/policy.ts'
import type {
  Amounts,
  Holdback,
  Modification,
  PolicyAggregate,
  RunSplit,
} from '../policy/records/aggregate.ts'
import { type ModificationKind, scheduleOf } from '../policy/records/transactions.ts'
import { policyInfo } from './rate.ts'
import type { RatingContext } from './rater.ts'

const NAME = 'getProrationResult'

/** What plugins call each kind. They are never called for kinds that split nothing. */
const OPERATIONS: Record<ModificationKind, ProrationInput['operation']> = {
  creation: 'creation',
  endorsement: 'endorsement',
  renewal: 'renewal',
  cancellation: 'cancellation',
  lapse: 'cancellation',
  withdrawal: 'withdrawal',
  reinstatement: 'reinstatement',
  feeUpdate: 'action',
  scheduleChange: 'action',
}

/** `held` is undefined if the answer has no holdback. */
type ItemAnswer = { readonly before: Money; readonly held: Money | undefined }

type ProrationContext = Pick<RatingContext, 'product' | 'timeZone' | 'callPlugin'> & {
  readonly holdsNothingBack: boolean
}

/**
 * Asks the plugin how to split the amounts. All splits are at `at`; `aggregate` includes the modification. Throws 422 for an answer
 * with missing or unknown items, with a part before the split that is not between zero and the item's amount, or with a holdback
 * above what the segment and those after it give back. If nothing is held back, ignores holdbacks in the answer.
 */
export async function prorateByPlugin(
  aggregate: PolicyAggregate,
  modification: Modification,
  at: Instant,
  splits: Splits,
  { product, timeZone, callPlugin, holdsNothingBack }: ProrationContext,
): Promise<Prorated> {
  const items = itemsOf(splits)
  const { path } = product.plugins[NAME]!
  const input: ProrationInput = {
    operation: OPERATIONS[modification.kind],
    segmentSplitTimestamp: String(at),
    ...schedulesOf(aggregate, modification, product),
    tenantTimeZone: timeZone,
    policy: policyInfo(aggregate),
    cancellationType: modification.kind === 'lapse' ? 'lapse' : modification.cancellationName,
    items: items.map((item, place) => pluginItem(item, String(place), aggregate)),
  }
  const { ProrationResult } = await import('../extension/plugins/contract.ts')
  const answer = readAnswer(NAME, ProrationResult, await callPlugin(NAME, input), path)
  const problems: string[] = []
  const answers = new Map<string, ProrationAnswer>()
  for (const one of answer.items) {
    if (answers.has(one.id)) problems.push(`item '${one.id}' is answered twice`)
    answers.set(one.id, holdsNothingBack ? { ...one, holdbackAmount: undefined } : one)
  }
  const read = items.flatMap((item, place): ItemAnswer[] => {
    const id = String(place)
    const one = answers.get(id)
    answers.delete(id)
    const read = one ? readItem(item, one, modification) : 'is not answered'
    if (typeof read !== 'string') return [read]
    problems.push(`${itemTitle(item, id, aggregate)}: ${read}`)
    return []
  })
  for (const id of answers.keys()) problems.push(`there is no item '${id}'`)
  if (problems.length > 0) throw invalidAnswer(NAME, problems, path)
  return asProrated(items, read)
}

function schedulesOf(
  aggregate: PolicyAggregate,
  { kind, transactionLocator }: Modification,
  { paymentSchedules }: RatingContext['product'],
) {
  const { policy, endorsements } = aggregate
  const endorsement = endorsements.get(Number(transactionLocator) as EndorsementLocator)
  return {
    paymentScheduleName:
      kind === 'endorsement' && endorsement ? scheduleOf(aggregate, endorsement) : policy.paymentScheduleName,
    oldPaymentScheduleName: policy.paymentScheduleName,
    paymentPlan:
      paymentSchedules.find(one => one.name === policy.paymentScheduleName)?.type ??
      policy.paymentScheduleName,
  }
}

/** (decision) Rounds to 7 places, as for rates, to remove floating-point noise; then half-up to the currency. */
const roundAmount = (value: Decimal, { currency }: Money): Decimal =>
  value.round(RATE_PLACES, Big.roundHalfUp).round(minorDigits(currency), Big.roundHalfUp)

/** Returns the answer for the item, or text that says what is wrong with it. */
function readItem(
  { split, amount, following, holding }: Item,
  { proratedAmount, holdbackAmount }: ProrationAnswer,
  modification: Modification,
): ItemAnswer | string {
  const whole = toDecimal(amount)
  const share = roundAmount(proratedAmount, amount)
  if (split.at === split.start && !share.eq(0))
    return `proratedAmount ${share.toFixed()} must be 0: there is no time before the split`
  if (share.times(whole).lt(0) || share.abs().gt(whole.abs()))
    return `proratedAmount ${share.toFixed()} must be between 0 and the item's amount`
  const before = money(share, amount.currency)
  if (holdbackAmount === undefined) return { before, held: undefined }
  const kept = roundAmount(holdbackAmount, amount)
  if (kept.eq(0)) return { before, held: zero(amount.currency) }
  if (!mayHoldBack(modification))
    return 'holdbackAmount must be 0: only named cancellations can hold back an amount, not legacy ones'
  if (!holding) return 'holdbackAmount must be 0: a technical premium is never refunded'
  const returned = toDecimal(plus(minus(amount, before), following))
  if (kept.gt(returned))
    return `holdbackAmount ${kept.toFixed()} must be at most the refunded amount, ${returned.toFixed()}`
  return { before, held: money(kept, amount.currency) }
}

/** Returns the splits and holdbacks. Any holdback in the answer, even 0, replaces the configured holdbacks. */
function asProrated(items: readonly Item[], answers: readonly ItemAnswer[]): Prorated {
  const runs = new Map<Uuid, Omit<RunSplit, 'by'>[]>()
  const fees = new Map<Uuid, Money>()
  for (const [split, places] of Map.groupBy(items.keys(), place => items[place]!.split)) {
    if (split.at === split.start) continue
    const befores = places.map(place => answers[place]!.before)
    if ('fee' in split) {
      fees.set(split.fee.locator, befores[0]!)
      continue
    }
    const { run, segment, at, amounts } = split
    // Zero amounts have no item. The others keep this order.
    const before = mapAmounts(amounts, amount => (amount.minor === 0 ? amount : befores.shift()!))
    runs.set(run.locator, [...(runs.get(run.locator) ?? []), { segment, at, before }])
  }
  const holdbacks = items.flatMap(({ holding }, place): Holdback[] => {
    const { held } = answers[place]!
    return holding && held && held.minor !== 0 ? [holding(held)] : []
  })
  const hasHoldbacks = answers.some(one => one.held !== undefined)
  return { runs, fees, holdbacks: hasHoldbacks ? holdbacks : undefined }
}

type Item = {
  readonly names: Pick<ProrationItem, 'type' | 'taxName' | 'commissionRecipient'>
  readonly split: SplitOfRun | SplitOfFee
  readonly amount: Money
  /** The same amount in later runs that change with it. */
  readonly following: Money
  /** Undefined for a technical premium, which is neither paid nor refunded. */
  readonly holding: ((amount: Money) => Holdback) | undefined
}

/** Returns the items of the splits, without zero amounts. */
const itemsOf = ({ runs, fees }: Splits): Item[] =>
  [...runs.flatMap(itemsOfRun), ...fees.map(itemOfFee)].filter(one => one.amount.minor !== 0)

/** Returns the items of a run, in the order of `each`. */
function itemsOfRun(split: SplitOfRun): Item[] {
  const { amounts, run, following } = split
  const { locator: perilRunLocator } = run
  const item = (
    names: Item['names'],
    amount: Money,
    followingAmount: (followed: FollowingRun) => Money | undefined,
    holding: Item['holding'],
  ): Item => {
    const more = following.flatMap(one => followingAmount(one) ?? [])
    return { names, split, amount, following: sum(more, amount.currency), holding }
  }
  const { premium, technicalPremium, taxes, commissions } = amounts
  return [
    item(
      { type: 'premium' },
      premium,
      one => one.amounts.premium,
      amount => ({ type: 'premium', perilRunLocator, amount }),
    ),
    ...(technicalPremium
      ? [item({ type: 'technicalPremium' }, technicalPremium, one => one.amounts.technicalPremium, undefined)]
      : []),
    ...taxNames(split).map((taxName, at) =>
      item(
        { type: 'tax', taxName },
        taxes[at]!,
        one => amountNamed(one.amounts.taxes, taxNames(one), taxName, 0),
        amount => ({ type: 'tax', perilRunLocator, taxName, amount }),
      ),
    ),
    ...recipients(split).map((recipient, position, all) => {
      const place = all.slice(0, position).filter(one => one === recipient).length
      return item(
        { type: 'commission', commissionRecipient: recipient },
        commissions[position]!,
        one => amountNamed(one.amounts.commissions, recipients(one), recipient, place),
        amount => ({ type: 'commission', perilRunLocator, position, amount }),
      )
    }),
  ]
}

const taxNames = ({ run }: FollowingRun): string[] => run.price!.taxes.map(one => one.name)

const recipients = ({ run }: FollowingRun): string[] => run.price!.commissions.map(one => one.recipient)

/** Returns an amount by name. `place` counts the amounts of the same name. */
function amountNamed(
  amounts: Amounts['taxes'],
  names: readonly string[],
  name: string,
  place: number,
): Money | undefined {
  const at = [...names.keys()].filter(one => names[one] === name)[place]
  return at === undefined ? undefined : amounts[at]
}

const itemOfFee = (split: SplitOfFee): Item => ({
  names: { type: 'fee' },
  split,
  amount: split.amount,
  following: split.following,
  holding: amount => ({ type: 'fee', feeLocator: split.fee.locator, amount }),
})

const pluginItem = (
  { names, split, amount, following }: Item,
  id: string,
  { policy, perils }: PolicyAggregate,
): ProrationItem => ({
  id,
  ...names,
  amount: toText(amount),
  followingAmount: toText(following),
  segmentStartTimestamp: String(split.start),
  segmentEndTimestamp: String(split.end),
  ...('fee' in split
    ? { fieldValues: {}, feeLocator: split.fee.locator, feeName: split.fee.name }
    : {
        perilCharacteristicsLocator: perilSegmentLocator(
          split.run.locator,
          { locator: split.segment },
          shardOfDigits(policy.locator),
        ),
        perilName: perils.get(split.run.perilLocator)!.name,
        fieldValues: split.run.data.values,
      }),
})

function itemTitle({ names, split, amount }: Item, id: string, { perils }: PolicyAggregate): string {
  const { type, taxName, commissionRecipient } = names
  const amountKind = [type, taxName, commissionRecipient].filter(text => text !== undefined).join(' ')
  const owner = 'fee' in split ? split.fee.name : perils.get(split.run.perilLocator)!.name
  return `item '${id}' (${amountKind} of '${owner}', ${toText(amount)})`
}
