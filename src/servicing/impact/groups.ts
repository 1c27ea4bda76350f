// The groups to which a policy belongs by the values of its fields. They show who pays more and who pays less.

import { invalidParameter } from '../../kernel/errors.ts'
import { decimal } from '../../kernel/money.ts'
import { didYouMean, shortened } from '../../kernel/text.ts'
import { type Instant, localParts, type TimeZone } from '../../kernel/time.ts'
import type { Configuration, FieldDefinition } from '../../product/configuration.ts'
import type { Risk } from './risk.ts'

/** A field by which policies are compared. `id`: `region_class`, `vehicle.usage`, `vehicle.theft.lock`, `policyholder.city`. */
export type GroupingField = {
  readonly id: string
  readonly definition: FieldDefinition
  /** Absent for the policy's own fields. */
  readonly exposure?: string
  readonly peril?: string
  readonly isOfPolicyholder?: true
}

export const NO_VALUE = '(none)'
/** A policy has several exposures with different values, or a field with several values. */
export const SEVERAL = '(several)'

/** Types of the fields that are compared unless some are named: those with few values, and numbers. */
const USUAL: ReadonlySet<FieldDefinition['type']> = new Set(['select', 'number'])

/** Types of the fields that can be grouped. The others are texts, lists of records, or files. */
const POSSIBLE: ReadonlySet<FieldDefinition['type']> = new Set([
  'select',
  'number',
  'string',
  'lookup',
  'date',
])

/** Returns all fields by which policies can be grouped, of all products; one entry for each id. */
export function groupingFields({ products, policyholderFields }: Configuration): GroupingField[] {
  const found = new Map<string, GroupingField>()
  const addAll = (fields: readonly FieldDefinition[], prefix: string, of: Partial<GroupingField>): void => {
    for (const definition of fields) {
      const id = prefix + definition.name
      if (POSSIBLE.has(definition.type) && !found.has(id)) found.set(id, { ...of, id, definition })
    }
  }
  for (const product of Object.values(products)) {
    addAll(product.fields, '', {})
    for (const exposure of product.exposures) {
      addAll(exposure.fields, `${exposure.name}.`, { exposure: exposure.name })
      for (const peril of exposure.perils)
        addAll(peril.fields, `${exposure.name}.${peril.name}.`, {
          exposure: exposure.name,
          peril: peril.name,
        })
    }
  }
  addAll(policyholderFields, 'policyholder.', { isOfPolicyholder: true })
  return [...found.values()]
}

/** Returns the named fields, or the usual ones. Rejects with 400 a name that is not a field. */
export function requestedFields(
  configuration: Configuration,
  names: readonly string[] | undefined,
): GroupingField[] {
  const all = groupingFields(configuration)
  if (names === undefined)
    return all.filter(({ definition, isOfPolicyholder }) => USUAL.has(definition.type) && !isOfPolicyholder)
  return names.map(name => {
    const field = all.find(({ id }) => id === name)
    if (field) return field
    const ids = all.map(({ id }) => id)
    throw invalidParameter(
      `Policies cannot be grouped by the field '${name}'.${didYouMean(name, ids)} Use one of: ${ids.join(', ')}.`,
    )
  })
}

/** Returns the group of the risk: a value, a band of numbers, a year, or one of the two constants above. */
export function groupOf(risk: Risk, field: GroupingField, zone: TimeZone): string {
  const { definition } = field
  const values = valuesOf(risk, field)
  const groups = new Set(values.map(value => groupText(value, definition, zone)))
  if (groups.size === 0) return NO_VALUE
  return groups.size === 1 ? [...groups][0]! : SEVERAL
}

function valuesOf(
  risk: Risk,
  { definition: { name }, exposure, peril, isOfPolicyholder }: GroupingField,
): readonly string[] {
  if (isOfPolicyholder) return risk.policyholder[name] ?? []
  if (exposure === undefined) return risk.data.values[name] ?? []
  return risk.exposures
    .filter(one => one.name === exposure)
    .flatMap(one =>
      peril === undefined
        ? (one.data.values[name] ?? [])
        : one.perils.filter(({ name: own }) => own === peril).flatMap(({ data }) => data.values[name] ?? []),
    )
}

/** Texts that people wrote are long. */
const LONGEST_GROUP = 80

function groupText(value: string, { type }: FieldDefinition, zone: TimeZone): string {
  if (type === 'number') return bandOf(value)
  if (type === 'date')
    return /^-?\d{1,15}$/.test(value) ? String(localParts(Number(value) as Instant, zone).year) : value
  return shortened(value, LONGEST_GROUP)
}

/**
 * Returns the band of a number. Numbers with the same first digit share a band, so that the bands are known before any policy is
 * read: 7 is `7`, 23 is `20 to below 30`, 18450 is `10000 to below 20000`.
 */
export function bandOf(value: string): string {
  if (!/^-?\d{1,40}(\.\d{1,40})?$/.test(value)) return value.slice(0, LONGEST_GROUP)
  const number = decimal(value)
  if (number.eq(0)) return '0'
  const width = decimal(10).pow(number.e)
  const start = number
    .div(width)
    .round(0, number.lt(0) ? 3 : 0)
    .times(width)
  if (width.eq(1) && start.eq(number)) return start.toFixed()
  const end = start.plus(width)
  return `${start.toFixed()} to below ${end.toFixed()}`
}

/** Compares groups in the order that people expect: numbers and bands by size, others by text, and groups without a value last. */
export function compareGroups(a: string, b: string): number {
  const groupRank = (text: string): number => (text.startsWith('(') ? 1 : 0)
  if (groupRank(a) !== groupRank(b)) return groupRank(a) - groupRank(b)
  const [x, y] = [Number.parseFloat(a), Number.parseFloat(b)]
  if (!Number.isNaN(x) && !Number.isNaN(y) && x !== y) return x - y
  if (a === b) return 0
  return a < b ? -1 : 1
}
