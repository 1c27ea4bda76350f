// Page layout, shared by all renderers.
import { lengthOf, ROOT_SIZE } from './values.ts'

/** In points, 72 to the inch. */
export type Margins = Readonly<Record<'top' | 'right' | 'bottom' | 'left', number>>

/** A document's pageLayout. Missing values come from `@page` of the style sheets, otherwise from portrait A4 with 20 mm margins. */
export type Page = {
  readonly size?: PageSize
  readonly orientation?: 'portrait' | 'landscape'
  readonly margins: Partial<Margins>
}

/** Portrait width and height in points (resources brief 4.2; B sizes are ISO's). */
export const PAGE_SIZES = {
  letter: [612, 792],
  legal: [612, 1008],
  A3: [841.89, 1190.55],
  A4: [595.28, 841.89],
  A5: [419.53, 595.28],
  B4: [708.66, 1000.63],
  B5: [498.9, 708.66],
} as const
export type PageSize = keyof typeof PAGE_SIZES

/** 20 mm. */
const DEFAULT_MARGIN = 56.69

export type PageLayout = {
  readonly [side in `margin${'Left' | 'Right' | 'Top' | 'Bottom'}`]?: string
} & { readonly orientation?: 'portrait' | 'landscape'; readonly pageSize?: PageSize }

/** Wider margins would leave no room for text. */
const WIDEST_MARGIN = PAGE_SIZES.A4[0] / 3

/** A margin in a pageLayout. */
export const MARGIN = /^\s*(\d{1,4}(?:\.\d{1,4})?)\s*(mm|cm|in|pt|pc|px)?\s*$/i

/** Returns the margin in points. The default unit is the millimetre, a decision: brief 5.1 does not show one. */
function marginPoints(text: string | undefined): number | undefined {
  const [, digits, unit = 'mm'] = MARGIN.exec(text ?? '') ?? []
  return digits === undefined ? undefined : Math.min(lengthOf(digits + unit, ROOT_SIZE)!, WIDEST_MARGIN)
}

/**
 * Reads a pageLayout (brief 5.1). Margins become points, at most a third of the width of A4. A margin that cannot be read counts as
 * missing.
 */
export const pageOf = (layout: PageLayout = {}): Page => ({
  size: layout.pageSize,
  orientation: layout.orientation,
  margins: {
    top: marginPoints(layout.marginTop),
    right: marginPoints(layout.marginRight),
    bottom: marginPoints(layout.marginBottom),
    left: marginPoints(layout.marginLeft),
  },
})

export type PageRule = {
  readonly size?: readonly [width: number, height: number]
  readonly orientation?: 'portrait' | 'landscape'
  readonly margins: Partial<Margins>
}

export type Paper = { readonly width: number; readonly height: number; readonly margins: Margins }

/**
 * Returns the paper in points. The page's own values override those of `@page`. A margin of `@page` is at most a third of the
 * shorter side.
 */
export function paperOf(page: Page, rule: PageRule = { margins: {} }): Paper {
  const [width, height] = page.size ? PAGE_SIZES[page.size] : (rule.size ?? PAGE_SIZES.A4)
  const turned = page.orientation ?? rule.orientation
  const isWide = turned === undefined ? width > height : turned === 'landscape'
  const [short, long] = [Math.min(width, height), Math.max(width, height)]
  const margin = (side: keyof Margins): number =>
    page.margins[side] ?? Math.min(rule.margins[side] ?? DEFAULT_MARGIN, short / 3)
  return {
    width: isWide ? long : short,
    height: isWide ? short : long,
    margins: { top: margin('top'), right: margin('right'), bottom: margin('bottom'), left: margin('left') },
  }
}

export type RenderedPdf = {
  readonly bytes: Uint8Array
  /** Characters that no font contains, each once. The page shows boxes in their place. */
  readonly missing: string
  /** Counted work, in proportion to the document (limits.ts). Undefined if a browser rendered the PDF. */
  readonly work?: number
}

/** The HTML cannot become a PDF. The message says why and how to fix it. */
export class ConversionError extends Error {
  static readonly NAME = 'ConversionError'
  override readonly name = ConversionError.NAME

  /** Compares the name, because the renderer's bundle has its own copy of the class. */
  static is(problem: unknown): problem is ConversionError {
    return problem instanceof Error && problem.name === ConversionError.NAME
  }
}
