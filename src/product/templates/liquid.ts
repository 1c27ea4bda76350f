// Liquid with the filters for rating and tables.
import type { Calendar } from '../../../packages/liquid/date-format.ts'
import {
  type CompiledTemplate as Compiled,
  createLiquid,
  type Rendering as LiquidRendering,
} from '../../../packages/liquid/engine.ts'
import { digitsOfCurrency } from '../../kernel/currencies.ts'
import { currencyCode } from '../../kernel/money.ts'
import { didYouMean } from '../../kernel/text.ts'
import {
  add,
  DAY_MS,
  dayStart,
  EARLIEST,
  endOfDay,
  LATEST,
  localParts,
  startOfDay,
} from '../../kernel/time.ts'
import {
  effectFilters,
  lookupFilters,
  noEffects,
  type RatingEffects,
  settledEffects,
  type TemplateEnvironment,
} from './effects.ts'

/**
 * Permits one day beyond the calendar on either side: a policy may end in the calendar's last millisecond, and its last day ends
 * where the next one begins.
 */
const instantOrBeside = (ms: number): number | undefined =>
  Number.isInteger(ms) && ms >= EARLIEST - DAY_MS && ms <= LATEST + DAY_MS ? ms : undefined

/** The calendar of both template engines. */
export const CALENDAR: Calendar = {
  add,
  dayStart,
  endOfDay,
  instant: instantOrBeside,
  localParts,
  startOfDay,
}

/** Whether the text is a currency code in upper case, such as `EUR`. */
export const isCurrency = (code: string): boolean => currencyCode(code) !== undefined

export type CompiledTemplate = Compiled<TemplateEnvironment, RatingEffects>

export type Rendering = LiquidRendering<RatingEffects>

/** Compiles a template. Keep the result as long as its configuration version. Never throws. */
export const compileTemplate = createLiquid<TemplateEnvironment, RatingEffects>({
  filters: { ...lookupFilters, ...effectFilters },
  newEffects: noEffects,
  settledEffects,
  calendar: CALENDAR,
  isCurrency,
  digitsOfCurrency,
  suggestion: didYouMean,
})
