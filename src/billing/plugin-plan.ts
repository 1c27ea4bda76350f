// The input and the answer of createInstallments (brief 4.3, 5.6). The answer is checked as a whole: if it lost money, invented it
// or put it on charges that it was not given, the insurer's books would be wrong. Pure.
import type {
  InstallmentsAnswer,
  InstallmentsInput,
  PluginCharge,
  Textual,
} from '../extension/plugins/contract.ts'
import { asPluginInput, invalidAnswer } from '../extension/plugins/translation.ts'
import { shardOfDigits, type Uuid } from '../kernel/locators.ts'
import {
  type CurrencyCode,
  type Decimal,
  exactMoney,
  fromMinor,
  type Money,
  minorDigits,
  minus,
  money,
  toDecimal,
  toText,
} from '../kernel/money.ts'
import {
  add,
  EARLIEST,
  earlier,
  endOfDay,
  type Instant,
  LATEST,
  later,
  type Span,
  type TimeZone,
} from '../kernel/time.ts'
import { chargesOf, planOf } from '../policy/bills/amounts-due.ts'
import { type Charge, installmentFeeCharges } from '../policy/bills/charge.ts'
import type { FutureInvoiceResponse } from '../policy/contract/billing.ts'
import { billedItemsOf, segmentLocators, sourceOf } from '../policy/projection/billed-items.ts'
import type { PolicyAggregate } from '../policy/records/aggregate.ts'
import type { Installment, InstallmentFee, PlannedInstallment } from '../policy/records/invoice.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import { futureInvoice } from './payments.ts'
import { numberInstallments } from './schedule.ts'

export type PlanRequest = {
  readonly operation: InstallmentsInput['operation']
  /** At least one. The plugin must place the whole of each. */
  readonly charges: readonly Charge[]
  /** Ids of those `charges` of which more was billed than they amount to. */
  readonly overbilled: ReadonlySet<string>
  readonly product: Pick<ProductDefinition, 'fees' | 'plugins'>
  readonly contract: Span
  readonly currency: CurrencyCode
  readonly timeZone: TimeZone
  readonly now: Instant
  readonly uuid: () => Uuid
}

type AnsweredInstallment = InstallmentsAnswer['installments'][number]

/**
 * Returns the answer as a plan, sorted by issueTimestamp. Past issue times become now. Due times that are past or now become the
 * end of today (brief 4.2), because the invoice would otherwise be past due when it is made. Installments that bill nothing are
 * dropped. Throws 422 with every problem. If the answer leaves out a charge of which too much was billed, as generators that round
 * each installment do, the first installment gives the excess back. Otherwise the policy could not be changed again.
 */
export function planFromAnswer(answer: InstallmentsAnswer, request: PlanRequest): Installment[] {
  const sorted = [...answer.installments].sort(
    (a, b) => a.issueTimestamp - b.issueTimestamp || a.startTimestamp - b.startTimestamp,
  )
  const known = new Set(request.charges.map(charge => charge.id))
  const problems = [
    ...answer.installments.flatMap((one, at) => problemsOf(one, `installments.${at}`, known, request)),
    ...problemsOfSums(answer.installments, request),
  ]
  if (request.operation === 'endorsement' && sorted[0]!.invoiceItems.length === 0)
    problems.push('the first installment of an endorsement has no invoiceItems; it needs at least one')
  if (problems.length > 0)
    throw invalidAnswer('createInstallments', problems, request.product.plugins.createInstallments!.path)
  const plan = sorted.map(one => installmentOf(one, request))
  return numberInstallments(withLeftOut(plan, request).filter(isBilling))
}

type Planned = Omit<Installment, 'number'>

/**
 * Bills what the plan leaves out, which can only be charges of which too much was billed, on the first installment that is not
 * written off.
 */
function withLeftOut(plan: readonly Planned[], { charges, overbilled }: PlanRequest): readonly Planned[] {
  const left = charges.filter(({ id }) => overbilled.has(id) && plan.every(one => !(id in one.items!)))
  const first = plan.find(one => !one.writeOff) ?? plan[0]!
  const added = Object.fromEntries(left.map(({ id, amount }) => [id, amount.minor]))
  return plan.map(one => (one === first ? { ...one, items: { ...one.items, ...added } } : one))
}

const isBilling = ({ items = {}, fees = [] }: Planned): boolean =>
  fees.length > 0 || Object.keys(items).length > 0

function installmentOf(
  { startTimestamp, endTimestamp, issueTimestamp, dueTimestamp, ...one }: AnsweredInstallment,
  { currency, timeZone, now, uuid, product }: PlanRequest,
): Planned {
  const parts = new Map<string, number>()
  for (const { chargeId, amount } of one.invoiceItems)
    parts.set(chargeId, (parts.get(chargeId) ?? 0) + amountOf(amount, currency)!.minor)
  const items = Object.fromEntries([...parts].filter(([, minor]) => minor !== 0))
  const fees = (one.installmentFees ?? [])
    .map(
      ({ feeName: name, description, amount }): InstallmentFee => ({
        locator: uuid(),
        name,
        description: description ?? product.fees.find(fee => fee.name === name)!.displayName,
        amount: amountOf(amount, currency)!,
      }),
    )
    .filter(fee => fee.amount.minor !== 0)
  return {
    start: startTimestamp as Instant,
    end: endTimestamp as Instant,
    issueAt: later(issueTimestamp as Instant, now),
    dueAt: dueTimestamp <= now ? endOfDay(now, timeZone) : (dueTimestamp as Instant),
    periods: [],
    items,
    ...(fees.length > 0 && { fees }),
    ...(one.writeOff && { writeOff: true }),
  }
}

function problemsOf(
  one: AnsweredInstallment,
  where: string,
  known: ReadonlySet<string>,
  request: PlanRequest,
): string[] {
  const { currency, product } = request
  const problems = timeProblems(one, where, request)
  const checkAmount = (amount: Decimal, property: string): void => {
    if (!amountOf(amount, currency))
      problems.push(
        `${property} ${amount.toFixed()} has more than the ${minorDigits(currency)} decimal places of ${currency}`,
      )
  }
  for (const [at, { chargeId, amount }] of one.invoiceItems.entries()) {
    const item = `${where}.invoiceItems.${at}`
    checkAmount(amount, `${item}.amount`)
    if (!known.has(chargeId)) problems.push(`${item}.chargeId '${chargeId}' is not among charges`)
  }
  for (const [at, { feeName, amount }] of (one.installmentFees ?? []).entries()) {
    const fee = `${where}.installmentFees.${at}`
    checkAmount(amount, `${fee}.amount`)
    if (!product.fees.some(one => one.name === feeName))
      problems.push(`${fee}.feeName '${feeName}' is not declared in fees.json`)
  }
  return problems
}

/**
 * Limits, in months, on how far plans may reach beyond the span of the contract and the present. The present counts because an
 * immediate bill is issued now, no matter how far ahead the cover begins. Seconds sent as milliseconds are outside the limits.
 */
const MOST_BEFORE = 12
const MOST_AFTER = 120

function timeProblems(
  one: AnsweredInstallment,
  where: string,
  { contract, now, timeZone }: PlanRequest,
): string[] {
  const earliest = later(EARLIEST, add(earlier(contract.start, now), -MOST_BEFORE, 'month', timeZone))
  const latest = earlier(LATEST, add(later(contract.end, now), MOST_AFTER, 'month', timeZone))
  const problems = TIMES.flatMap(name => {
    const at = one[name]
    if (at < earliest)
      return [`${where}.${name} ${at} is more than a year before the contract's start ${contract.start}`]
    return at > latest
      ? [`${where}.${name} ${at} is more than ten years after the contract's end ${contract.end}`]
      : []
  })
  if (one.endTimestamp <= one.startTimestamp)
    problems.push(
      `${where}.endTimestamp ${one.endTimestamp} must be after startTimestamp ${one.startTimestamp}`,
    )
  if (one.dueTimestamp < one.issueTimestamp)
    problems.push(
      `${where}.dueTimestamp ${one.dueTimestamp} must not be before issueTimestamp ${one.issueTimestamp}`,
    )
  return problems
}

const TIMES = ['startTimestamp', 'endTimestamp', 'issueTimestamp', 'dueTimestamp'] as const

/** Checks that the items of each charge add up to it. Skips invalid amounts, which are reported elsewhere. */
function problemsOfSums(
  installments: readonly AnsweredInstallment[],
  { charges, overbilled, currency }: PlanRequest,
): string[] {
  const placed = new Map<string, number>()
  for (const { chargeId, amount } of installments.flatMap(one => one.invoiceItems)) {
    const minor = amountOf(amount, currency)?.minor ?? Number.NaN
    if (minor !== 0) placed.set(chargeId, (placed.get(chargeId) ?? 0) + minor)
  }
  return charges.flatMap(charge => {
    const minor = placed.get(charge.id) ?? 0
    if (minor === charge.amount.minor || Number.isNaN(minor)) return []
    if (overbilled.has(charge.id) && !placed.has(charge.id)) return []
    const sum = toText(fromMinor(minor, currency))
    return [
      `the items of charge '${charge.id}' (${describeCharge(charge)}) total ${sum} ${currency}, but its amount is ${toText(charge.amount)}`,
    ]
  })
}

function describeCharge(charge: Charge): string {
  switch (charge.type) {
    case 'fee':
      return `fee ${charge.feeName}`
    case 'tax':
      return `tax ${charge.taxName} of ${charge.perilName}`
    case 'commission':
      return `commission of ${charge.commissionRecipient} for ${charge.perilName}`
    default:
      return `${charge.type} of ${'feeName' in charge ? charge.feeName : charge.perilName}`
  }
}

/** In minor units. Tolerates sums of binary fractions such as 0.1 + 0.2. */
const NOISE = 0.001

/** Returns the amount as money; undefined if it has fractions of a minor unit. */
function amountOf(amount: Decimal, currency: CurrencyCode): Money | undefined {
  const exact = exactMoney(amount, currency)
  if (exact) return exact
  const near = money(amount, currency)
  const off = amount
    .minus(toDecimal(near))
    .abs()
    .times(10 ** minorDigits(currency))
  return off.lt(NOISE) ? near : undefined
}

/** Returns the transaction's new charges and the rests of charges that are not invoiced in full. Numbers are text (brief 4.1). */
export function pluginCharges(
  aggregate: PolicyAggregate,
  own: readonly Charge[],
  rests: readonly Charge[],
): PluginCharge[] {
  const originals = originalsOf(aggregate, rests)
  const segmentLocatorOf = segmentLocators(aggregate)
  const shard = shardOfDigits(aggregate.policy.locator)
  const toPluginCharge = (charge: Charge, original: Charge): PluginCharge => {
    const { start, end } = charge.rest ?? charge
    const isNew = charge === original
    return {
      chargeId: charge.id,
      type: charge.type,
      category: isNew ? 'new' : 'previously_invoiced',
      isNew,
      amount: toText(charge.amount),
      originalAmount: toText(original.amount),
      previouslyInvoicedAmount: toText(minus(original.amount, charge.amount)),
      amountCurrency: charge.amount.currency,
      coverageStartTimestamp: String(start),
      coverageEndTimestamp: String(end),
      policyModificationLocator: charge.policyModificationLocator,
      ...('perilLocator' in charge && { perilLocator: charge.perilLocator }),
      ...sourceOf(charge, shard, segmentLocatorOf),
    }
  }
  return [
    ...own.map(charge => toPluginCharge(charge, charge)),
    ...rests.map(rest => toPluginCharge(rest, originals.get(rest.id)!)),
  ]
}

/** Returns the ids of charges whose rests have the opposite sign, because more was billed than they amount to. */
export function overbilledOf(charges: readonly PluginCharge[]): ReadonlySet<string> {
  const isNegative = (amount: string): boolean => amount.startsWith('-')
  const over = charges.filter(one => isNegative(one.amount) !== isNegative(one.originalAmount))
  return new Set(over.map(one => one.chargeId))
}

/** Returns the full charges of the rests, by id. */
function originalsOf(aggregate: PolicyAggregate, rests: readonly Charge[]): ReadonlyMap<string, Charge> {
  const makers = new Set(rests.map(rest => rest.policyModificationLocator))
  const charges = [...makers].flatMap(locator => {
    const maker = aggregate.modifications.get(locator)!
    return [...chargesOf(aggregate, maker), ...installmentFeeCharges(planOf(aggregate, maker))]
  })
  return new Map(charges.map(charge => [charge.id, charge]))
}

/** Maximum number of items of planned invoices that a plugin receives one by one, because reading them costs the sandbox time. */
const MOST_GIVEN = 1_000

/**
 * Returns the planned invoices. If they have more than 1,000 items in all, items of the same type and name are summed. Charges are
 * never summed.
 */
export function pluginPlannedInvoices(
  aggregate: PolicyAggregate,
  installments: readonly PlannedInstallment[],
): Textual<FutureInvoiceResponse>[] {
  const planned = installments.map(billedItemsOf(aggregate))
  const itemised = planned.reduce((count, items) => count + items.length, 0) <= MOST_GIVEN
  const shown = installments.map((one, at) => futureInvoice(aggregate, one, planned[at]!, itemised))
  return asPluginInput(shown) as Textual<FutureInvoiceResponse>[]
}
