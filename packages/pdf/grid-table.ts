// The block of a grid: a table whose lines are between the items, with empty columns and rows as gaps. An item with borders or a
// background becomes its cell, so that it is as high as its row.
import { bordered, endsBetween, lineStyle } from './borders.ts'
import type { Block, Cell, TableLayout } from './engine.ts'
import { type Grid, type Place, placesOf, type Track, tracksOf } from './grid.ts'
import type { HtmlElement } from './html.ts'
import { type Flow, mostHeight } from './paragraph.ts'
import { tableBreaks } from './row-breaks.ts'
import type { Border, Style } from './style.ts'
import { pointsIn } from './values.ts'

/** `own` is undefined for a text of the grid itself. */
export type GridItem = {
  readonly place: Place
  readonly own: Style | undefined
  readonly stack: Block[]
  /** Whether the cell has the borders, padding and background of the item. */
  readonly isCell: boolean
  readonly characters: number
}

/** Returns each item with its place and its estimated width in points. */
export function placedIn<Item extends { readonly own: Style | undefined }>(
  items: readonly Item[],
  grid: Grid,
  flow: Flow,
): (Item & { readonly place: Place; readonly width: number })[] {
  const tracks = tracksOf(grid, flow.width)
  flow.budget.check('columns', tracks.length)
  const widths = estimatedTracks(tracks, grid.gap, flow.width)
  const areas = items.map(({ own }) => own?.area)
  const places = placesOf(areas, tracks.length, cells => flow.budget.count('cells', cells))
  return items.map((item, at) => {
    const place = places[at]!
    const spanned = widths.slice(place.column, place.column + place.columnSpan)
    const width = spanned.reduce((sum, one) => sum + one, grid.gap * (spanned.length - 1))
    return { ...item, place, width }
  })
}

/** Estimates the width of each track in points, for what has to be known before the layout. */
function estimatedTracks(tracks: readonly Track[], gap: number, room: number): number[] {
  const lengthOf = (track: Track): number | undefined =>
    typeof track === 'object' && 'points' in track ? pointsIn(track, room) : undefined
  const shareOf = (track: Track): number => (typeof track === 'object' && 'share' in track ? track.share : 1)
  const open = tracks.filter(track => lengthOf(track) === undefined)
  const fixed = tracks.reduce((sum, track) => sum + (lengthOf(track) ?? 0), gap * (tracks.length - 1))
  const shares = open.reduce((sum, track) => sum + shareOf(track), 0)
  const rest = Math.max(0, room - fixed)
  return tracks.map(track => lengthOf(track) ?? (shares > 0 ? (rest * shareOf(track)) / shares : 0))
}

/** Whether the item can be as high as its row: a block without its own width, place or margins. */
export const canFillCell = ({ tag, drawing }: HtmlElement, own: Style, { align }: Grid): boolean =>
  align === 'stretch' &&
  !['table', 'ul', 'ol', 'img', 'hr'].includes(tag) &&
  drawing === undefined &&
  own.width === undefined &&
  own.position === undefined &&
  own.margin.every(side => side === 0)

const NO_BREAKS = { breakBefore: false, breakAfter: false, keepTogether: false, keepWithNext: false }

/** Items are in order. */
export function gridTable(items: readonly GridItem[], grid: Grid, style: Style, flow: Flow): Block {
  const tracks = tracksOf(grid, flow.width)
  const rows = items.reduce((most, { place }) => Math.max(most, place.row + place.rowSpan), 0)
  const [across, down] = [grid.gap > 0 ? 2 : 1, grid.rowGap > 0 ? 2 : 1]
  // Without a column that fills the room, an empty one does.
  const isOpen = tracks.some(track => track === 'stretch' || (typeof track === 'object' && 'share' in track))
  const columns = across * (tracks.length - 1) + 1 + (isOpen ? 0 : 1)
  const height = down * (rows - 1) + 1
  flow.budget.count('cells', columns * height)
  const isFromTheRight = style.direction === 'rtl'
  const placed = items.map(item => {
    const { column, columnSpan, row, rowSpan } = item.place
    const first = isFromTheRight ? tracks.length - column - columnSpan : column
    const place = {
      column: across * first,
      columnSpan: across * (columnSpan - 1) + 1,
      row: down * row,
      rowSpan: down * (rowSpan - 1) + 1,
    }
    return { ...item, place }
  })
  const lines = linesOf(placed, columns, height)
  const body: Cell[][] = Array.from({ length: height }, () => Array.from({ length: columns }, emptyCell))
  for (const item of placed) body[item.place.row]![item.place.column] = cellOf(item, grid)
  const { table } = tableBreaks(
    body.map((_, at) => breakingRow(placed, at)),
    0,
  )
  const ordered = isFromTheRight ? tracks.toReversed() : tracks
  const widths = ordered.flatMap((track, at) => {
    const width = widthFor(
      track,
      (lines.down[across * at]?.width ?? 0) + (lines.down[across * at + 1]?.width ?? 0),
      flow,
    )
    return at > 0 && across === 2 ? [grid.gap, width] : [width]
  })
  return {
    table: {
      ...table,
      ...(flow.isWhole && { breaksBefore: new Set() }),
      widths: isOpen ? widths : [...widths, '1fr'],
      fills: true,
      heights: row => (down === 2 && row % 2 === 1 ? grid.rowGap : heightOf(placed, row, flow)),
      body,
    },
    layout: layoutOf(lines),
  }
}

const emptyCell = (): Cell => ({ text: [], lineHeight: 0.01, border: [false, false, false, false] })

/** Returns the width in the engine's form. Lines are part of the track. */
function widthFor(track: Track, lines: number, flow: Flow): string | number {
  if (track === 'content') return 'auto'
  if (track === 'stretch') return track
  if (typeof track === 'string') return 'auto'
  if ('share' in track) return `${track.share}fr`
  return track.points === 0 ? `${track.percent}%` : Math.max(0, pointsIn(track, flow.width)! - lines)
}

function cellOf({ own, stack, isCell, place }: GridItem, { align }: Grid): Cell {
  const spans = {
    ...(place.columnSpan > 1 && { colSpan: place.columnSpan }),
    ...(place.rowSpan > 1 && { rowSpan: place.rowSpan }),
  }
  if (!own || !isCell)
    return {
      stack,
      border: [false, false, false, false],
      ...(align !== 'stretch' && place.rowSpan === 1 && { verticalAlignment: align }),
      ...spans,
    }
  const [left, top, right, bottom] = own.padding
  return {
    stack: [{ stack: stack.length > 0 ? stack : [emptyCell() as Block], margin: [left, top, right, bottom] }],
    ...bordered(own.borders),
    ...(own.background !== undefined && { fillColor: own.background, fillOpacity: own.opacity }),
    ...spans,
  }
}

function breakingRow(items: readonly GridItem[], row: number) {
  const own = items.filter(({ place }) => place.row === row)
  const has = (name: keyof typeof NO_BREAKS): boolean => own.some(item => item.isCell && item.own?.[name])
  return {
    style: {
      breakBefore: has('breakBefore'),
      breakAfter: has('breakAfter'),
      keepTogether: has('keepTogether'),
      keepWithNext: false,
    },
    section: NO_BREAKS,
    cells: own.map(({ place }) => ({ rowSpan: place.rowSpan })),
    characters: own.reduce((most, { characters }) => Math.max(most, characters), 0),
  }
}

/** The height of a row that its items ask for. */
function heightOf(items: readonly GridItem[], row: number, flow: Flow): number | 'auto' {
  const heights = items.flatMap(({ place, own, isCell }) =>
    isCell && place.row === row && place.rowSpan === 1 && own?.height !== undefined
      ? [own.height + own.padding[1] + own.padding[3]]
      : [],
  )
  return heights.length === 0 ? 'auto' : Math.min(Math.max(...heights), mostHeight(flow))
}

type Lines = { readonly across: (Border | undefined)[]; readonly down: (Border | undefined)[] }

/** The widest border wins along each line. */
function linesOf(items: readonly GridItem[], columns: number, rows: number): Lines {
  const lines: Lines = {
    across: new Array(rows + 1).fill(undefined),
    down: new Array(columns + 1).fill(undefined),
  }
  const widen = (list: (Border | undefined)[], at: number, border: Border | undefined): void => {
    if (border && (list[at]?.width ?? 0) < border.width) list[at] = border
  }
  for (const { place, own, isCell } of items) {
    if (!own || !isCell) continue
    const [left, top, right, bottom] = own.borders
    widen(lines.down, place.column, left)
    widen(lines.down, place.column + place.columnSpan, right)
    widen(lines.across, place.row, top)
    widen(lines.across, place.row + place.rowSpan, bottom)
  }
  return lines
}

function layoutOf({ across, down }: Lines): TableLayout {
  const none = (): number => 0
  const ends = endsBetween([])
  return {
    hLineWidth: line => across[line]?.width ?? 0,
    vLineWidth: line => down[line]?.width ?? 0,
    hLineStyle: line => lineStyle(across[line], ends.across),
    vLineStyle: line => lineStyle(down[line], ends.down),
    paddingLeft: none,
    paddingRight: none,
    paddingTop: none,
    paddingBottom: none,
  }
}
