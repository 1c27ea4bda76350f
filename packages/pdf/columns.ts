// Content next to other content: floats, inline blocks and the children of a flex row become columns. Text flows past a float
// for approximately the height of the float.
import type { Block } from './engine.ts'
import type { Growth, Justify } from './flex.ts'
import type { Style } from './style.ts'
import { type Length, pointsIn } from './values.ts'

export type Column = {
  readonly stack: Block[]
  readonly width: Length | 'auto' | '*'
  /** Set for width `auto`. Its texts are on one line if that leaves the other columns room for their longest words. */
  readonly fits?: true
  /** Also for width `auto`: the estimated number of points that its texts need. */
  readonly needed?: number
  /** Also for width `*`, in a flex row. */
  readonly growth?: Growth
}

/** Returns a column of the style's width, including margins, or as wide as its content. */
export const columnOf = (stack: Block[], { width, margin }: Style): Column =>
  width ? { stack, width: { ...width, points: width.points + margin[0] + margin[2] } } : fittingColumn(stack)

/** Returns a column as wide as its content, if that leaves the other columns room for their longest words. */
export const fittingColumn = (stack: Block[]): Column => ({
  stack,
  width: 'auto',
  fits: true,
  needed: widest(stack),
})

/** Returns a column that takes the room that the others leave. */
export const restColumn = (stack: Block[] = []): Column => ({ stack, width: '*' })

/**
 * Returns how many points of the room the columns need: an estimate for columns as wide as their content, and nothing for the
 * rest.
 */
export const widthOfColumns = (columns: readonly Column[], room: number): number =>
  columns.reduce((sum, column) => sum + widthOf(column, room), 0)

/** Returns the points of the room that the column needs: at most the room if it is as wide as its content, and 0 for the rest. */
export function widthOf({ width, needed = 0 }: Column, room: number): number {
  return typeof width === 'string' ? Math.min(needed, room) : pointsIn(width, room)!
}

/** Authors round widths, so their sum may slightly exceed the room. */
const TOLERANCE = 1.005

/** The maximum per row. */
const MOST_COLUMNS = 60

/** Whether a row has room for another column: the first always fits, and a row has at most 60. */
export const fits = (column: Column, columns: readonly Column[], room: number): boolean =>
  columns.length === 0 ||
  (columns.length < MOST_COLUMNS && widthOfColumns([...columns, column], room) <= room * TOLERANCE)

/** Whether text has room next to the columns. */
export const leavesRoomForText = (columns: readonly Column[], room: number): boolean =>
  room - widthOfColumns(columns, room) >= LEAST_REST * room

const LEAST_REST = 0.15

/** Narrows the columns that have a width if all columns together need more than the room. */
export function narrowColumns(columns: readonly Column[], room: number): Column[] {
  const share = Math.min(1, room / widthOfColumns(columns, room))
  return columns.map(column => {
    const { width } = column
    if (share === 1 || typeof width === 'string') return column
    return { ...column, width: { percent: width.percent * share, points: width.points * share } }
  })
}

const fillsRest = ({ width }: Block): boolean => width === '*'

/** Returns the columns as one block, with the remaining room where `justify` puts it. */
export function rowOf(columns: readonly Block[], justify: Justify, gap = 0): Block {
  if (columns.some(fillsRest)) return { columns: [...columns], columnGap: gap }
  const rest = restColumn
  switch (justify) {
    case 'start':
      return { columns: [...columns, rest()], columnGap: gap }
    case 'end':
      return { columns: [rest(), ...columns], columnGap: gap }
    case 'center':
      return { columns: [rest(), ...columns, rest()], columnGap: gap }
    case 'between':
      return { columns: columns.flatMap((one, at) => (at === 0 ? [one] : [rest(), one])), columnGap: gap }
  }
}

export type Float = { readonly side: 'left' | 'right'; readonly column: Column }

/** Returns the columns of the floats on that side, in the order of the document. */
export const columnsOn = (floats: readonly Float[], side: Float['side']): Column[] =>
  floats.filter(one => one.side === side).map(({ column }) => column)

/**
 * Returns the floats of one row with the content next to them, whose top and bottom margins become those of the row. The first
 * of the right floats is farthest to the right.
 */
export function floatRow(floats: readonly Float[], beside: Block[]): Block {
  const [above, below] = [beside[0]?.margin?.[1] ?? 0, beside.at(-1)?.margin?.[3] ?? 0]
  const rest = restColumn(beside.length === 0 ? [] : [{ stack: beside, margin: [0, -above, 0, -below] }])
  return {
    columns: [...columnsOn(floats, 'left'), rest, ...columnsOn(floats, 'right').reverse()],
    columnGap: 0,
    margin: [0, above, 0, below],
  }
}

/** The average width of a letter as a fraction of its font size. Slightly too large, so that a row does not become too full. */
const LETTER_WIDTH = 0.55

type Runs = Extract<Block, { text: unknown }>['text']

const widest = (blocks: readonly Block[]): number =>
  blocks.reduce((most, one) => Math.max(most, estimatedWidth(one)), 0)

const sumOfWidths = (blocks: readonly Block[]): number =>
  blocks.reduce((sum, one) => sum + estimatedWidth(one), 0)

/** Returns the width of the content on lines of any length. */
function estimatedWidth(block: Block): number {
  const [left, , right] = block.margin ?? [0, 0, 0]
  return left + right + (typeof block.width === 'number' ? block.width : contentWidth(block))
}

function contentWidth(block: Block): number {
  if ('text' in block) return longestLine(block.text)
  if ('stack' in block) return widest(block.stack)
  if ('ul' in block) return block.indent + widest(block.ul)
  if ('ol' in block) return block.indent + widest(block.ol)
  if ('columns' in block) return sumOfWidths(block.columns)
  if ('table' in block) {
    const { table, layout } = block
    const padding = table.widths.reduce<number>(
      (sum, _, at) => sum + layout.paddingLeft(at) + layout.paddingRight(at),
      0,
    )
    return padding + table.body.reduce((most, row) => Math.max(most, sumOfWidths(row as readonly Block[])), 0)
  }
  return block.width
}

function longestLine(runs: Runs): number {
  let [most, length] = [0, 0]
  for (const { text, fontSize = 0 } of runs)
    for (const [at, part] of text.split('\n').entries()) {
      if (at > 0) length = 0
      length += part.length * fontSize * LETTER_WIDTH
      most = Math.max(most, length)
    }
  return most
}

/** Returns a rough height in points. */
export function estimatedHeight(block: Block, width: number): number {
  const [left, top, right, bottom] = block.margin ?? [0, 0, 0, 0]
  return top + bottom + contentHeight(block, Math.max(10, width - left - right))
}

const sumOf = (blocks: readonly Block[], width: number): number =>
  blocks.reduce((sum, one) => sum + estimatedHeight(one, width), 0)

function contentHeight(block: Block, width: number): number {
  if ('text' in block) return textHeight(block.text, width)
  if ('stack' in block) return sumOf(block.stack, width)
  if ('ul' in block) return sumOf(block.ul, width - block.indent)
  if ('ol' in block) return sumOf(block.ol, width - block.indent)
  if ('columns' in block) return highest(block.columns, width)
  if ('table' in block)
    return block.table.body.reduce((sum, row) => sum + highest(row as readonly Block[], width), 0)
  return block.height
}

const highest = (columns: readonly Block[], width: number): number =>
  columns.reduce((most, one) => Math.max(most, estimatedHeight(one, width / columns.length)), 0)

function textHeight(runs: Runs, width: number): number {
  let [length, line, breaks] = [0, 0, 0]
  for (const { text, fontSize = 0, line: own = 0 } of runs) {
    length += text.length * fontSize * LETTER_WIDTH
    line = Math.max(line, own)
    breaks += text.split('\n').length - 1
  }
  return line * (Math.ceil(length / width) + breaks)
}
