// Where a table breaks across pages: before rows with page breaks, but not within or between rows that stay together.
import type { Block, KeptRows } from './engine.ts'
import type { Style } from './style.ts'

type Breaks = Pick<Style, 'breakBefore' | 'breakAfter' | 'keepTogether' | 'keepWithNext'>

export type BreakingRow = {
  readonly style: Breaks
  /** The style of its `tbody`, `thead` or `tfoot`: the same object for all rows of one. */
  readonly section: Breaks
  readonly cells: readonly { readonly rowSpan: number }[]
  /** The length of the longest text in a cell. */
  readonly characters: number
}

type Table = Extract<Block, { table: unknown }>['table']

export type TableBreaks = {
  /** Whether the table begins a page. */
  readonly before: boolean
  /** Whether a page begins after the table. */
  readonly after: boolean
  readonly table: Pick<
    Table,
    'headerRows' | 'keepWithHeaderRows' | 'dontBreakRows' | 'breaksBefore' | 'keptRows'
  >
}

/** A row with a longer text in a cell may break across pages. */
const UNBROKEN_CHARACTERS = 1_200

/** The maximum of rows that stay on one page because a cell spans them. */
const UNBROKEN_ROWS = 40

const isShort = ({ characters }: BreakingRow): boolean => characters <= UNBROKEN_CHARACTERS

/** A head stays together as a whole, and with the first rows after it. */
export function tableBreaks(rows: readonly BreakingRow[], headerRows: number): TableBreaks {
  const places = placesOf(rows)
  const breaksBefore = new Set<number>()
  const keptRows: KeptRows[] = []
  let first = headerRows
  for (let next = headerRows + 1; next <= rows.length; next += 1) {
    const { isBreak, isJoined } = places[next]!
    if (isJoined && !isBreak) continue
    if (isBreak && next < rows.length) breaksBefore.add(next)
    if (staysTogether(rows.slice(first, next))) keptRows.push({ first, last: next - 1, unbreakable: true })
    first = next
  }
  const isWhole = ({ cells }: BreakingRow, at: number): boolean =>
    cells.every(({ rowSpan }) => rowSpan === 1 || at + rowSpan <= headerRows)
  // The engine counts only the first row of a cell that spans several, and loses what does not fit on the page with it.
  const dontBreakRows = rows.every((row, at) => isShort(row) && isWhole(row, at))
  const [below] = keptRows
  const besideHead = below?.first === headerRows ? below.last + 1 - headerRows : 0
  return {
    before: places.slice(0, headerRows + 1).some(({ isBreak }) => isBreak),
    after: places.at(-1)!.isBreak,
    table: {
      headerRows,
      keepWithHeaderRows: headerRows === 0 ? 0 : besideHead || Number(isWhole(rows[headerRows]!, headerRows)),
      dontBreakRows,
      breaksBefore,
      keptRows: keptRows.filter(kept => !dontBreakRows || kept.first < kept.last),
    },
  }
}

/** Between two rows, above the first or below the last. */
type Place = { readonly isBreak: boolean; readonly isJoined: boolean }

function placesOf(rows: readonly BreakingRow[]): Place[] {
  let spannedUntil = 0
  return Array.from({ length: rows.length + 1 }, (_, at): Place => {
    const [above, below] = [rows[at - 1], rows[at]]
    if (above)
      spannedUntil = above.cells.reduce((end, { rowSpan }) => Math.max(end, at - 1 + rowSpan), spannedUntil)
    if (spannedUntil > at) return { isBreak: false, isJoined: true }
    const isSame = above?.section === below?.section
    return {
      isBreak:
        above?.style.breakAfter === true ||
        below?.style.breakBefore === true ||
        (!isSame && (above?.section.breakAfter === true || below?.section.breakBefore === true)),
      isJoined:
        above !== undefined &&
        below !== undefined &&
        (above.style.keepWithNext || (isSame ? above.section.keepTogether : above.section.keepWithNext)),
    }
  })
}

function staysTogether(rows: readonly BreakingRow[]): boolean {
  const isAsked = rows.some(
    ({ style, section }) => style.keepTogether || style.keepWithNext || section.keepTogether,
  )
  return isAsked || (rows.length <= UNBROKEN_ROWS && rows.every(isShort))
}
