// Totals of a report: plain JSON that grows line by line, and stays small.
import { Refusal, tooLarge } from '../kernel/errors.ts'
import { decimal } from '../kernel/money.ts'
import type { Layout } from './columns.ts'
import type { Cell } from './kind.ts'

/** Sums of the measures in their order: minor units and counts, and decimal text for measures of the type `number`. */
type Sums = (number | string)[]

export type Totals = {
  lines: number
  /** By the JSON of the dimensions' values and the currency. */
  readonly groups: Record<string, { lines: number; sums: Sums }>
}

/** Returns new totals, to which `addToTotals` adds lines. */
export const noTotals = (): Totals => ({ lines: 0, groups: {} })

const MOST_GROUPS = 4_000

/** Rejects with 413 more groups than the totals of a report can hold. */
export function addToTotals(totals: Totals, cells: readonly Cell[], layout: Layout): void {
  totals.lines += 1
  const key = JSON.stringify([...cells.slice(1, 1 + layout.dimensions), cells[layout.currency]])
  const known = totals.groups[key]
  if (!known && Object.keys(totals.groups).length >= MOST_GROUPS)
    throw tooLarge(
      `The report has more than ${MOST_GROUPS} groups. Leave out one of the dimensions in 'by', or take a shorter period.`,
    )
  const group = known ?? { lines: 0, sums: layout.measures.map(at => zeroOf(layout, at)) }
  totals.groups[key] = group
  group.lines += 1
  for (const [place, at] of layout.measures.entries())
    group.sums[place] = plus(group.sums[place]!, cells[at] ?? 0)
}

const zeroOf = ({ columns }: Layout, at: number): number | string =>
  columns[at]!.type === 'number' ? '0' : 0

function plus(a: number | string, b: Cell): number | string {
  if (typeof a === 'string')
    return decimal(a)
      .plus(decimal(b ?? 0))
      .toFixed()
  const sum = a + Number(b)
  if (!Number.isSafeInteger(sum)) throw new Refusal('amountOutOfRange', 'A sum of the report is too large.')
  return sum
}

export type TotalLine = {
  /** Values of the dimensions, in their order. */
  readonly group: readonly Cell[]
  readonly currency: string
  readonly lines: number
  readonly sums: readonly (number | string)[]
}

/** Returns the totals in the order of the dimensions' values. */
export const totalLines = ({ groups }: Totals): TotalLine[] =>
  Object.entries(groups)
    .map(([key, { lines, sums }]) => {
      const values = JSON.parse(key) as Cell[]
      return { group: values.slice(0, -1), currency: String(values.at(-1)), lines, sums }
    })
    .sort((a, b) => compare([...a.group, a.currency], [...b.group, b.currency]))

function compare(a: readonly Cell[], b: readonly Cell[]): number {
  for (const [at, value] of a.entries()) {
    const [one, other] = [String(value ?? ''), String(b[at] ?? '')]
    if (one !== other) return one < other ? -1 : 1
  }
  return 0
}

/** Returns the sums of each measure by currency, which the manifest states and the lines must add up to. */
export function controlTotals(totals: Totals): { currency: string; lines: number; sums: Sums }[] {
  const byCurrency = new Map<string, { lines: number; sums: Sums }>()
  for (const { currency, lines, sums } of totalLines(totals)) {
    const known = byCurrency.get(currency)
    byCurrency.set(
      currency,
      known
        ? { lines: known.lines + lines, sums: known.sums.map((sum, at) => plus(sum, sums[at]!)) }
        : { lines, sums: [...sums] },
    )
  }
  return [...byCurrency].map(([currency, one]) => ({ currency, ...one }))
}
