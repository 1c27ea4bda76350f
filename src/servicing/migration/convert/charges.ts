// What a transaction says that an element charges: of which kind, how much, and on which installments (rule 6 of
// resources brief 9.3).

import { Refusal } from '../../../kernel/errors.ts'
import {
  type CurrencyCode,
  decimal,
  exactMoney,
  fromMinor,
  LARGEST_MINOR,
  type Money,
  money,
  plus,
  RATE_PLACES,
  toText,
  zero,
} from '../../../kernel/money.ts'
import { months, type Span, type TimeZone } from '../../../kernel/time.ts'
import type { ProductDefinition } from '../../../product/configuration.ts'
import type { ChargeMigrationRequest, PolicyMigrationRequest } from '../contract-request.ts'
import type { Problems } from '../item.ts'

export type ChargeKind = 'premium' | 'technicalPremium' | 'tax' | 'commission' | 'fee' | 'none'

/** Categories of charges by their names; what is ceded to a reinsurer is as a commission of it, in no total. */
const CATEGORIES: Readonly<Record<string, ChargeKind>> = {
  premium: 'premium',
  technicalPremium: 'technicalPremium',
  nonFinancial: 'technicalPremium',
  tax: 'tax',
  fee: 'fee',
  surcharge: 'fee',
  invoiceFee: 'fee',
  credit: 'fee',
  commission: 'commission',
  cededPremium: 'commission',
  none: 'none',
}

/** How much of it is on which installment, counted from 0. */
export type SaidItem = { readonly at: number; readonly amount: Money; readonly id: string }

export type SaidCharge = {
  readonly kind: ChargeKind
  /** Of the tax, the fee or the recipient; of a premium empty. */
  readonly name: string
  /** Rate a month. */
  readonly month?: string
  /** The sum of its items. */
  readonly amount: Money
  readonly items: readonly SaidItem[]
}

export type Duration = NonNullable<PolicyMigrationRequest['durationBasis']>

export type ChargeReading = {
  readonly product: ProductDefinition
  readonly basis: Duration
  readonly problems: Problems
  readonly currency: Money['currency']
  readonly timeZone: TimeZone
  /** How many installments the transaction has. */
  readonly installments: number
  /** From the transaction's time to the end of the term. */
  readonly span: Span
}

/** The charges of an element. Outside coverages premiums and taxes become fees: only perils have a price, and the money is paid anyway. */
export function readCharges(
  charges: readonly ChargeMigrationRequest[],
  path: string,
  isCoverage: boolean,
  reading: ChargeReading,
): SaidCharge[] {
  return charges.flatMap((charge, at) => {
    const place = `${path}/charges[${at}]`
    const read = readCharge(charge, place, reading)
    if (!read || read.kind === 'none') return []
    if (isCoverage || read.kind === 'fee') return [read]
    if (read.kind === 'premium' || read.kind === 'tax')
      return [{ ...read, kind: 'fee' as const, name: read.name || charge.chargeType }]
    reading.problems.add(
      'charge',
      place,
      `chargeType '${charge.chargeType}' must stand on a coverage: what it says is of a coverage's premium.`,
    )
    return []
  })
}

function readCharge(
  { chargeType, tag, rate, installmentItems }: ChargeMigrationRequest,
  place: string,
  reading: ChargeReading,
): SaidCharge | undefined {
  const { product, problems, currency, installments } = reading
  const charge = place.slice(place.lastIndexOf('/') + 1)
  const configured = product.taxes.some(one => one.name === chargeType)
    ? 'tax'
    : product.fees.some(one => one.name === chargeType)
      ? 'fee'
      : undefined
  const kind = configured ?? (Object.hasOwn(CATEGORIES, chargeType) ? CATEGORIES[chargeType] : undefined)
  if (!kind) {
    problems.add(
      'charge',
      place,
      `chargeType '${chargeType}' must be a tax or a fee of product '${product.name}', or a category: ${Object.keys(CATEGORIES).join(', ')}.`,
    )
    return undefined
  }
  const items = installmentItems.flatMap((item, at): SaidItem[] => {
    const amount = readAmount(item.amount, currency)
    const isAmount = typeof amount !== 'string'
    // Of its element: another charge may have items without ids too.
    const id = item.id ?? `${charge}/installmentItems[${at}]`
    if (!isAmount) problems.add('charge', place, `installmentItems[${at}].amount ${amount}`)
    if (item.installmentNumber > installments)
      problems.add(
        'charge',
        place,
        `installmentItems[${at}].installmentNumber ${item.installmentNumber} must be the number of an installment of its transaction, which has ${installments}.`,
      )
    return isAmount && item.installmentNumber <= installments
      ? [{ at: item.installmentNumber - 1, amount, id }]
      : []
  })
  const total = items.reduce((sum, item) => plus(sum, item.amount), zero(currency))
  const isRated = kind === 'technicalPremium' && items.length === 0 && rate !== undefined
  return {
    kind,
    name: kind === 'premium' || kind === 'technicalPremium' ? '' : (tag ?? chargeType),
    ...(rate !== undefined && { month: monthly(rate, reading.basis) }),
    amount: isRated ? money(decimal(rate).times(durationOf(reading)), currency) : total,
    items,
  }
}

/** Units of a month: the calendar's mean, 365.25 days a year. */
const A_MONTH: Readonly<Record<Duration, number>> = {
  years: 1 / 12,
  months: 1,
  weeks: 365.25 / 12 / 7,
  days: 365.25 / 12,
  hours: (365.25 / 12) * 24,
}

const monthly = (rate: string, basis: Duration): string =>
  (basis === 'years' ? decimal(rate).div(12) : decimal(rate).times(A_MONTH[basis]))
    .round(RATE_PLACES, 1)
    .toFixed()

const UNIT_MS = { weeks: 604_800_000, days: 86_400_000, hours: 3_600_000 } as const

/** The span in units of the basis. */
function durationOf({ span: { start, end }, basis, timeZone }: ChargeReading) {
  if (basis === 'months') return months(start, end, timeZone)
  if (basis === 'years') return months(start, end, timeZone).div(12)
  return decimal(end - start).div(UNIT_MS[basis])
}

// Amounts of a request, exact to the currency's places (rule 11 of resources brief 9.3).
/** The amount, or the rule that it breaks, as the end of a sentence that names it. */
export function readAmount(text: string, currency: CurrencyCode): Money | string {
  try {
    const amount = exactMoney(text, currency)
    return amount ?? `${text} must have no more decimal places than ${currency} has.`
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem
    const largest = toText(fromMinor(LARGEST_MINOR, currency))
    return `${text} must not be beyond ${largest} ${currency}, the largest amount that is kept.`
  }
}
