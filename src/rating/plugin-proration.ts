// Splits amounts as the product's plugin says (brief 3.2, 5.6): one call for all that a transaction splits at a time.
import Big from 'big.js'
import type { ProrationAnswer, ProrationInput } from '../extension/plugins/contract.ts'
import { nonsense, readAnswer } from '../extension/plugins/translation.ts'
import type { EndorsementLocator, Uuid } from '../kernel/locators.ts'
import {
  type Decimal,
  type Money,
  minorDigits,
  minus,
  money,
  plus,
  RATE_PLACES,
  toDecimal,
  zero,
} from '../kernel/money.ts'
import type { Instant } from '../kernel/time.ts'
import { each, type Prorated } from '../policy/fold/shares.ts'
import { mayHoldBack, type Splits } from '../policy/fold/splits.ts'
import type { Holdback, Modification, PolicyAggregate, RunSplit } from '../policy/records/aggregate.ts'
import type { ModificationKind } from '../policy/records/transactions.ts'
import { scheduleOf } from '../policy/surroundings.ts'
import { policyInfo } from './plugin-call.ts'
import { asWire, type Item, itemsOf, named } from './proration-items.ts'
import type { RatingContext } from './rater.ts'

const NAME = 'getProrationResult'

/** What plugins are told that is done; only what splits anything is ever asked of. */
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

/** What the plugin says of an item: what lies before the split, and what is held back; undefined where that is unsaid. */
type Said = { readonly before: Money; readonly held: Money | undefined }

/**
 * What the plugin says of the splits, all at the time `at`, of the modification as it is carried out in `aggregate`.
 * Refuses (422) an answer that leaves an item out or has others, and amounts beyond what there is: before the split from
 * zero to the item's amount, held back at most what is given back, of the segment and of what follows it.
 */
export async function askProration(
  aggregate: PolicyAggregate,
  modification: Modification,
  at: Instant,
  splits: Splits,
  { product, timeZone, callPlugin }: Pick<RatingContext, 'product' | 'timeZone' | 'callPlugin'>,
): Promise<Prorated> {
  const items = itemsOf(splits)
  const { path } = product.plugins[NAME]!
  const input: ProrationInput = {
    operation: OPERATIONS[modification.kind],
    segmentSplitTimestamp: String(at),
    ...schedulesOf(aggregate, modification),
    tenantTimeZone: timeZone,
    policy: policyInfo(aggregate),
    cancellationType: modification.kind === 'lapse' ? 'lapse' : modification.cancellationName,
    items: items.map((item, place) => asWire(item, String(place), aggregate)),
  }
  const { ProrationResult } = await import('../extension/plugins/contract.ts')
  const answer = readAnswer(NAME, ProrationResult, await callPlugin(NAME, input), path)
  const problems: string[] = []
  const answers = new Map<string, ProrationAnswer>()
  for (const one of answer.items) {
    if (answers.has(one.id)) problems.push(`item '${one.id}' is answered twice`)
    answers.set(one.id, one)
  }
  const said = items.map((item, place): Said | undefined => {
    const id = String(place)
    const one = answers.get(id)
    answers.delete(id)
    const read = one ? readSaid(item, one, modification) : 'is not answered'
    if (typeof read !== 'string') return read
    problems.push(`${named(item, id, aggregate)}: ${read}`)
    return undefined
  })
  for (const id of answers.keys()) problems.push(`there is no item '${id}'`)
  if (problems.length > 0) throw nonsense(NAME, problems, path)
  return asProrated(items, said as Said[])
}

function schedulesOf(aggregate: PolicyAggregate, { kind, transactionLocator }: Modification) {
  const { policy, endorsements } = aggregate
  const endorsement = endorsements.get(Number(transactionLocator) as EndorsementLocator)
  const isOfIt = kind === 'endorsement' && endorsement !== undefined
  return {
    paymentScheduleName: isOfIt ? scheduleOf(aggregate, endorsement) : policy.paymentScheduleName,
    oldPaymentScheduleName: policy.paymentScheduleName,
  }
}

/** (decision) To 7 places, as rates are kept, which heals what floating point did to it; then half-up to the currency. */
const rounded = (value: Decimal, { currency }: Money): Decimal =>
  value.round(RATE_PLACES, Big.roundHalfUp).round(minorDigits(currency), Big.roundHalfUp)

/** What is said of an item, or what is wrong with it. */
function readSaid(
  { split, amount, following, holding }: Item,
  { proratedAmount, holdbackAmount }: ProrationAnswer,
  modification: Modification,
): Said | string {
  const whole = toDecimal(amount)
  const share = rounded(proratedAmount, amount)
  if (split.at === split.start && !share.eq(0))
    return `proratedAmount ${share.toFixed()} must be 0: nothing lies before the split`
  if (share.times(whole).lt(0) || share.abs().gt(whole.abs()))
    return `proratedAmount ${share.toFixed()} must lie from 0 to the amount`
  const before = money(share, amount.currency)
  if (holdbackAmount === undefined) return { before, held: undefined }
  const kept = rounded(holdbackAmount, amount)
  if (kept.eq(0)) return { before, held: zero(amount.currency) }
  if (!mayHoldBack(modification))
    return 'holdbackAmount must be 0: only cancellations with a name hold anything back, no legacy ones'
  if (!holding) return 'holdbackAmount must be 0: nothing is given back of a technical premium'
  const back = toDecimal(plus(minus(amount, before), following))
  if (kept.gt(back))
    return `holdbackAmount ${kept.toFixed()} must be at most what is given back, ${back.toFixed()}`
  return { before, held: money(kept, amount.currency) }
}

/** Holdbacks count where any was said, be it 0; where none was, what the configuration holds back stands. */
function asProrated(items: readonly Item[], said: readonly Said[]): Prorated {
  const runs = new Map<Uuid, Omit<RunSplit, 'by'>[]>()
  const fees = new Map<Uuid, Money>()
  for (const [split, places] of Map.groupBy(items.keys(), place => items[place]!.split)) {
    if (split.at === split.start) continue
    const befores = places.map(place => said[place]!.before)
    if ('fee' in split) {
      fees.set(split.fee.locator, befores[0]!)
      continue
    }
    const { run, segment, at, amounts } = split
    // Amounts of nothing are no items; the others come in this order.
    const before = each(amounts, amount => (amount.minor === 0 ? amount : befores.shift()!))
    runs.set(run.locator, [...(runs.get(run.locator) ?? []), { segment, at, before }])
  }
  const holdbacks = items.flatMap(({ holding }, place): Holdback[] => {
    const { held } = said[place]!
    return holding && held && held.minor !== 0 ? [holding(held)] : []
  })
  const isSaid = said.some(one => one.held !== undefined)
  return { runs, fees, holdbacks: isSaid ? holdbacks : undefined }
}
