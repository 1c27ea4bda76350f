// Grids: the tracks of their columns, and the places of their items.
import type { Declarations } from './declarations.ts'
import { type FlexRow, gapsIn } from './flex.ts'
import { splitOutside } from './selectors.ts'
import { type Length, partOf, pointsIn } from './values.ts'

/** `template` are the columns as written, because the number of some depends on the room. Gaps are in points. */
export type Grid = Pick<FlexRow, 'gap' | 'rowGap'> & {
  readonly template: string
  readonly fontSize: number
  readonly align: 'stretch' | 'top' | 'middle' | 'bottom'
}

/**
 * A column: a width, or as wide as its content, with an equal part of what remains for `stretch`, or a share of what remains.
 * `auto` stretches if no column has a share.
 */
export type Track = Length | 'content' | 'auto' | 'stretch' | { readonly share: number }

/** Lines as written: a number, `span 2`, or undefined. */
export type Area = Readonly<Record<'columnStart' | 'columnEnd' | 'rowStart' | 'rowEnd', string | undefined>>

/** Where an item is. Rows and columns are counted from 0. */
export type Place = {
  readonly column: number
  readonly columnSpan: number
  readonly row: number
  readonly rowSpan: number
}

const ALIGNMENTS = {
  center: 'middle',
  end: 'bottom',
  'flex-end': 'bottom',
  start: 'top',
  'flex-start': 'top',
} as const

/** Reads the style of a grid. `fontSize`, in points, is that of the container. An unknown `align-items` stretches. */
export function gridIn(declarations: Declarations, fontSize: number): Grid {
  const align = declarations.get('align-items')?.toLowerCase() ?? ''
  return {
    ...gapsIn(declarations, fontSize),
    template: declarations.get('grid-template-columns') ?? 'none',
    fontSize,
    align: Object.hasOwn(ALIGNMENTS, align) ? ALIGNMENTS[align as keyof typeof ALIGNMENTS] : 'stretch',
  }
}

export const areaIn = (declarations: Declarations): Area => ({
  columnStart: declarations.get('grid-column-start'),
  columnEnd: declarations.get('grid-column-end'),
  rowStart: declarations.get('grid-row-start'),
  rowEnd: declarations.get('grid-row-end'),
})

/** The maximum of columns that `repeat()` makes. More are an error of the document. */
const MOST_TRACKS = 100

/** Returns the columns of a grid in this room, in points. Without a template, a grid has one. */
export function tracksOf(grid: Grid, room: number): Track[] {
  const tracks = tracksIn(grid.template, grid, room)
  if (tracks.length === 0) return [{ share: 1 }]
  const isFilled = tracks.some(track => typeof track === 'object' && 'share' in track)
  return tracks.map(track => (track === 'auto' && !isFilled ? 'stretch' : track))
}

/** Names of lines, in brackets, have no effect. Something unknown makes the whole list unknown, as in browsers. */
function tracksIn(text: string, grid: Grid, room: number): Track[] {
  const words = splitOutside(
    text
      .replace(/\[[^\]]{0,200}\]/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
    ' ',
  )
  const lists = words.filter(word => word !== '').map(word => repeated(word, grid, room))
  return lists.some(list => list.length === 0) ? [] : lists.flat().slice(0, MOST_TRACKS)
}

const argumentsOf = (name: string, word: string): string[] | undefined => {
  const inside = word.toLowerCase().startsWith(`${name}(`) && word.endsWith(')')
  return inside ? splitOutside(word.slice(name.length + 1, -1), ',').map(part => part.trim()) : undefined
}

function repeated(word: string, grid: Grid, room: number): Track[] {
  const [count, ...list] = argumentsOf('repeat', word) ?? []
  if (count === undefined) {
    const track = trackOf(word, grid.fontSize)
    return track === undefined ? [] : [track]
  }
  const text = list.join(',')
  if (/repeat\(/i.test(text)) return []
  const once = tracksIn(text, grid, room)
  const times = /^auto-fi(?:t|ll)$/i.test(count) ? timesIn(text, once, grid, room) : Number(count)
  if (!Number.isSafeInteger(times) || times < 1) return []
  return Array.from({ length: Math.min(times, MOST_TRACKS) }, () => once).flat()
}

/** Returns how often the tracks fit in the room. */
function timesIn(text: string, once: readonly Track[], { gap, fontSize }: Grid, room: number): number {
  const [least] = argumentsOf('minmax', text) ?? [text]
  const width = pointsIn(partOf(least ?? '', fontSize), room)
  if (width === undefined || width <= 0 || once.length !== 1) return 1
  return Math.max(1, Math.min(MOST_TRACKS, Math.floor((room + gap) / (width + gap))))
}

/** A column is at least as wide as its longest word, so only the upper limit of `minmax()` counts. */
function trackOf(word: string, fontSize: number): Track | undefined {
  const [, most] = argumentsOf('minmax', word) ?? []
  if (most !== undefined) return trackOf(most, fontSize)
  const share = /^(\d{1,4}(?:\.\d{1,10})?|\.\d{1,10})fr$/i.exec(word)?.[1]
  if (share !== undefined) return { share: Number(share) }
  if (word.toLowerCase() === 'auto') return 'auto'
  if (/^(?:min-content|max-content|fit-content\(.*\))$/i.test(word)) return 'content'
  const length = partOf(word, fontSize)
  return length && length.percent >= 0 && (length.percent > 0 || length.points >= 0) ? length : undefined
}

/** Reads a start and an end line. Lines from the end, such as -1, are of the template's columns. */
function rangeOf(
  start: string | undefined,
  end: string | undefined,
  tracks: number,
): { from?: number; span: number } {
  const lineOf = (text: string | undefined): number | undefined => {
    const line = Number(text)
    if (text === undefined || !Number.isSafeInteger(line) || line === 0) return undefined
    return line > 0 ? line - 1 : Math.max(0, tracks + 1 + line)
  }
  const spanOf = (text: string | undefined): number | undefined => {
    const span = Number(/^span\s+(\d{1,4})$/i.exec(text ?? '')?.[1])
    return span > 0 ? span : undefined
  }
  const [first, last] = [lineOf(start), lineOf(end)]
  const span = spanOf(start) ?? spanOf(end) ?? 1
  if (first !== undefined && last !== undefined)
    return { from: Math.min(first, last), span: Math.max(1, Math.abs(last - first)) }
  if (first !== undefined) return { from: first, span }
  return last === undefined
    ? { span }
    : { from: Math.max(0, last - span), span: Math.min(span, Math.max(1, last)) }
}

/** The last row that an item can ask for. */
const MOST_ROWS = 1_000

/**
 * Returns the places of the items, which fill the rows in their order. `count` is called with the number of cells of each item.
 * An item that asks for a row and a column has that place before all others.
 */
export function placesOf(
  areas: readonly (Area | undefined)[],
  columns: number,
  count: (cells: number) => void,
): Place[] {
  const taken = new Set<number>()
  const cellsOf = ({ column, columnSpan, row, rowSpan }: Place): number[] =>
    Array.from(
      { length: columnSpan * rowSpan },
      (_, at) => (row + Math.floor(at / columnSpan)) * columns + column + (at % columnSpan),
    )
  const put = (place: Place): Place => {
    count(place.columnSpan * place.rowSpan)
    for (const cell of cellsOf(place)) taken.add(cell)
    return place
  }
  const asked = areas.map(area => {
    const across = rangeOf(area?.columnStart, area?.columnEnd, columns)
    const down = rangeOf(area?.rowStart, area?.rowEnd, 1)
    const columnSpan = Math.min(across.span, columns)
    return {
      column: across.from === undefined ? undefined : Math.min(across.from, columns - columnSpan),
      columnSpan,
      row: down.from === undefined ? undefined : Math.min(down.from, MOST_ROWS),
      rowSpan: Math.min(down.span, MOST_ROWS),
    }
  })
  const fixed = asked.map(({ column, row, columnSpan, rowSpan }) =>
    column !== undefined && row !== undefined ? put({ column, row, columnSpan, rowSpan }) : undefined,
  )
  let [row, column] = [0, 0]
  return asked.map((one, at): Place => {
    if (fixed[at]) return fixed[at]
    if (one.row !== undefined && one.row > row) [row, column] = [one.row, 0]
    if (one.column !== undefined) {
      if (one.column < column) row += 1
      column = one.column
    }
    for (;;) {
      if (column + one.columnSpan > columns) [row, column] = [row + 1, one.column ?? 0]
      const { columnSpan, rowSpan } = one
      const place = { column, columnSpan, row, rowSpan }
      count(1)
      if (!cellsOf({ ...place, rowSpan: 1 }).some(cell => taken.has(cell))) {
        column += columnSpan
        return put(place)
      }
      if (one.column === undefined) column += 1
      else row += 1
    }
  })
}
