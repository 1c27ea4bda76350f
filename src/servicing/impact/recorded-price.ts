// What a policy pays for the term that is compared, by the price that was recorded.
import { type CurrencyCode, decimal, money } from '../../kernel/money.ts'
import { type Instant, months, type Span, type TimeZone } from '../../kernel/time.ts'
import type { BookedPolicy } from './book-policy.ts'
import type { Price } from './price.ts'
import { type Pricing, partAt } from './risk.ts'

/**
 * Returns the price of the cover in force at the moment `at`, for the whole present term. An amount for a part of the term is
 * scaled up by months. Undefined if a peril was never priced.
 */
export function recordedPrice(
  policy: BookedPolicy,
  { at, present }: Pick<Pricing, 'at' | 'present'>,
  currency: CurrencyCode,
  zone: TimeZone,
): Price | undefined {
  const scaleToPresent = (amount: number, part: Span): number => {
    if (part.start === present.start && part.end === present.end) return money(amount, currency).minor
    const length = months(part.start, part.end, zone)
    // A part of a tenth of a second counts as 0 months. Only its amount is known.
    const share = length.eq(0) ? 1 : months(present.start, present.end, zone).div(length)
    return money(decimal(amount).times(share), currency).minor
  }
  const covers = new Map<string, number>()
  for (const exposure of policy.exposures)
    for (const peril of exposure.perils) {
      const part = partAt(peril.parts, at)
      if (!part) continue
      const premium = premiumOf(part, present, currency, zone, scaleToPresent)
      if (premium === undefined) return undefined
      const name = `${exposure.name}.${peril.name}`
      covers.set(name, (covers.get(name) ?? 0) + premium)
    }
  const own = partAt(policy.parts, at)
  const taxes = own?.taxes === undefined ? 0 : scaleToPresent(own.taxes, own)
  const fees = policy.fees
    .filter(fee => isOfTerm(fee, present, at))
    .reduce((sum, fee) => sum + money(fee.amount, currency).minor, 0)
  const premium = [...covers.values()].reduce((sum, amount) => sum + amount, 0)
  return { covers, premium, taxes, fees, total: premium + taxes + fees }
}

type PricedPart = BookedPolicy['exposures'][number]['perils'][number]['parts'][number]

function premiumOf(
  part: PricedPart,
  present: Span,
  currency: CurrencyCode,
  zone: TimeZone,
  scaled: (amount: number, part: Span) => number,
): number | undefined {
  const isWhole = part.start === present.start && part.end === present.end
  if (!isWhole && part.monthPremium !== undefined)
    return money(months(present.start, present.end, zone).times(part.monthPremium), currency).minor
  return part.premium === undefined ? undefined : scaled(part.premium, part)
}

/** Whether a fee belongs to the term: it begins in the term or is in force at `at`. A fee over several terms counts in each. */
const isOfTerm = (fee: Span, term: Span, at: Instant): boolean =>
  (term.start <= fee.start && fee.start < term.end) || (fee.start <= at && at < fee.end)
