// Reads a transaction's tree of elements as policy data, exposures and perils (rules 2 and 6 of resources brief 9.3; 9.5). An
// element below a coverage is a peril of the same exposure and names its parent.
import { Refusal } from '../../../kernel/errors.ts'
import { isJsonObject } from '../../../kernel/json.ts'
import type { LocatorSupply } from '../../../kernel/locators.ts'
import {
  type CurrencyCode,
  decimal,
  exactMoney,
  fromMinor,
  LARGEST_MINOR,
  type Money,
  money,
  RATE_PLACES,
  sumOf,
  toText,
} from '../../../kernel/money.ts'
import { type Instant, months, type Span, type TimeZone } from '../../../kernel/time.ts'
import { createPerilAmounts } from '../../../policy/draft/additions.ts'
import type { PerilAmounts } from '../../../policy/records/transactions.ts'
import {
  type Configuration,
  type ExposureDefinition,
  type FieldDefinition,
  type ProductDefinition,
  tableOf,
} from '../../../product/configuration.ts'
import { changeFields, type FieldData } from '../../../product/fields/groups.ts'
import { validateFields } from '../../../product/fields/validate.ts'
import { normaliseFieldData } from '../../../product/fields/values.ts'
import type {
  ChargeMigrationRequest,
  ElementMigrationRequest,
  PolicyMigrationRequest,
} from '../contract-request.ts'
import type { Problems } from '../item.ts'

export type Level = 'policy' | 'exposure' | 'peril'

export type ReadElement = {
  readonly id: string
  readonly level: Level
  readonly type: string
  /** For a peril: the id of its exposure's element. */
  readonly exposureId: string
  /** For a peril within a peril: the id of the outer one. */
  readonly parentId?: string
  /** Equal for equal data. */
  readonly fingerprint: string
  readonly data: FieldData
  readonly amounts: PerilAmounts
  readonly charges: readonly StatedCharge[]
  /** Without cover (in a gap, or ended). Only its charges count. */
  readonly isEnded: boolean
  /** Its earlier cost remains the price of the time before. */
  readonly isChargedAnew: boolean
  readonly path: string
  readonly children: readonly string[]
}

export type ReadTree = { readonly root: ReadElement; readonly elements: ReadonlyMap<string, ReadElement> }

export type PolicyReading = {
  readonly configuration: Configuration
  readonly product: ProductDefinition
  readonly currency: CurrencyCode
  readonly timeZone: TimeZone
  readonly now: Instant
  readonly supply: LocatorSupply
  readonly problems: Problems
  readonly warnings: Problems
}

export type ElementReading = Omit<PolicyReading, 'now' | 'warnings'> & {
  readonly basis: Duration
  /** The number of the transaction's installments. */
  readonly installments: number
  /** From the transaction's time to the end of the term. */
  readonly span: Span
  readonly issuedAt: Instant
  readonly isGap: boolean
  /** Data of earlier transactions: of each element by fingerprint, and the latest data of each element. */
  readonly known: {
    readonly byFingerprint: Map<string, Pick<ReadElement, 'data' | 'amounts'>>
    readonly latest: Map<string, FieldData>
  }
}

/** Reads a tree. `path` names the transaction. Adds problems to `reading.problems`. */
export function readTree(root: ElementMigrationRequest, path: string, reading: ElementReading): ReadTree {
  const { product, problems, isGap } = reading
  const elements = new Map<string, ReadElement>()
  const read = (
    element: ElementMigrationRequest,
    level: Level,
    fields: FieldDefinition[] | undefined,
    place: Pick<ReadElement, 'exposureId' | 'parentId' | 'isEnded'>,
  ): ReadElement => {
    const { id, elementType: type, data, coverageTerms } = element
    const own = `${path}/${id}`
    if (elements.has(id))
      problems.add('element', own, `id '${id}' must be the id of only one element of the transaction.`)
    const fingerprint = canonicalText([type, data, coverageTerms])
    const found: ReadElement = {
      id,
      level,
      type,
      ...place,
      path: own,
      fingerprint,
      ...(place.isEnded ? NO_CONTENT : contentOf(element, fingerprint, level, fields, own, reading)),
      isChargedAnew: element.chargedAnew === true,
      charges: readCharges(element.charges, own, level === 'peril' ? place : undefined, reading),
      children: element.elements.map(one => one.id),
    }
    elements.set(id, found)
    return found
  }
  const unknown = (element: ElementMigrationRequest, rule: string): void => {
    problems.add('element', `${path}/${element.id}`, `elementType '${element.elementType}' ${rule}.`)
  }
  const readPerils = (
    list: readonly ElementMigrationRequest[],
    exposure: ExposureDefinition,
    above: Pick<ReadElement, 'exposureId' | 'parentId' | 'isEnded'>,
  ): void => {
    for (const element of list) {
      const place = { ...above, isEnded: above.isEnded || element.ended === true }
      const definition = exposure.perils.find(one => one.name === element.elementType)
      if (!definition)
        unknown(element, `must be a peril of exposure '${exposure.name}': ${names(exposure.perils)}`)
      read(element, 'peril', definition?.fields, place)
      readPerils(element.elements, exposure, { ...place, parentId: element.id })
    }
  }
  if (root.elementType !== product.name)
    unknown(root, `must be '${product.name}', the name of the policy's product: it is the root element`)
  const top = read(root, 'policy', product.fields, { exposureId: '', isEnded: isGap })
  for (const element of root.elements) {
    const definition = product.exposures.find(one => one.name === element.elementType)
    if (!definition) {
      unknown(element, `must be an exposure of product '${product.name}': ${names(product.exposures)}`)
      continue
    }
    const place = { exposureId: element.id, isEnded: isGap || element.ended === true }
    read(element, 'exposure', definition.fields, place)
    readPerils(element.elements, definition, place)
  }
  return { root: top, elements }
}

const names = (list: readonly { name: string }[]): string =>
  list.map(one => one.name).join(', ') || 'it has none'

/** Returns text that is the same for equal values, regardless of the order of their properties. */
export function canonicalText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  let text = ''
  if (Array.isArray(value)) {
    for (const one of value) text += `${text === '' ? '' : ','}${canonicalText(one)}`
    return `[${text}]`
  }
  const part = value as Readonly<Record<string, unknown>>
  for (const name of Object.keys(part).sort()) {
    const own = part[name]
    if (own !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonicalText(own)}`
  }
  return `{${text}}`
}

const NO_CONTENT = { data: { values: {}, groups: [] }, amounts: {} }

function contentOf(
  { id, data, coverageTerms }: ElementMigrationRequest,
  fingerprint: string,
  level: Level,
  fields: FieldDefinition[] | undefined,
  place: string,
  reading: ElementReading,
): Pick<ReadElement, 'data' | 'amounts'> {
  if (!fields) return NO_CONTENT
  const { problems, known } = reading
  const key = `${level} ${JSON.stringify(id)} ${fingerprint}`
  const found = known.byFingerprint.get(key)
  if (found) {
    known.latest.set(id, found.data)
    return found
  }
  const amountTerms: Record<string, unknown> = {}
  const values: Record<string, unknown> = { ...data }
  for (const [name, value] of Object.entries(coverageTerms))
    if (level === 'peril' && AMOUNT_TERMS.has(name)) amountTerms[name] = value
    else values[name] = value
  const { amounts, problems: wrong } = createPerilAmounts({}, amountTerms)
  for (const { message } of wrong) problems.add('element', place, message)
  const read = readData(values, fields, place, reading)
  const content = { data: withKnownGroups(read, known.latest.get(id)), amounts }
  known.byFingerprint.set(key, content)
  known.latest.set(id, content.data)
  return content
}

/** Keeps the locator of a group that has the same values as before (brief 2.3). */
function withKnownGroups({ values, groups }: FieldData, before: FieldData | undefined): FieldData {
  const left = [...(before?.groups ?? [])]
  const locators = new Map<string, string>()
  for (const { locator, ...own } of groups) {
    const at = left.findIndex(({ locator: _, ...other }) => canonicalText(other) === canonicalText(own))
    if (at >= 0) locators.set(locator, left.splice(at, 1)[0]!.locator)
  }
  if (locators.size === 0) return { values, groups }
  const fields = new Set(groups.map(group => group.fieldName))
  const known = (locator: string): string => locators.get(locator) ?? locator
  const own = Object.entries(values).map(([name, list]) => [name, fields.has(name) ? list.map(known) : list])
  return {
    values: Object.fromEntries(own),
    groups: groups.map(group => ({ ...group, locator: known(group.locator) })),
  }
}

const AMOUNT_TERMS: ReadonlySet<string> = new Set([
  'deductible',
  'lumpSumPayment',
  'indemnityInAggregate',
  'indemnityPerEvent',
  'indemnityPerItem',
])

/** Reads the data. Objects, alone or in lists, are field groups. */
function readData(
  data: Readonly<Record<string, unknown>>,
  fields: FieldDefinition[],
  place: string,
  { configuration, product, timeZone, issuedAt, supply, problems }: ElementReading,
): FieldData {
  const fieldValues: Record<string, unknown> = {}
  const addFieldGroups: { fieldName: string; fieldValues: unknown }[] = []
  for (const [fieldName, value] of Object.entries(data)) {
    const list: unknown[] = Array.isArray(value) ? value : [value]
    if (list.length > 0 && list.every(isJsonObject))
      addFieldGroups.push(...list.map(one => ({ fieldName, fieldValues: one })))
    else fieldValues[fieldName] = value
  }
  const changes = { fieldValues, addFieldGroups }
  const changed = changeFields({ values: {}, groups: [] }, changes, () => supply.uuid())
  const found = validateFields(fields, changed.data.values, changed.data.groups, {
    timeZone,
    now: issuedAt,
    requireMissing: true,
    table: name => tableOf(configuration, product, name),
    reported: changed.reported,
  })
  for (const { message } of found.errors) problems.add('element', place, message)
  for (const { fieldName, index, errors } of found.fieldGroupErrors)
    for (const { message } of errors) problems.add('element', place, `${fieldName}[${index}]: ${message}`)
  return normaliseFieldData(fields, changed.data, timeZone)
}

export type ChargeKind = 'premium' | 'technicalPremium' | 'tax' | 'commission' | 'holdback' | 'fee' | 'none'

/** Premium ceded to a reinsurer counts as a commission, because it is in no total. */
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
  holdback: 'holdback',
  none: 'none',
}

/** `at`: the installment, counted from 0. */
type StatedItem = { readonly at: number; readonly amount: Money; readonly id: string }

export type StatedCharge = {
  readonly kind: ChargeKind
  /** Name of the tax, fee or recipient; empty for a premium. A holdback of a tax has the name of that tax, other holdbacks none. */
  readonly name: string
  /** Rate per month. */
  readonly month?: string
  readonly amount: Money
  readonly items: readonly StatedItem[]
}

export type Duration = NonNullable<PolicyMigrationRequest['durationBasis']>

/** Outside coverages, premiums and taxes become fees: only perils have a price, and the money is paid anyway. */
function readCharges(
  charges: readonly ChargeMigrationRequest[],
  path: string,
  coverage: Pick<ReadElement, 'isEnded'> | undefined,
  reading: ElementReading,
): StatedCharge[] {
  return charges.flatMap((charge, at) => {
    const place = `${path}/charges[${at}]`
    const read = readCharge(charge, place, reading)
    if (!read || read.kind === 'none') return []
    if (read.kind === 'holdback' && coverage && !coverage.isEnded) {
      const sentence = `chargeType '${charge.chargeType}' must be on a coverage that ends, because a holdback is kept from its charges.`
      reading.problems.add('charge', place, sentence)
      return []
    }
    if (coverage || read.kind === 'fee') return [read]
    if (read.kind === 'premium' || read.kind === 'tax')
      return [{ ...read, kind: 'fee' as const, name: read.name || charge.chargeType }]
    const sentence = `chargeType '${charge.chargeType}' must be on a coverage, because it relates to the premium of a coverage.`
    reading.problems.add('charge', place, sentence)
    return []
  })
}

function readCharge(
  { chargeType, tag, rate, installmentItems }: ChargeMigrationRequest,
  place: string,
  reading: ElementReading,
): StatedCharge | undefined {
  const { product, problems, currency, installments } = reading
  const wrong = (sentence: string): void => problems.add('charge', place, sentence)
  const kind = kindOf(chargeType, product)
  if (!kind) {
    wrong(
      `chargeType '${chargeType}' must be a tax or a fee of product '${product.name}', or a category: ${Object.keys(CATEGORIES).join(', ')}.`,
    )
    return undefined
  }
  const items = installmentItems.flatMap(
    ({ id, amount: text, installmentNumber: number }, at): StatedItem[] => {
      const amount = readAmount(text, currency)
      if (typeof amount === 'string') wrong(`installmentItems[${at}].amount ${amount}`)
      if (number > installments)
        wrong(
          `installmentItems[${at}].installmentNumber ${number} must be the number of an installment of its transaction, which has ${installments}.`,
        )
      if (typeof amount === 'string' || number > installments) return []
      // Includes the charge's place, because another charge may have items without ids too.
      const ownId = `${place.slice(place.lastIndexOf('/') + 1)}/installmentItems[${at}]`
      return [{ at: number - 1, amount, id: id ?? ownId }]
    },
  )
  const isRated = kind === 'technicalPremium' && items.length === 0 && rate !== undefined
  return {
    kind,
    name: nameOf(kind, tag, chargeType),
    ...(rate !== undefined && { month: monthly(rate, reading.basis) }),
    amount: isRated
      ? money(decimal(rate).times(durationOf(reading)), currency)
      : sumOf(items, item => item.amount, currency),
    items,
  }
}

function kindOf(chargeType: string, { taxes, fees }: ProductDefinition) {
  if (taxes.some(tax => tax.name === chargeType)) return 'tax'
  if (fees.some(fee => fee.name === chargeType)) return 'fee'
  return Object.hasOwn(CATEGORIES, chargeType) ? CATEGORIES[chargeType] : undefined
}

function nameOf(kind: ChargeKind, tag: string | undefined, chargeType: string): string {
  if (kind === 'premium' || kind === 'technicalPremium') return ''
  return tag ?? (kind === 'holdback' ? '' : chargeType)
}

/** Units per month, at 365.25 days a year. */
const UNITS_PER_MONTH: Readonly<Record<Duration, number>> = {
  years: 1 / 12,
  months: 1,
  weeks: 365.25 / 12 / 7,
  days: 365.25 / 12,
  hours: (365.25 / 12) * 24,
}

const monthly = (rate: string, basis: Duration): string =>
  (basis === 'years' ? decimal(rate).div(12) : decimal(rate).times(UNITS_PER_MONTH[basis]))
    .round(RATE_PLACES, 1)
    .toFixed()

const UNIT_MS = { weeks: 604_800_000, days: 86_400_000, hours: 3_600_000 } as const

function durationOf({ span: { start, end }, basis, timeZone }: ElementReading) {
  if (basis === 'months') return months(start, end, timeZone)
  if (basis === 'years') return months(start, end, timeZone).div(12)
  return decimal(end - start).div(UNIT_MS[basis])
}

/** Returns the amount, exact to the currency's places (rule 11 of resources brief 9.3), or else the end of an error sentence. */
export function readAmount(text: string, currency: CurrencyCode): Money | string {
  try {
    const amount = exactMoney(text, currency)
    return amount ?? `${text} must have no more decimal places than ${currency} has.`
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem
    const largest = toText(fromMinor(LARGEST_MINOR, currency))
    return `${text} must not exceed ${largest} ${currency}, the largest amount that can be stored.`
  }
}
