// The totals of a report as CSV, and its manifest: the list of its files, and the totals that lines must add up to.
import { csvLine, textCell } from '../../../packages/csv/writer.ts'
import type { CurrencyCode } from '../../kernel/money.ts'
import type { TimeZone } from '../../kernel/time.ts'
import type { Tenant } from '../../platform/tenancy.ts'
import type { Layout } from '../columns.ts'
import type { Cell } from '../kind.ts'
import type { Report } from '../store.ts'
import { controlTotals, type TotalLine, type Totals, totalLines } from '../totals.ts'
import type { ReportFile } from './assembly.ts'
import { shownCell } from './text.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Returns the measures by name, as files show them. */
export const shownSums = (
  sums: readonly (number | string)[],
  layout: Layout,
  currency: string,
  zone: TimeZone,
): Record<string, Cell> =>
  Object.fromEntries(
    layout.measures.map((at, place) => {
      const column = layout.columns[at]!
      return [column.name, shownCell(sums[place]!, column, currency as CurrencyCode, zone)]
    }),
  )

/** Returns the dimensions by name. */
export const shownGroup = ({ group }: TotalLine, layout: Layout): Record<string, Cell> =>
  Object.fromEntries(group.map((value, at) => [layout.columns[at + 1]!.name, value]))

/** Returns all totals as CSV in UTF-8: dimensions, currency, number of lines, and measures in major units. */
export function totalsCsv(totals: Totals, layout: Layout, zone: TimeZone): Uint8Array {
  const names = layout.columns.slice(1, 1 + layout.dimensions).map(({ name }) => name)
  const measures = layout.measures.map(at => layout.columns[at]!.name)
  const lines = totalLines(totals).map(one =>
    csvLine([
      ...one.group.map(value => textCell(String(value ?? ''))),
      ...[one.currency, one.lines, ...Object.values(shownSums(one.sums, layout, one.currency, zone))].map(
        cell => String(cell ?? ''),
      ),
    ]),
  )
  return encode([csvLine([...names, 'currency', 'lines', ...measures].map(textCell)), ...lines].join(''))
}

/** Returns the manifest as JSON in UTF-8. The control totals are by currency, with amounts in major units. */
export function manifestOf(
  report: Report,
  { name, locator }: Pick<Tenant, 'name' | 'locator'>,
  layout: Layout,
  files: readonly ReportFile[],
): Uint8Array {
  const zone = 'UTC' as TimeZone
  return encode(
    `${JSON.stringify(
      {
        report: report.locator,
        name: report.name,
        tenant: { locator, name },
        parameters: report.parameters,
        knownAt: report.knownAt,
        createdAt: report.createdAt,
        policies: report.processed,
        lines: report.totals.lines,
        columns: layout.columns.map(({ name: column, type, about, isMeasure = false }) => ({
          name: column,
          type,
          about,
          isMeasure,
        })),
        controlTotals: controlTotals(report.totals).map(({ currency, lines, sums }) => ({
          currency,
          lines,
          sums: shownSums(sums, layout, currency, zone),
        })),
        files,
      },
      undefined,
      2,
    )}\n`,
  )
}
