// Flex rows: what their style says, and how their items grow.
import type { Declarations } from './declarations.ts'
import { type Length, lengthOf } from './values.ts'

/** Where a row puts its remaining room. */
export type Justify = 'start' | 'center' | 'end' | 'between'

/** The gaps between items and between lines are in points. */
export type FlexRow = {
  readonly justify: Justify
  readonly gap: number
  readonly rowGap: number
  readonly wraps: boolean
}

/** An item begins with its basis, `content` for the width of its text, and gets its share of the remaining room. */
export type Growth = { readonly share: number; readonly basis: Length | 'content' }

/** Reads the style of a flex row. `fontSize`, in points, is that of the container. */
export const flexRowIn = (declarations: Declarations, fontSize: number): FlexRow => ({
  justify: justifyIn(declarations.get('justify-content')),
  ...gapsIn(declarations, fontSize),
  wraps: /^wrap/i.test(declarations.get('flex-wrap') ?? ''),
})

/** Returns the gaps of a flex row or a grid in points. */
export const gapsIn = (declarations: Declarations, fontSize: number): Pick<FlexRow, 'gap' | 'rowGap'> => {
  const of = (property: string): number =>
    Math.max(0, lengthOf(declarations.get(property) ?? '', fontSize) ?? 0)
  return { gap: of('column-gap'), rowGap: of('row-gap') }
}

function justifyIn(text = ''): Justify {
  if (/^(?:flex-end|end|right)$/i.test(text)) return 'end'
  if (/^center$/i.test(text)) return 'center'
  return /^space-/i.test(text) ? 'between' : 'start'
}

/** `width` is the width of the item, or its basis. */
export function growthIn(declarations: Declarations, width: Length | undefined): Growth | undefined {
  const share = Number(declarations.get('flex-grow') ?? 0)
  if (!(share > 0)) return undefined
  const hasNone = /^0(?:%|[a-z]+)?$/i.test(declarations.get('flex-basis') ?? '')
  const basis = hasNone ? { percent: 0, points: 0 } : (width ?? 'content')
  return { share: Math.min(share, 1_000), basis }
}

/** A column with the width of its longest word, which it does not fall below. In points. */
type Growing = { readonly share: number; readonly basis: number; readonly least: number }

/**
 * Returns the widths of columns that share the room in points: each has its basis and its share of what remains. If the room is
 * less than these, each has a part of it by its basis.
 */
export function grownWidths(columns: readonly Growing[], room: number): number[] {
  const widths = new Array<number>(columns.length).fill(0)
  const sumOf = (of: (column: Growing) => number): number => columns.reduce((sum, one) => sum + of(one), 0)
  const isTooNarrow = sumOf(({ basis }) => basis) >= room
  const parts = columns.map(({ share, basis, least }, at) =>
    isTooNarrow ? { at, share: basis, basis: 0, least } : { at, share, basis, least },
  )
  let [rest, shares] = [
    room - parts.reduce((sum, { basis }) => sum + basis, 0),
    parts.reduce((sum, { share }) => sum + share, 0),
  ]
  // Those that need more than their share come first, because they leave less to the others.
  const need = ({ share, basis, least }: Growing): number => (least - basis) / Math.max(share, 0.001)
  for (const part of parts.toSorted((a, b) => need(b) - need(a))) {
    const width = Math.max(
      part.least,
      part.basis + (shares > 0 ? (Math.max(0, rest) * part.share) / shares : 0),
    )
    widths[part.at] = width
    rest -= width - part.basis
    shares -= part.share
  }
  return widths
}
