// A row for each policy, for spreadsheets.
import { csvLine, textCell } from '../../../../packages/csv/writer.ts'
import { type CurrencyCode, fromMinor, toText } from '../../../kernel/money.ts'
import { type Instant, isoDay, type TimeZone } from '../../../kernel/time.ts'
import type { Compared } from '../comparison.ts'
import type { GroupingField } from '../groups.ts'
import { percentOf } from '../totals.ts'

const PARTS = ['premium', 'taxes', 'fees', 'total'] as const

/** The line of column names. */
export const csvHead = (fields: readonly Pick<GroupingField, 'id'>[]): string =>
  csvLine([
    ...['locator', 'product', 'term_start', 'term_end', ...fields.map(({ id }) => textCell(id))],
    ...PARTS.map(part => `old_${part}`),
    ...PARTS.map(part => `new_${part}`),
    ...['change', 'percent', 'decision', 'reasons', 'left_out', 'notes'],
  ])

/** A missing price leaves its cells empty. Amounts have the currency's decimal places. Days are in the time zone `zone`. */
export function csvRow(
  one: Compared,
  fields: readonly Pick<GroupingField, 'id'>[],
  currency: CurrencyCode,
  zone: TimeZone,
): string {
  const { old, new: now } = one
  const amount = (minor: number | undefined): string =>
    minor === undefined ? '' : toText(fromMinor(minor, currency))
  const percent = old && now && percentOf(old.total, now.total)
  return csvLine([
    ...[one.locator, one.productName, day(one.termStart, zone), day(one.termEnd, zone)].map(textCell),
    ...fields.map(({ id }) => textCell(one.groups[id] ?? '')),
    ...PARTS.map(part => amount(old?.[part])),
    ...PARTS.map(part => amount(now?.[part])),
    old && now ? amount(now.total - old.total) : '',
    percent === undefined ? '' : percent.toFixed(2),
    textCell(one.decision ?? ''),
    ...[one.reasons, one.leftOut, one.notes].map(list => textCell(list.join('; '))),
  ])
}

const day = (at: number, zone: TimeZone): string => (at === 0 ? '' : isoDay(at as Instant, zone))
