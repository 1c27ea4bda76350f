import type { RenderingContext } from '../context.ts'
import {
  type Calendar,
  type CalendarUnit,
  DatePatternError,
  formatDate,
  formatDirectives,
} from '../date-format.ts'
import { type Filter, type Filters, timestampOf } from '../filter.ts'
import { printed } from '../printing.ts'
import { asInteger, asNumber } from '../values.ts'

/** Filters of a time. Nothing gives nothing; what is no time fails. */
const ofTime =
  (compute: (at: number, args: unknown[], context: RenderingContext) => unknown): Filter =>
  (input, args, context) => {
    if (input === undefined || input === null || input === '') return undefined
    const at = timestampOf(input, context)
    if (at === undefined)
      return context.reject(
        `'${printed(input)}' is no time. Give milliseconds, "now" or a date such as "2026-01-31".`,
      )
    return compute(at, args, context)
  }

function printedBy(format: typeof formatDate): Filter {
  return ofTime((at, [pattern], context) => {
    if (typeof pattern !== 'string') return context.reject('The date pattern is missing. Write it in quotes.')
    context.budget.countMemory(pattern.length)
    try {
      return format(at, pattern, context.state.environment.timeZone, context.state.dialect.calendar)
    } catch (error) {
      if (error instanceof DatePatternError) return context.reject(`The ${error.message}.`)
      throw error
    }
  })
}

const UNITS = new Set<string>(['year', 'month', 'week', 'day', 'hour', 'minute', 'second'])

const addTime = ofTime((at, [unitName, count], context) => {
  const unit = printed(unitName).toLowerCase().replace(/s$/, '')
  const steps = asInteger(count)
  if (!UNITS.has(unit))
    return context.reject(`'${printed(unitName)}' is no unit of time. Write one of ${[...UNITS].join(', ')}.`)
  if (steps === undefined) return context.reject('timestamp_millis_add needs a whole number after the unit.')
  try {
    const { calendar } = context.state.dialect
    const moved = calendar.instant(
      calendar.add(at, steps, unit as CalendarUnit, context.state.environment.timeZone),
    )
    if (moved !== undefined) return moved
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return context.reject('The time that timestamp_millis_add reaches is outside of the years 1 to 9999.')
})

const dayCount = ofTime((start, [other], context) => {
  const end = timestampOf(other, context)
  if (end === undefined)
    return context.reject('get_30_360_day_count needs the end as a time in milliseconds.')
  return days30360(start, end, context.state.environment.timeZone, context.state.dialect.calendar)
})

/** Beyond this a number given to `date` is milliseconds, as all times of the data are; seconds would be past 5138. */
const LARGEST_SECONDS = 100_000_000_000

const printedByDirectives = printedBy(formatDirectives)

const standardDate: Filter = (input, args, context) => {
  const number = asNumber(input)?.value
  if (number?.abs().lt(LARGEST_SECONDS)) return printedByDirectives(number.times(1000), args, context)
  return printedByDirectives(input, args, context)
}

/** Times are milliseconds, calendar arithmetic and printing happen in the tenant's zone. */
export const dateFilters: Filters = {
  date: standardDate,
  timestamp_millis_print: printedBy(formatDate),
  timestamp_millis_add: addTime,
  timestamp_millis_round_day_floor: ofTime((at, _args, context) =>
    context.state.dialect.calendar.startOfDay(at, context.state.environment.timeZone),
  ),
  /** The start of the next day; a time at the start of a day stays. */
  timestamp_millis_round_day_ceiling: ofTime((at, _args, context) => {
    const zone = context.state.environment.timeZone
    const { calendar } = context.state.dialect
    return calendar.startOfDay(at, zone) === at ? at : calendar.endOfDay(at, zone) + 1
  }),
  get_timestamp_millis: ofTime(at => at),
  get_30_360_day_count: dayCount,
}

/**
 * Days from `start` to `end` where every month has 30 days: the bond basis of 30/360. Day 31 of the start is
 * taken as 30; so is day 31 of the end when the start is on day 30 or 31. Negative when `end` is before `start`.
 */
function days30360(start: number, end: number, zone: string, { localParts }: Calendar): number {
  const from = localParts(start, zone)
  const to = localParts(end, zone)
  const firstDay = Math.min(from.day, 30)
  const lastDay = to.day === 31 && firstDay === 30 ? 30 : to.day
  return (to.year - from.year) * 360 + (to.month - from.month) * 30 + (lastDay - firstDay)
}
