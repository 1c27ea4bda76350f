// Generates values of fields: random ones that the service accepts, with boundary values more often than by chance.
import { type Decimal, decimal } from '../../src/kernel/money.ts'
import { add, DAY_MS, type Instant, later, type TimeZone } from '../../src/kernel/time.ts'
import type { FieldDefinition, LookupTable } from '../../src/product/configuration.ts'
import { applicability } from '../../src/product/fields/validate.ts'
import { type CheckContext, dateBounds, valueCheck } from '../../src/product/fields/value-checks.ts'
import { timeText } from '../scenario/times.ts'
import { textOfPattern } from './pattern.ts'
import type { Random } from './random.ts'

export type FieldValues = Record<string, string[]>
export type FieldGroup = { fieldName: string; fieldValues: FieldValues }
export type FieldData = { fieldValues: FieldValues; fieldGroups: FieldGroup[] }

export type ValueContext = {
  readonly random: Random
  readonly zone: TimeZone
  readonly now: Instant
  table(name: string): LookupTable | undefined
  /** Reports a mandatory field for which no value could be generated. */
  unmade(field: string, why: string): void
}

/** The share of optional fields that get a value. */
const OPTIONAL = 0.5
const MOST_VALUES = 3
const MOST_GROUPS = 3
const TRIES = 30

/**
 * Generates values and groups for the fields that apply: always for mandatory ones, and by chance for optional ones. Keeps
 * `kept`, and generates the missing values around it.
 */
export function randomFields(
  definitions: readonly FieldDefinition[],
  context: ValueContext,
  kept: Partial<FieldData> = {},
  outer?: ReturnType<typeof applicability>,
): FieldData {
  const { random, zone } = context
  const byName = new Map(definitions.map(one => [one.name, one]))
  const fieldValues: FieldValues = { ...kept.fieldValues }
  const fieldGroups: FieldGroup[] = [...(kept.fieldGroups ?? [])]
  const decided = new Set<string>(Object.keys(fieldValues))
  for (const { fieldName } of fieldGroups) {
    decided.add(fieldName)
    // Conditions on the group test its locator, which is created later.
    fieldValues[fieldName] ??= []
  }
  const applies = () => applicability(byName, fieldValues, zone, outer)
  const decide = (definition: FieldDefinition): void => {
    if (decided.has(definition.name)) return
    decided.add(definition.name)
    for (const { field } of definition.conditions) {
      const other = byName.get(field)
      if (other) decide(other)
    }
    if (!applies().applies(definition)) return
    if (definition.optional && !random.chance(OPTIONAL)) return
    if (definition.type === 'group') {
      const most = Math.max(1, Math.min(definition.maximumCount ?? MOST_GROUPS, MOST_GROUPS))
      for (let left = definition.repeatable ? groupCount(definition, most, random) : 1; left > 0; left -= 1) {
        const inside = randomFields(definition.fields ?? [], context, {}, applies())
        fieldGroups.push({ fieldName: definition.name, fieldValues: inside.fieldValues })
      }
      return
    }
    const count = definition.repeatable ? random.whole(1, MOST_VALUES) : 1
    const values = new Set<string>()
    for (let left = count; left > 0; left -= 1) {
      const value = randomValue(definition, context)
      if (value !== undefined) values.add(value)
    }
    if (values.size > 0) fieldValues[definition.name] = [...values]
    else if (!definition.optional)
      context.unmade(definition.name, `no ${definition.type} could be generated for it; give one with --base`)
  }
  for (const definition of definitions) decide(definition)
  for (const [name, values] of Object.entries(fieldValues)) if (values.length === 0) delete fieldValues[name]
  return { fieldValues, fieldGroups }
}

/** Returns a random number of groups, and from time to time the maximum. */
const groupCount = ({ maximumCount }: FieldDefinition, most: number, random: Random): number =>
  maximumCount !== undefined && maximumCount <= 12 && random.chance(0.05)
    ? maximumCount
    : random.whole(1, most)

/** Returns a value that the service accepts, or undefined if none was found. */
export function randomValue(definition: FieldDefinition, context: ValueContext): string | undefined {
  const isTaken = checkOf(definition, context)
  for (let tries = 0; tries < TRIES; tries += 1) {
    const value = randomFieldValue(definition, context)
    if (value === undefined) return undefined
    if (isTaken(value)) return value
  }
  return simplestValues(definition, context).find(isTaken)
}

export function checkOf(
  definition: FieldDefinition,
  { zone, now, table }: Pick<ValueContext, 'zone' | 'now' | 'table'>,
): (value: string) => boolean {
  const checks: CheckContext = {
    timeZone: zone,
    now,
    table,
    hasGroup: () => false,
    patternBudget: { steps: Number.POSITIVE_INFINITY },
  }
  const check = valueCheck(definition, checks)
  return value => value !== '' && check(value) === undefined
}

const WORDS = [
  'a',
  'Anna Berg',
  'Straße 12',
  "O'Neill & Sons",
  '0',
  'Zoë <b>',
  '  x',
  '株式会社',
  '"quoted"',
  'long '.repeat(12),
]
const EMAILS = ['a@example.com', 'anna.berg+test@mail.example.org']
const PHONES = ['110', '+49 30 1234567', '(212) 555-0100']

function randomFieldValue(definition: FieldDefinition, context: ValueContext): string | undefined {
  const { random } = context
  switch (definition.type) {
    case 'string':
      return randomTextValue(definition, random)
    case 'number':
      return randomNumber(definition, random)
    case 'date':
      return randomDate(definition, context)
    case 'select':
      return definition.values?.length ? random.pick(definition.values) : undefined
    case 'lookup': {
      const keys = keysOf(definition, context)
      return keys.length === 0 ? undefined : random.pick(keys)
    }
    case 'email':
      return random.pick(EMAILS)
    case 'phone':
      return random.pick(PHONES)
    case 'media':
      return definition.optional ? undefined : '00000000-0000-4000-8000-000000000000'
    default:
      return undefined
  }
}

function keysOf(
  { name, table: tableName = '' }: FieldDefinition,
  { table }: Pick<ValueContext, 'table'>,
): string[] {
  const found = table(tableName)
  if (!found) return []
  const column = Math.max(0, found.columns.indexOf(name))
  return found.rows.flatMap(row => row[column] ?? [])
}

function randomTextValue({ regex, maximumCount }: FieldDefinition, random: Random): string | undefined {
  if (regex !== undefined) return textOfPattern(regex, random)
  const word = random.pick(WORDS)
  if (maximumCount === undefined) return word
  return random.chance(0.1)
    ? 'x'.repeat(Math.min(maximumCount, 1_000))
    : [...word].slice(0, maximumCount).join('')
}

/** The maximum if a field sets none. */
const MOST_NUMBER = 1_000_000

function randomNumber({ minimum, maximum, decimalPlaces }: FieldDefinition, random: Random): string {
  const places = decimalPlaces ?? random.pick([0, 0, 2])
  const step = decimal(1).div(decimal(10).pow(places))
  const low = decimal(minimum ?? (maximum === undefined ? 0 : Math.min(0, Number(maximum) - 1_000)))
  const high = decimal(maximum ?? low.plus(MOST_NUMBER))
  return numberWithin(low, high, step, random).round(places, 0).toFixed()
}

function numberWithin(low: Decimal, high: Decimal, step: Decimal, random: Random): Decimal {
  const choice = random.next()
  if (choice < 0.1) return low
  if (choice < 0.2) return high
  if (choice < 0.25) return low.plus(step)
  if (choice < 0.3) return high.minus(step)
  if (choice < 0.35) return decimal(0)
  // Without a minimum, the field accepts a negative number, which may break a premium.
  if (choice < 0.37) return decimal(-1)
  // Small values are as likely as large ones.
  const share = choice < 0.7 ? random.next() ** 6 : random.next()
  return low.plus(high.minus(low).times(share))
}

/** The bounds if a field sets none. */
const YEARS_BACK = 60
const YEARS_AHEAD = 2

function randomDate(definition: FieldDefinition, { random, zone, now }: ValueContext): string {
  const { earliest, latest } = dateBounds(definition, now, zone)
  const first = earliest.reduce((at, bound) => later(at, bound.at), add(now, -YEARS_BACK, 'year', zone))
  const last =
    latest.length === 0 ? add(now, YEARS_AHEAD, 'year', zone) : Math.min(...latest.map(one => one.at))
  const low = earliest.length === 0 ? Math.min(first, last) : Math.max(...earliest.map(one => one.at))
  const at = timeWithin(low, first, last, random)
  if (definition.precision === 'second') return String(Math.floor(at / 1_000) * 1_000)
  return timeText(Math.floor(at), zone).slice(0, 10)
}

/** `first` is the start of the range for times that are not on a bound. */
function timeWithin(low: number, first: number, last: number, random: Random): number {
  const choice = random.next()
  if (choice < 0.1) return low
  if (choice < 0.2) return last
  if (choice < 0.25) return low + DAY_MS
  if (choice < 0.3) return last - DAY_MS
  const from = Math.max(low, first)
  return from + random.next() * Math.max(0, last - from)
}

/** Returns plain values, the plainest first, with which a policy is made smaller. */
export function simplestValues(
  definition: FieldDefinition,
  context: Pick<ValueContext, 'now' | 'zone' | 'table'>,
): string[] {
  const { type, minimum, maximum, values = [], maximumCount } = definition
  switch (type) {
    case 'string':
      return ['x', 'Ada'].map(text => text.slice(0, maximumCount ?? text.length))
    case 'number':
      return [minimum, '0', '1', '10', '100', '1000', '10000', maximum].flatMap(one => one ?? [])
    case 'select':
      return values
    case 'lookup':
      return keysOf(definition, context).slice(0, 3)
    case 'date': {
      const { earliest, latest } = dateBounds(definition, context.now, context.zone)
      const ends = [...latest, ...earliest].map(({ at }) => at)
      return ['1980-01-01', '2000-01-01', ...ends.map(at => timeText(at, context.zone).slice(0, 10))]
    }
    case 'email':
      return EMAILS.slice(0, 1)
    case 'phone':
      return PHONES.slice(0, 1)
    default:
      return []
  }
}
