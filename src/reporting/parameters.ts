// The parameters of a report request: resolves days and named periods to times, and checks which parameters a report has.
import { invalidRequest } from '../kernel/errors.ts'
import { didYouMean } from '../kernel/text.ts'
import {
  type CalendarUnit,
  dayStart,
  type Instant,
  instant,
  isoDay,
  startOfDay,
  startOfDayAfter,
  type TimeZone,
} from '../kernel/time.ts'
import type { Configuration } from '../product/configuration.ts'
import type { PeriodName, ReportRequest } from './contract.ts'
import type { ReportKind, ReportParameters } from './kind.ts'

/** Returns the period relative to the day of `at`. Weeks begin on Monday. */
export function periodOf(name: PeriodName, at: Instant, zone: TimeZone): { from: Instant; to: Instant } {
  const day = startOfDay(at, zone)
  const [year, month] = isoDay(at, zone).split('-').map(Number) as [number, number]
  const monthStart = dayStart(`${year}-${String(month).padStart(2, '0')}-01`, zone)!
  const yearStart = dayStart(`${year}-01-01`, zone)!
  const periodBefore = (start: Instant, count: number, unit: CalendarUnit) => ({
    from: startOfDayAfter(start, -count, unit, zone),
    to: start,
  })
  switch (name) {
    case 'previousDay':
      return periodBefore(day, 1, 'day')
    case 'previousWeek': {
      // 1970-01-05 was a Monday.
      const days = Math.round(Date.parse(isoDay(at, zone)) / 86_400_000)
      const sinceMonday = (((days - 4) % 7) + 7) % 7
      return periodBefore(startOfDayAfter(day, -sinceMonday, 'day', zone), 7, 'day')
    }
    case 'previousMonth':
      return periodBefore(monthStart, 1, 'month')
    case 'previousQuarter':
      return periodBefore(startOfDayAfter(monthStart, -((month - 1) % 3), 'month', zone), 3, 'month')
    case 'previousYear':
      return periodBefore(yearStart, 12, 'month')
    case 'monthToDate':
      return { from: monthStart, to: at }
    case 'yearToDate':
      return { from: yearStart, to: at }
  }
}

const MOST_NAMES = 40

/** Rejects with 400 parameters that the report does not have, and unknown names. */
export function parametersOf(
  kind: ReportKind,
  request: ReportRequest,
  { configuration, now }: { configuration: Configuration; now: Instant },
): ReportParameters {
  rejectForeignParameters(kind, request)
  const zone = configuration.timeZone
  const time = (name: 'from' | 'to' | 'at'): Instant | undefined => readTime(request[name], name, zone)
  const period = request.period === undefined ? undefined : periodOf(request.period, now, zone)
  if (period && (request.from !== undefined || request.to !== undefined))
    throw invalidRequest(`Send either 'period' or 'from' and 'to'.`)
  const usual = periodOf('monthToDate', now, zone)
  const from = period?.from ?? time('from') ?? usual.from
  const to = period?.to ?? time('to') ?? now
  if (from > to) throw invalidRequest(`'from' (${isoDay(from, zone)}) is after 'to' (${isoDay(to, zone)}).`)
  const products = request.products ?? []
  const names = Object.keys(configuration.products)
  const unknown = products.find(name => !names.includes(name))
  if (unknown !== undefined)
    throw invalidRequest(
      `There is no product '${unknown}'.${didYouMean(unknown, names)} Use one of: ${names.join(', ')}.`,
    )
  for (const name of ['sums', 'columns'] as const)
    if ((request[name]?.length ?? 0) > MOST_NAMES)
      throw invalidRequest(`'${name}' has more than ${MOST_NAMES} names.`)
  return {
    from,
    to,
    at: time('at') ?? period?.to ?? now,
    products,
    by: [...new Set(request.by ?? kind.usual)],
    earning: request.earning ?? 'product',
    sums: request.sums ?? [],
    columns: request.columns ?? [],
    ...(request.bordereau !== undefined && { bordereau: request.bordereau }),
  }
}

/** The names in the request, by the parameter of the kind. */
const NAMES = {
  period: ['period', 'from', 'to'],
  at: ['at'],
  earning: ['earning'],
  sums: ['sums'],
  columns: ['columns'],
  bordereau: ['bordereau'],
} as const

function rejectForeignParameters({ name: report, takes }: ReportKind, request: ReportRequest): void {
  const taken: readonly string[] = takes.flatMap(take => NAMES[take])
  // A schedule also gives a period to reports about one moment, which use its end.
  const own = takes.includes('at') ? [...taken, 'period'] : taken
  for (const name of Object.values(NAMES).flat())
    if (request[name] !== undefined && !own.includes(name))
      throw invalidRequest(
        `The report '${report}' does not accept '${name}'. It accepts: ${['by', 'products', 'knownAt', ...own].join(', ')}.`,
      )
}

/** Reads a time. A day means its start in the tenant's time zone. Rejects anything else with 400. */
export function readTime(
  value: string | number | undefined,
  name: string,
  zone: TimeZone,
): Instant | undefined {
  if (value === undefined) return undefined
  const text = String(value)
  const found = /^-?\d{1,15}$/.test(text) ? instant(Number(text)) : dayStart(text, zone)
  if (found !== undefined) return found
  throw invalidRequest(
    `'${name}' is '${text.slice(0, 40)}'. Send a day such as 2026-11-01, which begins in the tenant's time zone, or milliseconds.`,
  )
}
