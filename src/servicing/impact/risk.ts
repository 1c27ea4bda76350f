// The priced part of a booked policy: its data at one moment, for a term.
import { add, containsTime, type Instant, months, type Span, type TimeZone } from '../../kernel/time.ts'
import type { PerilAmounts } from '../../policy/records/transactions.ts'
import type { ExposureDefinition, FieldDefinition, ProductDefinition } from '../../product/configuration.ts'
import type { FieldData } from '../../product/fields/groups.ts'
import type { BookedPolicy } from './book-policy.ts'

export type PricedPeril = {
  readonly locator: string
  readonly name: string
  readonly data: FieldData
  readonly amounts: PerilAmounts
}

export type Risk = {
  readonly productName: string
  readonly currency: string
  readonly policyholder: Record<string, string[]>
  readonly paymentScheduleName: string | undefined
  readonly originalStart: Instant
  readonly originalEnd: Instant
  readonly data: FieldData
  readonly exposures: readonly {
    readonly locator: string
    readonly name: string
    readonly data: FieldData
    readonly perils: readonly PricedPeril[]
  }[]
}

/** `renewal`: the term after the last one. `day`: a term that begins on the day. */
export type Occasion = 'renewal' | 'day'

/** What an impact compares. */
export type Question = {
  readonly occasion: Occasion
  /** Policies with cover at this time are in force. */
  readonly day: Instant
  /** Whether scripts of the other configuration may read secrets, because the account that sent it may. */
  readonly mayReadSecrets?: boolean
}

/** `at` is the moment whose data is priced; `present` is the term that contains it. */
export type Pricing = { readonly at: Instant; readonly present: Span; readonly term: Span }

export type Skipped = 'notInForce' | 'cancelled'

/** Returns when the policy is priced, and for which term. The term is as long as the present one. */
export function pricingOf(
  { parts, terms, end, isCancelled }: BookedPolicy,
  { occasion, day }: Question,
  zone: TimeZone,
): Pricing | Skipped {
  if (!parts.some(part => part.start <= day && day < part.end)) return 'notInForce'
  if (occasion === 'renewal' && isCancelled) return 'cancelled'
  const at = occasion === 'day' ? day : ((end - 1) as Instant)
  const present = terms.findLast(term => term.start <= at) ?? terms[0]!
  const start = occasion === 'day' ? day : end
  return { at, present, term: { start, end: endOfEqualTerm(present, start, zone) } }
}

/** Returns the end of a term of equal length: whole months if the term has them, otherwise the same number of milliseconds. */
function endOfEqualTerm(term: Span, start: Instant, zone: TimeZone): Instant {
  const count = months(term.start, term.end, zone)
  if (count.gt(0) && count.eq(count.round(0))) return add(start, count.toNumber(), 'month', zone)
  return (start + (term.end - term.start)) as Instant
}

/** Returns the part that applies at the time. */
export const partAt = <P extends Span>(parts: readonly P[], at: Instant): P | undefined =>
  parts.find(part => containsTime(part, at))

/** Returns the risk at a time, or undefined if the policy has no cover then. */
export function riskAt(policy: BookedPolicy, at: Instant): Risk | undefined {
  const own = partAt(policy.parts, at)
  if (!own) return undefined
  const exposures = policy.exposures.flatMap(({ locator, name, parts, perils }) => {
    const part = partAt(parts, at)
    if (!part) return []
    const covered = perils.flatMap((peril): PricedPeril[] => {
      const cover = partAt(peril.parts, at)
      if (!cover) return []
      return [
        {
          locator: peril.locator,
          name: peril.name,
          data: dataOf(cover),
          amounts: cover.amounts as PerilAmounts,
        },
      ]
    })
    return [{ locator, name, data: dataOf(part), perils: covered }]
  })
  const { productName, currency, policyholder, paymentScheduleName, originalStart, originalEnd } = policy
  return {
    productName,
    currency,
    policyholder,
    paymentScheduleName,
    originalStart,
    originalEnd,
    data: dataOf(own),
    exposures,
  }
}

const dataOf = ({ values, groups }: FieldData): FieldData => ({ values, groups })

/** A risk that a configuration can price, and what was left out for that. */
export type Fitted = { readonly risk: Risk; readonly leftOut: readonly string[] }

/**
 * Leaves out the fields, exposures and perils that the product no longer has, and lists each once. This is not a reason for
 * rejection, since the new configuration was designed without them.
 */
export function fitRiskToProduct(risk: Risk, product: ProductDefinition): Fitted {
  const leftOut = new Set<string>()
  const exposures = risk.exposures.flatMap(exposure => {
    const definition = product.exposures.find(({ name }) => name === exposure.name)
    if (definition) return [fitExposure(exposure, definition, leftOut)]
    leftOut.add(`exposure '${exposure.name}'`)
    return []
  })
  const data = fitData(risk.data, product.fields, '', leftOut)
  return { risk: { ...risk, data, exposures }, leftOut: [...leftOut] }
}

function fitExposure(
  exposure: Risk['exposures'][number],
  { fields, perils }: ExposureDefinition,
  leftOut: Set<string>,
): Risk['exposures'][number] {
  const { name } = exposure
  const kept = exposure.perils.flatMap((peril): PricedPeril[] => {
    const definition = perils.find(one => one.name === peril.name)
    if (definition) {
      const owner = ` of peril '${peril.name}' of '${name}'`
      return [{ ...peril, data: fitData(peril.data, definition.fields, owner, leftOut) }]
    }
    leftOut.add(`peril '${peril.name}' of exposure '${name}'`)
    return []
  })
  const data = fitData(exposure.data, fields, ` of exposure '${name}'`, leftOut)
  return { ...exposure, data, perils: kept }
}

/** Keeps the values and groups of these fields. `owner` is how a message continues after the name of a field. */
function fitData(
  { values, groups }: FieldData,
  fields: readonly FieldDefinition[],
  owner: string,
  leftOut: Set<string>,
): FieldData {
  return {
    values: fitValues(values, fields, owner, leftOut),
    groups: groups.flatMap(group => {
      const inner = fields.find(({ name }) => name === group.fieldName)?.fields
      if (!inner) return []
      const place = ` of group '${group.fieldName}'${owner}`
      return [{ ...group, values: fitValues(group.values, inner, place, leftOut) }]
    }),
  }
}

function fitValues(
  values: FieldData['values'],
  fields: readonly FieldDefinition[],
  owner: string,
  leftOut: Set<string>,
): FieldData['values'] {
  const known = new Set(fields.map(({ name }) => name))
  const entries = Object.entries(values)
  for (const [name] of entries) if (!known.has(name)) leftOut.add(`field '${name}'${owner}`)
  return Object.fromEntries(entries.filter(([name]) => known.has(name)))
}
