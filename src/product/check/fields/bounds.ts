import { decimal } from '../../../kernel/money.ts'
import { dayStart, instant, type TimeZone } from '../../../kernel/time.ts'
import type { DateOffset, FieldDefinition, FieldType } from '../../configuration.ts'
import { patternProblem } from '../../fields/patterns.ts'
import { plainDecimal } from '../json/scalars.ts'
import type { ValueReport } from '../report.ts'
import type { FieldFile } from './file.ts'

/** Limits of fields (brief 5.2). */
const LONGEST_TEXT = 20_000
const MOST_DECIMAL_PLACES = 20

/** Bounds that the type permits. Checks that they parse and do not contradict each other. */
export function boundsOf(file: FieldFile, type: FieldType, report: ValueReport): Partial<FieldDefinition> {
  if (type === 'string' || type === 'group') return countBound(file, type, report.at('maximum'))
  if (type === 'number') return numberBounds(file, report)
  return type === 'date' ? dateBounds(file, report) : {}
}

function countBound(
  { name, maximum: given }: FieldFile,
  type: 'string' | 'group',
  report: ValueReport,
): Partial<FieldDefinition> {
  if (given === undefined) return {}
  const plain = plainDecimal(given)
  const maximum = Number(plain)
  if (plain === undefined || !Number.isInteger(maximum) || maximum < 1) {
    const message = `The maximum of the ${type} field '${name}' must be a whole number from 1, not '${given}'.`
    report.error('badBounds', message)
    return {}
  }
  if (type === 'group' || maximum <= LONGEST_TEXT) return { maximumCount: maximum }
  const message = `The field '${name}' allows ${maximum} characters; the maximum is ${LONGEST_TEXT}, which applies. Lower the value.`
  report.warning('badBounds', message)
  return { maximumCount: LONGEST_TEXT }
}

function numberBounds(file: FieldFile, report: ValueReport): Partial<FieldDefinition> {
  const { name, decimalPlaces } = file
  const readBound = (property: 'minimum' | 'maximum'): string | undefined => {
    const given = file[property]
    const plain = given === undefined ? undefined : plainDecimal(given)
    const message = `The ${property} of the number field '${name}' must be a plain decimal number, not '${given}'.`
    if (given !== undefined && plain === undefined) report.at(property).error('badBounds', message)
    return plain
  }
  const minimum = readBound('minimum')
  const maximum = readBound('maximum')
  const crossed = `The minimum ${minimum} of '${name}' is above its maximum ${maximum}. Swap them.`
  if (minimum !== undefined && maximum !== undefined && decimal(minimum).gt(decimal(maximum)))
    report.at('minimum').error('badBounds', crossed)
  const tooMany = `The field '${name}' requests ${decimalPlaces} decimal places; at most ${MOST_DECIMAL_PLACES} are stored.`
  if (decimalPlaces !== undefined && decimalPlaces > MOST_DECIMAL_PLACES)
    report.at('decimalPlaces').error('badBounds', tooMany)
  return {
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(decimalPlaces !== undefined && { decimalPlaces }),
  }
}

function dateBounds(file: FieldFile, report: ValueReport): Partial<FieldDefinition> {
  const { name } = file
  const readDateBound = (property: 'minimum' | 'maximum'): string | undefined => {
    const given = file[property]?.trim()
    if (given === undefined || isDate(given)) return given
    const iso = isoOfSlashed(given)
    const slashed = `The ${property} of the date field '${name}', '${given}', is read as ${iso}: month, day and year. Write it that way.`
    const unreadable = `The ${property} of the date field '${name}' must look like '1900-01-31' or be milliseconds, not '${given}'.`
    if (iso === undefined) report.at(property).error('badBounds', unreadable)
    else report.at(property).warning('slashedDate', slashed)
    return iso
  }
  const earliest = readDateBound('minimum')
  const latest = readDateBound('maximum')
  const crossed = `The minimum ${earliest} of '${name}' is after its maximum ${latest}. Swap them.`
  if (earliest !== undefined && latest !== undefined && dateMilliseconds(earliest) > dateMilliseconds(latest))
    report.at('minimum').error('badBounds', crossed)
  const earliestOffset = offsetBound(file, 'minimumOffset', report)
  const latestOffset = offsetBound(file, 'maximumOffset', report)
  const never = `The minimumOffset of '${name}' is after its maximumOffset, so no date is allowed. Swap them.`
  if (earliestOffset && latestOffset && isCertainlyLater(earliestOffset, latestOffset))
    report.at('minimumOffset').warning('badBounds', never)
  return {
    precision: precisionOf(file, report),
    ...(earliest !== undefined && { earliest }),
    ...(latest !== undefined && { latest }),
    ...(earliestOffset !== undefined && { earliestOffset }),
    ...(latestOffset !== undefined && { latestOffset }),
  }
}

const precisions = ['second', 'day', 'month', 'year'] as const

function precisionOf(
  { name, precision: given }: FieldFile,
  report: ValueReport,
): (typeof precisions)[number] {
  const precision = precisions.find(one => one === given?.trim().toLowerCase())
  const missing = `The date field '${name}' has no precision and is read as a day. Add 'precision': ${precisions.join(', ')}.`
  const unknown = `The date field '${name}' has the precision '${given}'. Use one of ${precisions.join(', ')}.`
  if (given === undefined) report.warning('missingPrecision', missing)
  else if (precision === undefined) report.at('precision').error('badValue', unknown)
  return precision ?? 'day'
}

const UTC = 'UTC' as TimeZone

const isDate = (text: string): boolean => !Number.isNaN(dateMilliseconds(text))

/** NaN if the text is not a date. A day counts as its start in UTC, which suffices for comparing bounds. */
function dateMilliseconds(text: string): number {
  const at = /^-?\d{1,16}$/.test(text) ? instant(Number(text)) : dayStart(text, UTC)
  return at ?? Number.NaN
}

/** Two-digit years from this one on are in the twentieth century. */
const FIRST_OF_1900S = 50

/** Reads dates such as `1/31/1900` and `1/31/15`, because the public guide to fields writes bounds this way. */
function isoOfSlashed(text: string): string | undefined {
  const [, month, day, written] = /^(\d{1,2})\/(\d{1,2})\/(\d{4}|\d{2})$/.exec(text) ?? []
  if (written === undefined) return undefined
  const year = written.length === 4 ? written : `${Number(written) < FIRST_OF_1900S ? '20' : '19'}${written}`
  const iso = `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`
  return isDate(iso) ? iso : undefined
}

/** Approximate; only used to keep offsets within the calendar and to compare them. */
const unitSeconds: Record<DateOffset['unit'], number> = {
  year: 31_556_952,
  month: 2_629_746,
  week: 604_800,
  day: 86_400,
  hour: 3_600,
  minute: 60,
  second: 1,
}
const LONGEST_OFFSET_YEARS = 1_000

/** Whether `a` is certainly later, for any length of months and years, and even if both are rounded to the day. */
function isCertainlyLater(a: DateOffset, b: DateOffset): boolean {
  const [from, to] = [a, b].map(({ unit, amount }) => amount * unitSeconds[unit]) as [number, number]
  const leeway = 2 * unitSeconds.day + 0.02 * Math.max(Math.abs(from), Math.abs(to))
  return from - to > leeway
}

function offsetBound(
  file: FieldFile,
  property: 'minimumOffset' | 'maximumOffset',
  report: ValueReport,
): DateOffset | undefined {
  const offset = file[property]
  if (offset === undefined) return undefined
  const { field: unit, amount, roundToDay = false } = offset
  if (Math.abs(amount) * unitSeconds[unit] <= LONGEST_OFFSET_YEARS * unitSeconds.year)
    return { unit, amount, roundToDay }
  const message = `The ${property} of '${file.name}' is more than ${LONGEST_OFFSET_YEARS} years. Correct its amount or unit.`
  report.at(property).error('badBounds', message)
  return undefined
}

const LONGEST_PATTERN = 2_000

/** Reports a pattern that the linear-time engine rejects as an error, because it could not run later either. */
export function checkRegex(regex: string, report: ValueReport): Pick<FieldDefinition, 'regex'> {
  const problem = regexProblem(regex, report)
  if (problem === undefined) return { regex }
  report.error('badRegex', problem)
  return {}
}

function regexProblem(pattern: string, { afford }: ValueReport): string | undefined {
  if (pattern.length > LONGEST_PATTERN)
    return `The pattern has ${pattern.length} characters; at most ${LONGEST_PATTERN} are allowed. Shorten it.`
  if (!afford('patternSize', compiledSize(pattern)))
    return 'With this pattern, the patterns of the archive are too large in total. Use smaller repetitions, such as {1,20}.'
  const reason = patternProblem(pattern)
  return (
    reason &&
    `The pattern does not compile: ${reason}. Use RE2 syntax: no back-references, look-ahead only after a part of fixed length, look-behind only at the end.`
  )
}

/** The engine rejects nested repetitions whose product is larger. */
const MOST_REPETITIONS = 1_000

/**
 * An upper bound for the size of the compiled pattern: the engine repeats each part as often as the product of its nested
 * repetitions.
 */
function compiledSize(pattern: string): number {
  let repetitions = 1
  for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    repetitions = Math.min(MOST_REPETITIONS, repetitions * Math.max(1, Number(most || least)))
  return pattern.length * repetitions
}
