// The CSS of content outside of the flow: `position`, the distances from the sides of its containing block, `z-index`, and the
// rotation and shift of `transform`.
import type { Declarations } from './declarations.ts'
import { type Length, lengthOf } from './values.ts'

export type Position = {
  readonly kind: 'relative' | 'absolute' | 'fixed'
  readonly left: Length | undefined
  readonly top: Length | undefined
  readonly right: Length | undefined
  readonly bottom: Length | undefined
  /** Whether it is drawn before the text (`z-index` below 0). */
  readonly isBehind: boolean
  /** Degrees, clockwise. */
  readonly turn: number
  /** Fractions of its own width and height. */
  readonly shift: readonly [right: number, down: number]
}

/** Reads the position of an element; undefined if it stays in the flow. `fontSize`, in points, is that of the element. */
export function positionIn(declarations: Declarations, fontSize: number): Position | undefined {
  const asked = declarations.get('position')?.toLowerCase()
  const kind = (['relative', 'absolute', 'fixed'] as const).find(one => one === asked)
  if (!kind) return undefined
  const offset = (side: string): Length | undefined => offsetOf(declarations.get(side) ?? '', fontSize)
  const transform = declarations.get('transform') ?? ''
  return {
    kind,
    left: offset('left'),
    top: offset('top'),
    right: offset('right'),
    bottom: offset('bottom'),
    isBehind: Number(declarations.get('z-index')) < 0,
    turn: turnOf(transform),
    shift: shiftOf(transform),
  }
}

function offsetOf(text: string, fontSize: number): Length | undefined {
  const percent = /^[+-]?\d{1,3}(?:\.\d{1,6})?(?=%$)/.exec(text)
  if (percent) return { percent: Number(percent[0]), points: 0 }
  const points = lengthOf(text, fontSize)
  return points === undefined ? undefined : { percent: 0, points }
}

const DEGREES: Readonly<Record<string, number>> = { deg: 1, turn: 360, rad: 180 / Math.PI, grad: 0.9 }

/** Reads `rotate(-45deg)`. */
function turnOf(transform: string): number {
  const [, digits = '0', unit = 'deg'] =
    /\brotate\(\s*([+-]?\d{0,5}(?:\.\d{1,6})?)(deg|turn|rad|grad)\s*\)/i.exec(transform) ?? []
  return (Number(digits) * DEGREES[unit.toLowerCase()]!) % 360
}

const SHIFTS =
  /\btranslate(x|y|)\(\s*([+-]?\d{1,3}(?:\.\d{1,6})?)%\s*(?:,\s*([+-]?\d{1,3}(?:\.\d{1,6})?)%\s*)?\)/gi

/** Reads `translate(-50%, -50%)`, by which templates centre content. Lengths are ignored. */
function shiftOf(transform: string): Position['shift'] {
  let [right, down] = [0, 0]
  for (const [, axis = '', first, second = 0] of transform.matchAll(SHIFTS))
    if (axis.toLowerCase() === 'y') down += Number(first) / 100
    else {
      right += Number(first) / 100
      down += Number(second) / 100
    }
  return [right, down]
}
