// Changes of fields, and what they mean for the values that policies have.
import { countText } from '../../kernel/text.ts'
import type { FieldDefinition } from '../configuration.ts'
import {
  type Change,
  formatValue,
  makeAddition,
  makeChange,
  makeRemoval,
  type Place,
  pairByName,
  withInForce,
} from './change.ts'
import { numberIn, sameText } from './values.ts'

/** Compares fields. `owner` is empty for the policy's own fields, and otherwise for example ` of exposure 'vehicle'`. */
export function fieldChanges(
  before: readonly FieldDefinition[],
  after: readonly FieldDefinition[],
  place: Omit<Place, 'subject' | 'area'>,
  owner: string,
): Change[] {
  return pairByName(before, after).flatMap(({ name, old, now }): Change[] => {
    const at: Place = { ...place, area: 'fields', subject: `field '${name}'${owner}` }
    if (!now)
      return [withInForce(makeRemoval(at, describeField(old!)), 'breaks', 'Its values are no longer known.')]
    if (!old) return [addedField(now, at)]
    return [
      ...compareField(old, now, at),
      ...fieldChanges(old.fields ?? [], now.fields ?? [], place, ` of group '${name}'${owner}`),
    ]
  })
}

const isRequired = ({ optional, conditions }: FieldDefinition): boolean =>
  !optional && conditions.length === 0

/** Describes a field, for example as `required select of 'private', 'commuting'`. */
function describeField(field: FieldDefinition): string {
  const { type, optional, repeatable, conditions, values, table } = field
  const needed = conditions.length > 0 ? 'conditional ' : 'required '
  const presence = optional ? 'optional ' : needed
  const inTable = table === undefined ? '' : ` in table '${table}'`
  const choice = values ? ` of ${formatValue(values)}` : inTable
  return `${presence}${repeatable ? 'repeatable ' : ''}${type}${choice}`
}

function addedField(field: FieldDefinition, place: Place): Change {
  const change = makeAddition(place, describeField(field))
  if (field.optional) return change
  const why = isRequired(field)
    ? 'They have no value for it, but need one.'
    : 'Those that meet its condition have no value for it, but need one.'
  return withInForce(change, 'binds', why)
}

/** What changed, and why values that were valid may no longer be. */
type Difference = { readonly detail: string; readonly breaks?: string; readonly binds?: string | undefined }

function compareField(old: FieldDefinition, now: FieldDefinition, place: Place): Change[] {
  const differences: Difference[] =
    old.type === now.type
      ? [
          ...comparePresence(old, now),
          ...compareRepeatable(old, now),
          ...compareOptions(old, now),
          ...compareBounds(old, now),
          ...compareOtherProperties(old, now),
        ]
      : [
          {
            detail: `type: ${old.type} becomes ${now.type}`,
            breaks: 'Their values may not be valid for the new type.',
          },
        ]
  return differences.map(({ detail, breaks, binds }) => {
    const change = makeChange(place, detail)
    if (breaks !== undefined) return withInForce(change, 'breaks', breaks)
    return binds === undefined ? change : withInForce(change, 'binds', binds)
  })
}

function comparePresence(old: FieldDefinition, now: FieldDefinition): Difference[] {
  const found: Difference[] = []
  if (old.optional !== now.optional)
    found.push(
      now.optional
        ? { detail: 'is now optional' }
        : { detail: 'is now required', binds: 'Those without a value need one.' },
    )
  if (!sameText(old.conditions, now.conditions))
    found.push({
      detail: `condition: ${conditionText(old)} becomes ${conditionText(now)}`,
      binds: now.optional ? undefined : 'Those that meet the new condition without a value need one.',
    })
  return found
}

const conditionText = ({ conditions }: FieldDefinition): string =>
  conditions.length === 0
    ? 'none'
    : conditions
        .map(({ field, values }) => `${field} is ${values.map(value => `'${value}'`).join(' or ')}`)
        .join(' and ')

const compareRepeatable = (old: FieldDefinition, now: FieldDefinition): Difference[] => {
  if (old.repeatable === now.repeatable) return []
  return now.repeatable
    ? [{ detail: 'can now be repeated' }]
    : [{ detail: 'can no longer be repeated', breaks: 'They may have several values for it.' }]
}

function compareOptions(old: FieldDefinition, now: FieldDefinition): Difference[] {
  const [before, after] = [old.values ?? [], now.values ?? []]
  const [known, offered] = [new Set(before), new Set(after)]
  const gone = before.filter(value => !offered.has(value))
  const fresh = after.filter(value => !known.has(value))
  const found: Difference[] = []
  if (fresh.length > 0) found.push({ detail: `options added: ${formatValue(fresh)}` })
  if (gone.length > 0)
    found.push({
      detail: `options removed: ${formatValue(gone)}`,
      binds: 'Those that have one of these need a different one.',
    })
  if (found.length === 0 && !sameText(before, after))
    found.push({ detail: 'its options are in a different order' })
  return found
}

/** For each bound its property, its name, and whether a smaller or larger value permits more. */
const BOUNDS = [
  ['minimum', 'minimum', 'smaller'],
  ['maximum', 'maximum', 'larger'],
  ['maximumCount', 'maximum', 'larger'],
  ['decimalPlaces', 'decimal places', 'larger'],
  ['earliest', 'earliest day', undefined],
  ['latest', 'latest day', undefined],
  ['earliestOffset', 'earliest day', undefined],
  ['latestOffset', 'latest day', undefined],
] as const satisfies readonly (readonly [keyof FieldDefinition, string, 'smaller' | 'larger' | undefined])[]

function compareBounds(old: FieldDefinition, now: FieldDefinition): Difference[] {
  return BOUNDS.flatMap(([property, what, wider]): Difference[] => {
    const [from, to] = [old[property], now[property]]
    if (sameText(from, to)) return []
    const detail = `${what}: ${boundText(from)} becomes ${boundText(to)}`
    return [
      {
        detail,
        binds: isNarrowerBound(from, to, wider)
          ? 'Those with a value beyond it need a different one.'
          : undefined,
      },
    ]
  })
}

const boundText = (value: unknown): string => {
  if (value === undefined) return 'none'
  if (typeof value !== 'object' || value === null) return String(value)
  const { amount, unit } = value as { amount: number; unit: string }
  return `now ${amount < 0 ? '-' : '+'} ${countText(Math.abs(amount), unit)}`
}

function isNarrowerBound(from: unknown, to: unknown, wider: 'smaller' | 'larger' | undefined): boolean {
  if (to === undefined) return false
  if (from === undefined || wider === undefined) return true
  const [before, after] = [numberIn(String(from)), numberIn(String(to))]
  if (before === undefined || after === undefined) return true
  return wider === 'larger' ? after.lt(before) : after.gt(before)
}

const NARROWS = 'Those whose values do not match it need different ones.'

/** Properties without a special comparison. */
const REST = [
  ['title', 'title', undefined],
  ['regex', 'pattern', NARROWS],
  // Values are stored as they are sent, so precision does not narrow them.
  ['precision', 'precision', undefined],
  ['table', 'table', NARROWS],
  ['constraint', 'constraint', NARROWS],
  ['searchable', 'can be searched by', undefined],
  ['isInformational', 'is informational', undefined],
] as const satisfies readonly (readonly [keyof FieldDefinition, string, string | undefined])[]

function compareOtherProperties(old: FieldDefinition, now: FieldDefinition): Difference[] {
  const found = REST.flatMap(([property, what, narrows]): Difference[] => {
    const [from, to] = [old[property], now[property]]
    if (sameText(from, to)) return []
    return [
      {
        detail: `${what}: ${formatValue(from)} becomes ${formatValue(to)}`,
        binds: to === undefined ? undefined : narrows,
      },
    ]
  })
  return found
}
