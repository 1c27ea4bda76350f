// The borders of boxes and cells: their sides, dashes and double lines.
import type { Cell, DoubleLine, LineStyle } from './engine.ts'
import type { Border, Style } from './style.ts'

/** Returns which sides of a cell have a border, and their colours. */
export const bordered = (borders: Style['borders']): Pick<Cell, 'border' | 'borderColor'> => ({
  border: sides(side => borders[side] !== undefined),
  borderColor: sides(side => borders[side]?.colour ?? '#000000'),
})

/** Whether the style has borders, padding or a background. */
export const isBox = ({ padding, borders, background }: Style): boolean =>
  background !== undefined || padding.some(one => one > 0) || borders.some(one => one !== undefined)

/** Returns the values of four sides: left, top, right, bottom, numbered from 0. */
export const sides = <T>(of: (side: number) => T): [T, T, T, T] => [of(0), of(1), of(2), of(3)]

/** Browsers draw narrower ones as one line. In points. */
const LEAST_DOUBLE = 2.25

type LineEnds = Pick<DoubleLine, 'outer' | 'inner'>

const FREE_ENDS: LineEnds = { outer: [0, 0], inner: [0, 0] }

/** The lines of a double border meet at corners. The engine ends horizontal lines before the right border. */
export function endsBetween(borders: Style['borders']): Record<'across' | 'down', LineEnds> {
  const [left, top, right, bottom] = sides(side => (borders[side]?.width ?? 0) / 3)
  return {
    across: { outer: [0, 3 * right], inner: [-2 * left, right] },
    down: { outer: [0, 0], inner: [-2 * top, -2 * bottom] },
  }
}

/** Dashes have the length that browsers use for the width of the line. Dots are squares. */
export function lineStyle(
  border: Border | undefined,
  ends = FREE_ENDS,
  inside: DoubleLine['inside'] = 1,
): LineStyle {
  if (!border?.line) return null
  const { width, line } = border
  if (line === 'double')
    return width < LEAST_DOUBLE ? null : { dash: { length: width, double: { ...ends, inside } } }
  if (line === 'dotted') return { dash: { length: width, space: width } }
  return width < 2.25
    ? { dash: { length: 3 * width, space: 2 * width } }
    : { dash: { length: 2 * width, space: width } }
}
