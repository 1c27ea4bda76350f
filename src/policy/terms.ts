// The terms of a policy beside its content: span, payment schedule, size.
import { Refusal } from '../kernel/errors.ts'
import { add, type Instant, type Span, startOfDay, type TimeZone } from '../kernel/time.ts'
import type { ProductDefinition } from '../product/configuration.ts'
import { POLICY_LIMITS, type PolicyAggregate } from './records/aggregate.ts'
import type { Endorsement } from './records/transactions.ts'
import { NOTHING_UNREAD, type Unread } from './surroundings.ts'

/** The contract's span; by default from midnight today for a calendar year (brief 7). */
export function contractSpan(
  start: Instant | undefined,
  end: Instant | undefined,
  timeZone: TimeZone,
  now: Instant,
): Span {
  const from = start ?? startOfDay(now, timeZone)
  return validSpan({ start: from, end: end ?? add(from, 1, 'year', timeZone) })
}

/** The span if its end lies after its start; else refuses with 400. */
export function validSpan(span: Span): Span {
  if (span.end > span.start) return span
  throw new Refusal(
    'invalidRequest',
    `policyEndTimestamp ${span.end} must lie after policyStartTimestamp ${span.start}.`,
  )
}

/** The name of the payment schedule, which the product must have; without a name, its first. */
export function paymentSchedule(product: ProductDefinition, name: string | undefined): string {
  const { paymentSchedules } = product
  const found = name === undefined ? paymentSchedules[0] : paymentSchedules.find(one => one.name === name)
  if (found) return found.name
  const known = paymentSchedules.map(one => `'${one.name}'`).join(', ')
  throw new Refusal(
    'invalidRequest',
    `Product '${product.name}' has no payment schedule '${name}'; it has ${known}.`,
  )
}

/**
 * Refuses with 413 what would pass the limits of a policy. All its quotes count, and what of it was not read; what was
 * taken back does not.
 */
export function assertWithinLimits(
  { exposures, perils, quotes, fees, modifications }: PolicyAggregate,
  unread: Unread = NOTHING_UNREAD,
): void {
  const made = [...modifications.values()].filter(
    one => one.quoteLocator === undefined && one.invalidatedAt === undefined,
  )
  const over = (count: number, what: keyof typeof POLICY_LIMITS): string | undefined =>
    count > POLICY_LIMITS[what] ? `${count} ${what}; the limit is ${POLICY_LIMITS[what]}` : undefined
  const problem =
    over(exposures.size + unread.exposures, 'exposures') ??
    over(perils.size + unread.perils, 'perils') ??
    over(quotes.size, 'quotes') ??
    over(fees.size, 'fees') ??
    over(made.length, 'modifications')
  if (problem)
    throw new Refusal(
      'policyLimit',
      `The policy with all its quotes would have ${problem}. Discard quotes, or split it into several policies.`,
    )
}

/** The payment schedule that the policy has once the endorsement or renewal is issued. */
export const scheduleOf = ({ policy }: PolicyAggregate, { changes }: Endorsement): string =>
  changes.newPaymentScheduleName ?? policy.paymentScheduleName
