// The rates of the two examples as their READMEs state them in words, for the naive model. Uses neither templates nor tables of
// the archive, and knows only what the worked policies need.
import Big from 'big.js'
import { type CurrencyCode, minorDigits } from '../../src/kernel/money.ts'
import { add, dayStart, type Instant, type Span, type TimeZone } from '../../src/kernel/time.ts'
import type { Example } from './configurations.ts'
import { monthsBetween } from './naive-time.ts'

export type NaiveFields = Readonly<Record<string, readonly string[]>>

/** Values by field, and the contents of groups by field. */
export type NaiveData = {
  readonly values: NaiveFields
  readonly groups: Readonly<Record<string, readonly NaiveFields[]>>
}

/** Amounts in major units by name: `premium`, `technicalPremium`, `tax <name>`, `commission <recipient>`, `fee`. */
export type NaiveAmounts = Readonly<Record<string, Big>>

export type NaiveOperation = 'new_business' | 'endorsement' | 'renewal'

/** What counting, rounding and rating depend on. */
export type NaiveRules = {
  readonly example: Example
  readonly timeZone: TimeZone
  readonly currency: CurrencyCode
}

/** What a peril is rated from. Its amounts (`deductible`, `lumpSumPayment` …) are values of `peril`, with defaults filled in. */
export type NaiveSubject = {
  readonly name: string
  readonly policy: NaiveData
  readonly exposure: NaiveData
  readonly peril: NaiveData
}

/** A figure per year, per month, or for the whole span. */
type Figure = { readonly every: 'year' | 'month' | 'span'; readonly amount: Big }

type Rates = {
  readonly premium: Figure
  readonly technical: Figure | undefined
  readonly commissions: Readonly<Record<string, Figure>>
}

export const halfUp = (amount: Big, { currency }: Pick<NaiveRules, 'currency'>): Big =>
  amount.round(minorDigits(currency), Big.roundHalfUp)

/** The amounts of the peril for the span, each rounded separately. */
export function naivePrice(
  subject: NaiveSubject,
  span: Span,
  operation: NaiveOperation,
  rules: NaiveRules,
): NaiveAmounts {
  const { premium, technical, commissions } = rate(subject, span, operation, rules)
  const months = monthsBetween(span.start, span.end, rules.timeZone)
  const cost = ({ every, amount }: Figure): Big =>
    halfUp(
      every === 'span' ? amount : every === 'month' ? amount.times(months) : amount.times(months).div(12),
      rules,
    )
  const paid = cost(premium)
  return {
    premium: paid,
    ...(technical && { technicalPremium: cost(technical) }),
    ...Object.fromEntries(
      Object.entries(taxes(subject, rules)).map(([name, share]) => [`tax ${name}`, cents(paid.times(share))]),
    ),
    ...Object.fromEntries(
      Object.entries(commissions).map(([recipient, figure]) => [`commission ${recipient}`, cost(figure)]),
    ),
  }
}

/** The standard fees of a term. */
export function naiveFees({ values }: NaiveData, schedule: string, { example }: NaiveRules) {
  const fee = (name: string, amount: number, flat: boolean) => ({ name, amount: new Big(amount), flat })
  if (example === 'motor')
    return [
      fee('policy_fee', 12.5, true),
      ...(one(values, 'document_delivery') === 'post' ? [fee('postal_delivery_fee', 6, false)] : []),
    ]
  const planFee = { monthly: 24, every_two_weeks: 48, every_week: 48 }[schedule]
  return [
    fee('policy_fee', 35, true),
    ...(one(values, 'inspection_requested') === 'yes' ? [fee('inspection_fee', 125, true)] : []),
    ...(planFee ? [fee('payment_plan_fee', planFee, false)] : []),
  ]
}

const one = (values: NaiveFields, name: string): string => values[name]?.[0] ?? ''
const number = (values: NaiveFields, name: string): Big => new Big(one(values, name) || 0)
/** The tariff rounds to cents, half-up, in any currency. */
const cents = (amount: Big): Big => amount.round(2, Big.roundHalfUp)

const year = (amount: Big): Figure => ({ every: 'year', amount })
const month = (amount: Big): Figure => ({ every: 'month', amount })
const span = (amount: Big): Figure => ({ every: 'span', amount })

const rate = (subject: NaiveSubject, at: Span, operation: NaiveOperation, rules: NaiveRules): Rates =>
  rules.example === 'motor' ? motorRate(subject, at, rules) : homeRate(subject, operation, rules)

function taxes({ policy, exposure }: NaiveSubject, { example }: NaiveRules): Record<string, string> {
  if (example === 'motor')
    return {
      ...(one(exposure.values, 'usage') === 'commercial' && { commercial_levy: '0.02' }),
      insurance_tax: '0.19',
    }
  const state = one(policy.values, 'state')
  const isDwelling = number(exposure.values, 'replacement_cost').gt(0)
  return {
    premium_tax: { NY: '0.02', NJ: '0.021', CT: '0.015', PA: '0.02' }[state]!,
    ...(state === 'NY' && isDwelling && { fire_service_surcharge: '0.0125' }),
  }
}

const LIABILITY_BASE: Record<string, string> = {
  '0603-BTP': '318',
  '0035-AXZ': '264',
  '8566-BRK': '309',
  '0603-BNV': '402',
}
const OWN_DAMAGE_RATE: Record<string, string> = {
  '0603-BTP': '0.0185',
  '0035-AXZ': '0.0176',
  '8566-BRK': '0.0179',
  '0603-BNV': '0.0198',
}
const REGION: Record<string, string> = {
  R1: '0.86',
  R2: '0.94',
  R3: '1',
  R4: '1.08',
  R5: '1.17',
  R6: '1.29',
}
const CLAIMS_FREE =
  '95 62 56 52 48 45 42 40 38 36 34 33 32 31 30 29 28 28 27 27 26 26 25 25 24 24 23 23 22 22 21 21 21 20 20 20'
    .split(' ')
    .map(hundredths => new Big(hundredths).div(100))

function motorRate({ name, policy, exposure, peril }: NaiveSubject, at: Span, rules: NaiveRules): Rates {
  const { values } = policy
  const own = exposure.values
  const region = REGION[one(values, 'region_class')] ?? '1'
  const channel = one(values, 'channel')
  const broker = channel === 'broker' ? one(values, 'broker_code') : undefined
  const ofYear = (amount: Big, technical: number, commissions: Rates['commissions'] = {}): Rates => ({
    premium: year(amount),
    technical: year(cents(amount.times(technical))),
    commissions,
  })
  switch (name) {
    case 'liability': {
      const mileage = number(own, 'annual_mileage_km')
      const amount = cents(
        new Big(LIABILITY_BASE[one(own, 'vehicle_type')]!)
          .times(region)
          .times(CLAIMS_FREE[Number(one(values, 'claims_free_years'))]!)
          .times(mileage.lte(9_000) ? 0.9 : mileage.lte(15_000) ? 1 : mileage.lte(25_000) ? 1.12 : 1.3)
          .times({ private: 1, commuting: 1.05 }[one(own, 'usage')] ?? 1.25)
          .times(hasYoungDriver(policy, at.start, rules.timeZone) ? 1.45 : 1),
      )
      return ofYear(
        amount,
        0.72,
        broker
          ? { [broker]: year(cents(amount.times(0.11))) }
          : channel === 'comparison_portal'
            ? { comparison_portal: month(new Big(1.25)) }
            : {},
      )
    }
    case 'own_damage': {
      const deductible = { 150: 1.2, 300: 1.08, 1000: 0.85 }[Number(one(peril.values, 'deductible'))] ?? 1
      const product = number(own, 'vehicle_value')
        .times(OWN_DAMAGE_RATE[one(own, 'vehicle_type')]!)
        .times(region)
        .times(deductible)
      const amount = atLeast(cents(product), 60)
      return ofYear(amount, 0.65, broker ? { [broker]: year(cents(amount.times(0.15))) } : {})
    }
    case 'theft': {
      const devices = (own.anti_theft_devices ?? []).filter(device => device !== 'none').length
      const amount = cents(
        number(own, 'vehicle_value')
          .times('0.00018')
          .times(region)
          .times(new Big(1).minus(new Big(0.05).times(devices)))
          .times(one(own, 'parking') === 'street' ? 1.1 : 1),
      )
      return { premium: month(amount), technical: month(cents(amount.times(0.7))), commissions: {} }
    }
    case 'glass':
      return ofYear(new Big(one(peril.values, 'original_parts') === 'yes' ? 58.5 : 46.8), 0.8)
    case 'trailer_liability':
      return ofYear(new Big(number(own, 'gross_weight_t').gt(0.75) ? 36 : 24), 0.6)
    case 'trailer_damage': {
      const kind = { cargo: '0.009', horse: '0.0125', boat: '0.011', caravan: '0.014' }[
        one(own, 'trailer_kind')
      ]!
      return ofYear(atLeast(cents(number(own, 'trailer_value').times(kind)), 18), 0.6)
    }
    case 'personal_accident': {
      const thousands = number(peril.values, 'lumpSumPayment').div(1_000)
      const amount = cents(thousands.times(one(own, 'occupation_class') === 'office' ? 0.62 : 0.94))
      const seller = broker ?? channel
      return ofYear(amount, 0.5, channel === 'direct' ? {} : { [seller]: span(new Big(3.5)) })
    }
    default:
      throw new Error(`No rate for ${name}.`)
  }
}

const atLeast = (amount: Big, least: number): Big => (amount.lt(least) ? new Big(least) : amount)

/** Whether a driver is younger than 25 when the span starts. */
const hasYoungDriver = ({ groups }: NaiveData, at: Instant, zone: TimeZone): boolean =>
  (groups.named_drivers ?? []).some(driver => {
    const text = one(driver, 'birth_date')
    const birth = /^-?\d+$/.test(text) ? (Number(text) as Instant) : dayStart(text, zone)!
    return add(birth, 25, 'year', zone) > at
  })

function homeRate(
  { name, policy, exposure, peril }: NaiveSubject,
  operation: NaiveOperation,
  rules: NaiveRules,
): Rates {
  const { values, groups } = policy
  const own = exposure.values
  const devices = values.protective_devices ?? []
  const cost = number(own, 'replacement_cost')
  const ofYear = (amount: Big, technical: number, commissions: Rates['commissions'] = {}): Rates => ({
    premium: year(amount),
    technical: year(cents(amount.times(technical))),
    commissions,
  })
  switch (name) {
    case 'fire': {
      const less = { smoke_detectors: 0.03, central_alarm: 0.05, sprinklers: 0.08 } as Record<string, number>
      const amount = cents(
        cost
          .div(100)
          .times({ frame: '0.21', masonry: '0.14', steel: '0.1' }[one(own, 'construction')]!)
          .times(PROTECTION[one(values, 'municipality')]!)
          .times(builtBefore1960(one(own, 'year_built'), rules.timeZone) ? 1.2 : 1)
          .times(devices.reduce((factor, device) => factor.minus(less[device] ?? 0), new Big(1))),
      )
      const [agency] = groups.agency ?? []
      return ofYear(
        amount,
        0.6,
        agency
          ? {
              [one(agency, 'agency_code')]: year(
                cents(amount.times(number(agency, 'commission_percent')).div(100)),
              ),
            }
          : {},
      )
    }
    case 'water_damage': {
      const deductible = { 500: 1.1, 2500: 0.82 }[Number(one(peril.values, 'deductible'))] ?? 1
      const amount = cost
        .times('0.0006')
        .times(deductible)
        .times(one(values, 'occupancy') === 'seasonal' ? 1.25 : 1)
        .times(devices.includes('water_shutoff') ? 0.85 : 1)
        .plus(one(peril.values, 'sewer_backup') === 'yes' ? 48 : 0)
      return ofYear(cents(amount), 0.65)
    }
    case 'windstorm': {
      const share = { inland: '0.000008', coastal: '0.000026', barrier_island: '0.000055' }[
        one(values, 'territory')
      ]!
      const amount = cents(cost.times(share))
      return { premium: month(amount), technical: month(cents(amount.times(0.8))), commissions: {} }
    }
    case 'burglary': {
      const amount = number(own, 'contents_value')
        .times('0.0042')
        .times(devices.includes('central_alarm') ? 0.8 : 1)
      return ofYear(atLeast(cents(amount), 35), 0.55)
    }
    case 'scheduled_property': {
      const rates = {
        jewelry: '0.015',
        art: '0.009',
        electronics: '0.02',
        instrument: '0.008',
        other: '0.012',
      }
      const amount = (exposure.groups.items ?? []).reduce(
        (sum, item) =>
          sum.plus(
            cents(number(item, 'item_value').times(rates[one(item, 'category') as keyof typeof rates])),
          ),
        new Big(0),
      )
      return ofYear(amount, 0.7)
    }
    case 'personal_liability': {
      const base =
        { 100000: 96, 500000: 151, 1000000: 189.5 }[Number(one(peril.values, 'indemnityPerEvent'))] ?? 128
      const pool = one(own, 'pool') !== 'yes' ? 0 : one(own, 'pool_fenced') === 'yes' ? 42 : 78
      const amount = new Big(base).plus(pool).plus(number(own, 'dogs').times(18.5))
      return ofYear(amount, 0.5, groups.agency?.length ? {} : { call_center: month(new Big(0.75)) })
    }
    case 'identity_theft': {
      const more = Math.max(0, Number(one(own, 'residents')) - 4) * 5
      const amount = new Big(25 + more)
      return {
        premium: operation === 'endorsement' ? year(amount) : span(amount),
        technical: undefined,
        commissions: {},
      }
    }
    default:
      throw new Error(`No rate for ${name}.`)
  }
}

const PROTECTION: Record<string, string> = {
  'NY-ALB': '0.92',
  'NY-SAR': '1',
  'NJ-MTC': '0.9',
  'PA-BET': '0.96',
  'PA-SCR': '1.02',
}

function builtBefore1960(text: string, zone: TimeZone): boolean {
  const at = /^-?\d+$/.test(text) && text.length > 4 ? (Number(text) as Instant) : dayStart(text, zone)!
  return at < dayStart('1960-01-01', zone)!
}
