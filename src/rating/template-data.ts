// The `data` of templates: snake_case names, milliseconds, scalars for single fields and arrays for repeatable ones (brief 5.3).

import { DataAmount } from '../../packages/liquid/values.ts'
import { NUMBER_MEMBERS } from '../../packages/velocity/data.ts'
import { Memo, memoByObject } from '../kernel/maps.ts'
import { currencyNameOf, toNumber } from '../kernel/money.ts'
import type { PolicyResponse } from '../policy/contract/response.ts'
import { lazyNames, withLazy } from '../policy/projection/characteristics.ts'
import type {
  Exposure,
  ExposureRun,
  Peril,
  PerilPrice,
  PerilRun,
  Policy,
  PolicySegment,
} from '../policy/records/aggregate.ts'
import type { Policyholder } from '../policyholders/values.ts'
import type { FieldDefinition, ProductDefinition } from '../product/configuration.ts'
import type { FieldData } from '../product/fields/groups.ts'
import { type FieldValues, valuesOf } from '../product/fields/values.ts'

export type Operation = 'new_business' | 'endorsement' | 'renewal' | 'reinstatement'

type TemplateValue =
  | string
  | number
  | DataAmount
  | boolean
  | null
  | TemplateValue[]
  | { [name: string]: TemplateValue }

type TemplateFields = Record<string, string | number | (string | number)[]>

const templateScalar = (definition: FieldDefinition, value: string): string | number =>
  definition.type === 'date' && /^-?\d{1,15}$/.test(value) ? Number(value) : value

/** The prototype of field values. It shows when a script reads another name from them (rating/strictness.ts). */
const FIELDS: object = Object.freeze(Object.create(null))

/**
 * Whether the record contains field values of a policy, exposure, peril or group, with a property for each field that has a value.
 * Policyholders do not count.
 */
export const isOfFields = (record: unknown): boolean =>
  typeof record === 'object' && record !== null && Object.prototype.isPrototypeOf.call(FIELDS, record)

/** Values are text to Liquid, which computes with text. This property lists for Velocity which of them are numbers. */
const numberFields = memoByObject((definitions: readonly FieldDefinition[]) => ({
  [NUMBER_MEMBERS]: { value: new Set(definitions.filter(one => one.type === 'number').map(one => one.name)) },
}))

const fieldsPrototype = memoByObject((definitions: readonly FieldDefinition[]): object =>
  Object.freeze(Object.create(FIELDS, numberFields(definitions))),
)

function templateFields(definitions: readonly FieldDefinition[], values: FieldValues): TemplateFields {
  const fields = Object.create(fieldsPrototype(definitions)) as TemplateFields
  for (const definition of definitions) {
    const scalars = valuesOf(values, definition.name).map(value => templateScalar(definition, value))
    if (scalars.length > 0) fields[definition.name] = definition.repeatable ? scalars : scalars[0]!
  }
  return fields
}

/** Returns the fields and, by locator, the groups. */
function templateFieldData(definitions: readonly FieldDefinition[], data: FieldData) {
  const groupFields = (name: string): readonly FieldDefinition[] =>
    definitions.find(definition => definition.name === name)?.fields ?? []
  return {
    field_values: templateFields(definitions, data.values),
    field_groups_by_locator: Object.fromEntries(
      data.groups.map(group => [group.locator, templateFields(groupFields(group.fieldName), group.values)]),
    ),
  }
}

/**
 * Returns a segment of the policy as templates read it. Times are milliseconds; those of the policy are its original start and end.
 */
export const policySegmentData = (policy: Policy, segment: PolicySegment, product: ProductDefinition) => ({
  locator: segment.locator,
  policy_locator: String(policy.locator),
  start_timestamp: segment.start,
  end_timestamp: segment.end,
  policy_start_timestamp: policy.originalStart,
  policy_end_timestamp: policy.originalEnd,
  ...templateFieldData(product.fields, segment.data),
})

/** Returns a run of an exposure as templates read it. Times are milliseconds. `fields` are those of the exposure's definition. */
export const exposureRunData = (
  exposure: Exposure,
  run: ExposureRun,
  fields: readonly FieldDefinition[],
) => ({
  locator: run.locator,
  exposure_locator: exposure.locator,
  name: exposure.name,
  start_timestamp: run.start,
  end_timestamp: run.end,
  ...templateFieldData(fields, run.data),
})

/** Unset amounts read as 0 (brief 5.3). `price` is set for tax templates, which run on priced perils. */
export function perilRunData(
  peril: Peril,
  run: PerilRun,
  fields: readonly FieldDefinition[],
  price?: PerilPrice,
) {
  const { amounts } = run
  return {
    locator: run.locator,
    peril_locator: peril.locator,
    name: peril.name,
    coverage_start_timestamp: run.start,
    coverage_end_timestamp: run.end,
    start_timestamp: run.start,
    end_timestamp: run.end,
    deductible: amounts.deductible ?? '0',
    lump_sum_payment: amounts.lumpSumPayment ?? '0',
    indemnity_in_aggregate: amounts.indemnityInAggregate ?? '0',
    indemnity_per_event: amounts.indemnityPerEvent ?? '0',
    indemnity_per_item: amounts.indemnityPerItem ?? '0',
    ...(price && {
      premium: new DataAmount(toNumber(price.premium.amount)),
      month_premium: price.premium.month,
      technical_premium: price.technicalPremium && new DataAmount(toNumber(price.technicalPremium.amount)),
    }),
    ...templateFieldData(fields, run.data),
  }
}

/**
 * Returns the policyholder as templates read it. Values of fields that `fields` lacks are included as text; the first one counts.
 */
export const policyholderData = (policyholder: Policyholder, fields: readonly FieldDefinition[]) => ({
  id: policyholder.locator,
  locator: policyholder.locator,
  entity: {
    values: Object.defineProperties(
      Object.fromEntries(
        Object.entries(policyholder.entity.values).map(([name, values]) => {
          const definition = fields.find(field => field.name === name)
          const scalars = definition ? values.map(value => templateScalar(definition, value)) : values
          return [name, definition?.repeatable ? scalars : (scalars[0] ?? '')]
        }),
      ),
      numberFields(fields),
    ),
  },
})

/** The cache has room for all names: the contracts have a few hundred. */
const snakeCaseNames = new Memo<string, string>(2_000)

/** Converts a property of a contract to its name in templates, such as `grossPremium` to `gross_premium`. */
export const snakeCase = (name: string): string =>
  snakeCaseNames.getOrMake(name, () => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`))

function templateValue(value: unknown, name: string): TemplateValue {
  if (Array.isArray(value)) return value.map(one => templateValue(one, ''))
  if (typeof value === 'object' && value !== null) return templateRecord(value)
  if (typeof value === 'string' && name.endsWith('Timestamp')) return Number(value)
  return value === undefined ? null : (value as string | number | boolean | null)
}

/**
 * A property with a currency next to it is an amount, and becomes a decimal even if it is whole: a twelfth of 879.00 is 73.25, just
 * as a twelfth of 879.12 is 73.26.
 */
function templateMember(record: object, name: string): TemplateValue {
  const value = (record as Record<string, unknown>)[name]
  const isAmount =
    typeof value === 'number' && (currencyNameOf(name, record) !== undefined || MONTH_RATES.has(name))
  return isAmount ? new DataAmount(value) : templateValue(value, name)
}

export const MONTH_RATES: ReadonlySet<string> = new Set(['monthPremium', 'monthTechnicalPremium'])

export type TemplateRecord = { [name: string]: TemplateValue }

/** Returns the record with snake_case names and timestamps as numbers. Lazy properties stay lazy. */
export function templateRecord(record: object, without: ReadonlySet<string> = NONE): TemplateRecord {
  const lazy = lazyNames(record)
  const entries: [string, TemplateValue][] = []
  for (const name of Object.keys(record)) {
    if (without.has(name)) continue
    // Keeps the order of the properties. The value is made when read.
    if (lazy.has(name)) entries.push([snakeCase(name), null])
    else if ((record as Record<string, unknown>)[name] !== undefined)
      entries.push([snakeCase(name), templateMember(record, name)])
  }
  const data: TemplateRecord = Object.fromEntries(entries)
  for (const name of lazy) withLazy(data, snakeCase(name), () => templateMember(record, name))
  return data
}

const NONE: ReadonlySet<string> = new Set()

type ResponseFields = {
  fieldValues: FieldValues
  fieldGroupsByLocator: Record<string, FieldValues>
}

function templateCharacteristics<T extends ResponseFields>(
  list: readonly T[],
  fields: readonly FieldDefinition[],
) {
  return list.map(one => {
    const { fieldValues, fieldGroupsByLocator } = one
    const groups = fields.flatMap(({ type, name: fieldName }) =>
      type !== 'group'
        ? []
        : valuesOf(fieldValues, fieldName).map(locator => {
            const values = fieldGroupsByLocator[locator] ?? {}
            return { locator, fieldName, values }
          }),
    )
    const data = templateRecord(one, FIELD_DATA)
    return Object.assign(data, templateFieldData(fields, { values: fieldValues, groups }))
  })
}

const FIELD_DATA: ReadonlySet<string> = new Set(['fieldValues', 'fieldGroupsByLocator'])

/** Properties of a response that depend on all exposures. */
const OF_ALL_EXPOSURES: ReadonlySet<string> = new Set([
  'exposures',
  'modifications',
  'invoices',
  'grossPremium',
  'grossTaxes',
  'taxGroups',
])

/**
 * Returns `data.policy`. Parts are made when read, because templates read few of them. If exposures are missing, parts that depend
 * on all exposures call `missed`.
 */
export function policyData(
  response: PolicyResponse,
  product: ProductDefinition,
  missed?: () => never,
): object {
  const data = {}
  const lazy = lazyNames(response)
  const addLazyMember = (record: object, name: string, make: () => unknown): void => {
    withLazy(record, snakeCase(name), missed && OF_ALL_EXPOSURES.has(name) ? missed : make)
  }
  for (const name of Object.keys(response) as (keyof PolicyResponse)[])
    if (!MADE_APART.has(name) && (lazy.has(name) || response[name] !== undefined))
      addLazyMember(data, name, () => templateMember(response, name))
  addLazyMember(data, 'characteristics', () => {
    const segments = templateCharacteristics(response.characteristics, product.fields)
    if (missed)
      for (const segment of segments)
        for (const name of OF_ALL_EXPOSURES) addLazyMember(segment, name, missed)
    return segments
  })
  addLazyMember(data, 'exposures', () => response.exposures.map(exposure => exposureData(exposure, product)))
  return data
}

const MADE_APART: ReadonlySet<string> = new Set(['characteristics', 'exposures'])

function exposureData(
  { characteristics, perils, ...exposure }: PolicyResponse['exposures'][number],
  product: ProductDefinition,
) {
  const definition = product.exposures.find(one => one.name === exposure.name)
  return {
    ...templateRecord(exposure),
    characteristics: templateCharacteristics(characteristics, definition?.fields ?? []),
    perils: perils.map(({ characteristics: segments, ...peril }) => ({
      ...templateRecord(peril),
      characteristics: templateCharacteristics(
        segments,
        definition?.perils.find(one => one.name === peril.name)?.fields ?? [],
      ),
    })),
  }
}
