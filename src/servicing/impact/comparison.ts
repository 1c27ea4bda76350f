// The comparison of what one policy pays with its price by the new configuration.
import type { CurrencyCode } from '../../kernel/money.ts'
import type { TimeZone } from '../../kernel/time.ts'
import type { Attempt } from '../../rating/rate.ts'
import type { BookedPolicy } from './book-policy.ts'
import { type GroupingField, groupOf } from './groups.ts'
import { type Price, type Rated, ratedRisk, type Side } from './price.ts'
import { resultOrReasons } from './reasons.ts'
import { recordedPrice } from './recorded-price.ts'
import { pricingOf, type Question, riskAt, type Skipped } from './risk.ts'

/** The comparison of one policy. Amounts are in minor units of the currency. */
export type Compared = {
  readonly locator: string
  readonly productName: string
  readonly termStart: number
  readonly termEnd: number
  /** By the id of the field. */
  readonly groups: Readonly<Record<string, string>>
  readonly old?: Price
  readonly new?: Price
  readonly decision?: Rated['decision']
  readonly notes: readonly string[]
  readonly leftOut: readonly string[]
  /** Why one of the prices is missing. Each reason begins with `old: ` or `new: `. */
  readonly reasons: readonly string[]
}

/** Without `old`, the recorded price is used. `price` provides a new attempt for everything that is priced, and for which side. */
export type Sides = {
  readonly old?: Side
  readonly new: Side
  readonly fields: readonly GroupingField[]
  readonly question: Question
  readonly zone: TimeZone
  price<T>(work: (attempt: Attempt) => Promise<T>, side: Side): Promise<T>
}

/** Compares one policy. Throws only for faults of the service. A problem of the policy or of a configuration becomes a reason. */
export async function comparePolicy(policy: BookedPolicy, sides: Sides): Promise<Compared | Skipped> {
  const { question, fields } = sides
  const zone = (policy.timeZone ?? sides.zone) as TimeZone
  const pricing = pricingOf(policy, question, zone)
  if (typeof pricing === 'string') return pricing
  const risk = riskAt(policy, pricing.at)
  if (!risk) return 'notInForce'
  const rateSide = (side: Side) =>
    resultOrReasons(() =>
      sides.price(attempt => ratedRisk(risk, pricing, question.occasion, side, zone, attempt), side),
    )
  const before = sides.old
    ? await rateSide(sides.old)
    : (recordedPrice(policy, pricing, risk.currency as CurrencyCode, zone) ?? ['No price was recorded.'])
  const after = await rateSide(sides.new)
  const old = oldPrice(before)
  return {
    locator: policy.locator,
    productName: policy.productName,
    termStart: pricing.term.start,
    termEnd: pricing.term.end,
    groups: Object.fromEntries(fields.map(field => [field.id, groupOf(risk, field, zone)])),
    ...(old && { old }),
    ...('price' in after && { new: after.price, decision: after.decision }),
    notes: 'price' in after ? after.notes : [],
    leftOut: 'price' in after ? after.leftOut : [],
    reasons: [
      ...(isReasons(before) ? before.map(reason => `old: ${reason}`) : []),
      ...(isReasons(after) ? after.map(reason => `new: ${reason}`) : []),
    ],
  }
}

function oldPrice(before: Rated | Price | readonly string[]): Price | undefined {
  if ('price' in before) return before.price
  return isReasons(before) ? undefined : before
}

const isReasons = (value: object): value is readonly string[] => Array.isArray(value)
