// The report for a terminal: the most important results.
import { quantile, type Totals } from '../totals.ts'
import {
  amountText,
  changeText,
  groupThousands,
  type Head,
  occasionText,
  percentText,
  policiesText,
  shareText,
} from './words.ts'

const LABEL = 22
const AMOUNT = 18

/** The number of reasons that are listed. The page lists all. */
const MOST_REASONS = 10

/** Formats the report as plain text for a terminal, with columns of a fixed width. */
export function impactText(totals: Totals, head: Head, notes: readonly string[]): string {
  const { compared, old, new: now, percents, amounts, unpriced, decisions } = totals
  const { currency } = head
  const row = (label: string, ...cells: string[]): string =>
    `${label.padEnd(LABEL)}${cells.map(cell => cell.padStart(AMOUNT)).join('')}\n`
  const parts = (['premium', 'taxes', 'fees', 'total'] as const).map(part =>
    row(
      part,
      amountText(old[part], currency),
      amountText(now[part], currency),
      amountText(now[part] - old[part], currency, true),
      changeText(old[part], now[part]),
    ),
  )
  const median = quantile(percents, 0.5)
  const medianAmount = quantile(amounts, 0.5)
  const same = compared.policies - compared.losers - compared.winners
  const countWithShare = (count: number): string =>
    `${groupThousands(count)} (${shareText(count, compared.policies)})`
  return [
    `${occasionText(head)}.\nOld: ${head.oldName}. New: ${head.newName}. In ${currency}.\n\n`,
    row('', 'old', 'new', 'change', 'percent'),
    ...parts,
    `\n${policiesText(compared.policies)} compared: ${countWithShare(compared.losers)} pay more, ${countWithShare(compared.winners)} less, ${countWithShare(same)} the same\n`,
    ...(median === undefined
      ? []
      : [`median: ${percentText(median / 10, 1)}, ${amountText(medianAmount ?? 0, currency, true)}\n`]),
    `underwriting accepts ${groupThousands(decisions.accept)}, refers ${groupThousands(decisions.none)}, rejects ${groupThousands(decisions.reject)}\n`,
    `not in force ${groupThousands(totals.skipped.notInForce)}, cancelled ${groupThousands(totals.skipped.cancelled)}, without a price ${groupThousands(unpriced)}\n`,
    countsText('Reasons', totals.reasons),
    countsText('Not known to the new configuration, left out', totals.leftOut),
    ...notes.map(note => `note  ${note}\n`),
  ].join('')
}

function countsText(title: string, counts: Readonly<Record<string, number>>): string {
  const sorted = Object.entries(counts).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
  if (sorted.length === 0) return ''
  const lines = sorted
    .slice(0, MOST_REASONS)
    .map(([what, count]) => `${groupThousands(count).padStart(8)}  ${what}\n`)
  const more = sorted.length > MOST_REASONS ? `          and ${sorted.length - MOST_REASONS} more\n` : ''
  return `\n${title}:\n${lines.join('')}${more}`
}
