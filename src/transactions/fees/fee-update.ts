// Adds and reverses fees by hand on an issued policy, at any time (brief 3.3). An update is a modification, so later
// cancellations, reinstatements and withdrawals treat its fees like any other. It is billed immediately. Before the issue,
// pricing replaces all fees, so there is nothing to update.
import { makeBills, planBills } from '../../billing/billing.ts'
import { withFeeReversed } from '../../billing/plugin-bills.ts'
import { invalidRequest, wrongState } from '../../kernel/errors.ts'
import type { LocatorSupply, Uuid } from '../../kernel/locators.ts'
import { type CurrencyCode, decimal, type Money, minorDigits, money, zero } from '../../kernel/money.ts'
import { earlier, type Instant } from '../../kernel/time.ts'
import { jsonAnswer } from '../../platform/commit.ts'
import type { FeeCreateRequest, FeeUpdateRequest } from '../../policy/contract/billing.ts'
import { type FeeInForce, feesOf, isIssued, isReversedByHand, isStanding } from '../../policy/fold/line.ts'
import { assertWithinLimits } from '../../policy/limits.ts'
import { feeSummary } from '../../policy/projection/characteristics.ts'
import {
  boundQuote,
  type Fee,
  type Modification,
  type PolicyAggregate,
  putRecords,
} from '../../policy/records/aggregate.ts'
import type { PlannedInstallment } from '../../policy/records/invoice.ts'
import {
  assertPolicyAllows,
  newModification,
  type Planned,
  policyEvent,
  versionProperties,
} from '../../policy/transitions.ts'
import type { ProductDefinition } from '../../product/configuration.ts'
import { defineKind, type Response } from '../mechanism/kind.ts'

export type FeeUpdateContext = { product: ProductDefinition; now: Instant; supply: LocatorSupply }

/** One for the modification and one for its invoice. */
export const DIGITS_FOR_FEE_UPDATE = 2

/**
 * Plans one invoice for new and reversed fees. `policy.update` precedes the events of the invoice. Rejects with 400 a fee that
 * the product does not declare or that charges nothing, with 404 an unknown one, and with 409 one that is no longer charged. At
 * least one of the lists must have entries.
 */
export function planFeeUpdate(
  before: PolicyAggregate,
  { newFees, reverseFees }: FeeUpdateRequest,
  { product, now, supply }: FeeUpdateContext,
): Planned {
  assertPolicyAllows(before, 'changeFees')
  const quote = boundQuote(before)
  const locator = supply.uuid()
  const added = newFees.map(
    (request, index): Fee => ({
      ...readNewFee(request, index, before, product),
      locator: supply.uuid(),
      quoteLocator: quote.locator,
      madeBy: locator,
      changes: [],
    }),
  )
  const { fees: reversed, installments } = reversedFees(before, reverseFees, locator)
  const touched = [...added, ...reversed]
  const modification = newModification(
    before,
    {
      locator,
      kind: 'feeUpdate',
      name: 'modification.policy.fees',
      effectiveAt: [...touched, ...installments.values()].map(one => one.start).reduce(earlier),
      policyEnd: before.policy.effectiveEnd,
      issuedAt: now,
      premiumChange: zero(before.policy.currency),
    },
    { now, supply },
  )
  const updated: PolicyAggregate = {
    ...before,
    policy: { ...before.policy, updatedAt: now },
    modifications: putRecords(before.modifications, [modification]),
    fees: putRecords(before.fees, touched),
    installments: putRecords(before.installments, installments.values()),
  }
  assertWithinLimits(updated)
  const bills = planBills(updated, modification, { product, now })
  const billed = makeBills(updated, modification, bills, { now, supply })
  const { aggregate } = billed
  const update = policyEvent(aggregate, 'policy.update', {
    ...versionProperties(aggregate),
    modificationLocator: locator,
  })
  return { ...billed, events: [update, ...billed.events] }
}

function readNewFee(
  request: FeeCreateRequest,
  index: number,
  { policy }: PolicyAggregate,
  product: ProductDefinition,
): Pick<Fee, 'name' | 'description' | 'amount' | 'start' | 'end'> {
  const where = `newFees[${index}]`
  const { feeName, startTimestamp: start, endTimestamp: end, description } = request
  const definition = product.fees.find(one => one.name === feeName)
  if (!definition)
    throw invalidRequest(
      `${where}: product '${product.name}' declares no fee '${feeName}'; it has ${product.fees.map(one => `'${one.name}'`).join(', ') || 'none'}.`,
    )
  if (end <= start)
    throw invalidRequest(`${where}: endTimestamp ${end} must be after startTimestamp ${start}.`)
  if (start < policy.originalStart)
    throw invalidRequest(
      `${where}: startTimestamp ${start} must not be before the contract's start ${policy.originalStart}.`,
    )
  const amount = amountOf(request.amount, policy.currency, where)
  return { name: feeName, description: description ?? definition.displayName, amount, start, end }
}

/** Returns the amount exactly as sent. Rounding an amount that a person set would charge a different one. */
function amountOf(text: string, currency: CurrencyCode, where: string): Money {
  const digits = minorDigits(currency)
  const amount = decimal(text)
  if (amount.lte(0))
    throw invalidRequest(`${where}: amount ${text} must be above 0; to take a fee back, use reverseFees.`)
  if (!amount.eq(amount.round(digits)))
    throw invalidRequest(
      `${where}: amount ${text} has more than the ${digits} decimal places of ${currency}.`,
    )
  return money(amount, currency)
}

/** Returns the named fees, each without its charge, and the installments whose own fees are named, with those fees reversed. */
function reversedFees(
  before: PolicyAggregate,
  locators: readonly string[],
  by: Uuid,
): { fees: Fee[]; installments: ReadonlyMap<Uuid, PlannedInstallment> } {
  const known = new Map(
    feesOf(before, boundQuote(before)).map(one => [one.fee.locator as string, one] as const),
  )
  const named = new Set<string>()
  const fees: Fee[] = []
  const installments = new Map<Uuid, PlannedInstallment>()
  for (const locator of locators) {
    if (named.has(locator)) throw invalidRequest(`reverseFees contains the fee '${locator}' twice.`)
    named.add(locator)
    const found = known.get(locator)
    if (found) fees.push(reversedFee(before, found, by))
    else {
      const changed = withFeeReversed(
        before,
        putRecords(before.installments, installments.values()),
        locator,
        by,
      )
      installments.set(changed.locator, changed)
    }
  }
  return { fees, installments }
}

function reversedFee(before: PolicyAggregate, { fee, parts, reversed }: FeeInForce, by: Uuid): Fee {
  const { locator } = fee
  if (reversed)
    throw wrongState(
      isReversedByHand(before, fee)
        ? `Fee '${locator}' (${fee.name}) is already reversed.`
        : `Fee '${locator}' (${fee.name}) was already reversed by the policy's cancellation, so there is nothing to reverse.`,
    )
  const isPending = fee.changes.some(change => isAccepted(before.modifications.get(change.by)!))
  if (isPending)
    throw wrongState(
      `Fee '${locator}' (${fee.name}) is restored by a reinstatement that is accepted but not issued; issue or invalidate the reinstatement first.`,
    )
  return { ...fee, changes: [...fee.changes, { by, parts: [], removed: parts }] }
}

const isAccepted = (modification: Modification): boolean =>
  isStanding(modification) && !isIssued(modification)

declare module '../mechanism/kind.ts' {
  interface PolicyOperations {
    fees: { request: FeeUpdateRequest }
  }
}

const isEmpty = ({ newFees, reverseFees }: FeeUpdateRequest): boolean =>
  newFees.length + reverseFees.length === 0

const showFees: Response = ({ aggregate }) => feeSummary(aggregate)

export const feesKind = defineKind<'fees'>({
  name: 'fees',
  locators: ({ request }) => (isEmpty(request) ? 0 : DIGITS_FOR_FEE_UPDATE),
  decide(loaded, { request }, { attempt: { now, supply } }) {
    if (isEmpty(request)) return { answer: jsonAnswer(showFees(loaded)) }
    const { aggregate, product } = loaded
    return { planned: planFeeUpdate(aggregate, request, { product, now, supply }), response: showFees }
  },
})
