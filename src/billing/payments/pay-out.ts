// What of a refund may go out, to the policyholder or to its credit (brief 4.5): what was paid in for the policy and has
// neither been paid out nor credited. The rest of the refund is written off.
import { Refusal, wrongState } from '../../kernel/errors.ts'
import type { LocatorSupply } from '../../kernel/locators.ts'
import { fromMinor, type Money, negated, sum, toText, zero } from '../../kernel/money.ts'
import type { Instant, TimeZone } from '../../kernel/time.ts'
import { restDue } from '../../policy/bills/amounts-due.ts'
import type { PolicyAggregate } from '../../policy/records/aggregate.ts'
import {
  applied,
  type Invoice,
  isOutstanding,
  type Payment,
  paymentState,
} from '../../policy/records/invoice.ts'
import { chain, type Planned } from '../../policy/transitions.ts'
import type { Configuration } from '../../product/configuration.ts'
import { validateFields } from '../../product/fields/validate.ts'
import {
  type FieldValues,
  fieldErrors,
  normaliseFieldValues,
  readFieldValues,
} from '../../product/fields/values.ts'
import { assertFits, invoiceNamed, planPayment, planWriteOff } from './plans.ts'

/**
 * The most that may go out of the policy now. Reversed payments do not count, nor does the part of a payment that became
 * credit; offsets move no money.
 */
export function payOutLimit({ payments, policy }: Pick<PolicyAggregate, 'payments' | 'policy'>): Money {
  const moved = [...payments.values()].filter(
    one => one.source !== 'offset' && paymentState(one) === 'posted',
  )
  const left = sum(moved.map(applied), policy.currency)
  return left.minor > 0 ? left : zero(policy.currency)
}

export type PayOut = {
  readonly source: 'received' | 'credit'
  /** Negative; by default all that may go out. */
  readonly amount?: Money
  readonly fieldValues: FieldValues
}

/** `refusal`: nothing may be paid out. The plan is carried out nevertheless: the refund is written off. */
export type PaidOut = { planned: Planned; payment?: Payment; refusal?: Refusal }

/**
 * Pays the refund out, or adds it to the policyholder's credit. Without an amount, as much as may go out, and the rest is
 * written off. Refuses (409) an amount beyond the limit. Takes one digit.
 */
export function planPayOut(
  before: PolicyAggregate,
  invoice: Invoice,
  { source, amount, fieldValues }: PayOut,
  { now, supply }: { now: Instant; supply: LocatorSupply },
): PaidOut {
  const rest = restDue(before, invoice)
  if (amount) assertFits(amount, rest, source)
  const limit = payOutLimit(before)
  if (limit.minor === 0)
    return {
      planned: planWriteOff(before, [invoice], now),
      refusal: beyond(
        limit,
        `Nothing of invoice ${invoice.displayId} can go out, so it is written off`,
        before,
      ),
    }
  if (amount && -amount.minor > limit.minor)
    throw beyond(limit, `Not all of ${toText(negated(amount))} ${amount.currency} can go out`, before)
  const most = fromMinor(-Math.min(-rest.minor, limit.minor), rest.currency)
  const terms = { source, amount: amount ?? most, fieldValues }
  const { payment, ...paid } = planPayment(before, invoice, terms, { now, supply })
  const after = invoiceNamed(paid.aggregate, invoice.locator)
  const isLost = amount === undefined && isOutstanding(after)
  return { planned: chain(paid, isLost ? planWriteOff(paid.aggregate, [after], now) : undefined), payment }
}

const beyond = (limit: Money, problem: string, { policy }: PolicyAggregate): Refusal =>
  wrongState(
    `${problem}: of what was paid in for policy ${policy.locator}, ${toText(limit)} ${limit.currency} has not been paid out or credited yet.`,
  )

/**
 * A payment's values as they are stored. Held against payment/payment.json as a whole, its required fields included;
 * refuses (400) with every problem. Group and lookup fields a deploy refuses (brief 4.4, 6.7).
 */
export function paymentFieldValues(
  { paymentFields }: Pick<Configuration, 'paymentFields'>,
  wire: unknown,
  timeZone: TimeZone,
  now: Instant,
): FieldValues {
  const { values, problems } = readFieldValues(wire)
  const found = validateFields(paymentFields, values, [], {
    timeZone,
    now,
    requireMissing: true,
    table: () => undefined,
    reported: fieldErrors(problems),
  })
  if (found.hasErrors)
    throw new Refusal('paymentValidation', found.errors.map(error => error.message ?? '').join(' '), {
      paymentFieldErrors: found,
    })
  return normaliseFieldValues(paymentFields, values, timeZone)
}
