import { decimal } from '../../../kernel/money.ts'
import { dayStart, instant, type TimeZone } from '../../../kernel/time.ts'
import type { DateOffset, FieldDefinition, FieldType } from '../../configuration.ts'
import { assertPattern } from '../../fields/value-checks.ts'
import type { JsonPath } from '../json/read.ts'
import { plainDecimal } from '../json/scalars.ts'
import type { FieldContext, FieldFile, GroupedFieldFile } from './files.ts'

type AnyFieldFile = FieldFile | GroupedFieldFile

/** Longest text of a string field (brief 5.2). */
const LONGEST_TEXT = 20_000
const MOST_DECIMAL_PLACES = 20

/** Bounds of a field by its type, checked to parse and not to contradict each other. */
export function boundsOf(
  file: AnyFieldFile,
  type: FieldType,
  at: JsonPath,
  context: FieldContext,
): Partial<FieldDefinition> {
  switch (type) {
    case 'string':
    case 'group':
      return countBound(file, type, at, context)
    case 'number':
      return numberBounds(file, at, context)
    case 'date':
      return dateBounds(file, at, context)
    default:
      return {}
  }
}

function countBound(
  file: AnyFieldFile,
  type: 'string' | 'group',
  at: JsonPath,
  { place, report }: FieldContext,
): Partial<FieldDefinition> {
  if (file.maximum === undefined) return {}
  const where = place([...at, 'maximum'])
  const plain = plainDecimal(file.maximum)
  const maximum = Number(plain)
  if (plain === undefined || !Number.isInteger(maximum) || maximum < 1) {
    report.error(
      where,
      'badBounds',
      `The maximum of the ${type} field '${file.name}' must be a whole number from 1, not '${file.maximum}'.`,
    )
    return {}
  }
  if (type === 'string' && maximum > LONGEST_TEXT) {
    report.warning(
      where,
      'badBounds',
      `The field '${file.name}' allows ${maximum} characters; ${LONGEST_TEXT} is the most and counts. Lower the maximum.`,
    )
    return { maximumCount: LONGEST_TEXT }
  }
  return { maximumCount: maximum }
}

function numberBounds(file: AnyFieldFile, at: JsonPath, context: FieldContext): Partial<FieldDefinition> {
  const { place, report } = context
  const bound = (property: 'minimum' | 'maximum'): string | undefined => {
    const given = file[property]
    if (given === undefined) return undefined
    const plain = plainDecimal(given)
    if (plain === undefined)
      report.error(
        place([...at, property]),
        'badBounds',
        `The ${property} of the number field '${file.name}' must be a plain decimal number, not '${given}'.`,
      )
    return plain
  }
  const minimum = bound('minimum')
  const maximum = bound('maximum')
  if (minimum !== undefined && maximum !== undefined && decimal(minimum).gt(decimal(maximum)))
    report.error(
      place([...at, 'minimum']),
      'badBounds',
      `The minimum ${minimum} of '${file.name}' is above its maximum ${maximum}. Exchange them.`,
    )
  if (file.decimalPlaces !== undefined && file.decimalPlaces > MOST_DECIMAL_PLACES)
    report.error(
      place([...at, 'decimalPlaces']),
      'badBounds',
      `The field '${file.name}' asks for ${file.decimalPlaces} decimal places; at most ${MOST_DECIMAL_PLACES} are kept.`,
    )
  return {
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...(file.decimalPlaces !== undefined && { decimalPlaces: file.decimalPlaces }),
  }
}

function dateBounds(file: AnyFieldFile, at: JsonPath, context: FieldContext): Partial<FieldDefinition> {
  const { place, report } = context
  const bound = (property: 'minimum' | 'maximum'): string | undefined => {
    const given = file[property]?.trim()
    if (given === undefined || isDate(given)) return given
    const iso = isoOfSlashed(given)
    if (iso !== undefined) {
      report.warning(
        place([...at, property]),
        'slashedDate',
        `The ${property} of the date field '${file.name}', '${given}', is read as ${iso}: month, day and year. Write it so.`,
      )
      return iso
    }
    report.error(
      place([...at, property]),
      'badBounds',
      `The ${property} of the date field '${file.name}' must look like '1900-01-31' or be milliseconds, not '${given}'.`,
    )
    return undefined
  }
  const earliest = bound('minimum')
  const latest = bound('maximum')
  if (earliest !== undefined && latest !== undefined && dateMilliseconds(earliest) > dateMilliseconds(latest))
    report.error(
      place([...at, 'minimum']),
      'badBounds',
      `The minimum ${earliest} of '${file.name}' lies after its maximum ${latest}. Exchange them.`,
    )
  const earliestOffset = offsetBound(file, 'minimumOffset', at, context)
  const latestOffset = offsetBound(file, 'maximumOffset', at, context)
  return {
    precision: precisionOf(file, at, context),
    ...(earliest !== undefined && { earliest }),
    ...(latest !== undefined && { latest }),
    ...(earliestOffset !== undefined && { earliestOffset }),
    ...(latestOffset !== undefined && { latestOffset }),
  }
}

const precisions = ['second', 'day', 'month', 'year'] as const

function precisionOf(
  file: AnyFieldFile,
  at: JsonPath,
  { place, report }: FieldContext,
): (typeof precisions)[number] {
  if (file.precision === undefined) {
    report.warning(
      place(at),
      'missingPrecision',
      `The date field '${file.name}' has no precision and is read to the day. Add 'precision': ${precisions.join(', ')}.`,
    )
    return 'day'
  }
  const precision = precisions.find(one => one === file.precision?.trim().toLowerCase())
  if (precision === undefined)
    report.error(
      place([...at, 'precision']),
      'badValue',
      `The date field '${file.name}' has the precision '${file.precision}'. Use one of ${precisions.join(', ')}.`,
    )
  return precision ?? 'day'
}

const UTC = 'UTC' as TimeZone

const isDate = (text: string): boolean => !Number.isNaN(dateMilliseconds(text))

/** NaN for text that is no date. A day counts from its start in UTC: enough to tell which bound is the earlier. */
function dateMilliseconds(text: string): number {
  const at = /^-?\d{1,16}$/.test(text) ? instant(Number(text)) : dayStart(text, UTC)
  return at ?? Number.NaN
}

/** Two digits of a year from here on are of the twentieth century. */
const FIRST_OF_1900S = 50

/** The day that `1/31/1900` or `1/31/15` names: the public guide to fields writes bounds of dates so. */
function isoOfSlashed(text: string): string | undefined {
  const [, month, day, written] = /^(\d{1,2})\/(\d{1,2})\/(\d{4}|\d{2})$/.exec(text) ?? []
  if (written === undefined) return undefined
  const year = written.length === 4 ? written : `${Number(written) < FIRST_OF_1900S ? '20' : '19'}${written}`
  const iso = `${year}-${month!.padStart(2, '0')}-${day!.padStart(2, '0')}`
  return isDate(iso) ? iso : undefined
}

/** Seconds of a unit, roughly: only to keep offsets within the calendar. */
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

function offsetBound(
  file: AnyFieldFile,
  property: 'minimumOffset' | 'maximumOffset',
  at: JsonPath,
  { place, report }: FieldContext,
): DateOffset | undefined {
  const offset = file[property]
  if (offset === undefined) return undefined
  if (Math.abs(offset.amount) * unitSeconds[offset.field] > LONGEST_OFFSET_YEARS * unitSeconds.year) {
    report.error(
      place([...at, property]),
      'badBounds',
      `The ${property} of '${file.name}' is more than ${LONGEST_OFFSET_YEARS} years. Correct its amount or unit.`,
    )
    return undefined
  }
  return { unit: offset.field, amount: offset.amount, roundToDay: offset.roundToDay ?? false }
}

const LONGEST_PATTERN = 2_000

/** The pattern if the linear-time engine takes it; else an error, since it could not run later either. */
export function checkRegex(
  pattern: string,
  path: JsonPath,
  { place, report }: FieldContext,
): Pick<FieldDefinition, 'regex'> {
  if (pattern.length > LONGEST_PATTERN) {
    report.error(
      place(path),
      'badRegex',
      `The pattern has ${pattern.length} characters; at most ${LONGEST_PATTERN} are allowed. Shorten it.`,
    )
    return {}
  }
  if (!report.afford('patternSize', compiledSize(pattern))) {
    report.error(
      place(path),
      'badRegex',
      'With this pattern those of the archive are too large together. Write smaller repetitions, like {1,20}.',
    )
    return {}
  }
  try {
    assertPattern(pattern)
    return { regex: pattern }
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/\.$/, '') : 'it does not parse'
    report.error(
      place(path),
      'badRegex',
      `The pattern does not compile: ${reason}. Use RE2 syntax, which has no look-around and no back-references.`,
    )
    return {}
  }
}

/** The engine refuses nested repetitions that multiply to more. */
const MOST_REPETITIONS = 1_000

/** Upper bound of what the engine writes out for a pattern: every part as often as the repetitions multiply to. */
function compiledSize(pattern: string): number {
  let repetitions = 1
  for (const [, least, most] of pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g))
    repetitions = Math.min(MOST_REPETITIONS, repetitions * Math.max(1, Number(most || least)))
  return pattern.length * repetitions
}
