// What both template engines ask for times and currencies.
import type { Calendar } from '../../../packages/liquid/date-format.ts'
import { currencyCode } from '../../kernel/money.ts'
import { add, dayStart, endOfDay, instant, localParts, startOfDay } from '../../kernel/time.ts'

export const CALENDAR: Calendar = { add, dayStart, endOfDay, instant, localParts, startOfDay }

export const isCurrency = (code: string): boolean => currencyCode(code) !== undefined
